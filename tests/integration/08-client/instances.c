/*
 * One configuration, several windows: clients with one token, a real router. What breaks for whom:
 * whoever opens a second window loses the first. Protocol: section 7.
 */
#include "tests/support/party.h"
#include "tests/support/rude_client.h"

#include <criterion/criterion.h>
#include <signal.h>

static const char settled[] =
    "{\"auth\":{\"instances\":2},\"participants\":{"
    "\"a\":{\"topics\":[\"*\"],\"grants\":[\"*\"],\"token_sha256\":"
    "\"5cb4afafaff2683f8e22484d37dca0e6b2eb98dc5a9869ca031b001597b89253\"}}}";

static struct daemon router;

static struct mcpx_client *open_window(bool instance)
{
    struct mcpx_client_config config = {.url = party_url(router.port[0]),
                                        .topic = "room",
                                        .token = "token-of-a",
                                        .history = -1,
                                        .session.instance = instance};

    return party_open(&config);
}

static void expect_id(struct mcpx_client *client, const char *id)
{
    struct mcpx_slice found = mcpx_session_id(mcpx_client_session(client));

    cr_expect(mcpx_slice_equal(found, mcpx_slice_of(id)), "%.*s, expected %s", (int)found.len,
              found.text ? found.text : "", id);
}

Test(client_instances, with_one_token_stay_side_by_side, .timeout = 240)
{
    struct mcpx_client *first, *second, *third;
    struct mcpx_event event;

    daemon_start(&router, settled, 0);
    first = open_window(true);
    party_expect(first, MCPX_EVENT_JOINED, &event);
    second = open_window(true);
    party_expect(second, MCPX_EVENT_JOINED, &event);
    expect_id(first, "a");
    expect_id(second, "a~2");
    party_chat(first, "{\"n\":1}");
    party_expect(first, MCPX_EVENT_DELIVERED, &event);
    party_expect(second, MCPX_EVENT_MESSAGE, &event);
    cr_expect(mcpx_slice_equal(event.envelope->from, MCPX_SLICE("a")));
    party_chat(second, "{\"n\":2}");
    party_expect(second, MCPX_EVENT_DELIVERED, &event);
    party_expect(first, MCPX_EVENT_MESSAGE, &event);
    cr_expect(mcpx_slice_equal(event.envelope->from, MCPX_SLICE("a~2")));
    third = open_window(true);
    party_expect(third, MCPX_EVENT_LEFT, &event);
    cr_expect_eq(event.code, 409, "%d", event.code);
    cr_expect(event.retry_ms >= 0, "it tries again: one may leave");
    party_leave(second);
    party_expect(third, MCPX_EVENT_JOINED, &event);
    expect_id(third, "a~2");
    party_leave(third);
    party_leave(first);
    cr_expect(daemon_logs(&router, "participant=\"a~2\" identity=\"a\" topic="));
    cr_expect(daemon_logs(&router, "participant=\"a\" topic="));
    cr_expect_eq(daemon_stop(&router), 0, "exit status; log: %s", router.log);
}

/* A program that knows nothing of instances replaces the participant itself, as ever. */
Test(client_instances, go_on_as_another_one_when_one_is_replaced, .timeout = 240)
{
    struct mcpx_client *window, *old;
    struct mcpx_event event;

    daemon_start(&router, settled, 0);
    window = open_window(true);
    party_expect(window, MCPX_EVENT_JOINED, &event);
    old = open_window(false);
    party_expect(old, MCPX_EVENT_JOINED, &event);
    expect_id(old, "a");
    party_expect(window, MCPX_EVENT_LEFT, &event);
    cr_expect_eq(event.code, 4001);
    party_expect(window, MCPX_EVENT_JOINED, &event);
    cr_expect(event.renamed);
    expect_id(window, "a~2");
    party_chat(window, "{\"n\":1}");
    party_expect(window, MCPX_EVENT_DELIVERED, &event);
    party_expect(old, MCPX_EVENT_MESSAGE, &event);
    cr_expect(mcpx_slice_equal(event.envelope->from, MCPX_SLICE("a~2")));
    party_leave(window);
    party_leave(old);
    cr_expect_eq(daemon_stop(&router), 0, "exit status; log: %s", router.log);
}

/* Each comes back as who it was, in whatever order. */
Test(client_instances, keep_their_numbers_when_the_router_is_restarted, .timeout = 240)
{
    struct mcpx_client *windows[2];
    struct mcpx_event event;

    daemon_start(&router, settled, 0);
    for (int i = 0; i < 2; i++) {
        windows[i] = open_window(true);
        party_expect(windows[i], MCPX_EVENT_JOINED, &event);
    }
    daemon_restart(&router, settled, SIGKILL);
    for (int i = 1; i >= 0; i--) {
        party_expect(windows[i], MCPX_EVENT_JOINED, &event);
        cr_expect_not(event.renamed);
        expect_id(windows[i], i ? "a~2" : "a");
    }
    party_leave(windows[0]);
    party_leave(windows[1]);
    cr_expect_eq(daemon_stop(&router), 0, "exit status; log: %s", router.log);
}
