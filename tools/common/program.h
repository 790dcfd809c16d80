/* program.h - a program made of verbs: dispatch, help, completion and manual from one table. */
#ifndef TOOLS_PROGRAM_H
#define TOOLS_PROGRAM_H

#include "tools/common/command.h"

#include <mcpx/text.h>

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

/** An example: its purpose and its lines. A list ends with a row without title. */
struct note_row {
    const char *title;
    const char *text;
};

/**
 * The type of an operand of a usage line, for completion: "ID" is the id of an envelope. A list
 * ends with a row without name.
 */
struct operand_row {
    const char *name;
    enum value_type type;
};

struct typing;

/** A program. */
struct program {
    const char *name;
    const char *summary; /* a few words, for the manual's first line */
    const char *about;   /* sentences with stops; paragraphs are separated by an empty line */
    const char *date;    /* of the manual: "November 22, 2026" */
    const struct command *commands;
    /* Titles of the groups of verbs, in help's order; ended by NULL; may be NULL. */
    const char *const *groups;
    const struct note_row *examples; /* lines as typed and printed; may be NULL */
    const char *see_also;            /* other manuals: "mcpxctl 1, mcpx-router 8" */
    /* The operands with offers in completion; may be NULL. */
    const struct operand_row *operands;
    /* Offers the existing names of a type, VALUE_PARTICIPANT or one below it, by completion_offer.
     * `arguments` is the text before. NULL = offers nothing. */
    void (*offer)(const struct arguments *arguments, enum value_type type,
                  struct typing *typing);
};

/** Offers a word and its description for the last word typed, when the word begins like it. */
void completion_offer(struct typing *typing, struct mcpx_slice word, struct mcpx_slice about);

/**
 * The body of main(): runs the verb, or answers --help, --version and --man. Returns the exit code.
 * Other processes of the same user cannot read this one (secret_hide_process). Standard output is
 * line-buffered. Output that could not be written is a failure: a script must not take half an
 * answer for a whole one. When the reader of standard output has gone, the program ends by SIGPIPE
 * and prints nothing.
 */
int program_run(const struct program *program, int argc, char **argv);

/**
 * Ends the program as if the verb had returned the status. Only for a verb with nothing to undo: it
 * does not take part in a topic, and no child process runs.
 */
_Noreturn void program_end(int status);

/** Complain as fail_with and fail_of, and end the program so. */
#define end_with(...) program_end(fail_with(__VA_ARGS__))
#define end_of(...) program_end(fail_of(__VA_ARGS__))

/** Ends the program so when a step of the verb did not succeed. */
static inline void must(int status)
{
    if (status != STATUS_OK)
        program_end(status);
}

/**
 * Ends the program at once, with the line "PROGRAM: out of memory" and STATUS_MEMORY. The line is
 * written directly, because other output may need memory.
 */
_Noreturn static inline void end_without_memory(const char *program)
{
    struct pollfd output = {.fd = STDERR_FILENO, .events = POLLOUT};
    char line[80];
    int len = snprintf(line, sizeof line, "%.40s: out of memory\n", program);

    /* A failed write cannot be reported. */
    (void)!(poll(&output, 1, 1000) > 0 && write(STDERR_FILENO, line, (size_t)len) > 0);
    _exit(STATUS_MEMORY);
}

/** The errno of the first failed write to standard output, or 0; call it right after writing. */
int output_error(void);

/** True when the reader of standard output has gone. Never true for a file or terminal. */
bool output_is_unread(void);

/** The program that runs. */
const struct program *program_running(void);

/**
 * The verb "completion SHELL [WORD...]", and its row. With SHELL alone it prints the script for
 * that shell, else offers for the last WORD, which is still being typed.
 *
 * An offer is a line: the word, and for zsh and fish a tab and what the word is. A line
 * "<tab>files" or "<tab>commands" asks the shell to offer its own. An offer begins with the typed
 * text, and has no characters that text_visible would escape. Standard error is discarded before
 * the first offer, so failed lookups are silent.
 */
int cmd_completion(const struct arguments *arguments);

#define COMPLETION_ROW                                                                        \
    {                                                                                         \
        "completion", "bash|zsh|fish [WORD...]", 1, WORDS_MAX, false,                         \
            "print a completion script for the shell",                                        \
            "Put the output where the shell reads completions, or source it. With WORDs, "    \
            "which are a command line without the program's name, prints what may stand for " \
            "the last of them: this is what the script asks. Put -- before them.",            \
            no_options, NULL, cmd_completion, "shell"                                         \
    }

/** The verb "help [VERB]", which prints what --help prints, and its row. */
int cmd_help(const struct arguments *arguments);

#define HELP_ROW                                                                              \
    {                                                                                         \
        "help", "[VERB]", 0, 1, false, "tell how to use a verb",                              \
            "Without VERB lists the verbs. With it prints what VERB --help prints.",          \
            no_options, NULL, cmd_help, "shell"                                               \
    }

#endif
