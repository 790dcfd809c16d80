/*
 * program.c - what every program of verbs does before and after a verb runs.
 * SIGPIPE is ignored while the program runs, because a socket may raise it too. The program ends by
 * SIGPIPE only when the reader of standard output has gone.
 */
#include "tools/common/program.h"

#include "tools/common/completion.h"
#include "tools/common/nearest.h"
#include "tools/common/secret.h"
#include "tools/common/visible.h"
#include <mcpx/base.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const struct program *running;

enum { LINE_COLUMNS = 79, VERB_MAX = 20 };

/* Prints text in lines that begin at `indent`; the cursor is there already. */
static void print_wrapped(const char *text, int indent)
{
    int column = indent;

    while (*text) {
        int len = (int)strcspn(text, " \n");

        if (column > indent && column + 1 + len > LINE_COLUMNS) {
            printf("\n%*s", indent, "");
            column = indent;
        }
        column += printf(column > indent ? " %.*s" : "%.*s", len, text);
        text += len;
        for (; *text == '\n'; column = indent)
            printf("%c%*s", *text++, indent, "");
        text += strspn(text, " ");
    }
    putchar('\n');
}

static int longest_name(const struct option_row *list, int width)
{
    for (const struct option_row *row = list; row && row->name; row++) {
        int len = (int)(strlen(row->name) + 1 + (row->value ? strlen(row->value) : 0));

        width = len > width ? len : width;
    }
    return width;
}

static void print_options(const struct option_row *list, int width)
{
    for (const struct option_row *row = list; row && row->name; row++) {
        printf("  %s %-*s  ", row->name, width - (int)strlen(row->name) - 1,
               row->value ? row->value : "");
        print_wrapped(row->help, width + 4);
    }
}

/* The verbs of a group; all when it is NULL. */
static void print_verbs(FILE *stream, const struct program *program, const char *group,
                        int width)
{
    for (const struct command *row = program->commands; row->name; row++)
        if (!group || strcmp(row->group, group) == 0)
            fprintf(stream, "  %-*s  %s\n", width, row->name, row->summary);
}

static void print_overview(FILE *stream, const struct program *program)
{
    int width = 0;

    for (const struct command *command = program->commands; command->name; command++) {
        int len = (int)strlen(command->name);

        width = len > width ? len : width;
    }
    fprintf(stream, "usage: %s VERB [option]... [operand]...\n\n", program->name);
    for (const char *const *group = program->groups; group && *group; group++) {
        fprintf(stream, "%s%s\n", group == program->groups ? "" : "\n", *group);
        print_verbs(stream, program, *group, width);
    }
    if (!program->groups)
        print_verbs(stream, program, NULL, width);
    fprintf(stream, "\n  %s VERB --help tells more; %s --version, --man\n", program->name,
            program->name);
}

/* Prints what comes after "usage: " for a verb. */
static void print_usage(FILE *stream, const struct program *program,
                        const struct command *command)
{
    fprintf(stream, "%s %s", program->name, command->name);
    for (const struct option_row *row = command->options; row->name; row++) {
        bool required = row->flags & OPTION_REQUIRED;

        fprintf(stream, required ? " %s" : " [%s", row->name);
        if (row->value)
            fprintf(stream, " %s", row->value);
        fputs(required ? "" : "]", stream);
        fputs(row->flags & OPTION_REPEATED ? "..." : "", stream);
    }
    if (command->shared)
        fputs(" [connection option]...", stream);
    if (command->operands)
        fprintf(stream, command->rest ? " -- %s" : " %s", command->operands);
    fputc('\n', stream);
}

static void print_help(const struct program *program, const struct command *command)
{
    int width = longest_name(command->shared, longest_name(command->options, 0));

    fputs("usage: ", stdout);
    print_usage(stdout, program, command);
    putchar('\n');
    print_wrapped(command->help, 0);
    if (command->options->name)
        fputs("\noptions:\n", stdout);
    print_options(command->options, width);
    if (command->shared)
        fputs("\nconnection:\n", stdout);
    print_options(command->shared, width);
}

/* Answers options in place of a verb. Returns false when the word may be a verb. */
static bool answer_itself(const struct program *program, const char *word)
{
    if (strcmp(word, "--version") == 0)
        printf("%s %s\n", program->name, mcpx_version());
    else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        print_overview(stdout, program);
    else if (strcmp(word, "--man") == 0)
        man_print(stdout, program);
    else
        return false;
    return true;
}

static const char *const own_words[] = {"--help", "--version", "--man", NULL};

/* A word that is too long for a verb may be a token that was pasted in the wrong place. */
static int complain_of_verb(const struct program *program, const char *word)
{
    struct mcpx_text shown = {0};
    struct nearest nearest;

    nearest_begin(&nearest, word, strlen(word));
    for (const struct command *command = program->commands; command->name; command++)
        nearest_consider(&nearest, command->name);
    for (const char *const *own = own_words; *own; own++)
        nearest_consider(&nearest, *own);
    text_visible(&shown, mcpx_slice_of(word));
    if (word[0] == '-' && !nearest.name)
        complain(NULL, "a verb is missing; %s --help lists them", program->name);
    else if (strlen(word) <= VERB_MAX && shown.len > 0)
        complain(NULL, "there is no verb '%s'%s; %s --help lists them", shown.text,
                 nearest_hint(&nearest), program->name);
    else
        complain(NULL, "there is no such verb; %s --help lists them", program->name);
    mcpx_text_fini(&shown);
    return STATUS_USAGE;
}

/* Puts the verb before the options that stand before it. */
static void move_verb(const struct program *program, int argc, char **argv)
{
    size_t count = (size_t)argc - 1;
    size_t at = command_verb_at(program->commands, (const char *const *)argv + 1, count);
    char *verb;

    if (at == count)
        return;
    verb = argv[1 + at];
    memmove(argv + 2, argv + 1, at * sizeof *argv);
    argv[1] = verb;
}

static int dispatch(const struct program *program, int argc, char **argv)
{
    static struct arguments arguments;
    const struct command *command;

    if (argc < 2) {
        print_overview(stderr, program);
        return STATUS_USAGE;
    }
    if (answer_itself(program, argv[1]))
        return STATUS_OK;
    move_verb(program, argc, argv);
    command = command_find(program->commands, argv[1]);
    if (!command)
        return complain_of_verb(program, argv[1]);
    if (!arguments_read(command, argc - 2, argv + 2, &arguments)) {
        fputs("usage: ", stderr);
        print_usage(stderr, program, command);
        return STATUS_USAGE;
    }
    if (arguments.help) {
        print_help(program, command);
        return STATUS_OK;
    }
    return command->run(&arguments);
}

int cmd_help(const struct arguments *arguments)
{
    const char *verb = arguments->operands[0];
    const struct command *command = verb ? command_find(running->commands, verb) : NULL;

    if (verb && !command)
        return complain_of_verb(running, verb);
    if (command)
        print_help(running, command);
    else
        print_overview(stdout, running);
    return STATUS_OK;
}

int cmd_completion(const struct arguments *arguments)
{
    return completion_answer(stdout, running, arguments);
}

/*
 * When a standard stream is closed, the first file or socket that is opened gets its number, and a
 * complaint could go to the router. So closed streams are replaced. A replacement refuses what its
 * stream is for, so output that nobody gets is still a failure.
 */
static void occupy_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            _exit(STATUS_FAILED);
}

int program_run(const struct program *program, int argc, char **argv)
{
    int status;

    occupy_streams();
    secret_hide_process();
    running = program;
    complain_as(program->name);
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    status = dispatch(program, argc, argv);
    complain_at_last();
    if ((fflush(stdout) == 0 && !ferror(stdout)) || status == STATUS_INTERRUPTED)
        return status;
    if (output_is_unread()) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    return fail_with(STATUS_FAILED, NULL, "cannot write: %s", strerror(errno));
}
