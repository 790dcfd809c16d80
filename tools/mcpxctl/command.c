/*
 * command.c - the table of verbs, which dispatch, usage and help are all made from.
 * Includes command.h only. getopt was refused: it knows no long options in POSIX, and a second
 * description of the options next to the help would go stale.
 */
#include "tools/mcpxctl/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct option_row can_options[] = {
    {"--config", "FILE", "the router's configuration (required)"},
    {"--as", "ID", "the participant that would send (required)"},
    {"--to", "ID", "an addressee, may be repeated; without it the envelope is for everyone"},
    {"--json", NULL, "print one JSON object, as POST /v0.1/check answers"},
    {NULL, NULL, NULL},
};

static const struct option_row kind_options[] = {
    {"--json", NULL, "print one JSON object"},
    {NULL, NULL, NULL},
};

static const struct option_row token_options[] = {
    {"--sha256", NULL, "read a token from standard input and print only its SHA-256"},
    {"--json", NULL, "print one JSON object"},
    {NULL, NULL, NULL},
};

const struct command commands[] = {
    {"can", "mcpxctl can --config FILE --as ID KIND [--to ID]... [--json]",
     "may a participant send a kind, and why?",
     "Decides offline, from the configuration alone, exactly as the router would now.\n"
     "Exits 0 when the participant may, 3 when it may not.\n",
     can_options, 1, cmd_can},
    {"kind", "mcpxctl kind KIND [--json]", "split a kind into type, method and context",
     "Exits 0 when the kind is valid; 2 when it is not, saying where and why.\n", kind_options,
     1, cmd_kind},
    {"token", "mcpxctl token [--sha256] [--json]", "make a participant's token",
     "Prints a new random token, which is kept nowhere, and the \"token_sha256\" that goes\n"
     "into the configuration. A token is never an argument: others can read those.\n",
     token_options, 0, cmd_token},
    {NULL, NULL, NULL, NULL, NULL, 0, NULL},
};

const struct command *command_find(const char *name)
{
    for (const struct command *command = commands; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}

void complain(const char *verb, const char *format, ...)
{
    va_list arguments;

    fprintf(stderr, verb ? "mcpxctl %s: " : "mcpxctl: ", verb);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

/* `name` may go on with "=value". */
static const struct option_row *find_option(const struct command *command, const char *word,
                                            size_t len)
{
    for (const struct option_row *row = command->options; row->name; row++)
        if (strlen(row->name) == len && memcmp(row->name, word, len) == 0)
            return row;
    return NULL;
}

/* Reads the option at argv[*at], and its value when that is the next word. */
static bool read_option(const struct command *command, char **argv, int argc, int *at,
                        struct option_word *out)
{
    const char *word = argv[*at];
    size_t len = strcspn(word, "=");
    const struct option_row *row = find_option(command, word, len);

    if (!row) {
        complain(command->name, "there is no such option; see mcpxctl %s --help",
                 command->name);
        return false;
    }
    *out = (struct option_word){row, word[len] == '=' ? word + len + 1 : NULL};
    if (!row->value && out->value) {
        complain(command->name, "%s takes no value", row->name);
        return false;
    }
    if (row->value && !out->value) {
        if (*at + 1 >= argc) {
            complain(command->name, "%s wants a value: %s %s", row->name, row->name,
                     row->value);
            return false;
        }
        out->value = argv[++*at];
    }
    return true;
}

bool arguments_read(const struct command *command, int argc, char **argv,
                    struct arguments *out)
{
    bool options_end = false;

    out->operand_count = 0;
    out->option_count = 0;
    for (int i = 0; i < argc; i++) {
        if (out->operand_count == WORDS_MAX || out->option_count == WORDS_MAX) {
            complain(command->name, "more than %d words", WORDS_MAX);
            return false;
        }
        if (!options_end && strcmp(argv[i], "--") == 0)
            options_end = true;
        else if (options_end || argv[i][0] != '-')
            out->operands[out->operand_count++] = argv[i];
        else if (!read_option(command, argv, argc, &i, &out->options[out->option_count++]))
            return false;
    }
    if (out->operand_count == command->operands)
        return true;
    complain(command->name, "takes %zu operand%s, not %zu: %s", command->operands,
             command->operands == 1 ? "" : "s", out->operand_count, command->synopsis);
    return false;
}

bool arguments_have(const struct arguments *arguments, const char *name)
{
    for (size_t i = 0; i < arguments->option_count; i++)
        if (strcmp(arguments->options[i].option->name, name) == 0)
            return true;
    return false;
}

const char *arguments_value(const struct arguments *arguments, const char *name)
{
    const char *value = NULL;

    for (size_t i = 0; i < arguments->option_count; i++)
        if (strcmp(arguments->options[i].option->name, name) == 0)
            value = arguments->options[i].value;
    return value;
}
