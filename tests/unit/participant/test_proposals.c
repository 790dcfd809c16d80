/*
 * What breaks for whom: a proposer who never hears what became of a proposal, or takes somebody's
 * word for it; an approver who acts on what was withdrawn. Protocol: sections 2 and 4.
 */
#include "lib/base/scoped.h"
#include "tests/support/stage.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(proposals, .init = stage_begins, .fini = stage_clear);

#define BODY "{'method':'tools/call','params':{'name':'x','arguments':{'a':1,'b':2}}}"
#define CALL(arguments)                                                                       \
    "{'jsonrpc':'2.0','id':9,'method':'tools/call','params':{'arguments':" arguments          \
    ",'name':'x'}}"
#define RESULT "'payload':{'jsonrpc':'2.0','id':9,'result':{}}}"

static void propose(const char *to)
{
    cr_assert_eq(stage_sends("p", "mcp/proposal", to, BODY), MCPX_OK);
}

Test(proposals, end_with_the_response_to_the_request_that_fulfils_them)
{
    propose("bob");
    stage_hears("{'id':'f','from':'bob','to':['server'],'correlation_id':'@p',"
                "'kind':'mcp/request:tools/call:x','payload':" CALL("{'b':2,'a':1}") "}");
    stage_expect("fulfilling f from bob; own p; same\n");
    stage_hears("{'id':'n','from':'server','to':['bob','me'],'correlation_id':'f',"
                "'kind':'mcp/request:notifications/progress','payload':{"
                "'jsonrpc':'2.0','method':'notifications/progress','params':{}}}");
    stage_hears("{'id':'o','from':'eve','to':['bob','me'],'correlation_id':'f',"
                "'kind':'mcp/request:notifications/progress','payload':{"
                "'jsonrpc':'2.0','method':'notifications/progress','params':{}}}");
    stage_hears("{'id':'x','from':'eve','to':['bob','me'],'correlation_id':'f',"
                "'kind':'mcp/response:tools/call:x'," RESULT);
    stage_hears("{'id':'r','from':'server','to':['bob','me'],'correlation_id':'f',"
                "'kind':'mcp/response:tools/call:x'," RESULT);
    stage_hears("{'id':'s','from':'server','to':['bob','me'],'correlation_id':'f',"
                "'kind':'mcp/response:tools/call:x'," RESULT);
    stage_expect("notification n from server; own p\n"
                 "notification o from eve\n"
                 "violation other_sender x from eve\n"
                 "response r from server; own p; proposal\n"
                 "observed s from server\n");
    cr_expect_eq(mcpx_session_pending_count(stage.session), 0);
}

Test(proposals, show_when_something_else_was_done_with_them)
{
    propose(NULL);
    stage_hears("{'id':'f','from':'bob','to':['server'],'correlation_id':'@p',"
                "'kind':'mcp/request:tools/call','payload':" CALL("{'a':2}") "}");
    stage_hears("{'id':'g','from':'bob','to':['server'],'correlation_id':'@p',"
                "'kind':'mcp/request:tools/call:y','payload':{'jsonrpc':'2.0','id':1,"
                "'method':'tools/call','params':{'name':'y'}}}");
    stage_hears("{'id':'h','from':'bob','to':['me'],'correlation_id':'@p',"
                "'kind':'mcp/request:ping','payload':{'jsonrpc':'2.0','id':1,"
                "'method':'ping'}}");
    stage_hears("{'id':'i','from':'me','to':['bob'],'correlation_id':'@p',"
                "'kind':'mcp/request:tools/call:x','payload':" CALL("{}") "}");
    stage_expect("fulfilling f from bob; own p\n"
                 "observed g from bob\n"
                 "request h from bob\n"
                 "observed i from me\n");
}

Test(proposals, may_be_fulfilled_by_a_request_to_their_proposer)
{
    propose(NULL);
    stage_hears("{'id':'f','from':'bob','correlation_id':'@p',"
                "'kind':'mcp/request:tools/call:x','payload':" CALL("{}") "}");
    stage_expect("fulfilling f from bob; own p\n"
                 "request f from bob; proposal @p of me\n");
    cr_expect_eq(stage_responds("f", "{'jsonrpc':'2.0','id':9,'result':{}}"), MCPX_OK);
}

/* Whoever makes noise, what somebody else did about it is still known. */
Test(proposals, are_answered_however_many_act_on_them)
{
    char text[512];

    propose(NULL);
    stage_hears("{'id':'f','from':'bob','to':['server'],'correlation_id':'@p',"
                "'kind':'mcp/request:tools/call:x','payload':" CALL("{}") "}");
    stage_skip();
    for (int i = 0; i < 20; i++) {
        snprintf(text, sizeof text,
                 "{'id':'f%d','from':'eve','to':['nobody'],'correlation_id':'@p',"
                 "'kind':'mcp/request:tools/call:x','payload':%s}",
                 i, CALL("{}"));
        stage_hears(text);
        stage_hears(text); /* once more, as after a reconnection */
        snprintf(text, sizeof text, "fulfilling f%d from eve; own p\nobserved f%d from eve\n",
                 i, i);
        stage_expect(text);
    }
    stage_hears("{'id':'r','from':'server','to':['bob','me'],'correlation_id':'f',"
                "'kind':'mcp/response:tools/call:x'," RESULT);
    stage_expect("response r from server; own p; proposal\n");
}

Test(proposals, are_answered_however_much_noise_came_before)
{
    char text[512];

    for (int rejected = 0; rejected < 2; rejected++) {
        propose("server");
        for (int i = 0; i < 9; i++) {
            snprintf(text, sizeof text,
                     "{'id':'j%d','from':'eve','to':['nobody'],'correlation_id':'@p',"
                     "'kind':'mcp/request:tools/call:x','payload':%s}",
                     i, CALL("{}"));
            stage_hears(text);
        }
        stage_skip();
        if (rejected) {
            stage_hears("{'id':'s','from':'bob','kind':'mcp/reject',"
                        "'correlation_id':'@p'}");
            stage_expect("rejected s from bob; own p; proposal\n");
        } else {
            stage_hears("{'id':'f','from':'bob','to':['server'],'correlation_id':'@p',"
                        "'kind':'mcp/request:tools/call:x','payload':" CALL("{}") "}");
            stage_hears("{'id':'r','from':'server','correlation_id':'f',"
                        "'kind':'mcp/response:tools/call:x'," RESULT);
            stage_expect("fulfilling f from bob; own p\n"
                         "response r from server; own p; proposal\n");
        }
    }
}

Test(proposals, wait_for_the_response_once_somebody_acts)
{
    propose(NULL);
    stage_waits(590000);
    stage_hears("{'id':'f','from':'bob','to':['server'],'correlation_id':'@p',"
                "'kind':'mcp/request:tools/call:x','payload':" CALL("{}") "}");
    stage_skip();
    stage_hears("{'id':'r','from':'eve','kind':'mcp/reject','correlation_id':'@p'}");
    stage_waits(59999);
    stage_expect("observed r from eve\n"); /* too late */
    stage_hears("{'id':'g','from':'eve','to':['server'],'correlation_id':'@p',"
                "'kind':'mcp/request:tools/call:x','payload':" CALL("{}") "}");
    stage_expect("fulfilling g from eve; own p\n"); /* but the end is not put off again */
    stage_waits(1);
    stage_expect("expired p\n");
    stage_hears("{'id':'s','from':'server','to':['bob','me'],'correlation_id':'f',"
                "'kind':'mcp/response:tools/call:x'," RESULT);
    stage_expect("observed s from server\n");
}

/* Who approves is often a third party; the router's grants say who may reject. */
Test(proposals, end_with_a_rejection)
{
    propose("bob");
    stage_hears("{'id':'r','from':'server','to':['me'],'kind':'mcp/reject',"
                "'correlation_id':'@p','payload':{'reason':'no'}}");
    stage_hears("{'id':'s','from':'bob','to':['me'],'kind':'mcp/reject',"
                "'correlation_id':'@p','payload':{'reason':'no'}}");
    stage_expect("rejected r from server; own p; proposal\n"
                 "observed s from bob\n");
}

#define THEIRS "{'id':'t','from':'bob','kind':'mcp/proposal:ping','payload':{'method':'ping'}"

Test(proposals, of_others_are_shown_until_they_are_withdrawn)
{
    stage_hears(THEIRS "}");
    stage_hears(THEIRS "}");
    stage_hears("{'id':'r','from':'eve','kind':'mcp/reject','correlation_id':'t'}");
    stage_hears("{'id':'v','from':'eve','kind':'mcp/withdraw','correlation_id':'t'}");
    stage_hears("{'id':'w','from':'bob~2','kind':'mcp/withdraw','correlation_id':'t'}");
    stage_hears("{'id':'x','from':'bob','kind':'mcp/withdraw','correlation_id':'t'}");
    stage_expect("proposal t from bob\n"
                 "observed t from bob\n"
                 "rejected r from eve; proposal t\n"
                 "violation not_proposer v from eve\n"
                 "withdrawn w from bob~2; proposal t\n"
                 "observed x from bob\n");
}

/* Who names a proposal for one thing to get another done shall not be believed. */
Test(proposals, of_others_are_not_shown_with_a_request_for_something_else)
{
    mx_scoped_text text = {0};

    stage_hears(THEIRS "}");
    stage_hears("{'id':'f','from':'eve','to':['me'],'correlation_id':'t',"
                "'kind':'mcp/request:tools/list','payload':{'jsonrpc':'2.0','id':9,"
                "'method':'tools/list'}}");
    stage_expect("proposal t from bob\n"
                 "request f from eve\n");
    cr_assert_eq(stage_responds("f", "{'jsonrpc':'2.0','id':9,'result':{}}"), MCPX_OK);
    cr_assert(stage_writes(&text));
    cr_expect_not_null(strstr(text.text, "'to':['eve'],"), "%s", text.text);
}

/* A proposal may go to its approver alone; who executes it answers both. */
Test(proposals, are_answered_to_their_proposer_as_well)
{
    mx_scoped_text text = {0};

    stage_hears(THEIRS ",'to':['eve']}");
    stage_hears("{'id':'f','from':'eve','to':['me'],'correlation_id':'t',"
                "'kind':'mcp/request:ping','payload':{'jsonrpc':'2.0','id':9,"
                "'method':'ping'}}");
    stage_expect("observed t from bob\n"
                 "request f from eve; proposal t of bob\n");
    cr_assert_eq(stage_responds("f", "{'jsonrpc':'2.0','id':9,'result':{}}"), MCPX_OK);
    cr_assert(stage_writes(&text));
    cr_expect_not_null(strstr(text.text, "'to':['eve','bob'],'kind':'mcp/response:ping',"),
                       "%s", text.text);
}

#define WISH "{'method':'tools/call','params':{'name':'a'}}"

/* The router was started anew: nobody but the proposer knows what was proposed. */
Test(proposals, are_written_again_to_a_router_that_lost_them)
{
    stage_sends("p", "mcp/proposal", "server", WISH);
    stage_sends("done", "mcp/proposal", "server", WISH);
    stage_sends("begun", "mcp/proposal", "server", WISH);
    stage_sends("later", "mcp/proposal", NULL, WISH);
    stage_sends("q", "mcp/request", "server", "{'jsonrpc':'2.0','id':1,'method':'ping'}");
    stage_echoes();
    stage_hears("{'id':'r','from':'bob','kind':'mcp/reject','correlation_id':'@done'}");
    stage_hears("{'id':'f','from':'bob','to':['server'],'kind':'mcp/request:tools/call:a',"
                "'correlation_id':'@begun','payload':{'jsonrpc':'2.0','id':1,"
                "'method':'tools/call','params':{'name':'a'}}}");
    stage_skip();
    stage_breaks(1001);
    stage_comes(STAGE_ANEW("0"));
    stage_hears(STAGE_CAUGHT_UP);
    stage_expect_output(NULL); /* the server is not back */
    stage_hears(STAGE_JOINS("server"));
    stage_expect_output("'@p'");
    stage_expect_output("'@later'");
    stage_expect_output(NULL);
    stage_skip();
    stage_hears(STAGE_ERROR("duplicate_id", "@p"));
    stage_hears("{'id':'@later','from':'me','kind':'mcp/proposal:tools/call:a',"
                "'payload':" WISH "}");
    stage_expect("observed @later from me\n"); /* that it was delivered was told */
    stage_breaks(1001);
    stage_comes(STAGE_RESUMED);
    stage_hears(STAGE_CAUGHT_UP);
    stage_expect_output(NULL);
    mcpx_session_forget(stage.session, mcpx_slice_of(stage.ids[0]));
    stage_breaks(0);
    stage_comes(STAGE_ANEW("1"));
    stage_hears("{'id':'h','from':'system:gateway','to':['me'],'kind':'system/history',"
                "'payload':{'complete':true,'envelopes':[{'protocol':'mcpx/v0.1',"
                "'id':'@later','from':'me','kind':'mcp/proposal:tools/call:a',"
                "'payload':" WISH "}]}}");
    stage_hears(STAGE_CAUGHT_UP);
    stage_expect_output(NULL); /* the router has it */
    stage_skip();
}

Test(proposals, that_are_open_count_as_memory)
{
    STAGE_BEGINS(.unsent_bytes = 1000);
    for (size_t i = 0; i < 3; i++) {
        cr_expect_eq(stage_sends("p", "mcp/proposal", "server", WISH), MCPX_OK);
        stage_echoes();
    }
    cr_expect_eq(
        stage_sends("p", "mcp/proposal", "server",
                    "{'method':'tools/call','params':{'name':"
                    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                    "'}}"),
        MCPX_ELIMIT);
    stage_skip();
}

/* What is told of an envelope twice, the application counts twice. */
Test(proposals, one_that_is_written_again_and_then_forgotten_is_not_delivered_twice)
{
    stage_sends("p", "mcp/proposal", NULL, WISH);
    stage_echoes();
    stage_breaks(1001);
    stage_comes(STAGE_ANEW("0"));
    stage_hears(STAGE_CAUGHT_UP);
    stage_expect_output("mcp/proposal:tools/call:a");
    stage_skip();
    cr_expect(mcpx_session_forget(stage.session, mcpx_slice_of(stage.ids[0])));
    cr_expect_eq(mcpx_session_unsent_count(stage.session), 0);
    stage_hears("{'id':'@p','from':'me','kind':'mcp/proposal:tools/call:a',"
                "'payload':" WISH "}");
    stage_expect("observed @p from me\n");
}
