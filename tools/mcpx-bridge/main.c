/*
 * main.c - the table of verbs, which dispatch, help, completion and manual are all made from.
 */
#include "tools/common/program.h"
#include "tools/mcpx-bridge/expose/edge/cmd.h"
#include "tools/mcpx-bridge/guard/edge/cmd.h"
#include "tools/mcpx-bridge/import/edge/cmd.h"

static const struct command commands[] = {
    IMPORT_ROW,
    EXPOSE_ROW,
    GUARD_ROW,
    /* as every program has */
    COMPLETION_ROW,
    HELP_ROW,
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
