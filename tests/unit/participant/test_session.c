/*
 * What breaks for whom: an application that is told twice or never what became of its request, or
 * is handed what was not meant for it. Protocol: sections 2, 5 and 6.
 */
#include "lib/base/scoped.h"
#include "tests/support/stage.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(session, .init = stage_begins, .fini = stage_clear);

#define PING "{'jsonrpc':'2.0','id':1,'method':'ping'}"
#define CALL "{'jsonrpc':'2.0','id':'a','method':'tools/call','params':{'name':'x'}}"
#define RESULT "{'jsonrpc':'2.0','id':'a','result':{}}"
#define CALLED "'kind':'mcp/request:tools/call:x','payload':" CALL "}"
#define ANSWERED "'kind':'mcp/response:tools/call:x','payload':" RESULT "}"
#define NOTIFIED                                                                              \
    "'kind':'mcp/request:notifications/progress','payload':{'jsonrpc':'2.0',"                 \
    "'method':'notifications/progress','params':{}}}"

Test(session, tells_a_request_s_echo_and_its_response)
{
    cr_assert_eq(stage_sends("q", "mcp/request", "server", CALL), MCPX_OK);
    cr_expect_eq(mcpx_session_pending_count(stage.session), 1);
    stage_echoes();
    stage_expect("delivered q\n"
                 "observed @q from me\n");
    stage_hears("{'id':'r','from':'server','to':['me'],'correlation_id':'@q'," ANSWERED);
    stage_expect("response r from server; own q\n");
    cr_expect_eq(mcpx_session_pending_count(stage.session), 0);
    stage_hears("{'id':'s','from':'server','to':['me'],'correlation_id':'@q'," ANSWERED);
    stage_expect("observed s from server\n"); /* late */
}

Test(session, delivers_what_is_for_us_and_lets_us_observe_the_rest)
{
    static const struct {
        const char *text, *transcript;
    } rows[] = {
        {"{'id':'m','from':'bob','kind':'chat'}", "message m from bob\n"},
        {"{'id':'m','from':'bob','to':[],'kind':'chat'}", "message m from bob\n"},
        {"{'id':'m','from':'bob','to':['eve','me'],'kind':'chat'}", "message m from bob\n"},
        {"{'id':'m','from':'bob','to':['eve'],'kind':'chat'}", "observed m from bob\n"},
        {"{'id':'m','from':'me','kind':'chat'}", "observed m from me\n"},
        {"{'id':'m','from':'me','to':['me'],'kind':'chat'}", "message m from me\n"},
        {"{'id':'m','from':'bob'," CALLED, "request m from bob\n"},
        {"{'id':'m','from':'bob','to':['me']," CALLED, "request m from bob\n"},
        {"{'id':'m','from':'bob','to':['eve']," CALLED, "observed m from bob\n"},
        {"{'id':'m','from':'me'," CALLED, "observed m from me\n"},
        {"{'id':'m','from':'me','to':['me']," CALLED, "request m from me\n"},
        {"{'id':'m','from':'bob'," NOTIFIED, "notification m from bob\n"},
        {"{'id':'m','from':'bob','to':['eve']," NOTIFIED, "observed m from bob\n"},
        {"{'id':'m','from':'bob','correlation_id':'x'," ANSWERED, "observed m from bob\n"},
        {"{'id':'m','from':'bob','to':['me']," ANSWERED, "observed m from bob\n"},
        {"{'id':'m','from':'bob','kind':'mcp/reject','correlation_id':'x'}",
         "observed m from bob\n"},
        {"{'id':'m','from':'bob','kind':'mcp/withdraw'}", "observed m from bob\n"},
        {"{'id':'m','from':'bob','kind':'mcp/other:x'}", "message m from bob\n"},
        {"{'id':'m','from':'system:gateway','kind':'system/news'}",
         "message m from system:gateway\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        stage_begins();
        cr_expect_eq(stage_hears(rows[i].text), MCPX_OK);
        stage_expect(rows[i].transcript);
    }
}

Test(session, is_silent_about_the_rest_unless_asked)
{
    struct mcpx_session_config config = stage_config();

    config.observe = false;
    stage_set(&config);
    stage_joins();
    stage_sends("q", "chat", NULL, "{}");
    stage_echoes();
    stage_hears("{'id':'m','from':'bob','to':['eve'],'kind':'chat'}");
    stage_hears("{'id':'n','from':'bob','to':['eve'],'kind':'mcp/request:tools/list',"
                "'payload':{'lies':1}}");
    stage_expect("delivered q\n");
}

Test(session, writes_what_it_was_given_byte_for_byte)
{
    mx_scoped_text text = {0};

    stage_sends("q", "mcp/request", "server,bob",
                " { 'jsonrpc':'2.0' , 'id':10000000000000000000001, 'id2':1e400,"
                "'method':'tools\\/call', 'params':{'name':'\\u0022'}} ");
    stage_replies("c", "chat", "x", "{}");
    cr_assert(stage_writes(&text));
    cr_expect_str_eq(text.text,
                     "{'protocol':'mcpx/v0.1','id':'@q','to':['server','bob'],"
                     "'kind':'mcp/request:tools/call:\\'','payload':{ 'jsonrpc':'2.0' , "
                     "'id':10000000000000000000001, 'id2':1e400,'method':'tools\\/call', "
                     "'params':{'name':'\\u0022'}}}");
    cr_assert(stage_writes(&text));
    cr_expect_str_eq(text.text, "{'protocol':'mcpx/v0.1','id':'@c','kind':'chat',"
                                "'correlation_id':'x','payload':{}}");
    cr_expect_not(stage_writes(&text));
}

Test(session, answers_a_request_once_under_its_operation)
{
    mx_scoped_text text = {0};

    stage_hears("{'id':'q','from':'bob','to':['me']," CALLED);
    stage_expect("request q from bob\n");
    cr_expect_eq(stage_responds("x", RESULT), MCPX_ENOTFOUND);
    cr_expect_eq(stage_responds("q", "{'jsonrpc':'2.0','id':'b','result':{}}"), MCPX_EINVALID);
    cr_expect_eq(stage_responds("q", PING), MCPX_EINVALID);
    cr_expect_eq(stage_responds("q", "{"), MCPX_EINVALID);
    cr_expect_eq(stage_responds("q", RESULT), MCPX_OK);
    cr_expect_eq(stage_responds("q", RESULT), MCPX_ENOTFOUND);
    cr_assert(stage_writes(&text));
    cr_expect_not_null(strstr(text.text, "'to':['bob'],'kind':'mcp/response:tools/call:x',"
                                         "'correlation_id':'q','payload':" RESULT "}"),
                       "%s", text.text);
}

Test(session, takes_a_request_once_while_it_waits_for_an_answer)
{
    for (int i = 0; i < 2; i++)
        stage_hears("{'id':'q','from':'bob','to':['me']," CALLED);
    stage_hears("{'id':'q','from':'eve','to':['me']," CALLED);
    stage_expect("request q from bob\n"
                 "observed q from bob\n"
                 "violation id_taken q from eve\n");
    cr_expect_eq(stage_responds("q", RESULT), MCPX_OK);
}

/* Others choose it, and it is kept until there is an answer. */
Test(session, takes_json_rpc_ids_of_a_kibibyte_at_most)
{
    char text[2000], id[1024];

    memset(id, '1', sizeof id - 1);
    id[sizeof id - 1] = '\0';
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text,
                 "{'id':'q%d','from':'bob','kind':'mcp/request:ping','payload':{"
                 "'jsonrpc':'2.0','id':1%s%s,'method':'ping'}}",
                 i, id + (i == 0), i == 2 ? "1" : "");
        stage_hears(text);
    }
    stage_expect("request q0 from bob\n"
                 "request q1 from bob\n"
                 "violation not_json_rpc q2 from bob\n");
    snprintf(text, sizeof text, "{'jsonrpc':'2.0','id':11%s,'method':'ping'}", id);
    cr_expect_eq(stage_sends("r", "mcp/request", NULL, text), MCPX_EINVALID);
}

Test(session, forgets_the_oldest_request_when_nobody_answers)
{
    STAGE_BEGINS(.inbound_max = 2);
    stage_hears("{'id':'q1','from':'bob'," CALLED);
    stage_hears("{'id':'q2','from':'bob'," CALLED);
    stage_hears("{'id':'q3','from':'bob'," CALLED);
    stage_skip();
    cr_expect_eq(stage_responds("q1", RESULT), MCPX_ENOTFOUND);
    cr_expect_eq(stage_responds("q2", RESULT), MCPX_OK);
    cr_expect_eq(stage_responds("q3", RESULT), MCPX_OK);
}

Test(session, keeps_old_requests_when_newer_ones_are_dropped)
{
    STAGE_BEGINS(.inbound_max = 2);
    stage_hears("{'id':'q1','from':'bob'," CALLED);
    stage_hears("{'id':'q2','from':'eve'," CALLED);
    cr_expect(mcpx_session_drop(stage.session, MCPX_SLICE("q2")));
    cr_expect_not(mcpx_session_drop(stage.session, MCPX_SLICE("q2")));
    stage_hears("{'id':'q3','from':'eve'," CALLED);
    cr_expect(mcpx_session_drop(stage.session, MCPX_SLICE("q3")));
    stage_skip();
    cr_expect_eq(stage_responds("q2", RESULT), MCPX_ENOTFOUND);
    cr_expect_not(mcpx_session_drop(stage.session, (struct mcpx_slice){0}));
    cr_expect_eq(stage_responds("q1", RESULT), MCPX_OK);
}

Test(session, settles_with_the_first_of_several_answers)
{
    stage_sends("q", "mcp/request", "server,bob", CALL);
    stage_sends("b", "mcp/request", NULL, CALL);
    stage_hears("{'id':'1','from':'bob','correlation_id':'@q'," ANSWERED);
    stage_hears("{'id':'2','from':'server','correlation_id':'@q'," ANSWERED);
    stage_hears("{'id':'3','from':'eve','correlation_id':'@b'," ANSWERED);
    stage_hears("{'id':'4','from':'bob','correlation_id':'@b'," ANSWERED);
    stage_expect("response 1 from bob; own q\n"
                 "observed 2 from server\n"
                 "response 3 from eve; own b\n"
                 "observed 4 from bob\n");
}

Test(session, ties_notifications_to_a_request_when_they_come_from_its_addressee)
{
    stage_sends("q", "mcp/request", "server", CALL);
    stage_hears("{'id':'1','from':'server','correlation_id':'@q'," NOTIFIED);
    stage_hears("{'id':'2','from':'eve','correlation_id':'@q'," NOTIFIED);
    stage_hears("{'id':'3','from':'server'," NOTIFIED);
    stage_expect("notification 1 from server; own q\n"
                 "notification 2 from eve\n"
                 "notification 3 from server\n");
}

Test(session, lets_deadlines_pass_in_their_order)
{
    struct mcpx_slice payload = MCPX_SLICE("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}");
    struct mcpx_draft draft = {.type = "mcp/request", .payload = payload, .tag = "never"};
    STAGE_BEGINS(.request_ms = 500, .proposal_ms = 300);
    cr_expect_eq(mcpx_session_deadline(stage.session), INT64_MAX);
    stage_sends("q", "mcp/request", NULL, PING);
    stage_sends("p", "mcp/proposal", NULL, "{'method':'ping'}");
    draft.timeout_ms = -1;
    mcpx_session_send(stage.session, &draft, stage.now, NULL, NULL);
    draft.timeout_ms = 100;
    mcpx_session_send(stage.session, &draft, stage.now, NULL, NULL);
    draft.timeout_ms = INT64_MAX;
    mcpx_session_send(stage.session, &draft, stage.now, NULL, NULL);
    stage_sends("n", "mcp/request", NULL,
                "{'jsonrpc':'2.0','method':'notifications/initialized'}");
    cr_expect_eq(mcpx_session_pending_count(stage.session), 5);
    cr_expect_eq(mcpx_session_deadline(stage.session), stage.now.mono_ms + 100);
    stage_waits(99);
    stage_expect("");
    mcpx_session_tick(stage.session,
                      (struct mcpx_now){stage.now.mono_ms + 1, stage.now.wall_ms});
    cr_expect_eq(mcpx_session_pending_count(stage.session), 4);
    stage_skip();
    stage_waits(500);
    stage_expect("expired p\n"
                 "expired q\n");
    cr_expect_eq(mcpx_session_deadline(stage.session), INT64_MAX);
    cr_expect_eq(mcpx_session_pending_count(stage.session), 2);
}

Test(session, no_longer_waits_for_what_it_shall_forget)
{
    stage_sends("q", "mcp/request", NULL, CALL);
    cr_expect(mcpx_session_forget(stage.session, mcpx_slice_of(stage.ids[0])));
    cr_expect_not(mcpx_session_forget(stage.session, mcpx_slice_of(stage.ids[0])));
    cr_expect_not(mcpx_session_forget(stage.session, MCPX_SLICE("x")));
    stage_echoes();
    stage_waits(1000000);
    stage_hears("{'id':'1','from':'bob','correlation_id':'@q'," ANSWERED);
    stage_expect("delivered q\n"
                 "observed @q from me\n"
                 "observed 1 from bob\n");
}

Test(session, tells_why_the_router_refused)
{
    stage_sends("q", "mcp/request", NULL, CALL);
    stage_sends("c", "chat", NULL, "{}");
    stage_flushes();
    stage_hears("{'id':'e','from':'system:gateway','to':['me'],'kind':'system/error',"
                "'correlation_id':'@q','payload':{'error':'capability_violation',"
                "'message':'You lack it','alternative':'mcp/proposal:tools/call:x'}}");
    stage_hears("{'id':'f','from':'system:gateway','to':['me'],'kind':'system/error',"
                "'correlation_id':'@c','payload':{'error':'rate_limited',"
                "'message':'too many','retry_after_ms':10}}");
    stage_hears("{'id':'g','from':'system:gateway','to':['me'],'kind':'system/error',"
                "'payload':{'error':'slow_consumer','missed':3}}");
    stage_expect("refused q capability_violation; alternative mcp/proposal:tools/call:x\n"
                 "refused c rate_limited\n"
                 "message g from system:gateway\n");
    cr_expect_eq(mcpx_session_pending_count(stage.session), 0);
}

Test(session, keeps_the_roster)
{
    struct mcpx_participant who;
    struct mcpx_kind kind;

    cr_assert_eq(mcpx_kind_parse(MCPX_SLICE("chat"), &kind, NULL), MCPX_OK);
    cr_assert_eq(mcpx_session_participant_count(stage.session), 2);
    cr_expect(mcpx_session_could(stage.session, MCPX_SLICE("bob"), &kind));
    cr_expect_not(mcpx_session_could(stage.session, MCPX_SLICE("server"), &kind));
    cr_expect_not(mcpx_session_could(stage.session, MCPX_SLICE("nobody"), &kind));
    stage_hears("{'id':'1','from':'system:gateway','kind':'system/presence','payload':{"
                "'event':'join','participant':{'id':'anna','capabilities':[]}}}");
    stage_hears("{'id':'2','from':'system:gateway','kind':'system/presence','payload':{"
                "'event':'update','participant':{'id':'server','capabilities':['*',"
                "'not a pattern']}}}");
    stage_hears("{'id':'3','from':'system:gateway','kind':'system/presence','payload':{"
                "'event':'leave','participant':{'id':'bob','capabilities':[]}}}");
    stage_hears("{'id':'4','from':'system:gateway','kind':'system/presence','payload':{"
                "'event':'leave','participant':{'id':'bob','capabilities':[]}}}");
    stage_hears("{'id':'5','from':'system:gateway','kind':'system/presence','payload':{"
                "'event':'join','participant':{'id':'me','capabilities':[]}}}");
    stage_expect("presence join anna\n"
                 "presence update server\n"
                 "presence leave bob\n");
    cr_assert_eq(mcpx_session_participant_count(stage.session), 2);
    mcpx_session_participant(stage.session, 0, &who);
    cr_expect(mcpx_slice_equal(who.id, MCPX_SLICE("anna")));
    cr_expect_eq(who.capability_count, 0);
    mcpx_session_participant(stage.session, 1, &who);
    cr_expect_eq(who.capability_count, 2);
    cr_expect(mcpx_session_could(stage.session, MCPX_SLICE("server"), &kind));
    cr_expect_not(mcpx_session_could(stage.session, MCPX_SLICE("bob"), &kind));
}

static void expect_slice(struct mcpx_slice found, const char *expected)
{
    cr_expect(mcpx_slice_equal(found, mcpx_slice_of(expected)), "%.*s instead of %s",
              (int)found.len, found.text, expected);
}

/* Everything that an application may do while it looks at an event, more often than memory is
   reused. */
static void do_all(struct mcpx_slice request, struct mcpx_slice own)
{
    static const struct mcpx_slice to[] = {{"server", 6}};
    struct mcpx_draft draft = {.type = "mcp/request",
                               .to = to,
                               .to_count = 1,
                               .payload = MCPX_SLICE("{\"jsonrpc\":\"2.0\",\"id\":1,"
                                                     "\"method\":\"ping\"}")};
    struct mcpx_slice id;

    mcpx_session_respond(stage.session, request,
                         MCPX_SLICE("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}"),
                         stage.now, NULL);
    mcpx_session_drop(stage.session, request);
    mcpx_session_forget(stage.session, own);
    for (int i = 0; i < 50; i++) {
        cr_assert_eq(mcpx_session_send(stage.session, &draft, stage.now, &id, NULL), MCPX_OK);
        mcpx_session_forget(stage.session, id);
    }
}

Test(session, lends_an_event_whatever_the_application_does_meanwhile)
{
    struct mcpx_event event;

    cr_assert_eq(stage_sends("q", "mcp/request", "server", CALL), MCPX_OK);
    stage_echoes();
    stage_skip();
    stage_hears("{'id':'r','from':'server','to':['me']," CALLED);
    stage_hears("{'id':'s','from':'server','to':['me'],'correlation_id':'@q'," ANSWERED);
    stage_hears(STAGE_JOINS("a-participant-who-is-new"));
    for (int i = 0; i < 3; i++) {
        char own[64];

        cr_assert(mcpx_session_event(stage.session, &event));
        snprintf(own, sizeof own, "%.*s", (int)event.own.len, event.own.text);
        do_all(MCPX_SLICE("r"), event.own);
        if (event.type == MCPX_EVENT_PRESENCE) {
            expect_slice(event.participant, "a-participant-who-is-new");
            continue;
        }
        expect_slice(event.envelope->from, "server");
        expect_slice(event.envelope->id, event.type == MCPX_EVENT_REQUEST ? "r" : "s");
        expect_slice(event.rpc->id, "\"a\"");
        if (event.type == MCPX_EVENT_REQUEST)
            expect_slice(event.rpc->method, "tools/call");
        else
            expect_slice(event.own, own);
    }
    cr_expect_not(mcpx_session_event(stage.session, &event));
    stage_flushes();
}

Test(session, names_its_events_and_violations)
{
    cr_expect_str_eq(mcpx_event_name(MCPX_EVENT_VIOLATION), "violation");
    cr_expect_str_eq(mcpx_event_name(MCPX_EVENT_COUNT), "unknown");
    for (int i = 0; i < MCPX_EVENT_COUNT; i++)
        cr_expect_not_null(mcpx_event_name((enum mcpx_event_type)i),
                           "event number %d has no name in lib/session/session_state.c", i);
    cr_expect_str_eq(mcpx_violation_name(MCPX_VIOLATION_ID), "other_id");
    cr_expect_str_eq(mcpx_violation_name(MCPX_VIOLATION_COUNT), "unknown");
    cr_expect_str_eq(mcpx_violation_text(MCPX_VIOLATION_TEXT),
                     "the message is not a valid envelope");
}
