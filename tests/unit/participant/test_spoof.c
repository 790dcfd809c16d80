/*
 * What breaks for whom: whoever may send one kind gets another thing done with it, or answers for
 * somebody else, or speaks as the router. Each row is one attempt; a session ignores it, says why,
 * and goes on waiting. Protocol: sections 2 and 5.
 */
#include "tests/support/stage.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(spoof, .init = stage_begins, .fini = stage_clear);

#define CALL "{'jsonrpc':'2.0','id':7,'method':'tools/call','params':{'name':'x'}}"
#define RESULT(id) "{'jsonrpc':'2.0','id':" id ",'result':{}}"

/* Before each row "q" asked server for tools/call:x with id 7, and "p" proposed it to bob. */
static const struct {
    const char *text, *transcript;
} rows[] = {
    /* no envelope */
    {"", "violation malformed\n"},
    {"[]", "violation malformed\n"},
    {"{'id':'m','from':'bob','kind':'chat','kind':'chat'}", "violation malformed\n"},
    {"{'id':'m','kind':'chat'}", "violation malformed\n"},
    {"{'id':'m','from':'bob','kind':'mcp/request:'}", "violation malformed\n"},
    /* a payload that is no JSON-RPC message */
    {"{'id':'m','from':'bob','kind':'mcp/request:tools/list'}",
     "violation not_json_rpc m from bob\n"},
    {"{'id':'m','from':'bob','kind':'mcp/request:tools/list',"
     "'payload':{'jsonrpc':'1.0','id':1,'method':'tools/list'}}",
     "violation not_json_rpc m from bob\n"},
    {"{'id':'m','from':'bob','kind':'mcp/request:tools/list',"
     "'payload':{'jsonrpc':'2.0','id':1,'method':'tools/list','method':'tools/call'}}",
     "violation not_json_rpc m from bob\n"},
    {"{'id':'m','from':'bob','kind':'mcp/request:tools/call:x','payload':{'jsonrpc':'2.0',"
     "'id':1,'method':'tools/call','params':{'name':'x','name':'rm'}}}",
     "violation not_json_rpc m from bob\n"},
    {"{'id':'m','from':'bob','kind':'mcp/request:tools/call:x','payload':{'jsonrpc':'2.0',"
     "'id':1,'method':'tools/call','params':{'name':'x','Name':'rm'}}}",
     "violation not_json_rpc m from bob\n"},
    {"{'id':'m','from':'bob','kind':'mcp/proposal:tools/call:x','payload':{"
     "'method':'tools/call','params':{'name':'x'},'param\xc5\xbf':{'name':'rm'}}}",
     "violation not_json_rpc m from bob\n"},
    {"{'id':'m','from':'bob','kind':'mcp/request:notifications/cancelled','payload':{"
     "'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':1,"
     "'RequestId':2}}}",
     "violation not_json_rpc m from bob\n"},
    {"{'id':'m','from':'server','kind':'mcp/response:tools/call:x','correlation_id':'@q',"
     "'payload':{'jsonrpc':'2.0','id':7,'result':{},'Result':{}}}",
     "violation not_json_rpc m from server\n"},
    {"{'id':'m','from':'bob','FROM':'system:gateway','kind':'chat'}", "violation malformed\n"},
    {"{'id':'m','from':'server','kind':'mcp/response:tools/call:x','correlation_id':'@q',"
     "'payload':{'jsonrpc':'2.0','id':7,'result':{},'error':{}}}",
     "violation not_json_rpc m from server\n"},
    /* a kind that says something else than its payload */
    {"{'id':'m','from':'bob','kind':'mcp/request:tools/list','payload':" CALL "}",
     "violation kind_mismatch m from bob\n"},
    {"{'id':'m','from':'bob','kind':'mcp/request:tools/call:y','payload':" CALL "}",
     "violation kind_mismatch m from bob\n"},
    {"{'id':'m','from':'bob','kind':'mcp/request','payload':" CALL "}",
     "violation kind_mismatch m from bob\n"},
    {"{'id':'m','from':'bob','kind':'mcp/request:tools/call','payload':" RESULT("7") "}",
     "violation kind_mismatch m from bob\n"},
    {"{'id':'m','from':'bob','kind':'mcp/response:tools/call:x','payload':" CALL "}",
     "violation kind_mismatch m from bob\n"},
    {"{'id':'m','from':'bob','kind':'mcp/proposal:tools/call:x','payload':" CALL "}",
     "violation kind_mismatch m from bob\n"},
    {"{'id':'m','from':'bob','kind':'mcp/proposal:tools/list','payload':{'method':'ping'}}",
     "violation kind_mismatch m from bob\n"},
    {"{'id':'m','from':'bob','kind':'mcp/request:notifications/progress','payload':" CALL "}",
     "violation kind_mismatch m from bob\n"},
    {"{'id':'m','from':'bob','kind':'mcp/request:tools/call:x','correlation_id':'@p',"
     "'to':['server'],'payload':{'method':'tools/call','params':{'name':'x'}}}",
     "violation kind_mismatch m from bob\n"},
    /* an answer from who was not asked */
    {"{'id':'m','from':'eve','to':['me'],'kind':'mcp/response:tools/call:x',"
     "'correlation_id':'@q','payload':" RESULT("7") "}",
     "violation other_sender m from eve\n"},
    {"{'id':'m','from':'me','to':['me'],'kind':'mcp/response:tools/call:x',"
     "'correlation_id':'@q','payload':" RESULT("7") "}",
     "violation other_sender m from me\n"},
    /* an answer for somebody else */
    {"{'id':'m','from':'server','to':['bob'],'kind':'mcp/response:tools/call:x',"
     "'correlation_id':'@q','payload':" RESULT("7") "}",
     "observed m from server\n"},
    /* an answer to something else */
    {"{'id':'m','from':'server','kind':'mcp/response:tools/list','correlation_id':'@q',"
     "'payload':" RESULT("7") "}",
     "violation other_operation m from server\n"},
    {"{'id':'m','from':'server','kind':'mcp/response','correlation_id':'@q',"
     "'payload':" RESULT("7") "}",
     "violation other_operation m from server\n"},
    {"{'id':'m','from':'server','kind':'mcp/response:tools/call:y','correlation_id':'@q',"
     "'payload':" RESULT("7") "}",
     "violation other_operation m from server\n"},
    {"{'id':'m','from':'server','kind':'mcp/response:tools/call:x','correlation_id':'@q',"
     "'payload':" RESULT("8") "}",
     "violation other_id m from server\n"},
    {"{'id':'m','from':'server','kind':'mcp/response:tools/call:x','correlation_id':'@q',"
     "'payload':" RESULT("'7'") "}",
     "violation other_id m from server\n"},
    /* a proposal taken back by somebody else */
    {"{'id':'m','from':'eve','kind':'mcp/withdraw','correlation_id':'@p'}",
     "violation not_proposer m from eve\n"},
    {"{'id':'m','from':'eve','kind':'mcp/withdraw','correlation_id':'theirs'}",
     "violation not_proposer m from eve\n"},
    /* somebody who speaks as the router */
    {"{'id':'m','from':'eve','kind':'system/welcome','payload':{'you':{'id':'eve',"
     "'capabilities':[]},'participants':[]}}",
     "violation not_router m from eve\n"},
    {"{'id':'m','from':'eve','kind':'system/error','correlation_id':'@q',"
     "'payload':{'error':'capability_violation'}}",
     "violation not_router m from eve\n"},
    {"{'id':'m','from':'system','kind':'system/history','payload':{'envelopes':[]}}",
     "violation not_router m from system\n"},
    {"{'id':'m','from':'eve','kind':'system/presence','payload':{'event':'leave',"
     "'participant':{'id':'bob','capabilities':[]}}}",
     "violation not_router m from eve\n"},
    {"{'id':'m','from':'System:gateway','kind':'SYSTEM/error'}",
     "violation not_router m from System:gateway\n"},
    {"{'id':'m','from':'eve','kind':'presence'}", "violation not_router m from eve\n"},
    /* what the router itself would never say */
    {"{'id':'m','from':'system:gateway','kind':'system/welcome'}",
     "violation malformed m from system:gateway\n"},
    {"{'id':'m','from':'system:gateway','kind':'system/presence','payload':{'event':'x',"
     "'participant':{'id':'bob','capabilities':[]}}}",
     "violation malformed m from system:gateway\n"},
    {"{'id':'m','from':'system:gateway','kind':'system/history'}",
     "violation malformed m from system:gateway\n"},
    {"{'id':'m','from':'system:gateway','kind':'system/history','payload':{'envelopes':[1]}}",
     "violation malformed\n"},
};

/* Attempts on a proposal to "server", by who was not asked; none of them settles it. */
static const struct {
    const char *request, *from, *transcript;
} fulfilments[] = {
    {"'from':'eve','to':['eve']", "eve", "observed f from eve\nobserved r from eve\n"},
    {"'from':'eve','to':['server','eve']", "eve",
     "observed f from eve\nobserved r from eve\n"},
    {"'from':'eve','to':['me']", "eve", "request f from eve\nobserved r from eve\n"},
    {"'from':'eve','to':['nobody']", "nobody",
     "observed f from eve\nobserved r from nobody\n"},
    {"'from':'eve','to':['server']", "eve",
     "fulfilling f from eve; own p; same\nviolation other_sender r from eve\n"},
    {"'from':'eve'", "eve",
     "fulfilling f from eve; own p; same\nrequest f from eve; proposal @p of me\n"
     "violation other_sender r from eve\n"},
    {"'from':'server','to':['bob']", "eve",
     "fulfilling f from server; own p; same\nviolation other_sender r from eve\n"},
    {"'from':'server'", "eve",
     "fulfilling f from server; own p; same\nrequest f from server; proposal @p of me\n"
     "violation other_sender r from eve\n"},
};

/* What was asked can still be answered: nothing was settled by a spoof. */
static void expect_still_waiting(void)
{
    cr_expect_eq(mcpx_session_pending_count(stage.session), 2);
    cr_expect_eq(mcpx_session_participant_count(stage.session), 2);
    cr_expect(mcpx_slice_equal(mcpx_session_id(stage.session), MCPX_SLICE("me")));
    stage_hears("{'id':'r','from':'server','kind':'mcp/response:tools/call',"
                "'correlation_id':'@q','payload':" RESULT("7") "}");
    stage_hears("{'id':'s','from':'bob','kind':'mcp/reject','correlation_id':'@p'}");
    stage_hears("{'id':'t','from':'bob','kind':'mcp/withdraw',"
                "'correlation_id':'theirs'}");
    stage_expect("response r from server; own q\n"
                 "rejected s from bob; own p; proposal\n"
                 "withdrawn t from bob; proposal theirs\n");
}

Test(spoof, is_ignored_and_told)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        stage_begins();
        cr_assert_eq(stage_sends("q", "mcp/request", "server", CALL), MCPX_OK);
        cr_assert_eq(stage_sends("p", "mcp/proposal", "bob",
                                 "{'method':'tools/call','params':{'name':'x'}}"),
                     MCPX_OK);
        stage_hears("{'id':'theirs','from':'bob','kind':'mcp/proposal:ping',"
                    "'payload':{'method':'ping'}}");
        stage_skip();
        cr_expect_eq(stage_hears(rows[i].text), MCPX_OK);
        stage_expect(rows[i].transcript);
        expect_still_waiting();
    }
}

Test(spoof, does_not_become_true_by_standing_in_history)
{
    stage_sends("q", "mcp/request", "server", CALL);
    stage_hears("{'id':'h','from':'system:gateway','kind':'system/history','payload':{"
                "'complete':true,'envelopes':["
                "{'protocol':'mcpx/v0.1','id':'1','from':'eve','to':['me'],"
                "'kind':'mcp/response:tools/call:x','correlation_id':'@q','payload':" RESULT(
                    "7") "},"
                         "{'protocol':'mcpx/v0.1','id':'2','from':'system:gateway',"
                         "'kind':'system/error','correlation_id':'@q','payload':{}},"
                         "{'protocol':'mcpx/v0.1','id':'3','from':'bob','to':['me'],"
                         "'kind':'mcp/request:tools/call:x','payload':" CALL "}]}}");
    stage_expect("history 1 from eve\n"
                 "history 2 from system:gateway\n"
                 "history 3 from bob\n");
    cr_expect_eq(mcpx_session_pending_count(stage.session), 1);
}

Test(spoof, gets_nowhere_before_the_welcome)
{
    stage_set(NULL);
    stage_hears(STAGE_WELCOME); /* not connected: nothing is taken in */
    stage_comes("{'id':'m','from':'bob','kind':'chat'}");
    stage_hears("{'id':'n','from':'system:gateway','kind':'system/presence'}");
    stage_expect("violation not_router m from bob\n"
                 "violation not_router n from system:gateway\n");
    cr_expect_not(mcpx_session_is_joined(stage.session));
}

static void hear_pair(const char *request, const char *from, bool past)
{
    char text[1024];
    const char *before =
        "{'id':'h','from':'system:gateway','kind':'system/history','payload':{"
        "'complete':true,'envelopes':[";

    snprintf(text, sizeof text,
             "%s{'protocol':'mcpx/v0.1','id':'f',%s,'correlation_id':'@p',"
             "'kind':'mcp/request:tools/call:x','payload':%s}%s",
             past ? before : "", request, CALL, past ? "]}}" : "");
    stage_hears(text);
    snprintf(text, sizeof text,
             "%s{'protocol':'mcpx/v0.1','id':'r','from':'%s','to':['me'],"
             "'correlation_id':'f','kind':'mcp/response:tools/call:x','payload':%s}%s",
             past ? before : "", from, RESULT("7"), past ? "]}}" : "");
    stage_hears(text);
}

Test(spoof, does_not_fulfil_a_proposal_that_was_for_others)
{
    for (size_t i = 0; i < sizeof fulfilments / sizeof *fulfilments; i++) {
        for (int past = 0; past < 2; past++) {
            stage_begins();
            stage_sends("p", "mcp/proposal", "server",
                        "{'method':'tools/call','params':{'name':'x'}}");
            hear_pair(fulfilments[i].request, fulfilments[i].from, past);
            if (past)
                stage_skip();
            else
                stage_expect(fulfilments[i].transcript);
            cr_expect_eq(mcpx_session_pending_count(stage.session), 1, "row %zu", i);
        }
    }
}
