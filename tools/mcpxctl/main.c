/*
 * main.c - the table of verbs, which dispatch, help, completion and manual are all made from.
 * Includes verbs.h, program.h only.
 */
#include "tools/common/program.h"
#include "tools/mcpxctl/verbs.h"

static const struct option_row can_options[] = {
    {"--config", "FILE", VALUE_FILE, 0, "the router's configuration (required)"},
    {"--as", "ID", VALUE_TEXT, 0, "the participant that would send (required)"},
    {"--to", "ID", VALUE_TEXT, OPTION_REPEATED,
     "an addressee; without it the envelope is for everyone"},
    {"--json", NULL, VALUE_NONE, 0, "print one JSON object, as POST /v0.1/check answers"},
    {NULL, NULL, VALUE_NONE, 0, NULL},
};

static const struct option_row kind_options[] = {
    {"--json", NULL, VALUE_NONE, 0, "print one JSON object"},
    {NULL, NULL, VALUE_NONE, 0, NULL},
};

static const struct option_row token_options[] = {
    {"--sha256", NULL, VALUE_NONE, 0,
     "read a token from standard input and print only its SHA-256"},
    {"--json", NULL, VALUE_NONE, 0, "print one JSON object"},
    {NULL, NULL, VALUE_NONE, 0, NULL},
};

static const struct command commands[] = {
    {"can", "KIND", 1, 1, false, "may a participant send a kind, and why?",
     "Decides offline, from the configuration alone, exactly as the router would now. Exits 0 "
     "when the participant may, 3 when it may not.",
     can_options, NULL, cmd_can},
    {"kind", "KIND", 1, 1, false, "split a kind into type, method and context",
     "Shows how the router reads a kind, or what is wrong with it and at which byte.",
     kind_options, NULL, cmd_kind},
    {"token", NULL, 0, 0, false, "make a participant's token",
     "Prints a new random token of 256 bits, which is kept nowhere, and the \"token_sha256\" "
     "that goes into the configuration. A token is never an argument: others can read those.",
     token_options, NULL, cmd_token},
    COMPLETION_ROW,
    {NULL, NULL, 0, 0, false, NULL, NULL, NULL, NULL, NULL},
};

static const struct note_row examples[] = {
    {"Ask before an agent does:",
     "$ mcpxctl can --config router.json --as fs mcp/request:tools/call:rm\n"
     "refused: fs may not send mcp/request:tools/call:rm to everyone\n"
     "  reason       no grant covers this kind\n"
     "  nearest      mcp/request:tools/call:read_*\n"
     "  would allow  mcp/request:tools/call:rm\n"
     "  alternative  mcp/proposal:tools/call:rm\n"},
    {"Hash a token that exists already:", "$ mcpxctl token --sha256 < token.txt\n"},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    static const struct program mcpxctl = {
        .name = "mcpxctl",
        .summary = "look into an MCPx topic and take part in it",
        .about = "Options and operands may come in any order; -- ends the options.",
        .date = "November 22, 2026",
        .commands = commands,
        .examples = examples,
        .see_also = "mcpx-router 8",
    };

    return program_run(&mcpxctl, argc, argv);
}
