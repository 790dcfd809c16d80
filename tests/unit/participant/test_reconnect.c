/*
 * What breaks for whom: messages lost or acted on twice when a connection breaks, an old tool call
 * executed because it stood in history.
 * Protocol: section 5.
 */
#include "tests/support/stage.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(reconnect, .init = stage_begins, .fini = stage_clear);

#define CALL "{'jsonrpc':'2.0','id':'a','method':'tools/call','params':{'name':'x'}}"
#define ANSWERED                                                                              \
    "'kind':'mcp/response:tools/call:x','payload':{'jsonrpc':'2.0','id':'a','result':{}}}"

/* Where the next connection would go on: "EPOCH SERIAL AFTER"; NULL = it joins anew. */
static void expect_place(const char *heard, const char *wanted)
{
    struct mcpx_place place;
    char text[200] = "none";

    if (mcpx_session_place(stage.session, &place))
        snprintf(text, sizeof text, "%.*s %d %.*s", (int)place.epoch.len, place.epoch.text,
                 (int)place.serial, (int)place.after.len,
                 place.after.text ? place.after.text : "");
    cr_expect_str_eq(text, wanted ? wanted : "none", "after %s", heard);
}

#define PRESENCE(event, id, topic)                                                            \
    "{'id':'p','from':'system:gateway','kind':'system/presence','payload':{'event':'" event   \
    "','participant':{'id':'" id "','capabilities':[]}" topic "}}"
#define POSITION(from, topic)                                                                 \
    "{'id':'p','from':'" from "','kind':'system/position','payload':{'topic':" topic "}}"

Test(reconnect, goes_on_from_the_place_the_router_told_and_the_id_seen_since)
{
    static const struct {
        const char *heard, *place; /* NULL = the connection breaks and is made again */
    } rows[] = {
        {STAGE_WELCOME, "E1 0 "},
        {PRESENCE("join", "me", ",'topic':{'epoch':'E1','serial':1}"), "E1 1 "},
        {"{'id':'2','from':'bob','kind':'chat'}", "E1 1 2"},
        {PRESENCE("leave", "bob", ""), "E1 1 2"},
        {STAGE_ERROR("rate_limited", "x"), "E1 1 2"},
        {"{'id':'4','from':'bob','kind':'mcp/request:lie'}", "E1 1 4"},
        {"{'id':'5','from':'bob','to':['eve'],'kind':'chat'}", "E1 1 5"},
        {PRESENCE("join", "bob", ",'topic':{'epoch':'E1','serial':4}"), "E1 4 "},
        {"{'id':'6','from':'bob','kind':'chat'}", "E1 4 6"},
        {POSITION("system:gateway", "{'epoch':'E1','serial':5}"), "E1 5 "},
        {"{'id':'7','from':'bob','kind':'chat'}", "E1 5 7"},
        /* nobody else tells a place, and nothing half told is one */
        {POSITION("bob", "{'epoch':'E1','serial':99}"), "E1 5 7"},
        {POSITION("system:gatewaY", "{'epoch':'E1','serial':99}"), "E1 5 7"},
        {POSITION("system:gateway", "{'epoch':'E1'}"), "E1 5 7"},
        {POSITION("system:gateway", "{'serial':9}"), "E1 5 7"},
        {POSITION("system:gateway", "{'epoch':'','serial':9}"), "E1 5 7"},
        {POSITION("system:gateway", "{'epoch':7,'serial':9}"), "E1 5 7"},
        {POSITION("system:gateway", "{'epoch':'E1','serial':-1}"), "E1 5 7"},
        {POSITION("system:gateway", "{'epoch':'E1','serial':1.5}"), "E1 5 7"},
        {POSITION("system:gateway", "{'epoch':'E1','serial':'9'}"), "E1 5 7"},
        {POSITION("system:gateway", "null"), "E1 5 7"},
        {POSITION("system:gateway", "{'epoch':'E1','serial':1234567890123456789}"), "E1 5 7"},
        {NULL, "E1 5 7"},
        {STAGE_RESUMED, "E1 3 "}, /* as the router says, who knows better */
        {"{'id':'7','from':'bob','kind':'chat'}", "E1 3 7"},
        {NULL, "E1 3 7"},
        {STAGE_ANEW("2"), "E2 9 "},
        {"{'id':'h','from':'system:gateway','kind':'system/history','payload':{"
         "'complete':true,'envelopes':["
         "{'protocol':'mcpx/v0.1','id':'8','from':'bob','kind':'chat','payload':{}}]}}",
         "E2 9 "}, /* history is behind the place */
        {NULL, "E2 9 "},
        {"{'id':'w','from':'system:gateway','to':['me'],'kind':'system/welcome','payload':{"
         "'you':{'id':'me','capabilities':['*']},'participants':[],"
         "'topic':{'name':'t','head':'z'},'resumed':false,'history':{'count':0}}}",
         NULL}, /* a router that knows no places */
        {"{'id':'9','from':'bob','kind':'chat'}", NULL},
    };

    stage_set(NULL);
    expect_place("nothing", NULL);
    mcpx_session_connected(stage.session, stage.now);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].heard) {
            stage_hears(rows[i].heard);
        } else {
            stage_breaks(0);
            mcpx_session_connected(stage.session, stage.now);
        }
        expect_place(rows[i].heard, rows[i].place);
    }
    stage_skip();
}

Test(reconnect, acts_on_what_was_missed_but_not_on_history)
{
    stage_breaks(1006);
    stage_expect("left 1006 gone; again\n");
    stage_comes(STAGE_RESUMED);
    stage_hears("{'id':'1','from':'bob','kind':'mcp/request:tools/call:x','payload':" CALL
                "}");
    stage_expect("joined w from system:gateway; resumed\n"
                 "request 1 from bob\n");
    stage_breaks(1006);
    stage_comes(STAGE_ANEW("1"));
    stage_hears("{'id':'h','from':'system:gateway','kind':'system/history','payload':{"
                "'complete':true,'envelopes':[{'protocol':'mcpx/v0.1','id':'2',"
                "'from':'bob','kind':'mcp/request:tools/call:x','payload':" CALL "}]}}");
    stage_expect("left 1006 gone; again\n"
                 "joined w from system:gateway\n"
                 "history 2 from bob\n");
}

Test(reconnect, takes_answers_to_what_it_still_waits_for_from_history)
{
    stage_sends("q", "mcp/request", "server", CALL);
    stage_sends("p", "mcp/proposal", NULL, "{'method':'tools/call','params':{'name':'x'}}");
    stage_flushes();
    stage_breaks(0);
    stage_comes(STAGE_ANEW("4"));
    stage_skip();
    stage_hears(
        "{'id':'h','from':'system:gateway','kind':'system/history','payload':{"
        "'complete':true,'envelopes':["
        "{'protocol':'mcpx/v0.1','id':'1','from':'server','correlation_id':'@q'," ANSWERED
        ",{'protocol':'mcpx/v0.1','id':'2','from':'bob','to':['server'],"
        "'correlation_id':'@p','kind':'mcp/request:tools/call:x','payload':" CALL "},"
        "{'protocol':'mcpx/v0.1','id':'3','from':'server','correlation_id':'2'," ANSWERED
        ",{'protocol':'mcpx/v0.1','id':'4','from':'server','correlation_id':'2'," ANSWERED
        "]}}");
    stage_expect("response 1 from server; own q\n"
                 "history 2 from bob\n"
                 "response 3 from server; own p; proposal\n"
                 "history 4 from server\n");
    cr_expect_eq(mcpx_session_pending_count(stage.session), 0);
    stage_expect_output(NULL);
}

/* An old id of ours used again by somebody else is no echo; our old proposals
   are not somebody's. */
Test(reconnect, is_not_misled_by_who_is_named_in_history)
{
    stage_sends("q", "mcp/request", "server", CALL);
    stage_flushes();
    stage_breaks(0);
    stage_comes(STAGE_ANEW("2"));
    stage_skip();
    stage_hears("{'id':'h','from':'system:gateway','kind':'system/history','payload':{"
                "'complete':true,'envelopes':["
                "{'protocol':'mcpx/v0.1','id':'@q','from':'eve','kind':'chat','payload':{}},"
                "{'protocol':'mcpx/v0.1','id':'o','from':'me','kind':'mcp/proposal:ping',"
                "'payload':{'method':'ping'}}]}}");
    stage_hears("{'id':'r','from':'eve','kind':'mcp/reject','correlation_id':'o'}");
    stage_expect("history @q from eve\n"
                 "history o from me\n"
                 "observed r from eve\n");
    cr_expect_eq(mcpx_session_unsent_count(stage.session), 1);
}

Test(reconnect, writes_again_what_was_not_seen_to_arrive)
{
    stage_set(NULL);
    stage_sends("early", "chat", NULL, "{}");
    stage_expect_output(NULL);
    mcpx_session_connected(stage.session, stage.now);
    stage_expect_output(NULL);
    stage_hears(STAGE_WELCOME);
    stage_expect_output("'@early'");
    stage_sends("q", "mcp/request", "server", CALL);
    stage_sends("c", "chat", NULL, "{}");
    stage_hears("{'id':'@early','from':'me','kind':'chat'}");
    stage_expect_output("'@q'");
    stage_breaks(0);
    stage_expect_output(NULL);
    stage_comes(STAGE_RESUMED);
    stage_skip();
    stage_expect_output(NULL); /* echoes may still come */
    stage_hears(STAGE_CAUGHT_UP);
    stage_expect_output("'@q'");
    stage_expect_output("'@c'");
    stage_expect_output(NULL);
    stage_hears(STAGE_ERROR("duplicate_id", "@q"));
    stage_hears(STAGE_ERROR("duplicate_id", "@q"));
    stage_hears("{'id':'@c','from':'me','kind':'chat'}");
    stage_hears(STAGE_ERROR("duplicate_id", "@c"));
    stage_hears("{'id':'r','from':'server','correlation_id':'@q'," ANSWERED);
    stage_expect("delivered q\n"
                 "delivered c\n"
                 "observed @c from me\n"
                 "response r from server; own q\n");
}

/* A transport that gives up tells LEFT; what is pending expires all the same. */
Test(reconnect, ends_what_is_pending_when_the_transport_gives_up)
{
    stage_sends("q", "mcp/request", "server", CALL);
    stage_flushes();
    cr_expect_eq(mcpx_session_unsent_count(stage.session), 1);
    stage_breaks(0);
    mcpx_session_end(stage.session);
    mcpx_session_end(stage.session);
    stage_expect("left 0 gone; again\n"
                 "expired q\n");
    cr_expect_eq(mcpx_session_unsent_count(stage.session), 0);
    cr_expect_eq(mcpx_session_connect_at(stage.session), -1);
    cr_expect_eq(stage_sends("r", "chat", NULL, "{}"), MCPX_ECLOSED);
}

/* After a restart of the router others may come back later than we do. */
Test(reconnect, waits_for_those_who_would_get_it_as_history_only)
{
    for (int how = 0; how < 3; how++) {
        stage_begins();
        stage_sends("q", "mcp/request", "server", CALL);
        stage_sends("n", "chat", "nobody", "{}");
        if (how > 0)
            stage_flushes();
        stage_breaks(0);
        stage_comes(STAGE_ANEW("0"));
        stage_hears(STAGE_CAUGHT_UP);
        stage_expect_output(NULL);
        stage_hears(STAGE_JOINS("bob")); /* was there, too, but nothing is for him */
        stage_expect_output(NULL);
        cr_expect_eq(mcpx_session_deadline(stage.session), stage.now.mono_ms + 10000);
        if (how < 2)
            stage_hears(STAGE_JOINS("server"));
        else
            stage_waits(10000);
        stage_expect_output("'@q'");
        stage_expect_output("'@n'");
        stage_skip();
    }
}

Test(reconnect, waits_for_them_with_new_messages_as_well)
{
    stage_breaks(0);
    stage_comes(STAGE_ANEW("0"));
    stage_hears(STAGE_CAUGHT_UP);
    stage_sends("a", "chat", "nobody", "{}");
    stage_expect_output("'@a'");
    stage_sends("b", "chat", "server", "{}");
    stage_expect_output(NULL);
    stage_hears(STAGE_JOINS("server"));
    stage_expect_output("'@b'");
    stage_waits(10000);
    stage_sends("c", "chat", "bob", "{}"); /* he had his time */
    stage_expect_output("'@c'");
    stage_skip();
}

Test(reconnect, does_not_write_again_what_came_back_meanwhile)
{
    stage_sends("a", "chat", NULL, "{}");
    stage_sends("b", "chat", NULL, "{}");
    stage_sends("c", "chat", NULL, "{}");
    stage_flushes();
    stage_breaks(0);
    stage_comes(STAGE_ANEW("1"));
    stage_skip();
    stage_hears("{'id':'h','from':'system:gateway','kind':'system/history','payload':{"
                "'complete':true,'envelopes':[{'protocol':'mcpx/v0.1','id':'@a',"
                "'from':'me','kind':'chat','payload':{}}]}}");
    stage_hears("{'id':'@b','from':'me','kind':'chat'}");
    stage_expect_output(NULL);
    cr_expect_eq(mcpx_session_deadline(stage.session), stage.now.mono_ms + 5000);
    stage_waits(5000); /* a router that does not tell us our own coming */
    stage_expect_output("'@c'");
    stage_expect_output(NULL);
    stage_expect("delivered a\n"
                 "history @a from me\n"
                 "delivered b\n"
                 "observed @b from me\n");
}

Test(reconnect, drops_what_expired_before_it_was_written)
{
    stage_set(NULL);
    stage_sends("q", "mcp/request", "server", CALL);
    stage_waits(60000);
    stage_expect("expired q\n");
    stage_joins();
    stage_expect_output(NULL);
}

Test(reconnect, lends_a_text_until_it_is_written_whatever_happens)
{
    struct mcpx_slice text;

    stage_sends("q", "mcp/request", "server", CALL);
    cr_assert(mcpx_session_output(stage.session, &text));
    stage_waits(60000);
    stage_expect("expired q\n");
    cr_expect_eq(text.text[0], '{'); /* and no sanitizer minds */
    mcpx_session_written(stage.session);
    mcpx_session_written(stage.session);
    stage_expect_output(NULL);
}

Test(reconnect, counts_what_has_no_echo_as_delivered_when_written)
{
    STAGE_BEGINS(.directed = true);
    stage_sends("q", "mcp/request", "server", CALL);
    stage_sends("s", "chat", "me,server", "{}");
    stage_sends("c", "chat", NULL, "{}");
    stage_sends("d", "chat", "bob", "{}");
    stage_flushes();
    stage_expect("delivered q\n"
                 "delivered d\n");
    stage_hears(STAGE_ERROR("rate_limited", "@q"));
    stage_hears(STAGE_ERROR("rate_limited", "@d"));
    stage_expect("refused q rate_limited\n"
                 "refused @d rate_limited\n");
    stage_breaks(0);
    stage_comes(STAGE_RESUMED);
    stage_hears(STAGE_CAUGHT_UP);
    stage_expect_output("'@s'");
    stage_expect_output("'@c'");
    stage_expect_output(NULL);
    stage_skip();
}
