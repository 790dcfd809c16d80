/*
 * What breaks for whom: an answer that came too fast and is lost, or overtaken by a later one; a
 * router that is flooded and throws the sender out. Protocol: section 6.
 */
#include "tests/support/stage.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(pace, .init = stage_begins, .fini = stage_clear);

#define CALL "{'jsonrpc':'2.0','id':'a','method':'tools/call','params':{'name':'x'}}"

/* Rates are checked before ids: such an error does not say that the first attempt was lost. */
Test(pace, does_not_give_up_what_may_have_arrived)
{
    stage_sends("q", "mcp/request", "server", CALL);
    stage_sends("c", "chat", NULL, "{}");
    stage_flushes();
    stage_breaks(0);
    stage_comes(STAGE_RESUMED);
    stage_hears(STAGE_CAUGHT_UP);
    stage_skip();
    stage_expect_output("'@q'");
    stage_hears(STAGE_ERROR("rate_limited", "@q"));
    stage_expect_output(NULL);
    cr_expect_eq(mcpx_session_deadline(stage.session), stage.now.mono_ms + 600);
    stage_waits(599);
    stage_expect_output(NULL);
    stage_waits(1);
    stage_expect_output("'@q'");
    stage_expect_output("'@c'");
    stage_hears("{'id':'@q','from':'me','to':['server'],'kind':'mcp/request:tools/call:x',"
                "'payload':" CALL "}");
    stage_hears(STAGE_ERROR("rate_limited", "@q"));
    stage_expect("delivered q\n"
                 "observed @q from me\n");
    stage_expect_output(NULL);
}

/* Nobody can answer twice; requests are the application's to ask again. */
Test(pace, writes_answers_again_that_came_too_fast)
{
    stage_sends("a", "mcp/response:ping", "bob", "{'jsonrpc':'2.0','id':1,'result':{}}");
    stage_sends("q", "mcp/request", "server", CALL);
    stage_flushes();
    stage_hears(STAGE_ERROR("rate_limited", "@a"));
    stage_hears(STAGE_ERROR("rate_limited", "@q"));
    stage_expect("refused q rate_limited\n");
    stage_expect_output(NULL);
    stage_waits(600);
    stage_expect_output("'@a'");
    stage_expect_output(NULL);
}

/* In the order of sending, whatever order the refusals come in;
   and what was sent since, after them. */
Test(pace, keeps_the_order_of_what_came_too_fast)
{
    static const char *const names[] = {"'@a'", "'@b'", "'@c'", "'@d'"};
    static const char *const answer = "{'jsonrpc':'2.0','id':1,'result':{}}";

    stage_sends("a", "mcp/response:ping", "bob", answer);
    stage_sends("b", "mcp/response:ping", "bob", answer);
    stage_sends("c", "mcp/response:ping", "bob", answer);
    stage_flushes();
    stage_sends("d", "chat", "bob", "{}");
    stage_hears(STAGE_ERROR("rate_limited", "@b"));
    stage_hears(STAGE_ERROR("rate_limited", "@a"));
    stage_hears(STAGE_ERROR("rate_limited", "@c"));
    stage_waits(600);
    for (size_t i = 0; i < 4; i++)
        stage_expect_output(names[i]);
    stage_expect_output(NULL);
    cr_expect_eq(mcpx_session_unsent_count(stage.session), 4);
}

/* Two reasons to wait: that one is over does not end the other. */
Test(pace, waits_out_a_pause_although_others_are_there_again)
{
    stage_sends("a", "chat", "server", "{}");
    stage_breaks(0);
    stage_comes(STAGE_ANEW("0"));
    stage_hears(STAGE_CAUGHT_UP);
    stage_hears(STAGE_ERROR("rate_limited", "x"));
    stage_sends("b", "chat", "bob", "{}"); /* absent as well */
    stage_hears(STAGE_JOINS("server"));
    stage_hears(STAGE_JOINS("bob"));
    stage_skip();
    stage_waits(599);
    stage_expect_output(NULL);
    stage_waits(1);
    stage_expect_output("'@a'");
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
        char error[320];

        stage_begins();
        snprintf(error, sizeof error,
                 "{'id':'e','from':'system:gateway','to':['me'],'kind':'system/error',"
                 "'correlation_id':'x','payload':{'error':'rate_limited','message':'m',"
                 "'retry_after_ms':%s}}",
                 rows[i].asked);
        stage_hears(error);
        stage_sends("a", "chat", "bob", "{}");
        cr_expect_eq(mcpx_session_deadline(stage.session) - stage.now.mono_ms,
                     rows[i].pause_ms, "retry_after_ms %s", rows[i].asked);
    }
}

static size_t count_output(void)
{
    struct mcpx_text text = {0};
    size_t count = 0;

    while (stage_writes(&text))
        count++;
    mcpx_text_fini(&text);
    return count;
}

/* More than 600 refusals within a minute end the connection for good. */
Test(pace, does_not_write_faster_than_echoes_come)
{
    struct mcpx_draft draft = {.type = "chat", .payload = MCPX_SLICE("{}")};
    struct mcpx_slice id;
    char first[64];

    for (int i = 0; i < 1000; i++) {
        cr_assert_eq(mcpx_session_send(stage.session, &draft, stage.now, &id, NULL), MCPX_OK);
        if (i == 0)
            snprintf(first, sizeof first, "%.*s", (int)id.len, id.text);
    }
    cr_expect_eq(count_output(), 256);
    stage_names("first", first);
    stage_hears("{'id':'@first','from':'me','kind':'chat'}");
    cr_expect_eq(count_output(), 1);
    cr_expect_eq(mcpx_session_deadline(stage.session), stage.now.mono_ms + 5000);
    stage_waits(5000); /* a router without echoes */
    cr_expect_eq(count_output(), 256);
    stage_hears(STAGE_ERROR("rate_limited", "x"));
    stage_waits(600);
    cr_expect_eq(count_output(), 0); /* 256 are still on their way */
    stage_waits(5000);
    cr_expect_eq(count_output(), 4);
    stage_skip();
}
