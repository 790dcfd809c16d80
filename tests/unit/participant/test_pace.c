/*
 * What breaks for whom: an answer that came too fast and is lost, or overtaken by a later one; a
 * router that is flooded and throws the sender out. Protocol: section 6.
 */
#include "tests/support/stage.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define CALL "{'jsonrpc':'2.0','id':'a','method':'tools/call','params':{'name':'x'}}"

/* Rates are checked before ids: such an error does not say that the first attempt was lost. */
Test(pace, does_not_give_up_what_may_have_arrived)
{
    struct stage stage;

    stage_set(&stage, NULL);
    stage_joins(&stage);
    stage_sends(&stage, "q", "mcp/request", "server", CALL);
    stage_sends(&stage, "c", "chat", NULL, "{}");
    stage_flushes(&stage);
    stage_breaks(&stage, 0);
    mcpx_session_connected(stage.session, stage.now);
    stage_hears(&stage, STAGE_RESUMED);
    stage_hears(&stage, STAGE_CAUGHT_UP);
    stage_skip(&stage);
    stage_expect_output(&stage, "'@q'");
    stage_hears(&stage, STAGE_ERROR("rate_limited", "@q"));
    stage_expect_output(&stage, NULL);
    cr_expect_eq(mcpx_session_deadline(stage.session), stage.now.mono_ms + 600);
    stage_waits(&stage, 599);
    stage_expect_output(&stage, NULL);
    stage_waits(&stage, 1);
    stage_expect_output(&stage, "'@q'");
    stage_expect_output(&stage, "'@c'");
    stage_hears(&stage,
                "{'id':'@q','from':'me','to':['server'],'kind':'mcp/request:tools/call:x',"
                "'payload':" CALL "}");
    stage_hears(&stage, STAGE_ERROR("rate_limited", "@q"));
    stage_expect(&stage, "delivered q\n"
                         "observed @q from me\n");
    stage_expect_output(&stage, NULL);
    stage_clear(&stage);
}

/* Nobody can answer twice; requests are the application's to ask again. */
Test(pace, writes_answers_again_that_came_too_fast)
{
    struct stage stage;

    stage_set(&stage, NULL);
    stage_joins(&stage);
    stage_sends(&stage, "a", "mcp/response:ping", "bob",
                "{'jsonrpc':'2.0','id':1,'result':{}}");
    stage_sends(&stage, "q", "mcp/request", "server", CALL);
    stage_flushes(&stage);
    stage_hears(&stage, STAGE_ERROR("rate_limited", "@a"));
    stage_hears(&stage, STAGE_ERROR("rate_limited", "@q"));
    stage_expect(&stage, "refused q rate_limited\n");
    stage_expect_output(&stage, NULL);
    stage_waits(&stage, 600);
    stage_expect_output(&stage, "'@a'");
    stage_expect_output(&stage, NULL);
    stage_clear(&stage);
}

/* In the order of sending, whatever order the refusals come in;
   and what was sent since, after them. */
Test(pace, keeps_the_order_of_what_came_too_fast)
{
    static const char *const names[] = {"'@a'", "'@b'", "'@c'", "'@d'"};
    static const char *const answer = "{'jsonrpc':'2.0','id':1,'result':{}}";
    struct stage stage;

    stage_set(&stage, NULL);
    stage_joins(&stage);
    stage_sends(&stage, "a", "mcp/response:ping", "bob", answer);
    stage_sends(&stage, "b", "mcp/response:ping", "bob", answer);
    stage_sends(&stage, "c", "mcp/response:ping", "bob", answer);
    stage_flushes(&stage);
    stage_sends(&stage, "d", "chat", "bob", "{}");
    stage_hears(&stage, STAGE_ERROR("rate_limited", "@b"));
    stage_hears(&stage, STAGE_ERROR("rate_limited", "@a"));
    stage_hears(&stage, STAGE_ERROR("rate_limited", "@c"));
    stage_waits(&stage, 600);
    for (size_t i = 0; i < 4; i++)
        stage_expect_output(&stage, names[i]);
    stage_expect_output(&stage, NULL);
    cr_expect_eq(mcpx_session_unsent_count(stage.session), 4);
    stage_clear(&stage);
}

/* Two reasons to wait: that one is over does not end the other. */
Test(pace, waits_out_a_pause_although_others_are_there_again)
{
    struct stage stage;

    stage_set(&stage, NULL);
    stage_joins(&stage);
    stage_sends(&stage, "a", "chat", "server", "{}");
    stage_breaks(&stage, 0);
    mcpx_session_connected(stage.session, stage.now);
    stage_hears(&stage, STAGE_ANEW("0"));
    stage_hears(&stage, STAGE_CAUGHT_UP);
    stage_hears(&stage, STAGE_ERROR("rate_limited", "x"));
    stage_sends(&stage, "b", "chat", "bob", "{}"); /* absent as well */
    stage_hears(&stage, STAGE_JOINS("server"));
    stage_hears(&stage, STAGE_JOINS("bob"));
    stage_skip(&stage);
    stage_waits(&stage, 599);
    stage_expect_output(&stage, NULL);
    stage_waits(&stage, 1);
    stage_expect_output(&stage, "'@a'");
    stage_clear(&stage);
}

/* The pause has bounds, which a number cannot escape by being longer than 64 bits hold. */
Test(pace, keeps_a_pause_within_its_bounds)
{
    enum { SHORTEST_MS = 500, LONGEST_MS = 3600000 };
    static const struct {
        const char *asked;
        int64_t pause_ms;
    } rows[] = {
        {"0", SHORTEST_MS},
        {"499", SHORTEST_MS},
        {"-1", SHORTEST_MS},
        {"'600'", SHORTEST_MS},
        {"null", SHORTEST_MS},
        {"600", 600},
        {"3600001", LONGEST_MS},
        {"999999999999999999", LONGEST_MS},
        {"1000000000000000000", LONGEST_MS},
        {"9223372036854775808", LONGEST_MS},
        {"18446744073709551617", LONGEST_MS},
        {"100000000000000000000000000000000", LONGEST_MS},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct stage stage;
        char error[320];

        stage_set(&stage, NULL);
        stage_joins(&stage);
        snprintf(error, sizeof error,
                 "{'id':'e','from':'system:gateway','to':['me'],'kind':'system/error',"
                 "'correlation_id':'x','payload':{'error':'rate_limited','message':'m',"
                 "'retry_after_ms':%s}}",
                 rows[i].asked);
        stage_hears(&stage, error);
        stage_sends(&stage, "a", "chat", "bob", "{}");
        cr_expect_eq(mcpx_session_deadline(stage.session) - stage.now.mono_ms,
                     rows[i].pause_ms, "retry_after_ms %s", rows[i].asked);
        stage_clear(&stage);
    }
}

static size_t count_output(struct stage *stage)
{
    struct mcpx_text text = {0};
    size_t count = 0;

    while (stage_writes(stage, &text))
        count++;
    mcpx_text_fini(&text);
    return count;
}

/* More than 600 refusals within a minute end the connection for good. */
Test(pace, does_not_write_faster_than_echoes_come)
{
    struct stage stage;
    struct mcpx_draft draft = {.type = "chat", .payload = MCPX_SLICE("{}")};
    struct mcpx_slice id;
    char first[64];

    stage_set(&stage, NULL);
    stage_joins(&stage);
    for (int i = 0; i < 1000; i++) {
        cr_assert_eq(mcpx_session_send(stage.session, &draft, stage.now, &id, NULL), MCPX_OK);
        if (i == 0)
            snprintf(first, sizeof first, "%.*s", (int)id.len, id.text);
    }
    cr_expect_eq(count_output(&stage), 256);
    stage_names(&stage, "first", first);
    stage_hears(&stage, "{'id':'@first','from':'me','kind':'chat'}");
    cr_expect_eq(count_output(&stage), 1);
    cr_expect_eq(mcpx_session_deadline(stage.session), stage.now.mono_ms + 5000);
    stage_waits(&stage, 5000); /* a router without echoes */
    cr_expect_eq(count_output(&stage), 256);
    stage_hears(&stage, STAGE_ERROR("rate_limited", "x"));
    stage_waits(&stage, 600);
    cr_expect_eq(count_output(&stage), 0); /* 256 are still on their way */
    stage_waits(&stage, 5000);
    cr_expect_eq(count_output(&stage), 4);
    stage_skip(&stage);
    stage_clear(&stage);
}
