/*
 * What breaks for whom: an agent gets another agent's answer, or none; a progress bar moves for
 * the wrong call; somebody cancels what is not his; a dead server is waited for. Issue:
 * participants; protocol sections 2 and 6.
 */
#include "import_world.h"

#include <criterion/criterion.h>

#define ERROR(code, message) "'error':{'code':" code ",'message':'" message "'"
#define END                                                                                   \
    {                                                                                         \
        NULL, NULL                                                                            \
    }

Test(import, gives_every_request_a_number_of_its_own_and_puts_the_id_back)
{
    play((struct step[]){
        {"ready", ""},
        {"request ann e1 {@,'id':0,'method':'tools/list'}",
         "child {@,'id':3,'method':'tools/list'}\n"},
        {"request bob e2 {@,'id':0,'method':'tools/call','params':{'name':'add','n':1e400}}",
         "child {@,'id':4,'method':'tools/call','params':{'name':'add','n':1e400}}\n"},
        {"request ann e3 { 'method':'ping' , 'id' : 'a\\u0062' , @ }",
         "child { 'method':'ping' , 'id' : 5 , @ }\n"},
        {"server {@,'id':4,'result':{'sum':18446744073709551616, 'x':1.10}}",
         "reply e2 {@,'id':0,'result':{'sum':18446744073709551616, 'x':1.10}}\n"},
        {"server { 'result' : {} ,'id':5,@}",
         "reply e3 { 'result' : {} ,'id':'a\\u0062',@}\n"},
        {"server {@,'id':3,'error':{'code':-1,'message':'m','data':[1]}}",
         "reply e1 {@,'id':0,'error':{'code':-1,'message':'m','data':[1]}}\n"},
        {"server {@,'id':3,'result':{}}", ""},
        END});
}

Test(import, puts_a_request_of_several_lines_on_one)
{
    play((struct step[]){{"ready", ""},
                         {"request ann e1 {@,\r\n 'id':1,\n'method':'ping'}",
                          "child {@,   'id':3, 'method':'ping'}\n"},
                         END});
}

Test(import, tells_progress_only_to_who_asked_under_the_token_given)
{
    play((struct step[]){
        {"ready", ""},
        {"request ann e1 "
         "{@,'id':1,'method':'x','params':{'_meta':{'progressToken':'p','k':1}}}",
         "child {@,'id':3,'method':'x','params':{'_meta':{'progressToken':3,'k':1}}}\n"},
        {"request bob e2 {@,'id':1,'method':'x','params':{'_meta':{'progressToken':3}}}",
         "child {@,'id':4,'method':'x','params':{'_meta':{'progressToken':4}}}\n"},
        {"request cid e3 {@,'id':1,'method':'x','params':{}}",
         "child {@,'id':5,'method':'x','params':{}}\n"},
        {"server "
         "{@,'method':'notifications/progress','params':{'progressToken':4,'progress':.5e1}}",
         ""},
        {"server "
         "{@,'method':'notifications/progress','params':{'progressToken':4,'progress':5e0}}",
         "say mcp/request to=bob about=e2 "
         "{@,'method':'notifications/"
         "progress','params':{'progressToken':3,'progress':5e0}}\n"},
        {"server "
         "{@,'method':'notifications/progress','params':{'progress':1,'progressToken':3}}",
         "say mcp/request to=ann about=e1 "
         "{@,'method':'notifications/"
         "progress','params':{'progress':1,'progressToken':'p'}}\n"},
        {"server {@,'method':'notifications/progress','params':{'progressToken':5}}", ""},
        {"server {@,'method':'notifications/progress','params':{'progressToken':'3'}}", ""},
        END});
}

Test(import, refuses_a_token_that_two_readers_would_read_differently)
{
    play((struct step[]){
        {"ready", ""},
        {"request ann e1 {@,'id':1,'method':'x','params':{'_meta':{'progressToken':1,"
         "'progressToken':2}}}",
         "reply e1 {@,'id':1," ERROR("-32602",
                                     "params._meta.progressToken stands twice; it may "
                                     "stand once") "}}\n"},
        {"request ann e2 {@,'id':1,'method':'x','params':{'_meta':{},'_m\\u0065ta':{}}}",
         "reply e2 {@,'id':1," ERROR("-32602",
                                     "params._meta stands twice; it may stand once") "}}\n"},
        {"request ann e3 {@,'id':1,'method':'x','params':{'_meta':{'progressToken':{}}}}",
         "reply e3 {@,'id':1," ERROR(
             "-32602", "params._meta.progressToken is neither a string nor a number") "}}\n"},
        END});
}

Test(import, greets_everybody_with_what_the_server_said_once)
{
    play((struct step[]){
        {"start", "child {@,'id':1,'method':'server/discover','params':{'_meta':{"
                  "'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
                  "'io.modelcontextprotocol/clientInfo':{'name':'mcpx-bridge','version':"
                  "'" MCPX_VERSION_STRING "'},"
                  "'io.modelcontextprotocol/clientCapabilities':{'elicitation':{},"
                  "'sampling':{},'roots':{'listChanged':true}}}}}\n"},
        {"request ann e1 {@,'id':1,'method':'initialize','params':{}}", ""},
        {"request bob e2 {@,'id':9,'method':'tools/list'}", ""},
        {"server {@,'id':1,'error':{'code':-32601,'message':'no'}}",
         "child {@,'id':4,'method':'initialize','params':{'protocolVersion':'2025-11-25',"
         "'capabilities':{'elicitation':{},'sampling':{},'roots':{'listChanged':true}},"
         "'clientInfo':{'name':'mcpx-bridge','version':'" MCPX_VERSION_STRING "'}}}\n"},
        {"server {@,'id':4,'result':{'protocolVersion':'2025-06-18','x':1}}",
         "child {@,'method':'notifications/initialized'}\n"
         "reply e1 {@,'id':1,'result':{'protocolVersion':'2025-06-18','x':1}}\n"
         "child {@,'id':3,'method':'tools/list'}\n"},
        {"request cid e3 {@,'id':0,'method':'initialize','params':{}}",
         "reply e3 {@,'id':0,'result':{'protocolVersion':'2025-06-18','x':1}}\n"},
        {"notify cid - {@,'method':'notifications/initialized'}", ""},
        END});
}

Test(import, lets_only_the_requester_cancel)
{
    play((struct step[]){
        {"ready", ""},
        {"request ann e1 {@,'id':7,'method':'x'}", "child {@,'id':3,'method':'x'}\n"},
        {"request bob e2 {@,'id':7,'method':'x'}", "child {@,'id':4,'method':'x'}\n"},
        {"notify cid e1 {@,'method':'notifications/cancelled','params':{'requestId':7}}", ""},
        {"notify ann e2 {@,'method':'notifications/cancelled','params':{'requestId':7}}", ""},
        {"notify ann - {@,'method':'notifications/cancelled','params':{'requestId':8}}", ""},
        {"notify ann - {@,'method':'notifications/cancelled'}", ""},
        {"notify bob - "
         "{@,'method':'notifications/cancelled','params':{'requestId':7,'reason':'r'}}",
         "child "
         "{@,'method':'notifications/cancelled','params':{'requestId':4,'reason':'r'}}\n"},
        {"notify ann e1 {'method':'notifications/cancelled','params':{}}",
         "child {'method':'notifications/cancelled','params':{'requestId':3},@}\n"},
        {"server {@,'id':3,'result':{}}", ""},
        END});
}

Test(import, answers_who_waits_at_once_when_the_server_dies)
{
    play((struct step[]){
        {"ready", ""},
        {"request ann e1 {@,'id':1,'method':'x'}", "child {@,'id':3,'method':'x'}\n"},
        {"request bob e2 {@,'id':'b','method':'x'}", "child {@,'id':4,'method':'x'}\n"},
        {"down 9",
         "reply e2 {@,'id':'b'," ERROR(
             "-32000",
             "the server is gone: killed by signal 9") ","
                                                       "'data':{'signal':9,'reason':'killed "
                                                       "by signal 9'}}}\n"
                                                       "reply e1 {@,'id':1," ERROR(
                                                           "-32000",
                                                           "the server is gone: killed by "
                                                           "signal 9") ","
                                                                       "'data':{'signal':9,'"
                                                                       "reason':'killed by "
                                                                       "signal 9'}}}\n"
                                                                       "say chat {'text':'the "
                                                                       "server is gone: "
                                                                       "killed by signal "
                                                                       "9'}\n"},
        {"request ann e3 {@,'id':2,'method':'x'}", ""},
        {"wait 30000",
         "reply e3 {@,'id':2," ERROR(
             "-32000", "the server is gone: killed by signal 9") ","
                                                                 "'data':{'signal':9,'reason':"
                                                                 "'killed by signal 9'}}}\n"},
        {"gone 3", "say chat {'text':'the server is gone: exited with code 3'}\n"},
        {"request ann e4 {@,'id':2,'method':'x'}",
         "reply e4 {@,'id':2," ERROR(
             "-32000", "the server is gone: exited with code 3") ","
                                                                 "'data':{'code':3,'reason':'"
                                                                 "exited with code 3'}}}\n"},
        END});
}

Test(import, brings_a_server_back_with_its_subscriptions)
{
    play((struct step[]){
        {"ready", ""},
        {"request ann e1 {@,'id':1,'method':'resources/subscribe','params':{'uri':'f:///a'}}",
         "child {@,'id':3,'method':'resources/subscribe','params':{'uri':'f:///a'}}\n"},
        {"server {@,'id':3,'result':{}}", "reply e1 {@,'id':1,'result':{}}\n"},
        {"nochat", ""},
        {"down 9", ""},
        {"request ann e2 {@,'id':1,'method':'x'}", ""},
        {"start", "child {@,'id':5,'method':'server/discover','params':{'_meta':{"
                  "'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
                  "'io.modelcontextprotocol/clientInfo':{'name':'mcpx-bridge','version':"
                  "'" MCPX_VERSION_STRING "'},"
                  "'io.modelcontextprotocol/clientCapabilities':{'elicitation':{},"
                  "'sampling':{},'roots':{'listChanged':true}}}}}\n"},
        {"wait 2000",
         "child {@,'id':6,'method':'initialize','params':{'protocolVersion':'2025-11-25',"
         "'capabilities':{'elicitation':{},'sampling':{},'roots':{'listChanged':true}},"
         "'clientInfo':{'name':'mcpx-bridge','version':'" MCPX_VERSION_STRING "'}}}\n"},
        {"server {@,'id':6,'result':{'protocolVersion':'2025-11-25','capabilities':"
         "{'tools':{},'prompts':{}}}}",
         "child {@,'method':'notifications/initialized'}\n"
         "child {@,'id':7,'method':'resources/subscribe','params':{'uri':'f:///a'}}\n"
         "say mcp/request {@,'method':'notifications/tools/list_changed'}\n"
         "say mcp/request {@,'method':'notifications/prompts/list_changed'}\n"
         "child {@,'id':4,'method':'x'}\n"},
        {"server {@,'id':7,'result':{}}", ""},
        END});
}

Test(import, tells_updates_to_those_who_subscribed)
{
    play((struct step[]){
        {"ready", ""},
        {"request ann e1 {@,'id':1,'method':'resources/subscribe','params':{'uri':'f:///a'}}",
         "child {@,'id':3,'method':'resources/subscribe','params':{'uri':'f:///a'}}\n"},
        {"server {@,'method':'notifications/resources/updated','params':{'uri':'f:///a'}}",
         ""},
        {"server {@,'id':3,'result':{}}", "reply e1 {@,'id':1,'result':{}}\n"},
        {"request bob e2 {@,'id':1,'method':'resources/subscribe','params':{'uri':'f:///a'}}",
         "child {@,'id':4,'method':'resources/subscribe','params':{'uri':'f:///a'}}\n"},
        {"server {@,'id':4,'result':{}}", "reply e2 {@,'id':1,'result':{}}\n"},
        {"request cid e3 {@,'id':1,'method':'resources/subscribe','params':{'uri':'f:///b'}}",
         "child {@,'id':5,'method':'resources/subscribe','params':{'uri':'f:///b'}}\n"},
        {"server {@,'id':5,'error':{'code':-32602,'message':'no'}}",
         "reply e3 {@,'id':1,'error':{'code':-32602,'message':'no'}}\n"},
        {"server {@,'method':'notifications/resources/updated','params':{'uri':'f:///a'}}",
         "say mcp/request to=ann,bob "
         "{@,'method':'notifications/resources/updated','params':{'uri':'f:///a'}}\n"},
        {"server {@,'method':'notifications/resources/updated','params':{'uri':'f:///a/1'}}",
         "say mcp/request to=ann,bob "
         "{@,'method':'notifications/resources/updated','params':{'uri':'f:///a/1'}}\n"},
        {"server {@,'method':'notifications/resources/updated','params':{'uri':'f:///b'}}",
         ""},
        {"request ann e4 "
         "{@,'id':2,'method':'resources/unsubscribe','params':{'uri':'f:///a'}}",
         "reply e4 {@,'id':2,'result':{}}\n"},
        {"server {@,'method':'notifications/resources/updated','params':{'uri':'f:///a'}}",
         "say mcp/request to=bob "
         "{@,'method':'notifications/resources/updated','params':{'uri':'f:///a'}}\n"},
        {"left bob",
         "child {@,'id':7,'method':'resources/unsubscribe','params':{'uri':'f:///a'}}\n"},
        {"server {@,'method':'notifications/resources/updated','params':{'uri':'f:///a'}}",
         ""},
        END});
}

Test(import, tells_everybody_what_is_for_nobody_in_particular)
{
    play((struct step[]){
        {"ready", ""},
        {"server {@,'method':'notifications/tools/list_changed'}",
         "say mcp/request {@,'method':'notifications/tools/list_changed'}\n"},
        {"server {@,'method':'notifications/message','params':{'level':'info','data':1.0}}",
         "say mcp/request {@,'method':'notifications/message','params':{'level':'info',"
         "'data':1.0}}\n"},
        {"notify ann - {'method':'notifications/roots/list_changed'}",
         "child {'method':'notifications/roots/list_changed',@}\n"},
        {"notify ann - {@,'method':'notifications/progress','params':{'progressToken':3}}",
         ""},
        {"notify ann own {@,'method':'notifications/progress','params':{'progressToken':3}}",
         "child {@,'method':'notifications/progress','params':{'progressToken':3}}\n"},
        END});
}

Test(import, replaces_an_answer_that_the_router_would_not_take)
{
    play((struct step[]){
        {"ready", ""},
        {"narrow 180", ""},
        {"request ann e1 {@,'id':1,'method':'x'}", "child {@,'id':3,'method':'x'}\n"},
        {"server "
         "{@,'id':3,'result':'0123456789012345678901234567890123456789012345678901234567"
         "890123456789012345678901234567890123456789012345678901234567890123456789012345678901"
         "2"
         "345678901234567890123456789'}",
         "reply e1 {@,'id':1," ERROR(
             "-32000",
             "the answer has 206 bytes; the router takes "
             "messages of at most 180 bytes") ","
                                              "'data':{'bytes':206,'limit':180}}}\n"},
        END});
}

Test(import, ignores_what_is_no_message)
{
    play((struct step[]){
        {"ready", ""},
        {"log server Secure MCP server\x1b[0m running on stdio",
         "log the server wrote what is no JSON, ignored: Secure MCP server?[0m running on "
         "stdio\n"},
        {"server ", ""},
        {"log server [{@,'id':3,'result':{}}]",
         "log the server wrote what is no JSON-RPC "
         "message (expected an object with one JSON-RPC message), ignored: "
         "[{@,'id':3,'result':{}}]\n"},
        {"log server {@,'id':77,'result':{}}",
         "log the server answered what was not asked: {@,'id':77,'result':{}}\n"},
        END});
}

Test(import, says_when_the_server_does_not_read_or_answer)
{
    static const struct import_config config = {.request_ms = 1000};

    play_with(
        &config,
        (struct step[]){
            {"ready", ""},
            {"deaf", ""},
            {"request ann e1 {@,'id':1,'method':'x'}",
             "reply e1 {@,'id':1," ERROR("-32000",
                                         "the server does not read its input") "}}\n"},
            {"listening", ""},
            {"request ann e2 {@,'id':1,'method':'x','params':{'_meta':{'progressToken':0}}}",
             "child {@,'id':4,'method':'x','params':{'_meta':{'progressToken':4}}}\n"},
            {"wait 999", ""},
            {"server {@,'method':'notifications/progress','params':{'progressToken':4}}",
             "say mcp/request to=ann about=e2 "
             "{@,'method':'notifications/progress','params':{'progressToken':0}}\n"},
            {"wait 999", ""},
            {"wait 1",
             "child {@,'method':'notifications/cancelled','params':{'requestId':4,'reason':"
             "'timed out'}}\n"
             "reply e2 {@,'id':1," ERROR("-32001",
                                         "the server did not answer in time") "}}\n"},
            {"server {@,'id':4,'result':{}}", ""},
            END});
}

Test(import, says_to_its_sender_that_a_kind_lies)
{
    play((struct step[]){
        {"ready", ""},
        {"lie ann e1 {@,'id':5,'method':'tools/call','params':{'name':'rm'}}",
         "say mcp/response:tools/call to=ann about=e1 "
         "{@,'id':5," ERROR("-32020", "the kind says something else than the payload") "}}\n"},
        {"lie ann e1 {@,'method':'tools/call','params':{'name':'rm'}}", ""},
        END});
}
