/*
 * traffic.c - nothing is written before both are there, and whenever a message has its place there
 * is room for more.
 */
#include "tests/support/traffic.h"

#include <criterion/criterion.h>
#include <stdio.h>

static void send_more(struct side *side)
{
    struct mcpx_draft draft = {.type = "chat"};
    char payload[64];

    while (side->sent < side->each) {
        int len = snprintf(payload, sizeof payload, "{\"n\":%d}", side->sent);

        draft.payload = (struct mcpx_slice){payload, (size_t)len};
        if (mcpx_client_send(side->client, &draft, NULL, NULL))
            return; /* there is room again when something was delivered */
        side->sent++;
    }
}

static void on_joined(struct side *side, bool resumed)
{
    side->joins++;
    side->resumed += resumed;
    if (!side->other->joins)
        return;
    send_more(side);
    send_more(side->other);
}

static void on_message(struct side *side, const struct mcpx_event *event)
{
    char payload[64];

    snprintf(payload, sizeof payload, "{\"n\":%d}", side->heard++);
    if (!mcpx_slice_equal(event->envelope->payload, mcpx_slice_of(payload)))
        side->wrong++;
}

void traffic_event(void *user, struct mcpx_client *client, const struct mcpx_event *event)
{
    struct side *side = user;

    switch (event->type) {
    case MCPX_EVENT_JOINED:
        on_joined(side, event->resumed);
        break;
    case MCPX_EVENT_DELIVERED:
        side->delivered++;
        send_more(side);
        break;
    case MCPX_EVENT_MESSAGE:
        on_message(side, event);
        break;
    case MCPX_EVENT_VIOLATION:
    case MCPX_EVENT_REFUSED:
        side->wrong++;
        break;
    default:
        break;
    }
    if (side->heard >= side->each && side->delivered >= side->each)
        mcpx_client_close(client, DAEMON_PATIENCE_MS);
}

void traffic_run(struct side sides[2], struct mcpx_client_config configs[2])
{
    uv_loop_t loop;
    int i;

    uv_loop_init(&loop);
    for (i = 0; i < 2; i++) {
        sides[i].other = &sides[1 - i];
        configs[i].loop = &loop;
        configs[i].on_event = traffic_event;
        configs[i].user = &sides[i];
        sides[i].client = party_open(&configs[i]);
    }
    uv_run(&loop, UV_RUN_DEFAULT); /* ends when both have left */
    for (i = 0; i < 2; i++) {
        cr_expect_eq(sides[i].delivered, sides[i].each, "%d: %d delivered", i,
                     sides[i].delivered);
        cr_expect_eq(sides[i].heard, sides[i].each, "%d: %d heard", i, sides[i].heard);
        cr_expect_eq(sides[i].wrong, 0, "%d: %d wrong", i, sides[i].wrong);
        mcpx_client_free(sides[i].client);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect_eq(uv_loop_close(&loop), 0, "every handle is closed");
}
