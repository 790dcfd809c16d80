/*
 * program.c - runs a verb of a program, and prints the table of verbs as a manual page in mdoc.
 *
 * SIGPIPE is ignored while the program runs, because a socket may raise it too. The program ends by
 * SIGPIPE only when the reader of standard output has gone.
 *
 * The page is printed and not written by hand, because a second description of the options would
 * become wrong with time. A test compares the committed page with the printed one.
 */
#include "tools/common/program.h"

#include "tools/common/command.h"
#include "tools/common/context.h"
#include "tools/common/visible.h"
#include <mcpx/base.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the manual ---- */

/* Prints text as mdoc: each sentence begins a new line, an empty line begins a paragraph. */
static void put_text(FILE *stream, const char *text)
{
    bool line_start = true;

    for (; *text; text++) {
        if (line_start && *text == ' ')
            continue;
        if (line_start && *text == '\n') {
            fputs(".Pp\n", stream);
            continue;
        }
        if (line_start && (*text == '.' || *text == '\''))
            fputs("\\&", stream);
        if (*text == '\\')
            fputs("\\e", stream);
        else
            fputc(*text, stream);
        line_start = *text == '\n';
        if (strchr(".?!", *text) && text[1] == ' ' && !islower((unsigned char)text[2])) {
            fputc('\n', stream);
            line_start = true;
        }
    }
    if (!line_start)
        fputc('\n', stream);
}

/* Adds the capital and the stop that the help of an option lacks. */
static void put_sentences(FILE *stream, const char *text)
{
    mx_scoped_text whole = mx_formatted("%s.", text);

    whole.text[0] = (char)(toupper)((unsigned char)text[0]);
    put_text(stream, whole.text);
}

static void put_option(FILE *stream, const struct option_row *row)
{
    fprintf(stream, "Fl -%s", row->name + 2);
    if (row->type == VALUE_CHOICE) {
        for (const char *choice = row->value; *choice;) {
            size_t len = strcspn(choice, "|");

            fprintf(stream, " %sCm %.*s", choice == row->value ? "" : "| ", (int)len, choice);
            choice += len + (choice[len] == '|');
        }
    } else if (row->value) {
        fputs(" Ar ", stream);
        for (const char *at = row->value; *at; at++)
            fputc((tolower)((unsigned char)*at), stream);
    }
    if (row->flags & OPTION_REPEATED)
        fputs(" ...", stream);
}

/* Prints "TOOL [JSON]", each word on a line of its own. */
static void put_operands(FILE *stream, const struct command *command)
{
    const char *at = command->operands ? command->operands : "";

    if (command->rest)
        fputs(".Fl -\n", stream);
    while (*at) {
        size_t len = strcspn(at, " ");
        bool optional = *at == '[';

        fputs(optional ? ".Op Ar " : ".Ar ", stream);
        for (size_t i = optional; i < len - optional; i++)
            fputc((tolower)((unsigned char)at[i]), stream);
        fputc('\n', stream);
        at += len + (at[len] == ' ');
    }
}

static void put_synopsis(FILE *stream, const struct program *program)
{
    fputs(".Sh SYNOPSIS\n", stream);
    for (const struct command *command = program->commands; command->name; command++) {
        fprintf(stream, ".Nm\n.Cm %s\n", command->name);
        for (const struct option_row *row = command->options; row->name; row++) {
            fputs(row->flags & OPTION_REQUIRED ? "." : ".Op ", stream);
            put_option(stream, row);
            fputc('\n', stream);
        }
        if (command->shared)
            fputs(".Op Ar connection\n", stream);
        put_operands(stream, command);
    }
    fputs(".Nm\n.Op Ar verb\n.Fl -help\n.Nm\n.Fl -version | Fl -man\n", stream);
}

static void put_options(FILE *stream, const struct option_row *list)
{
    if (!list->name)
        return;
    fputs(".Bl -tag -width Ds\n", stream);
    for (const struct option_row *row = list; row->name; row++) {
        fputs(".It ", stream);
        put_option(stream, row);
        fputc('\n', stream);
        put_sentences(stream, row->help);
        if (row->flags & OPTION_REQUIRED)
            fputs("Required.\n", stream);
    }
    fputs(".El\n", stream);
}

static void put_verbs(FILE *stream, const struct program *program)
{
    const struct option_row *shared = NULL;

    fputs(".Ss Verbs\n.Bl -tag -width Ds\n", stream);
    for (const struct command *command = program->commands; command->name; command++) {
        fprintf(stream, ".It Cm %s\n", command->name);
        put_text(stream, command->help);
        put_options(stream, command->options);
        shared = command->shared ? command->shared : shared;
    }
    fputs(".El\n", stream);
    if (!shared)
        return;
    fputs(".Ss Connection options\n", stream);
    put_options(stream, shared);
}

static void put_statuses(FILE *stream)
{
#define STATUS_LINE(constant, number, meaning)                                                \
    fprintf(stream, ".It %d\n%s.\n", number, meaning);
    fputs(".Sh EXIT STATUS\n.Bl -tag -width Ds -compact\n", stream);
    STATUSES(STATUS_LINE)
    fputs(".El\n", stream);
#undef STATUS_LINE
}

static void put_examples(FILE *stream, const struct note_row *list)
{
    if (!list)
        return;
    fputs(".Sh EXAMPLES\n", stream);
    for (const struct note_row *row = list; row->title; row++) {
        if (row != list)
            fputs(".Pp\n", stream);
        put_text(stream, row->title);
        fputs(".Bd -literal -offset indent\n", stream);
        for (const char *at = row->text; *at; at++) {
            if ((at == row->text || at[-1] == '\n') && (*at == '.' || *at == '\''))
                fputs("\\&", stream);
            fputs(*at == '\\' ? "\\e" : (char[]){*at, '\0'}, stream);
        }
        fputs(".Ed\n", stream);
    }
}

static void put_see_also(FILE *stream, const char *list)
{
    fputs(".Sh SEE ALSO\n", stream);
    while (*list) {
        size_t len = strcspn(list, ",");
        bool more = list[len] == ',';

        fprintf(stream, ".Xr %.*s%s\n", (int)len, list, more ? " ," : "");
        list += len + more;
        list += strspn(list, " ");
    }
}

/* Prints the manual page. */
static void man_print(FILE *stream, const struct program *program)
{
    fprintf(stream, ".\\\" Printed by %s --man; change the tables it is made from instead.\n",
            program->name);
    fprintf(stream, ".Dd %s\n.Dt ", program->date);
    for (const char *at = program->name; *at; at++)
        fputc((toupper)((unsigned char)*at), stream);
    fprintf(stream, " 1\n.Os\n.Sh NAME\n.Nm %s\n.Nd %s\n", program->name, program->summary);
    put_synopsis(stream, program);
    fputs(".Sh DESCRIPTION\n", stream);
    put_text(stream, program->about);
    put_verbs(stream, program);
    put_statuses(stream);
    put_examples(stream, program->examples);
    put_see_also(stream, program->see_also);
}

/* ---- the program ---- */

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

/* Prints the verbs of a group; all when it is NULL. */
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

/* Prints the usage of a verb, without "usage: ". */
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

/* Does not print a word that is too long for a verb: it may be a misplaced token. */
static int complain_of_verb(const struct program *program, const char *word)
{
    mx_scoped_text shown = {0};
    struct nearest nearest;

    nearest_begin(&nearest, word, strlen(word));
    for (const struct command *command = program->commands; command->name; command++)
        nearest_consider(&nearest, command->name);
    for (const char *const *own = own_words; *own; own++)
        nearest_consider(&nearest, *own);
    text_visible(&shown, mcpx_slice_of(word));
    if (word[0] == '-' && !nearest.hint[0])
        complain("a verb is missing; %s --help lists them", program->name);
    else if (strlen(word) <= VERB_MAX && shown.len > 0)
        complain("there is no verb '%s'%s; %s --help lists them", shown.text, nearest.hint,
                 program->name);
    else
        complain("there is no such verb; %s --help lists them", program->name);
    return STATUS_USAGE;
}

/* Moves the verb in front of options that are written before it. */
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
    complain_as(program->name, command->name);
    if (arguments_read(command, argc - 2, argv + 2, &arguments) != STATUS_OK) {
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

const struct program *program_running(void)
{
    return running;
}

/*
 * The number of a closed standard stream goes to the first file or socket, and a complaint could go
 * to the router. So /dev/null replaces closed streams. It is opened in the wrong direction, so that
 * output to a closed stream is still a failure.
 */
static void occupy_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            _exit(STATUS_FAILED);
}

int output_error(void)
{
    static int first;

    if (!first && ferror(stdout))
        first = errno;
    return first;
}

bool output_is_unread(void)
{
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};

    return poll(&output, 1, 0) > 0 && (output.revents & POLLERR);
}

/* Writes what waits. Returns the exit code of the program, whose verb returned `status`. */
static int finish(int status)
{
    complaints_drain();
    if ((fflush(stdout) == 0 && !output_error()) || status == STATUS_INTERRUPTED)
        return status;
    if (output_is_unread()) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    return fail_with(STATUS_FAILED, "cannot write: %s", strerror(output_error()));
}

void program_end(int status)
{
    exit(finish(status));
}

int program_run(const struct program *program, int argc, char **argv)
{
    occupy_streams();
    secret_hide_process();
    running = program;
    complain_as(program->name, NULL);
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    return finish(dispatch(program, argc, argv));
}
