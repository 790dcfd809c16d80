/*
 * man.c - the table of verbs as a manual page in mdoc.
 * The page is printed and not written by hand, because a second description of the options would
 * become wrong with time. A test compares the committed page with the printed one.
 */
#include "tools/common/program.h"

#include <string.h>

/* For ASCII, in every locale. */
static int lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter;
}

static int upper(char letter)
{
    return letter >= 'a' && letter <= 'z' ? letter - 'a' + 'A' : letter;
}

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
        if (strchr(".?!", *text) && text[1] == ' ' && upper(text[2]) == text[2]) {
            fputc('\n', stream);
            line_start = true;
        }
    }
    if (!line_start)
        fputc('\n', stream);
}

/* Prints a sentence, and adds the capital and stop that the help of an option lacks. */
static void put_sentence(FILE *stream, const char *text)
{
    fputc(upper(*text++), stream);
    for (;;) {
        const char *stop = strstr(text, ". ");

        if (!stop) {
            fprintf(stream, "%s.\n", text);
            return;
        }
        fprintf(stream, "%.*s.\n", (int)(stop - text), text);
        text = stop + 2;
    }
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
            fputc(lower(*at), stream);
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
            fputc(lower(at[i]), stream);
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
        put_sentence(stream, row->help);
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

static void put_notes(FILE *stream, const char *heading, const struct note_row *list)
{
    if (!list)
        return;
    fprintf(stream, ".Sh %s\n.Bl -tag -width Ds\n", heading);
    for (const struct note_row *row = list; row->title; row++) {
        fprintf(stream, ".It Ev %s\n", row->title);
        put_text(stream, row->text);
    }
    fputs(".El\n", stream);
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

void man_print(FILE *stream, const struct program *program)
{
    fprintf(stream, ".\\\" Printed by %s --man; change the tables it is made from instead.\n",
            program->name);
    fprintf(stream, ".Dd %s\n.Dt ", program->date);
    for (const char *at = program->name; *at; at++)
        fputc(upper(*at), stream);
    fprintf(stream, " 1\n.Os\n.Sh NAME\n.Nm %s\n.Nd %s\n", program->name, program->summary);
    put_synopsis(stream, program);
    fputs(".Sh DESCRIPTION\n", stream);
    put_text(stream, program->about);
    put_verbs(stream, program);
    put_notes(stream, "ENVIRONMENT", program->environment);
    put_statuses(stream);
    put_examples(stream, program->examples);
    put_see_also(stream, program->see_also);
}
