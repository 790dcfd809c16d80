/*
 * What breaks for whom: a router that is flooded by those who come back, and clients that wait
 * although they could come back, or come back although the answer would be the same.
 * Protocol: section 5.
 */
#include "tests/support/stage.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(reconnect_pauses, .init = stage_begins, .fini = stage_clear);

#define CALL "{'jsonrpc':'2.0','id':'a','method':'tools/call','params':{'name':'x'}}"

Test(reconnect_pauses, tries_again_after_pauses_that_grow)
{
    static const int64_t longest[] = {500, 1000, 2000, 4000, 8000, 16000, 30000, 30000};
    struct mcpx_event event;

    stage_set(NULL);
    cr_expect_leq(mcpx_session_connect_at(stage.session), stage.now.mono_ms);
    for (size_t i = 0; i < sizeof longest / sizeof *longest; i++) {
        int64_t pause;

        stage_breaks(i % 2 ? 503 : 0);
        pause = mcpx_session_connect_at(stage.session) - stage.now.mono_ms;
        cr_expect(pause >= longest[i] / 2 && pause <= longest[i], "%d: %d", (int)i,
                  (int)pause);
        cr_assert(mcpx_session_event(stage.session, &event));
        cr_expect_eq(event.retry_ms, pause);
    }
    stage_joins();
    cr_expect_eq(mcpx_session_connect_at(stage.session), -1);
    stage_waits(10000);
    stage_breaks(1001);
    cr_expect_leq(mcpx_session_connect_at(stage.session) - stage.now.mono_ms, 500);
    stage_skip();
}

/* Who welcomes and closes is not asked twice a second for ever: the fourth pause has 2 s
 * at least. */
Test(reconnect_pauses, begins_anew_with_its_pauses_after_what_was_more_than_a_welcome)
{
    static const struct {
        const char *heard; /* after each welcome */
        int64_t lasts_ms;
        bool grows;
    } rows[] = {
        {NULL, 0, true},
        {NULL, 9999, true},
        {NULL, 10000, false},
        {"{'id':'m','from':'bob','kind':'chat','payload':{}}", 0, false},
        {"{'id':'m','from':'me','kind':'chat','payload':{}}", 0, false},
        {STAGE_JOINS("bob"), 0, true},
        {STAGE_CAUGHT_UP, 0, true},
        {STAGE_WELCOME, 9999, true},
        {STAGE_ERROR("rate_limited", "x"), 0, true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t pause = 0;

        stage_set(NULL);
        for (int round = 0; round < 4; round++) {
            stage_skip();
            stage_joins();
            if (rows[i].heard)
                stage_hears(rows[i].heard);
            stage_waits(rows[i].lasts_ms);
            stage_breaks(1001);
            pause = mcpx_session_connect_at(stage.session) - stage.now.mono_ms;
        }
        cr_expect_eq(pause >= 2000, rows[i].grows, "row %zu: %d", i, (int)pause);
        cr_expect(rows[i].grows || pause <= 500, "row %zu: %d", i, (int)pause);
        stage_skip();
    }
}

/* Ten thousand that come back in the same second would be a second of nothing else. */
Test(reconnect_pauses, stays_away_for_as_long_as_the_router_asks)
{
    static const struct {
        const char *reason;
        int64_t least, most;
    } rows[] = {
        {"the router is going away; retry_after_ms=1234", 1234, 1234},
        {"; retry_after_ms=29999", 29999, 29999},
        {"the router is going away; retry_after_ms=7", 250, 500}, /* its own pause is longer */
        {"the router is going away; retry_after_ms=99999999999999999999", 30000, 30000},
        {"the router is going away", 250, 500},
        {"the router is going away; retry_after_ms=", 250, 500},
        {"the router is going away; retry_after_ms=12s", 250, 500},
        {"the router is going away; retry_after_ms=-9000", 250, 500},
        {"retry_after_ms=9000", 250, 500},
        {"", 250, 500},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t pause;

        stage_begins();
        mcpx_session_disconnected(stage.session, 1001, mcpx_slice_of(rows[i].reason),
                                  stage.now);
        pause = mcpx_session_connect_at(stage.session) - stage.now.mono_ms;
        cr_expect(pause >= rows[i].least && pause <= rows[i].most, "%s: %d", rows[i].reason,
                  (int)pause);
        stage_skip();
    }
}

Test(reconnect_pauses, comes_back_at_once_with_another_token_but_only_once)
{
    static const int codes[] = {4005, 401, 1001}; /* the last is not about the token */

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        STAGE_BEGINS(.renews_token = true);
        stage_breaks(codes[i]);
        cr_expect_gt(mcpx_session_connect_at(stage.session), stage.now.mono_ms);
        mcpx_session_renews_token(stage.session, true);
        cr_expect_eq(mcpx_session_connect_at(stage.session) <= stage.now.mono_ms, i < 2);
        stage_breaks(401);
        mcpx_session_renews_token(stage.session, true);
        cr_expect_geq(mcpx_session_connect_at(stage.session) - stage.now.mono_ms, 500);
        stage_skip();
    }
}

Test(reconnect_pauses, gives_up_when_the_answer_would_be_the_same)
{
    static const int codes[] = {400,  401,  403,  404,  1002, 1003,
                                1007, 1008, 1009, 4001, 4004, 4005};

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char transcript[128];

        stage_begins();
        stage_sends("q", "mcp/request", "server", CALL);
        stage_breaks(codes[i]);
        stage_breaks(codes[i]);
        snprintf(transcript, sizeof transcript, "left %d gone; final\nexpired q\n", codes[i]);
        stage_expect(transcript);
        cr_expect_eq(mcpx_session_connect_at(stage.session), -1);
        cr_expect_eq(stage_sends("c", "chat", NULL, "{}"), MCPX_ECLOSED);
        cr_expect_eq(stage_responds("x", "{}"), MCPX_ECLOSED);
        mcpx_session_connected(stage.session, stage.now);
        cr_expect_eq(mcpx_session_connect_at(stage.session), -1);
    }
}
