/*
 * main.c - the table of verbs, which dispatch, help, completion and manual are all made from.
 * Includes verbs.h, cmd_guard.h, connect.h, program.h only.
 */
#include "tools/common/connect.h"
#include "tools/common/program.h"
#include "tools/mcpx-bridge/cmd_guard.h"
#include "tools/mcpx-bridge/verbs.h"

static const struct option_row import_options[] = {
    {"--restart", NULL, VALUE_NONE, 0,
     "start the server again when it ends, after a pause that grows (the default)"},
    {"--no-restart", NULL, VALUE_NONE, 0, "end with exit code 1 when the server ends"},
    {"--line-max", "BYTES", VALUE_NUMBER, 0,
     "longest line the server may write, 67108864 when not given; of a longer one the "
     "requester hears that, unless several wait and the line does not begin with its id"},
    {"--client-capabilities", "JSON", VALUE_TEXT, 0,
     "what is declared to the server; elicitation and sampling when not given"},
    {"--ask", "sole|newest", VALUE_CHOICE, 0,
     "who is asked a question of the server: the participant that has calls under way, if it "
     "is "
     "the only one (the default), or whoever called last, for a room whose participants trust "
     "each other"},
    {"--isolate", NULL, VALUE_NONE, 0,
     "one server process for each participant that asks for more than lists, which keeps "
     "sessions and secrets apart; its questions go to that participant. Lists are those of "
     "one more process, which serves everybody"},
    {"--isolate-max", "N", VALUE_NUMBER, 0,
     "with --isolate: most such processes at one time, 16 when not given; one participant has "
     "a quarter of them at most"},
    {"--isolate-idle", "S", VALUE_SECONDS, 0,
     "with --isolate: how long such a process lives without a request under way and without "
     "subscriptions; 600 when not given"},
    {"--protocol", "auto|2025-11-25|2026-07-28", VALUE_CHOICE, 0,
     "how the server is greeted: asked server/discover first, and when it does not bear that "
     "started again without (the default), with initialize, or with server/discover only"},
    {"--root", "URI", VALUE_TEXT, OPTION_REPEATED,
     "a root that the server is told of, such as file:///srv/docs; without it there are none, "
     "and nobody in the topic can state any"},
    {"--request-timeout", "S", VALUE_SECONDS, 0,
     "how long the server may take for a request, counted anew from each progress "
     "notification, and a participant to answer a question of the server; 300 when not given"},
    {"--name", "NAME", VALUE_TEXT, 0,
     "what the server is called before each line of its standard error; the participant of "
     "--as, or its program's name, when not given"},
    {NULL, NULL, VALUE_NONE, 0, NULL},
};

static const struct option_row expose_options[] = {
    {"--names", "prefixed|plain", VALUE_CHOICE, 0,
     "what tools and prompts are called: PARTICIPANT__NAME (the default), or their own names "
     "where these are unique"},
    {"--only", "PATTERN", VALUE_TEXT, OPTION_REPEATED,
     "show only this: a participant with all it has, or tools, prompts and resources by the "
     "name "
     "the client sees, such as 'files__read_*'; * stands for anything"},
    {"--timeout", "S", VALUE_SECONDS, 0,
     "how long a call may take, counted anew from each progress notification; 600 when not "
     "given, 0 for ever"},
    {"--proposal-timeout", "S", VALUE_SECONDS, 0,
     "how long a proposal waits for somebody to decide; 600 when not given, 0 for ever"},
    {"--heartbeat", "S", VALUE_SECONDS, 0,
     "pause between progress notifications while a proposal waits; 15 when not given"},
    {NULL, NULL, VALUE_NONE, 0, NULL},
};

static const struct command commands[] = {
    {"import", "COMMAND [ARG...]", 1, 0, true, "seat an MCP server at a topic",
     "Starts an MCP server that talks on its standard input and output, and answers for it in "
     "the topic. Requests addressed to this participant, or to everyone, go to the server, "
     "and its answers come back. Servers of the protocol of 2026-07-28 and older ones are "
     "told apart by asking server/discover first.\n\n"
     "One server serves everybody, in all topics that are named, unless --isolate gives each "
     "participant one. It is initialised once, by the bridge; a participant's "
     "initialize is answered with what the server said then. Messages keep their bytes. Only "
     "JSON-RPC ids and progress tokens are exchanged on the way, which every participant "
     "counts from 0 and one server must be able to tell apart.\n\n"
     "When the server dies, whoever waits for it is answered with a JSON-RPC error at once, "
     "and it is started again. SIGTERM, SIGINT, SIGHUP and SIGQUIT stop the server, answer "
     "who "
     "still waits and leave the topic.",
     import_options, connect_topics_options, cmd_import},
    {"expose", NULL, 0, 0, false, "be one MCP server for a whole topic",
     "Is an MCP server on standard input and output that has what all servers of the topic "
     "have: their tools, resources and prompts in one list each, calls going to whoever has "
     "the thing. Clients of the protocol of 2026-07-28 and older ones are served.\n\n"
     "A call that the grants do not cover, but that may be proposed, becomes a proposal; the "
     "client waits until somebody acts on it, and a client that asked for progress is told so "
     "every few seconds, which keeps it from giving up. What may neither be requested nor "
     "proposed is not listed.\n\n"
     "Ends when standard input ends, and on SIGTERM, SIGINT, SIGHUP and SIGQUIT, with what "
     "the "
     "client still waited for taken back.",
     expose_options, connect_options, cmd_expose},
    GUARD_ROW,
    COMPLETION_ROW,
    {NULL, NULL, 0, 0, false, NULL, NULL, NULL, NULL, NULL},
};

static const struct note_row examples[] = {
    {"A file server in a room, on a router in development mode:",
     "$ mcpx-bridge import --topic work --as files -- \\\n"
     "    npx -y @modelcontextprotocol/server-filesystem /srv/docs\n"},
    {"The same with a token of the router's configuration:",
     "$ mcpx-bridge import --url wss://router.example --topic work \\\n"
     "    --token-file /etc/mcpx/files.token -- mcp-server-filesystem /srv/docs\n"},
    {"Everything in a room as one server, for a client that starts its servers itself:",
     "$ mcp-inspector --cli mcpx-bridge expose --topic work --as desk --method tools/list\n"},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    static const struct program bridge = {
        .name = "mcpx-bridge",
        .summary = "connect MCP servers and clients with an MCPx topic",
        .about = "An MCP server that knows nothing of topics becomes a participant of one.",
        .date = "November 22, 2026",
        .commands = commands,
        .examples = examples,
        .see_also = "mcpxctl 1, mcpx-router 8",
    };

    return program_run(&bridge, argc, argv);
}
