/*
 * What breaks for whom: an application that is told half of what happened because memory ran out in
 * between. Every allocation of every step fails once; then the connection is made anew, the message
 * comes again, and what is told is what would have been told. Contract: mcpx_session_receive.
 */
#include "tests/support/fault_alloc.h"
#include "tests/support/stage.h"

#include <criterion/criterion.h>

TestSuite(session_memory, .init = stage_begins, .fini = stage_clear);

#define CALL "{'jsonrpc':'2.0','id':'a','method':'tools/call','params':{'name':'x'}}"
#define BODY "{'method':'ping','params':{}}"
#define PING "{'jsonrpc':'2.0','id':'a','method':'ping','params':{}}"
#define RESULT "'payload':{'jsonrpc':'2.0','id':'a','result':{}}}"
#define WELCOME(resumed)                                                                      \
    "{'id':'w','from':'system:gateway','to':['me'],'kind':'system/welcome','payload':{"       \
    "'you':{'id':'me','capabilities':['*','a'],'grants':['*',{'kind':'a','to':['b','c'],"     \
    "'expires':'2030-01-01T00:00:00Z'}]},'participants':[{'id':'bob','capabilities':['x']},"  \
    "{'id':'server','capabilities':[]}],'topic':{'name':'t','head':null},"                    \
    "'resumed':" resumed ",'history':{'count':0}}}"

Test(session_memory, a_session_is_made_or_not)
{
    struct mcpx_session_config config = stage_config();
    struct mcpx_session *session;

    FAULT_ALLOC_EACH(nth, 2) {
        enum mcpx_err err = mcpx_session_new(&config, &session);

        cr_expect_eq(err, fault_alloc_disarm() ? MCPX_ENOMEM : MCPX_OK);
    }
    mcpx_session_free(session);
    mcpx_session_free(NULL);
}

static void reconnect(void)
{
    struct mcpx_event event;

    stage_breaks(0);
    mcpx_session_connected(stage.session, stage.now);
    cr_assert_eq(stage_hears(WELCOME("true")), MCPX_OK);
    cr_assert(mcpx_session_event(stage.session, &event));
    cr_expect_eq(event.type, MCPX_EVENT_LEFT);
    cr_assert(mcpx_session_event(stage.session, &event));
    cr_expect_eq(event.type, MCPX_EVENT_JOINED);
}

/* Some of what a compiled grant set asks for only makes it faster. */
static bool is_spare(const char *text)
{
    return strstr(text, "system/welcome") != NULL;
}

/* Hears a message until no allocation fails any more; returns how many did. */
static size_t hear(const char *text, const char *transcript)
{
    struct mcpx_text whole = {0};
    size_t nth = 0;
    enum mcpx_err err;
    bool failed;

    stage_compose(text, &whole);
    do {
        fault_alloc_arm(++nth);
        err = mcpx_session_receive(stage.session, mcpx_text_view(&whole), stage.now);
        failed = fault_alloc_disarm();
        cr_assert(err == (failed ? MCPX_ENOMEM : MCPX_OK) || is_spare(text), "%s: %zu", text,
                  nth);
        if (!err)
            break;
        stage_expect("");
        cr_expect_eq(stage_hears(text), MCPX_ENOMEM); /* no memory */
        reconnect();
    } while (failed);
    mcpx_text_fini(&whole);
    stage_expect(transcript);
    return nth - 1;
}

/* Sends until no allocation fails any more; returns how many did. */
static size_t send(const char *name, const char *type, const char *to, const char *payload)
{
    size_t before = mcpx_session_pending_count(stage.session), nth = 0;
    enum mcpx_err err;
    bool failed;

    do {
        fault_alloc_arm(++nth);
        err = stage_sends(name, type, to, payload);
        failed = fault_alloc_disarm();
        cr_assert(failed || err == MCPX_OK);
        if (err)
            cr_expect_eq(mcpx_session_pending_count(stage.session), before);
    } while (err);
    return nth - 1;
}

Test(session_memory, shortage_delays_but_loses_nothing)
{
    size_t failures = 0;

    stage_set(NULL);
    stage_comes(WELCOME("false"));
    stage_skip();
    failures += send("q", "mcp/request", "server", CALL);
    failures += send("p", "mcp/proposal", "bob", BODY);
    failures += hear("{'id':'1','from':'bo\\u0062','to':['m\\u0065'],'kind':'ch\\u0061t'}",
                     "message 1 from bob\n");
    failures += hear("{'id':'2','from':'server','correlation_id':'@q',"
                     "'kind':'mcp/response:tools/call:x'," RESULT,
                     "response 2 from server; own q\n");
    failures +=
        hear("{'id':'3','from':'bob','kind':'mcp/request:tools/call:x','payload':" CALL "}",
             "request 3 from bob\n");
    failures += hear("{'id':'4','from':'bob','kind':'mcp/proposal:ping','payload':" BODY "}",
                     "proposal 4 from bob\n");
    failures += hear("{'id':'5','from':'bob','kind':'mcp/request:ping','correlation_id':'@p',"
                     "'payload':" PING "}",
                     "fulfilling 5 from bob; own p; same\n"
                     "request 5 from bob; proposal @p of me\n");
    failures += hear("{'id':'6','from':'system:gateway','kind':'system/presence','payload':{"
                     "'event':'join','participant':{'id':'anna','capabilities':['a']}}}",
                     "presence join anna\n");
    failures += hear(WELCOME("false"), "grants w from system:gateway\n");
    failures += send("c", "chat", NULL, "{}");
    failures += hear("{'id':'7','from':'system:gateway','kind':'system/error',"
                     "'correlation_id':'@c','payload':{'error':'capability_violation',"
                     "'message':'m','alternative':'a'}}",
                     "refused c capability_violation; alternative a\n");
    failures += hear("{'id':'8','from':'system:gateway','kind':'system/history','payload':{"
                     "'complete':true,'envelopes':["
                     "{'protocol':'mcpx/v0.1','id':'9','from':'b\\u006fb','kind':'chat',"
                     "'payload':{}}]}}",
                     "history 9 from bob\n");
    cr_expect_gt(failures, 30, "%zu", failures);
}

Test(session_memory, shortage_in_an_answer_leaves_the_request_open)
{
    struct mcpx_slice result = MCPX_SLICE("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}");

    stage_hears("{'id':'1','from':'bob','kind':'mcp/request:ping','payload':" PING "}");
    stage_skip();
    FAULT_ALLOC_EACH(nth, 3) {
        enum mcpx_err err =
            mcpx_session_respond(stage.session, MCPX_SLICE("1"), result, stage.now, NULL);

        cr_expect_eq(err, fault_alloc_disarm() ? MCPX_ENOMEM : MCPX_OK);
    }
}

Test(session_memory, who_left_is_told_so_without_the_reason)
{
    struct mcpx_event event;

    stage_sends("q", "mcp/request", "server", CALL);
    fault_alloc_arm(1);
    stage_breaks(4004);
    cr_expect(fault_alloc_disarm());
    cr_assert(mcpx_session_event(stage.session, &event));
    cr_expect_eq(event.type, MCPX_EVENT_LEFT);
    cr_expect_null(event.reason.text);
    stage_expect("expired q\n");
}
