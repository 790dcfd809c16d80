/*
 * command.h - the verbs of mcpxctl as rows of one table, and the words of a command line.
 * Includes libc only.
 */
#ifndef MCPXCTL_COMMAND_H
#define MCPXCTL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/** Exit codes, the same for every verb. */
enum {
    STATUS_OK = 0,     /* done; the kind is valid; the participant may */
    STATUS_FAILED = 1, /* the system did not play along */
    STATUS_USAGE = 2,  /* the command line, the input or the configuration is at fault */
    STATUS_REFUSED = 3 /* the participant may not */
};

/** Options and operands a command line may hold. */
enum { WORDS_MAX = 512 };

/**
 * An option a verb knows. A list of them ends with a row without name.
 *
 * name    with its dashes
 * value   what stands for its value in a usage line; NULL when it takes none
 * help    one line
 */
struct option_row {
    const char *name;
    const char *value;
    const char *help;
};

/** An option as given. `value` is NULL when it takes none. */
struct option_word {
    const struct option_row *option;
    const char *value;
};

/** A command line taken apart. Words are lent by argv. */
struct arguments {
    const char *operands[WORDS_MAX];
    size_t operand_count;
    struct option_word options[WORDS_MAX];
    size_t option_count;
};

/**
 * A verb.
 *
 * operands    how many it wants, exactly
 * run         does it and returns the exit code; prints its own errors with complain()
 */
struct command {
    const char *name;
    const char *synopsis;
    const char *summary;
    const char *help;
    const struct option_row *options;
    size_t operands;
    int (*run)(const struct arguments *arguments);
};

/** The table, ended by a row without name. */
extern const struct command commands[];

/** The row with that name; NULL when there is none. */
const struct command *command_find(const char *name);

/**
 * Takes a verb's words apart. Prints what is wrong and returns false when they do not fit the
 * verb's row. Never prints a word that could be a secret: operands and values are not repeated.
 */
bool arguments_read(const struct command *command, int argc, char **argv,
                    struct arguments *out);

/** True when the option was given. */
bool arguments_have(const struct arguments *arguments, const char *name);

/** The option's last value; NULL when it was not given. */
const char *arguments_value(const struct arguments *arguments, const char *name);

/** Prints "mcpxctl VERB: " and the sentence, and a newline, to standard error. */
void complain(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The verbs; each returns an exit code. */
int cmd_can(const struct arguments *arguments);
int cmd_kind(const struct arguments *arguments);
int cmd_token(const struct arguments *arguments);

#endif
