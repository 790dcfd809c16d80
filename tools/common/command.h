/*
 * command.h - the verbs of a program as rows of one table, and the reader of a command line. Help,
 * completion and manual are made from the same rows.
 */
#ifndef TOOLS_COMMAND_H
#define TOOLS_COMMAND_H

#include "lib/base/scoped.h"
#include <mcpx/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The exit codes and their meanings, for all programs, their help and their manuals. */
#define STATUSES(X)                                                                           \
    X(STATUS_OK, 0, "done; allowed; valid")                                                   \
    X(STATUS_FAILED, 1, "failed: a system error, or an error as answer")                      \
    X(STATUS_USAGE, 2, "the command line, the input or the configuration is at fault")        \
    X(STATUS_REFUSED, 3, "refused: no grant, or no approval")                                 \
    X(STATUS_ABSENT, 4, "not found")                                                          \
    X(STATUS_UNREACHABLE, 5, "cannot connect or authenticate")                                \
    X(STATUS_MEMORY, 71, "out of memory: ended at once, standard error says so")              \
    X(STATUS_TIMEOUT, 124, "not answered in time")                                            \
    X(STATUS_INTERRUPTED, 130, "interrupted")

#define STATUS_CONSTANT(constant, number, meaning) constant = (number),
enum { STATUSES(STATUS_CONSTANT) };
#undef STATUS_CONSTANT

/** Options and operands a command line may hold. */
enum { WORDS_MAX = 512 };

/** The largest number an option takes. */
enum { NUMBER_MAX = 1000000000 };

/**
 * The type of an option's value; checked before the verb runs.
 *
 *   NONE      no value
 *   TEXT      anything
 *   FILE      anything; completed as a path
 *   NUMBER    0 .. NUMBER_MAX, decimal
 *   SECONDS   a duration (duration_read)
 *   CHOICE    one of the words that `value` lists, separated by "|"
 *
 * The types below these accept anything. For them completion offers existing names: participants,
 * topics, tools, ids of envelopes, ID@DIGEST of open proposals, contexts, contracts, verbs.
 */
enum value_type {
    VALUE_NONE,
    VALUE_TEXT,
    VALUE_FILE,
    VALUE_NUMBER,
    VALUE_SECONDS,
    VALUE_CHOICE,
    VALUE_PARTICIPANT,
    VALUE_TOPIC,
    VALUE_TOOL,
    VALUE_ENVELOPE,
    VALUE_PROPOSAL,
    VALUE_CONTEXT,
    VALUE_CONTRACT,
    VALUE_VERB
};

/** Of an option of a verb. When one that is not repeated comes several times, the last counts. */
enum { OPTION_REQUIRED = 1, OPTION_REPEATED = 2 };

/** An option of a verb. A list of them ends with a row without name. */
struct option_row {
    const char *name; /* with its dashes */
    const char
        *value; /* its name in a usage line, or the choices; NULL = the option has none */
    enum value_type type;
    unsigned flags;
    const char *help; /* a sentence without final stop, or several with stops between them */
};

#define OPTION(name, value, type, flags, help)                                                \
    {                                                                                         \
        name, value, type, flags, help                                                        \
    }

/** An option without a value. */
#define SWITCH(name, help) OPTION(name, NULL, VALUE_NONE, 0, help)

#define OPTIONS(...) ((const struct option_row[]){__VA_ARGS__, {.name = NULL}})

/** An option as given. `value` is NULL when it takes none. */
struct option_word {
    const struct option_row *option;
    const char *value;
};

/** A command line after it was read. Words are lent by argv. */
struct arguments {
    const struct command *command;
    /* "--help" or "-h" was given as an option; nothing after it was read or checked. */
    bool help;
    bool options_end;                /* "--" was read */
    const char *operands[WORDS_MAX]; /* NULL behind the last */
    size_t operand_count;
    struct option_word options[WORDS_MAX];
    size_t option_count;
    /* For a verb with `rest`: the words of the other program's command line, ended by NULL. */
    char **rest;
    size_t rest_count;
};

/** A verb. A table of them ends with a row without name. */
struct command {
    const char *name;
    /* As in a usage line: "KIND", "TOOL [JSON]"; NULL when it takes none. Small letters at the
     * start are the choices for the first operand: "a|b", or "[a|b]" when it may be absent. */
    const char *operands;
    /* Bounds of the number of operands. With `rest`, `min` counts the words of the rest, and
     * `max` is not used. */
    size_t min, max;
    /* Options end at "--", or before the first word that is not an option; the words from there
     * on are the command line of another program and are not changed. */
    bool rest;
    const char *summary; /* a few words */
    const char *help;    /* sentences with stops; paragraphs are separated by an empty line */
    const struct option_row *options; /* its own */
    /* Options it has in common with others, such as connect_options, none of them required; NULL
     * when there are none. */
    const struct option_row *shared;
    /* Returns the exit code; prints its own errors with complain(). */
    int (*run)(const struct arguments *arguments);
    /* Its place in help: one of the program's groups; NULL when the program has none. */
    const char *group;
};

/** An empty list of options. */
extern const struct option_row no_options[];

/** The row with that name, or NULL. */
const struct command *command_find(const struct command *table, const char *name);

/** The verb's option, own or shared, named by the first `len` bytes of a word; else NULL. */
const struct option_row *option_find(const struct command *command, const char *word,
                                     size_t len);

/**
 * Returns the index of the verb: 0 when the first word is not an option; else the first known verb
 * behind options and their values. Returns `count` without a verb.
 */
size_t command_verb_at(const struct command *table, const char *const *words, size_t count);

/**
 * Reads the words behind a verb. When some do not fit the verb's row, `out` has the others. The
 * complaint names an unknown option and the nearest known one, but no operand, no value, and no
 * option that has capitals or more than 22 characters: these may be secrets.
 *
 * argv   ended by NULL at argv[argc]
 *
 * Returns STATUS_OK, or STATUS_USAGE, having complained.
 */
int arguments_read(const struct command *command, int argc, char **argv,
                   struct arguments *out);

/**
 * The first option of that name at or after `*at`; NULL when there is none. Moves `*at` behind it.
 * In the first call `*at` is 0.
 */
const struct option_word *arguments_next(const struct arguments *arguments, const char *name,
                                         size_t *at);

bool arguments_have(const struct arguments *arguments, const char *name);

/**
 * The last value of an option: its text; a NUMBER; SECONDS in milliseconds; the index of a CHOICE
 * among the choices. NULL, `fallback`, or 0 for a choice when the option was not given.
 */
const char *arguments_value(const struct arguments *arguments, const char *name);
int64_t arguments_number(const struct arguments *arguments, const char *name,
                         int64_t fallback);
int64_t arguments_ms(const struct arguments *arguments, const char *name, int64_t fallback);
size_t arguments_choice(const struct arguments *arguments, const char *name);

/** The index of the first operand, for a verb whose row lists choices for it. */
size_t arguments_action(const struct arguments *arguments);

/**
 * Reads a duration of up to NUMBER_MAX seconds: a number with up to three digits after a point, and
 * perhaps a unit: 45, 45s, 5m, 1.5h, 2d. Returns false, and leaves `ms` as it was, for other text.
 */
bool duration_read(const char *text, int64_t *ms);

enum { NEAREST_HINT = 64, NEAREST_NAME = 31 };

/** A search among names. All but `hint` is private. */
struct nearest {
    /* " (did you mean NAME?)" with the nearest so far; "" when none is near enough. A name is near
     * enough when it begins with the word, of three letters or more, or has few wrong letters: one
     * in a word of up to four, two in one of up to seven, else three. Two neighbours that changed
     * places are one error. Dashes at the beginning are ignored. */
    char hint[NEAREST_HINT];
    size_t wrong; /* number of errors in that name */
    const char *word;
    size_t len;
};

/** Begin a search for `len` bytes, lent until it ends; keep a name nearer than all before. */
void nearest_begin(struct nearest *nearest, const char *word, size_t len);
void nearest_consider(struct nearest *nearest, const char *name);

/** Sets the names at the head of complaints; keeps both pointers. `verb` is NULL while unknown. */
void complain_as(const char *program, const char *verb);

/**
 * Complains: prints "PROGRAM VERB: " (or "PROGRAM: "), the sentence, made visible, and a newline to
 * standard error. Returns `status`.
 */
int fail_with(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The same, without a status. */
#define complain(...) ((void)fail_with(STATUS_OK, __VA_ARGS__))

/**
 * As fail_with, with the name of a thing: "PROGRAM VERB: WHAT" and the sentence. The sentence
 * begins with a space or ": ". `what` may come from others: it is made visible, and cut after 256
 * characters.
 */
int fail_of(int status, struct mcpx_slice what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/**
 * As fail_with, about a place in a text: "PROGRAM VERB: WHERE, line 2, column 7: " and the
 * sentence. Lines and columns count from 1; a column is a character.
 *
 * line     number of the text's first line
 * before   the text up to that place
 */
int fail_at(int status, const char *where, size_t line, struct mcpx_slice before,
            const char *sentence);

/**
 * Return a result of libmcpx unchanged, and lend a text for output. End the program for MCPX_ENOMEM
 * and a failed text. malloc ends our programs itself (memory.c), so code in tools/ does not check
 * for memory; these two guard output, in case libmcpx has another reason.
 */
enum mcpx_err memory_checked(enum mcpx_err err);
struct mcpx_slice text_whole(const struct mcpx_text *text);

/** Prints whole lines to standard error, unchanged. It waits only while complaints wait. */
void complaints_put(struct mcpx_slice lines);

/** Prints how many lines are missing, and why. After the second call it prints a JSON object. */
void complain_of_missing(uint64_t count, const char *why);
void complain_as_json(void);

/**
 * From now on complaints do not wait for standard error. Lines that it does not accept at once are
 * kept in a bounded buffer. When this is full, lines are lost, and a later line gives their number.
 * For programs with an event loop.
 */
void complain_without_waiting(void);

/** Tries again to print kept complaints. Call it in every loop iteration. */
void complaints_flush(void);

/** Waits up to a second until kept complaints are printed. Later complaints wait again. */
void complaints_drain(void);

#endif
