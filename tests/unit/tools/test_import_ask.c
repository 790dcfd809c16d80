/*
 * What breaks for whom: a server's question (may I? what is your name?) reaches somebody who never
 * called it, or the answer never comes back and the server waits for ever. Issue: participants.
 */
#include "import_world.h"

#include <criterion/criterion.h>

#define END                                                                                   \
    {                                                                                         \
        NULL, NULL                                                                            \
    }
#define CALL(who, envelope, id)                                                               \
    {                                                                                         \
        "request " who " " envelope " {@,'id':1,'method':'x'}",                               \
            "child {@,'id':" id ",'method':'x'}\n"                                            \
    }
#define QUESTION "{@,'id':0,'method':'elicitation/create','params':{'message':'?'}}"

Test(import_ask, asks_whoever_called_last_and_passes_the_answer_unchanged)
{
    play((struct step[]){
        {"ready", ""},
        CALL("ann", "e1", "3"),
        CALL("bob", "e2", "4"),
        {"server " QUESTION, "say mcp/request to=bob about=e2 tag=1 " QUESTION "\n"},
        {"answer 1 { 'id':0, 'result':{'action':'accept'}, @}",
         "child { 'id':0, 'result':{'action':'accept'}, @}\n"},
        {"answer 1 {'id':0,'result':{'action':'accept'},@}", ""},
        {"server {@,'id':4,'result':{}}", "reply e2 {@,'id':1,'result':{}}\n"},
        {"server " QUESTION, "say mcp/request to=ann about=e1 tag=2 " QUESTION "\n"},
        {"answer 2 {'id':0,'error':{'code':-1,'message':'no'},@}",
         "child {'id':0,'error':{'code':-1,'message':'no'},@}\n"},
        END});
}

Test(import_ask, prefers_a_call_that_a_server_may_ask_about)
{
    play((struct step[]){
        {"ready", ""},
        {"request ann e1 {@,'id':1,'method':'tools/call','params':{'name':'x'}}",
         "child {@,'id':3,'method':'tools/call','params':{'name':'x'}}\n"},
        {"request bob e2 {@,'id':1,'method':'tools/list'}",
         "child {@,'id':4,'method':'tools/list'}\n"},
        {"server " QUESTION, "say mcp/request to=ann about=e1 tag=1 " QUESTION "\n"},
        END});
}

Test(import_ask, tells_the_server_when_nobody_will_answer)
{
    play((struct step[]){
        {"ready", ""},
        {"server " QUESTION, "child {@,'id':0,'error':{'code':-32601,'message':'no "
                             "participant has a request under "
                             "way that this could be about'}}\n"},
        CALL("ann", "e1", "3"),
        {"server " QUESTION, "say mcp/request to=ann about=e1 tag=1 " QUESTION "\n"},
        {"expired 1",
         "child {@,'id':0,'error':{'code':-32001,'message':'nobody answered in time'}}\n"},
        {"server " QUESTION, "say mcp/request to=ann about=e1 tag=2 " QUESTION "\n"},
        {"refused 2", "child {@,'id':0,'error':{'code':-32601,'message':'no grant'}}\n"},
        {"server " QUESTION, "say mcp/request to=ann about=e1 tag=3 " QUESTION "\n"},
        {"left bob", ""},
        {"left ann", "forget q3\nchild {@,'id':0,'error':{'code':-32001,'message':'the "
                     "participant that was asked has left'}}\n"},
        {"expired 3", ""},
        {"refused 0", ""},
        END});
}

Test(import_ask, answers_a_ping_itself)
{
    play((struct step[]){
        {"ready", ""},
        {"server {@,'id':'p','method':'ping'}", "child {@,'id':'p','result':{}}\n"},
        END});
}

Test(import_ask, passes_on_that_the_server_takes_a_question_back)
{
    play((struct step[]){
        {"ready", ""},
        CALL("ann", "e1", "3"),
        {"server " QUESTION, "say mcp/request to=ann about=e1 tag=1 " QUESTION "\n"},
        {"server {@,'method':'notifications/cancelled','params':{'requestId':5}}", ""},
        {"server {@,'method':'notifications/cancelled','params':{'requestId':0}}",
         "say mcp/request to=ann about=q1 "
         "{@,'method':'notifications/cancelled','params':{'requestId':0}}\nforget q1\n"},
        {"answer 1 {@,'id':0,'result':{}}", ""},
        END});
}

Test(import_ask, forgets_the_questions_of_a_server_that_died)
{
    play((struct step[]){
        {"ready", ""},
        {"nochat", ""},
        CALL("ann", "e1", "3"),
        {"server " QUESTION, "say mcp/request to=ann about=e1 tag=1 " QUESTION "\n"},
        {"down 9",
         "forget q1\nreply e1 {@,'id':1,'error':{'code':-32000,'message':'the server "
         "is gone: killed by signal 9','data':{'signal':9,'reason':'killed by signal "
         "9'}}}\n"},
        {"answer 1 {@,'id':0,'result':{}}", ""},
        END});
}
