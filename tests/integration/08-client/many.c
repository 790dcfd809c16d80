/*
 * Quantity: two clients on one loop, ten thousand messages each way at once, and a thousand
 * openings and closings. What breaks for whom: a bridge that runs for a month. Protocol: section 5.
 */
#include "tests/support/party.h"
#include "tests/support/rude_client.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

enum { EACH = 10000, CYCLES = 1000, WARM_UP = 100, GROWTH_KIB = 2048 };

static struct daemon router;

static void start(void)
{
    daemon_start_default(&router);
}

static void stop(void)
{
    cr_expect_eq(daemon_stop(&router), 0, "exit status; log: %s", router.log);
}

TestSuite(client_many, .init = start, .fini = stop, .timeout = 600);

/* One side of the traffic; `other` is whom it writes to. */
struct side {
    struct mcpx_client *client;
    struct side *other;
    int sent, delivered, heard, wrong;
    bool joined, left;
};

static void send_more(struct side *side)
{
    struct mcpx_draft draft = {.type = "chat"};
    char payload[64];

    while (side->sent < EACH) {
        int len = snprintf(payload, sizeof payload, "{\"n\":%d}", side->sent);

        draft.payload = (struct mcpx_slice){payload, (size_t)len};
        if (mcpx_client_send(side->client, &draft, NULL, NULL))
            return; /* there is room again when something was delivered */
        side->sent++;
    }
}

static void on_event(void *user, struct mcpx_client *client, const struct mcpx_event *event)
{
    struct side *side = user;
    char payload[64];

    switch (event->type) {
    case MCPX_EVENT_JOINED:
        side->joined = true;
        if (!side->other->joined)
            break;
        send_more(side);
        send_more(side->other);
        break;
    case MCPX_EVENT_DELIVERED:
        side->delivered++;
        send_more(side);
        break;
    case MCPX_EVENT_MESSAGE:
        snprintf(payload, sizeof payload, "{\"n\":%d}", side->heard++);
        side->wrong += !mcpx_slice_equal(event->envelope->payload, mcpx_slice_of(payload));
        break;
    case MCPX_EVENT_LEFT:
        side->left = true;
        break;
    case MCPX_EVENT_VIOLATION:
        side->wrong++;
        break;
    default:
        break;
    }
    if (side->heard == EACH && side->delivered == EACH)
        mcpx_client_close(client, DAEMON_PATIENCE_MS);
}

Test(client_many, ten_thousand_messages_each_way_in_order)
{
    struct side sides[2] = {{.other = &sides[1]}, {.other = &sides[0]}};
    uv_loop_t loop;
    int i;

    uv_loop_init(&loop);
    for (i = 0; i < 2; i++) {
        struct mcpx_client_config config = party_config(&router, i ? "b" : "a", "room");

        config.loop = &loop;
        config.on_event = on_event;
        config.user = &sides[i];
        sides[i].client = party_open(&config);
    }
    uv_run(&loop, UV_RUN_DEFAULT); /* ends when both have left */
    for (i = 0; i < 2; i++) {
        cr_expect_eq(sides[i].delivered, EACH, "%d", sides[i].delivered);
        cr_expect_eq(sides[i].heard, EACH, "%d", sides[i].heard);
        cr_expect_eq(sides[i].wrong, 0, "%d", sides[i].wrong);
        cr_expect(sides[i].left);
        mcpx_client_free(sides[i].client);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect_eq(uv_loop_close(&loop), 0, "every handle is closed");
}

static int descriptors(void)
{
    struct daemon self = {.pid = getpid()};

    return daemon_descriptors(&self);
}

static long rss_kib(void)
{
    struct daemon self = {.pid = getpid()};

    return daemon_rss_kib(&self);
}

Test(client_many, a_thousand_clients_one_after_the_other_leave_nothing)
{
    struct mcpx_client_config config = party_config(&router, "a", "room");
    char url[64], token[8192];
    struct mcpx_event event;
    long before_kib = 0;
    int i, before = 0;

    snprintf(url, sizeof url, "%s", config.url);
    snprintf(token, sizeof token, "%s", config.token);
    config.url = url;
    config.token = token;
    config.history = 0;
    for (i = 0; i < CYCLES; i++) {
        struct mcpx_client *client;

        if (i == WARM_UP) {
            before = descriptors();
            before_kib = rss_kib();
        }
        client = party_open(&config);
        if (i % 4 == 3) { /* before it could connect */
            mcpx_client_free(client);
            continue;
        }
        party_expect(client, MCPX_EVENT_JOINED, &event);
        if (i % 4 == 2) /* without a word */
            mcpx_client_free(client);
        else
            party_leave(client);
    }
    cr_expect_eq(descriptors(), before);
    cr_expect(rss_kib() - before_kib < GROWTH_KIB, "from %ld to %ld KiB", before_kib,
              rss_kib());
}
