/* main.c - the table of verbs, which dispatch, help, completion and manual are all made from. */
#include "tools/common/connect.h"
#include "tools/common/context.h"
#include "tools/common/program.h"
#include "tools/mcpx-bridge/verbs.h"

static const struct command commands[] = {
    {"import", "COMMAND [ARG...]", 1, 0, true, "connect an MCP server to a topic", import_help,
     import_option_rows, connect_topics_options, cmd_import, NULL},
    {"expose", NULL, 0, 0, false, "be one MCP server for a whole topic", expose_help,
     expose_option_rows, connect_service_options, cmd_expose, NULL},
    {"guard", "[COMMAND] [ARG...]", 0, 0, true, "check messages for an agent without checks",
     guard_help, guard_option_rows, NULL, cmd_guard, NULL},
    /* as every program has */
    COMPLETION_ROW,
    HELP_ROW,
    {.name = NULL},
};

static const struct note_row examples[] = {
    {"A file server in a topic, on a router in development mode:",
     "$ mcpx-bridge import --topic work --as files -- \\\n"
     "    npx -y @modelcontextprotocol/server-filesystem /srv/docs\n"},
    {"The same with a token of the router's configuration:",
     "$ mcpx-bridge import --url wss://router.example --topic work \\\n"
     "    --token-file /etc/mcpx/files.token -- mcp-server-filesystem /srv/docs\n"},
    {"Everything in a topic as one server, for a client that starts its servers itself:",
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

    secret_drop_others();
    return program_run(&bridge, argc, argv);
}
