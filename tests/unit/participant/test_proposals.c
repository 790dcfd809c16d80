/*
 * What breaks for whom: a proposer who never hears what became of a proposal, or takes somebody's
 * word for it; an approver who acts on what was withdrawn. Protocol: sections 2 and 4.
 */
#include "tests/support/stage.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define BODY "{'method':'tools/call','params':{'name':'x','arguments':{'a':1,'b':2}}}"
#define CALL(arguments)                                                                       \
    "{'jsonrpc':'2.0','id':9,'method':'tools/call','params':{'arguments':" arguments          \
    ",'name':'x'}}"
#define RESULT "'payload':{'jsonrpc':'2.0','id':9,'result':{}}}"

static void propose(struct stage *stage, const char *to)
{
    stage_set(stage, NULL);
    stage_joins(stage);
    cr_assert_eq(stage_sends(stage, "p", "mcp/proposal", to, BODY), MCPX_OK);
}

Test(proposals, end_with_the_response_to_the_request_that_fulfils_them)
{
    struct stage stage;

    propose(&stage, "bob");
    stage_hears(&stage,
                "{'id':'f','from':'bob','to':['server'],'correlation_id':'@p',"
                "'kind':'mcp/request:tools/call:x','payload':" CALL("{'b':2,'a':1}") "}");
    stage_expect(&stage, "fulfilling f from bob; own p; same\n");
    stage_hears(&stage, "{'id':'n','from':'server','to':['bob','me'],'correlation_id':'f',"
                        "'kind':'mcp/request:notifications/progress','payload':{"
                        "'jsonrpc':'2.0','method':'notifications/progress','params':{}}}");
    stage_hears(&stage, "{'id':'o','from':'eve','to':['bob','me'],'correlation_id':'f',"
                        "'kind':'mcp/request:notifications/progress','payload':{"
                        "'jsonrpc':'2.0','method':'notifications/progress','params':{}}}");
    stage_hears(&stage, "{'id':'x','from':'eve','to':['bob','me'],'correlation_id':'f',"
                        "'kind':'mcp/response:tools/call:x'," RESULT);
    stage_hears(&stage, "{'id':'r','from':'server','to':['bob','me'],'correlation_id':'f',"
                        "'kind':'mcp/response:tools/call:x'," RESULT);
    stage_hears(&stage, "{'id':'s','from':'server','to':['bob','me'],'correlation_id':'f',"
                        "'kind':'mcp/response:tools/call:x'," RESULT);
    stage_expect(&stage, "notification n from server; own p\n"
                         "notification o from eve\n"
                         "violation other_sender x from eve\n"
                         "response r from server; own p; proposal\n"
                         "observed s from server\n");
    cr_expect_eq(mcpx_session_pending_count(stage.session), 0);
    stage_clear(&stage);
}

Test(proposals, show_when_something_else_was_done_with_them)
{
    struct stage stage;

    propose(&stage, NULL);
    stage_hears(&stage, "{'id':'f','from':'bob','to':['server'],'correlation_id':'@p',"
                        "'kind':'mcp/request:tools/call','payload':" CALL("{'a':2}") "}");
    stage_hears(&stage, "{'id':'g','from':'bob','to':['server'],'correlation_id':'@p',"
                        "'kind':'mcp/request:tools/call:y','payload':{'jsonrpc':'2.0','id':1,"
                        "'method':'tools/call','params':{'name':'y'}}}");
    stage_hears(&stage, "{'id':'h','from':'bob','to':['me'],'correlation_id':'@p',"
                        "'kind':'mcp/request:ping','payload':{'jsonrpc':'2.0','id':1,"
                        "'method':'ping'}}");
    stage_hears(&stage, "{'id':'i','from':'me','to':['bob'],'correlation_id':'@p',"
                        "'kind':'mcp/request:tools/call:x','payload':" CALL("{}") "}");
    stage_expect(&stage, "fulfilling f from bob; own p\n"
                         "observed g from bob\n"
                         "request h from bob\n"
                         "observed i from me\n");
    stage_clear(&stage);
}

Test(proposals, may_be_fulfilled_by_a_request_to_their_proposer)
{
    struct stage stage;

    propose(&stage, NULL);
    stage_hears(&stage, "{'id':'f','from':'bob','correlation_id':'@p',"
                        "'kind':'mcp/request:tools/call:x','payload':" CALL("{}") "}");
    stage_expect(&stage, "fulfilling f from bob; own p\n"
                         "request f from bob; proposal @p\n");
    cr_expect_eq(stage_responds(&stage, "f", "{'jsonrpc':'2.0','id':9,'result':{}}"), MCPX_OK);
    stage_clear(&stage);
}

/* Whoever makes noise, what somebody else did about it is still known. */
Test(proposals, are_answered_however_many_act_on_them)
{
    struct stage stage;
    char text[512];

    propose(&stage, NULL);
    stage_hears(&stage, "{'id':'f','from':'bob','to':['server'],'correlation_id':'@p',"
                        "'kind':'mcp/request:tools/call:x','payload':" CALL("{}") "}");
    stage_skip(&stage);
    for (int i = 0; i < 20; i++) {
        snprintf(text, sizeof text,
                 "{'id':'f%d','from':'eve','to':['nobody'],'correlation_id':'@p',"
                 "'kind':'mcp/request:tools/call:x','payload':%s}",
                 i, CALL("{}"));
        stage_hears(&stage, text);
        stage_hears(&stage, text); /* once more, as after a reconnection */
        snprintf(text, sizeof text, "fulfilling f%d from eve; own p\nobserved f%d from eve\n",
                 i, i);
        stage_expect(&stage, text);
    }
    stage_hears(&stage, "{'id':'r','from':'server','to':['bob','me'],'correlation_id':'f',"
                        "'kind':'mcp/response:tools/call:x'," RESULT);
    stage_expect(&stage, "response r from server; own p; proposal\n");
    stage_clear(&stage);
}

Test(proposals, are_answered_however_much_noise_came_before)
{
    struct stage stage;
    char text[512];

    for (int rejected = 0; rejected < 2; rejected++) {
        propose(&stage, "server");
        for (int i = 0; i < 9; i++) {
            snprintf(text, sizeof text,
                     "{'id':'j%d','from':'eve','to':['nobody'],'correlation_id':'@p',"
                     "'kind':'mcp/request:tools/call:x','payload':%s}",
                     i, CALL("{}"));
            stage_hears(&stage, text);
        }
        stage_skip(&stage);
        if (rejected) {
            stage_hears(&stage, "{'id':'s','from':'bob','kind':'mcp/reject',"
                                "'correlation_id':'@p'}");
            stage_expect(&stage, "rejected s from bob; own p; proposal\n");
        } else {
            stage_hears(&stage, "{'id':'f','from':'bob','to':['server'],'correlation_id':'@p',"
                                "'kind':'mcp/request:tools/call:x','payload':" CALL("{}") "}");
            stage_hears(&stage, "{'id':'r','from':'server','correlation_id':'f',"
                                "'kind':'mcp/response:tools/call:x'," RESULT);
            stage_expect(&stage, "fulfilling f from bob; own p\n"
                                 "response r from server; own p; proposal\n");
        }
        stage_clear(&stage);
    }
}

Test(proposals, wait_for_the_response_once_somebody_acts)
{
    struct stage stage;

    propose(&stage, NULL);
    stage_waits(&stage, 590000);
    stage_hears(&stage, "{'id':'f','from':'bob','to':['server'],'correlation_id':'@p',"
                        "'kind':'mcp/request:tools/call:x','payload':" CALL("{}") "}");
    stage_skip(&stage);
    stage_hears(&stage, "{'id':'r','from':'eve','kind':'mcp/reject','correlation_id':'@p'}");
    stage_waits(&stage, 59999);
    stage_expect(&stage, "observed r from eve\n"); /* too late */
    stage_hears(&stage, "{'id':'g','from':'eve','to':['server'],'correlation_id':'@p',"
                        "'kind':'mcp/request:tools/call:x','payload':" CALL("{}") "}");
    stage_expect(&stage,
                 "fulfilling g from eve; own p\n"); /* but the end is not put off again */
    stage_waits(&stage, 1);
    stage_expect(&stage, "expired p\n");
    stage_hears(&stage, "{'id':'s','from':'server','to':['bob','me'],'correlation_id':'f',"
                        "'kind':'mcp/response:tools/call:x'," RESULT);
    stage_expect(&stage, "observed s from server\n");
    stage_clear(&stage);
}

/* Who approves is often a third party; the router's grants say who may reject. */
Test(proposals, end_with_a_rejection)
{
    struct stage stage;

    propose(&stage, "bob");
    stage_hears(&stage, "{'id':'r','from':'server','to':['me'],'kind':'mcp/reject',"
                        "'correlation_id':'@p','payload':{'reason':'no'}}");
    stage_hears(&stage, "{'id':'s','from':'bob','to':['me'],'kind':'mcp/reject',"
                        "'correlation_id':'@p','payload':{'reason':'no'}}");
    stage_expect(&stage, "rejected r from server; own p; proposal\n"
                         "observed s from bob\n");
    stage_clear(&stage);
}

#define THEIRS "{'id':'t','from':'bob','kind':'mcp/proposal:ping','payload':{'method':'ping'}"

Test(proposals, of_others_are_shown_until_they_are_withdrawn)
{
    struct stage stage;

    stage_set(&stage, NULL);
    stage_joins(&stage);
    stage_hears(&stage, THEIRS "}");
    stage_hears(&stage, THEIRS "}");
    stage_hears(&stage, "{'id':'r','from':'eve','kind':'mcp/reject','correlation_id':'t'}");
    stage_hears(&stage, "{'id':'v','from':'eve','kind':'mcp/withdraw','correlation_id':'t'}");
    stage_hears(&stage,
                "{'id':'w','from':'bob~2','kind':'mcp/withdraw','correlation_id':'t'}");
    stage_hears(&stage, "{'id':'x','from':'bob','kind':'mcp/withdraw','correlation_id':'t'}");
    stage_expect(&stage, "proposal t from bob\n"
                         "observed t from bob\n"
                         "rejected r from eve; proposal t\n"
                         "violation not_proposer v from eve\n"
                         "withdrawn w from bob~2; proposal t\n"
                         "observed x from bob\n");
    stage_clear(&stage);
}

/* Who names a proposal for one thing to get another done shall not be believed. */
Test(proposals, of_others_are_not_shown_with_a_request_for_something_else)
{
    struct stage stage;
    struct mcpx_text text = {0};

    stage_set(&stage, NULL);
    stage_joins(&stage);
    stage_hears(&stage, THEIRS "}");
    stage_hears(&stage, "{'id':'f','from':'eve','to':['me'],'correlation_id':'t',"
                        "'kind':'mcp/request:tools/list','payload':{'jsonrpc':'2.0','id':9,"
                        "'method':'tools/list'}}");
    stage_expect(&stage, "proposal t from bob\n"
                         "request f from eve\n");
    cr_assert_eq(stage_responds(&stage, "f", "{'jsonrpc':'2.0','id':9,'result':{}}"), MCPX_OK);
    cr_assert(stage_writes(&stage, &text));
    cr_expect_not_null(strstr(text.text, "'to':['eve'],"), "%s", text.text);
    mcpx_text_fini(&text);
    stage_clear(&stage);
}

/* A proposal may go to its approver alone; who executes it answers both. */
Test(proposals, are_answered_to_their_proposer_as_well)
{
    struct stage stage;
    struct mcpx_text text = {0};

    stage_set(&stage, NULL);
    stage_joins(&stage);
    stage_hears(&stage, THEIRS ",'to':['eve']}");
    stage_hears(&stage, "{'id':'f','from':'eve','to':['me'],'correlation_id':'t',"
                        "'kind':'mcp/request:ping','payload':{'jsonrpc':'2.0','id':9,"
                        "'method':'ping'}}");
    stage_expect(&stage, "observed t from bob\n"
                         "request f from eve; proposal t\n");
    cr_assert_eq(stage_responds(&stage, "f", "{'jsonrpc':'2.0','id':9,'result':{}}"), MCPX_OK);
    cr_assert(stage_writes(&stage, &text));
    cr_expect_not_null(strstr(text.text, "'to':['eve','bob'],'kind':'mcp/response:ping',"),
                       "%s", text.text);
    mcpx_text_fini(&text);
    stage_clear(&stage);
}

#define WISH "{'method':'tools/call','params':{'name':'a'}}"

/* The router was started anew: nobody but the proposer knows what was proposed. */
Test(proposals, are_written_again_to_a_router_that_lost_them)
{
    struct stage stage;

    stage_set(&stage, NULL);
    stage_joins(&stage);
    stage_sends(&stage, "p", "mcp/proposal", "server", WISH);
    stage_sends(&stage, "done", "mcp/proposal", "server", WISH);
    stage_sends(&stage, "begun", "mcp/proposal", "server", WISH);
    stage_sends(&stage, "later", "mcp/proposal", NULL, WISH);
    stage_sends(&stage, "q", "mcp/request", "server",
                "{'jsonrpc':'2.0','id':1,'method':'ping'}");
    stage_echoes(&stage);
    stage_hears(&stage,
                "{'id':'r','from':'bob','kind':'mcp/reject','correlation_id':'@done'}");
    stage_hears(&stage,
                "{'id':'f','from':'bob','to':['server'],'kind':'mcp/request:tools/call:a',"
                "'correlation_id':'@begun','payload':{'jsonrpc':'2.0','id':1,"
                "'method':'tools/call','params':{'name':'a'}}}");
    stage_skip(&stage);
    stage_breaks(&stage, 1001);
    mcpx_session_connected(stage.session, stage.now);
    stage_hears(&stage, STAGE_ANEW("0"));
    stage_hears(&stage, STAGE_CAUGHT_UP);
    stage_expect_output(&stage, NULL); /* the server is not back */
    stage_hears(&stage, STAGE_JOINS("server"));
    stage_expect_output(&stage, "'@p'");
    stage_expect_output(&stage, "'@later'");
    stage_expect_output(&stage, NULL);
    stage_skip(&stage);
    stage_hears(&stage, STAGE_ERROR("duplicate_id", "@p"));
    stage_hears(&stage, "{'id':'@later','from':'me','kind':'mcp/proposal:tools/call:a',"
                        "'payload':" WISH "}");
    stage_expect(&stage, "observed @later from me\n"); /* that it was delivered was told */
    stage_breaks(&stage, 1001);
    mcpx_session_connected(stage.session, stage.now);
    stage_hears(&stage, STAGE_RESUMED);
    stage_hears(&stage, STAGE_CAUGHT_UP);
    stage_expect_output(&stage, NULL);
    mcpx_session_forget(stage.session, mcpx_slice_of(stage.ids[0]));
    stage_breaks(&stage, 0);
    mcpx_session_connected(stage.session, stage.now);
    stage_hears(&stage, STAGE_ANEW("1"));
    stage_hears(&stage,
                "{'id':'h','from':'system:gateway','to':['me'],'kind':'system/history',"
                "'payload':{'complete':true,'envelopes':[{'protocol':'mcpx/v0.1',"
                "'id':'@later','from':'me','kind':'mcp/proposal:tools/call:a',"
                "'payload':" WISH "}]}}");
    stage_hears(&stage, STAGE_CAUGHT_UP);
    stage_expect_output(&stage, NULL); /* the router has it */
    stage_skip(&stage);
    stage_clear(&stage);
}

Test(proposals, that_are_open_count_as_memory)
{
    struct stage stage;
    struct mcpx_session_config config = stage_config(&stage);

    config.unsent_bytes = 1000;
    stage_set(&stage, &config);
    stage_joins(&stage);
    for (size_t i = 0; i < 3; i++) {
        cr_expect_eq(stage_sends(&stage, "p", "mcp/proposal", "server", WISH), MCPX_OK);
        stage_echoes(&stage);
    }
    cr_expect_eq(
        stage_sends(&stage, "p", "mcp/proposal", "server",
                    "{'method':'tools/call','params':{'name':"
                    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                    "'}}"),
        MCPX_ELIMIT);
    stage_skip(&stage);
    stage_clear(&stage);
}

/* What is told of an envelope twice, the application counts twice. */
Test(proposals, one_that_is_written_again_and_then_forgotten_is_not_delivered_twice)
{
    struct stage stage;

    stage_set(&stage, NULL);
    stage_joins(&stage);
    stage_sends(&stage, "p", "mcp/proposal", NULL, WISH);
    stage_echoes(&stage);
    stage_breaks(&stage, 1001);
    mcpx_session_connected(stage.session, stage.now);
    stage_hears(&stage, STAGE_ANEW("0"));
    stage_hears(&stage, STAGE_CAUGHT_UP);
    stage_expect_output(&stage, "mcp/proposal:tools/call:a");
    stage_skip(&stage);
    cr_expect(mcpx_session_forget(stage.session, mcpx_slice_of(stage.ids[0])));
    cr_expect_eq(mcpx_session_unsent_count(stage.session), 0);
    stage_hears(&stage, "{'id':'@p','from':'me','kind':'mcp/proposal:tools/call:a',"
                        "'payload':" WISH "}");
    stage_expect(&stage, "observed @p from me\n");
    stage_clear(&stage);
}
