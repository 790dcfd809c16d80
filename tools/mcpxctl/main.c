/*
 * main.c - the table of verbs, which dispatch, help, completion and manual are all made from.
 * Includes verbs.h, colour.h, connect.h, program.h only.
 */
#include "tools/common/colour.h"
#include "tools/common/connect.h"
#include "tools/common/program.h"
#include "tools/mcpxctl/verbs.h"

#define JSON_OPTION                                                                           \
    {                                                                                         \
        "--json", NULL, VALUE_NONE, 0, "print raw JSON, one object per line"                  \
    }
#define END_OPTION                                                                            \
    {                                                                                         \
        NULL, NULL, VALUE_NONE, 0, NULL                                                       \
    }
#define KIND_OPTION                                                                           \
    {                                                                                         \
        "--kind", "PATTERN", VALUE_TEXT, 0,                                                   \
            "only kinds that the pattern covers, as in a grant"                               \
    }
#define FROM_OPTION                                                                           \
    {                                                                                         \
        "--from", "ID", VALUE_TEXT, 0, "only what this participant sent"                      \
    }

static const struct option_row history_options[] = {
    {"--limit", "N", VALUE_NUMBER, 0, "at most so many, the newest; 50"},
    {"--before", "ID", VALUE_TEXT, 0, "only what is older than this envelope"},
    KIND_OPTION,
    FROM_OPTION,
    COLOUR_OPTION,
    JSON_OPTION,
    END_OPTION,
};

static const struct option_row list_only_options[] = {COLOUR_OPTION, JSON_OPTION, END_OPTION};

static const struct option_row can_options[] = {
    {"--config", "FILE", VALUE_FILE, 0,
     "decide offline, from the router's configuration; --as names the participant"},
    {"--live", NULL, VALUE_NONE, 0, "ask the running router, as --url does"},
    {"--participant", "ID", VALUE_TEXT, 0,
     "ask the router about somebody else; needs a grant for admin/check"},
    {"--to", "ID", VALUE_TEXT, OPTION_REPEATED,
     "an addressee; without it the envelope is for everyone"},
    {"--json", NULL, VALUE_NONE, 0, "print one JSON object, as POST /v0.1/check answers"},
    END_OPTION,
};

static const struct option_row kind_options[] = {
    {"--json", NULL, VALUE_NONE, 0, "print one JSON object"},
    END_OPTION,
};

static const struct option_row token_options[] = {
    {"--sha256", NULL, VALUE_NONE, 0,
     "read a token from standard input and print only its SHA-256"},
    {"--json", NULL, VALUE_NONE, 0, "print one JSON object"},
    END_OPTION,
};

static const struct command commands[] = {
    {"can", "KIND", 1, 1, false, "may a participant send a kind, and why?",
     "With --config decides offline, from the configuration alone, exactly as the router "
     "would "
     "now. With --live or --url asks the running router about the token's own participant, or "
     "another. Exits 0 when the participant may, 3 when it may not.",
     can_options, connect_options, cmd_can},
    {"chain", "ID", 1, 1, false, "what became of a proposal or request",
     "Shows the proposal, who fulfilled or rejected it, whether with the params proposed, and "
     "the response, with the time each took. ID is the id of any envelope of the chain, or "
     "the "
     "beginning of one.",
     list_only_options, connect_options, cmd_chain},
    {"history", NULL, 0, 0, false, "what was said",
     "Prints retained envelopes, oldest first. Does not join the topic.", history_options,
     connect_options, cmd_history},
    {"kind", "KIND", 1, 1, false, "split a kind into type, method and context",
     "Shows how the router reads a kind, or what is wrong with it and at which byte.",
     kind_options, NULL, cmd_kind},
    {"proposals", NULL, 0, 0, false, "proposals that wait for a decision",
     "Prints the retained proposals that nobody has fulfilled, rejected or withdrawn. Does "
     "not "
     "join the topic.",
     list_only_options, connect_options, cmd_proposals},
    {"token", NULL, 0, 0, false, "make a participant's token",
     "Prints a new random token of 256 bits, which is kept nowhere, and the \"token_sha256\" "
     "that goes into the configuration. A token is never an argument: others can read those.",
     token_options, NULL, cmd_token},
    {"who", NULL, 0, 0, false, "who is connected, and what each may say",
     "Prints the participants and their capabilities. Does not join the topic.",
     list_only_options, connect_options, cmd_who},
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
