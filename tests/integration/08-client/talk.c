/*
 * The client of the library at the real router: what is sent arrives, requests are answered,
 * nothing is lost or mixed up however much of it there is. What breaks here breaks every program
 * that is built on libmcpx. Protocol: sections 2, 5 and 7.
 */
#include "tests/support/party.h"
#include "tests/support/suite_router.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(client_talk, .init = suite_router_start, .fini = suite_router_stop, .timeout = 240);

Test(client_talk, who_joins_is_told_who_it_is_and_who_is_there)
{
    struct mcpx_client *a = party_join(&router, "a", "room"), *b;
    struct mcpx_participant other;
    struct mcpx_event event;

    b = party_join(&router, "b", "room");
    cr_expect(mcpx_slice_equal(mcpx_session_id(mcpx_client_session(b)), MCPX_SLICE("b")));
    cr_assert_eq(mcpx_session_participant_count(mcpx_client_session(b)), 1);
    mcpx_session_participant(mcpx_client_session(b), 0, &other);
    cr_expect(mcpx_slice_equal(other.id, MCPX_SLICE("a")));
    party_expect(a, MCPX_EVENT_PRESENCE, &event);
    cr_expect(mcpx_slice_equal(event.participant, MCPX_SLICE("b")));
    cr_expect_eq(event.presence, MCPX_PRESENCE_JOIN);
    party_leave(b);
    party_expect(a, MCPX_EVENT_PRESENCE, &event);
    cr_expect_eq(event.presence, MCPX_PRESENCE_LEAVE);
    party_leave(a);
}

Test(client_talk, the_echo_says_that_a_message_has_its_place)
{
    struct mcpx_client *a = party_join(&router, "a", "room");
    struct mcpx_client *b = party_join(&router, "b", "room");
    struct mcpx_event event;

    party_chat(a, "{\"text\":\"hello\",\"n\":1e400}");
    party_expect(a, MCPX_EVENT_DELIVERED, &event);
    cr_expect(event.own.len > 0);
    party_expect(b, MCPX_EVENT_MESSAGE, &event);
    cr_expect(mcpx_slice_equal(event.envelope->from, MCPX_SLICE("a")));
    cr_expect(mcpx_slice_equal(event.envelope->payload,
                               MCPX_SLICE("{\"text\":\"hello\",\"n\":1e400}")));
    party_leave(a);
    party_leave(b);
}

Test(client_talk, what_is_sent_before_joining_waits_for_it)
{
    struct mcpx_client *b = party_join(&router, "b", "room"), *a;
    struct mcpx_client_config config = party_config(&router, "a", "room");
    struct mcpx_event event;

    a = party_open(&config);
    party_chat(a, "{\"n\":1}");
    mcpx_client_close(a, DAEMON_PATIENCE_MS);
    party_expect(a, MCPX_EVENT_LEFT, &event);
    cr_expect(event.code == 1000 && event.retry_ms == -1);
    cr_expect_eq(mcpx_client_wait(a, -1, &event), MCPX_ECLOSED);
    mcpx_client_free(a);
    party_expect(b, MCPX_EVENT_MESSAGE, &event);
    cr_expect(mcpx_slice_equal(event.envelope->payload, MCPX_SLICE("{\"n\":1}")));
    party_leave(b);
}

Test(client_talk, a_request_is_answered_under_its_operation)
{
    struct mcpx_client *a = party_join(&router, "a", "room");
    struct mcpx_client *b = party_join(&router, "b", "room");
    struct mcpx_event event;

    party_send(a, "mcp/request", "b",
               "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\","
               "\"params\":{\"name\":\"ls\"}}");
    party_expect(a, MCPX_EVENT_DELIVERED, &event);
    party_expect(b, MCPX_EVENT_REQUEST, &event);
    cr_expect(mcpx_slice_equal(event.envelope->kind.context, MCPX_SLICE("ls")));
    cr_assert_eq(mcpx_client_respond(
                     b, event.envelope->id,
                     MCPX_SLICE("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"x\":[1.10]}}"),
                     NULL),
                 MCPX_OK);
    party_expect(b, MCPX_EVENT_DELIVERED, &event);
    party_expect(a, MCPX_EVENT_RESPONSE, &event);
    cr_expect(mcpx_slice_equal(event.rpc->result, MCPX_SLICE("{\"x\":[1.10]}")));
    party_leave(a);
    party_leave(b);
}

/* In one frame and in many; a million bytes take several reads. */
Test(client_talk, large_messages_arrive_whole)
{
    static const size_t sizes[] = {1, 125, 126, 65535, 65536, 131072, 1000000};
    struct mcpx_client *a = party_join(&router, "a", "room");
    struct mcpx_client *b = party_join(&router, "b", "room");
    char *payload = malloc(1000100);
    struct mcpx_event event;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        strcpy(payload, "{\"t\":\"");
        memset(payload + 6, 'x', sizes[i]);
        strcpy(payload + 6 + sizes[i], "\"}");
        party_chat(a, payload);
        party_expect(a, MCPX_EVENT_DELIVERED, &event);
        party_expect(b, MCPX_EVENT_MESSAGE, &event);
        cr_expect(mcpx_slice_equal(event.envelope->payload, mcpx_slice_of(payload)), "%zu",
                  sizes[i]);
    }
    free(payload);
    party_leave(a);
    party_leave(b);
}

/* A directed reader gets no echo of what is for others: DELIVERED follows the writing. */
Test(client_talk, directed_clients_are_told_delivered_too)
{
    struct mcpx_client_config config = party_config(&router, "a", "room");
    struct mcpx_client *b = party_join(&router, "b", "room"), *a;
    struct mcpx_event event;

    config = party_config(&router, "a", "room");
    config.routing = "directed";
    a = party_open(&config);
    party_expect(a, MCPX_EVENT_JOINED, &event);
    party_send(a, "chat", "b", "{\"n\":1}");
    party_expect(a, MCPX_EVENT_DELIVERED, &event);
    party_expect(b, MCPX_EVENT_MESSAGE, &event);
    party_send(b, "chat", "c", "{\"n\":2}");
    party_send(b, "chat", "a", "{\"n\":3}");
    party_expect(b, MCPX_EVENT_DELIVERED, &event);
    party_expect(b, MCPX_EVENT_DELIVERED, &event);
    party_expect(a, MCPX_EVENT_MESSAGE, &event);
    cr_expect(mcpx_slice_equal(event.envelope->payload, MCPX_SLICE("{\"n\":3}")));
    party_leave(a);
    party_leave(b);
}

Test(client_talk, a_topic_may_have_any_name)
{
    struct mcpx_client *a = party_join(&router, "a", "b\xc3\xbcro 7/../:&=;?%+#");

    party_chat(a, "{}");
    party_leave(a);
}

/* The echo is how a client knows that something arrived; without it everything
   would go out twice. */
Test(client_talk, a_router_that_would_rather_direct_is_asked_for_everything)
{
    struct mcpx_client *a, *b;
    struct mcpx_event event;
    struct daemon other;

    daemon_start(&other, "{\"topics\":{\"routing\":\"directed\"}}", 0);
    a = party_join(&other, "a", "room");
    b = party_join(&other, "b", "room");
    party_send(a, "chat", "c", "{\"n\":1}");
    party_expect(a, MCPX_EVENT_DELIVERED, &event);
    cr_expect_eq(mcpx_session_unsent_count(mcpx_client_session(a)), 0);
    party_leave(a);
    party_leave(b);
    cr_expect_eq(daemon_stop(&other), 0);
}
