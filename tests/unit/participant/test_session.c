/*
 * What breaks for whom: an application that is told twice or never what became of its request, or
 * is handed what was not meant for it. Protocol: sections 2, 5 and 6.
 */
#include "tests/support/stage.h"

#include <criterion/criterion.h>

#define PING "{'jsonrpc':'2.0','id':1,'method':'ping'}"
#define CALL                                                                                  \
    "{'jsonrpc':'2.0','id':'a','method':'tools/call','params':{'name':'x','arguments':{}}}"

Test(session, tells_a_request_s_echo_and_its_response)
{
    struct stage stage;

    stage_set(&stage, NULL);
    stage_joins(&stage);
    cr_assert_eq(stage_sends(&stage, "q", "mcp/request", "server", CALL), MCPX_OK);
    cr_expect_eq(mcpx_session_pending_count(stage.session), 1);
    stage_echoes(&stage);
    stage_expect(&stage, "delivered q\n"
                         "overheard @q from me\n" +
                             0);
    stage_hears(&stage, "{'id':'r','from':'server','to':['me'],'correlation_id':'@q',"
                        "'kind':'mcp/response:tools/call:x',"
                        "'payload':{'jsonrpc':'2.0','id':'a','result':{}}}");
    stage_expect(&stage, "response r from server; own q\n");
    cr_expect_eq(mcpx_session_pending_count(stage.session), 0);
    stage_clear(&stage);
}
