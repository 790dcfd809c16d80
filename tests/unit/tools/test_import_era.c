/*
 * What breaks for whom: a server of the new protocol is talked to in the old one, or the other
 * way round, and none of its tools can be used. Issue: participants (both eras).
 */
#include "import_world.h"

#include <criterion/criterion.h>

#define END                                                                                   \
    {                                                                                         \
        NULL, NULL                                                                            \
    }
#define INFO                                                                                  \
    "'io.modelcontextprotocol/"                                                               \
    "clientInfo':{'name':'mcpx-bridge','version':'" MCPX_VERSION_STRING "'}"
#define META(version)                                                                         \
    "'io.modelcontextprotocol/protocolVersion':'" version "'," INFO                           \
    ",'io.modelcontextprotocol/clientCapabilities':{'sampling':{}}"
#define DISCOVER(id, version)                                                                 \
    "child {@,'id':" id ",'method':'server/discover','params':{'_meta':{" META(version) "}}}" \
                                                                                        "\n"
#define INITIALIZE(id)                                                                        \
    "child {@,'id':" id ",'method':'initialize','params':{'protocolVersion':'2025-11-25',"    \
    "'capabilities':{'sampling':{}},'clientInfo':{'name':'mcpx-bridge','version':"            \
    "'" MCPX_VERSION_STRING "'}}}\n"
#define LISTEN(id, version)                                                                   \
    "child {@,'id':" id ",'method':'subscriptions/listen','params':{'_meta':{" META(          \
        version) "},'notifications':{'toolsListChanged':true,'promptsListChanged':true,"      \
                 "'resourcesListChanged':true}}}\n"
#define FOUND(id)                                                                             \
    "server {@,'id':" id ",'result':{'supportedVersions':['2026-07-28'],'capabilities':"      \
    "{'tools':{'listChanged':true}},'_meta':{'io.modelcontextprotocol/serverInfo':"           \
    "{'name':'m','version':'1'}}}}"

static const struct import_config config = {.capabilities = "{\"sampling\":{}}"};

Test(import_era, speaks_the_new_protocol_with_who_answers_the_probe)
{
    play_with(
        &config,
        (struct step[]){
            {"start", DISCOVER("1", "2026-07-28")},
            {FOUND("1"), LISTEN("2", "2026-07-28")},
            {"server {@,'method':'notifications/subscriptions/acknowledged','params':{}}", ""},
            {"request ann e1 {@,'id':1,'method':'tools/list'}",
             "child {@,'id':3,'method':'tools/list','params':{'_meta':{" META(
                 "2026-07-28") "}}}\n"},
            {"request ann e2 {@,'id':1,'method':'x','params':{'a':1}}",
             "child {@,'id':4,'method':'x','params':{'a':1,'_meta':{" META(
                 "2026-07-28") "}}}\n"},
            {"request ann e3 {@,'id':1,'method':'x','params':{'_meta':{'progressToken':1,"
             "'io.modelcontextprotocol/protocolVersion':'2030-01-01',"
             "'io.modelcontextprotocol/clientInfo':1,"
             "'io.modelcontextprotocol/clientCapabilities':{}}}}",
             "child {@,'id':5,'method':'x','params':{'_meta':{'progressToken':5,"
             "'io.modelcontextprotocol/protocolVersion':'2030-01-01',"
             "'io.modelcontextprotocol/clientInfo':1,"
             "'io.modelcontextprotocol/clientCapabilities':{}}}}\n"},
            {"request ann e4 {@,'id':'i','method':'initialize','params':{}}",
             "reply e4 {@,'id':'i','result':{'protocolVersion':'2025-11-25','capabilities':"
             "{'tools':{'listChanged':true}},'serverInfo':{'name':'m','version':'1'}}}\n"},
            END});
}

Test(import_era, speaks_the_old_protocol_with_who_refuses_the_probe)
{
    play_with(&config,
              (struct step[]){{"start", DISCOVER("1", "2026-07-28")},
                              {"server {@,'id':1,'error':{'code':-32600,'message':'what?'}}",
                               INITIALIZE("2")},
                              {"server {@,'id':2,'result':{'protocolVersion':'2024-11-05'}}",
                               "child {@,'method':'notifications/initialized'}\n"},
                              {"request ann e1 {@,'id':1,'method':'tools/list'}",
                               "child {@,'id':3,'method':'tools/list'}\n"},
                              END});
}

Test(import_era, takes_two_seconds_of_silence_for_a_refusal)
{
    play_with(&config,
              (struct step[]){{"start", DISCOVER("1", "2026-07-28")},
                              {"wait 1999", ""},
                              {"wait 1", INITIALIZE("2")},
                              {"server {@,'id':1,'error':{'code':-32601,'message':'no'}}", ""},
                              {"server {@,'id':2,'result':{'protocolVersion':'2025-11-25'}}",
                               "child {@,'method':'notifications/initialized'}\n"},
                              END});
}

Test(import_era, believes_a_probe_that_is_answered_late)
{
    play_with(&config,
              (struct step[]){{"start", DISCOVER("1", "2026-07-28")},
                              {"wait 2000", INITIALIZE("2")},
                              {FOUND("1"), LISTEN("3", "2026-07-28")},
                              {"server {@,'id':2,'error':{'code':-32022,'message':'no'}}", ""},
                              END});
}

Test(import_era, tries_the_versions_own_list_once)
{
    play_with(
        &config,
        (struct step[]){
            {"start", DISCOVER("1", "2026-07-28")},
            {"server {@,'id':1,'error':{'code':-32022,'message':'no','data':{'supported':"
             "['2027-01-01','2028-02-02']}}}",
             DISCOVER("2", "2028-02-02")},
            {FOUND("2"), LISTEN("3", "2028-02-02")},
            END});
    play_with(
        &config,
        (struct step[]){
            {"start", DISCOVER("1", "2026-07-28")},
            {"request ann e1 {@,'id':1,'method':'x'}", ""},
            {"server {@,'id':1,'error':{'code':-32022,'message':'no','data':{'supported':"
             "['2028-02-02']}}}",
             DISCOVER("3", "2028-02-02")},
            {"server {@,'id':3,'error':{'code':-32022,'message':'no','data':{'supported':"
             "['2028-02-02']}}}",
             ""},
            END});
}

Test(import_era, kills_a_server_that_never_gets_ready)
{
    play_with(&config, (struct step[]){{"start", DISCOVER("1", "2026-07-28")},
                                       {"wait 2000", INITIALIZE("2")},
                                       {"wait 117999", ""},
                                       {"wait 1", "kill\n"},
                                       END});
}
