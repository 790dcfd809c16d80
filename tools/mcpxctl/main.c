/* main.c - joins the tables of verbs: the source of dispatch, help, completion and manual. */
#include "tools/common/program.h"
#include "tools/mcpxctl/core/verbs.h"

#include <stdlib.h>
#include <string.h>

static const struct command *const tables[] = {
    ask_verbs,     audit_verbs,  call_verbs,    can_verbs,   context_verbs, contract_verbs,
    gate_verbs,    grant_verbs,  history_verbs, list_verbs,  policy_verbs,  prepare_verbs,
    propose_verbs, reload_verbs, status_verbs,  store_verbs, validate_verbs};

/* Zeros end the list. */
enum { VERBS_MAX = 64 };
static struct command commands[VERBS_MAX];

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct command *)left)->name, ((const struct command *)right)->name);
}

/* Joins the verbs of the tables, by name, and those that every program has. */
static void join_tables(void)
{
    size_t count = 0;

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct command *row = tables[i]; row->name && count < VERBS_MAX - 3; row++)
            commands[count++] = *row;
    qsort(commands, count, sizeof *commands, by_name);
    commands[count++] = (struct command)COMPLETION_ROW;
    commands[count] = (struct command)HELP_ROW;
}

static const char *const groups[] = {
    "most used",  "look",  "propose and decide",
    "administer", "keep",  "contracts and releases",
    "prepare",    "shell", NULL,
};

static const struct note_row examples[] = {
    {"Ask before an agent does:",
     "$ mcpxctl can --config router.json --as fs mcp/request:tools/call:rm\n"
     "refused: fs may not send mcp/request:tools/call:rm to everyone\n"
     "  reason       no grant covers this kind\n"
     "  nearest      mcp/request:tools/call:read_*\n"
     "  would allow  mcp/request:tools/call:rm\n"
     "  alternative  mcp/proposal:tools/call:rm\n"},
    {"Are two documents the same but for how they are written?",
     "$ echo '{\"b\": 1.0, \"a\": [ ]}' | mcpxctl digest\n"
     "1c8f8816506a8ccbc55140d8a7bb70214a8942c7030fc0fc2914cec675cd1c15\n"},
    {"Hash a token that exists already:", "$ mcpxctl token --sha256 < token.txt\n"},
    {NULL, NULL},
};

static const struct operand_row operands[] = {
    {"ID", VALUE_ENVELOPE},  {"ID[@DIGEST]", VALUE_PROPOSAL},
    {"NAME", VALUE_CONTEXT}, {"CONTRACT", VALUE_CONTRACT},
    {"FILE", VALUE_FILE},    {"VERB", VALUE_VERB},
    {"GOLDEN", VALUE_FILE},  {"NEW", VALUE_FILE},
    {"OLD", VALUE_FILE},     {"FOLDER...", VALUE_FILE},
    {"WORD", VALUE_FILE},    {"PARTICIPANT", VALUE_PARTICIPANT},
    {"TOOL", VALUE_TOOL},    {NULL, VALUE_NONE},
};

static const char about[] =
    "Options and operands may come in any order; -- ends the options. Verbs that only read "
    "use the HTTP API; watch, say, call, list, propose, ask, approve, reject and withdraw "
    "join the topic for as long as they run, each as an instance with an id of its own (ann, "
    "ann~2) beside the other programs of the same participant. So one id is enough for "
    "several terminals.\n"
    "\n"
    "What participants wrote is shown with control characters, invisible characters and those "
    "that change the direction of text escaped as in JSON. Into a file or pipe JSON and the "
    "text of a result go as they are.";

int main(int argc, char **argv)
{
    static const struct program mcpxctl = {
        .name = "mcpxctl",
        .summary = "look into an MCPx topic and take part in it",
        .about = about,
        .date = "November 22, 2026",
        .commands = commands,
        .groups = groups,
        .examples = examples,
        .see_also = "mcpx-router 8",
        .operands = operands,
        .offer = offer_live,
    };

    join_tables();
    return program_run(&mcpxctl, argc, argv);
}
