/*
 * main.c - finds the verb and runs it; prints usage from the table of verbs.
 * Includes command.h and mcpx/base.h only. Output that could not be written is a failure: a
 * script must not take half an answer for a whole one.
 */
#include "tools/mcpxctl/command.h"
#include <mcpx/base.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void print_usage(FILE *stream)
{
    fputs("usage: mcpxctl VERB [option]... [operand]...\n\n", stream);
    for (const struct command *command = commands; command->name; command++)
        fprintf(stream, "  %-8s %s\n", command->name, command->summary);
    fputs("\n  mcpxctl VERB --help tells more; mcpxctl --version\n", stream);
    fputs("exit code: 0 done or allowed, 1 failure, 2 bad input, 3 refused\n", stream);
}

static void print_help(const struct command *command)
{
    printf("usage: %s\n\n%s\n", command->synopsis, command->help);
    for (const struct option_row *row = command->options; row->name; row++)
        printf("  %-8s %-5s %s\n", row->name, row->value ? row->value : "", row->help);
}

/* "--help" anywhere before "--" asks for help. */
static bool asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static int dispatch(int argc, char **argv)
{
    static struct arguments arguments;
    const struct command *command;

    if (argc < 2) {
        print_usage(stderr);
        return STATUS_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("mcpxctl %s\n", mcpx_version());
        return STATUS_OK;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage(stdout);
        return STATUS_OK;
    }
    command = command_find(argv[1]);
    if (!command) {
        complain(NULL, "there is no such verb; mcpxctl --help lists them");
        return STATUS_USAGE;
    }
    if (asks_for_help(argc - 2, argv + 2)) {
        print_help(command);
        return STATUS_OK;
    }
    if (!arguments_read(command, argc - 2, argv + 2, &arguments))
        return STATUS_USAGE;
    return command->run(&arguments);
}

int main(int argc, char **argv)
{
    int status = dispatch(argc, argv);

    if (fflush(stdout) || ferror(stdout)) {
        complain(NULL, "cannot write: %s", strerror(errno));
        return STATUS_FAILED;
    }
    return status;
}
