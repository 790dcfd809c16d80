/*
 * loading.h - the state of one config_load, shared by its steps, and its error and warning
 * lines. Internal to config*.c.
 */
#ifndef POLICY_LOADING_H
#define POLICY_LOADING_H

#include "router/policy/config/settings.h"

struct jwt_key;

/**
 * One reading of the configuration.
 *
 * sources    borrowed
 * tree       the file's object, owned; NULL when there is no file or it is no JSON object
 * pointer    JSON pointer of the file's value that is looked at
 * settings   values so far
 * errors     borrowed: one line per fault
 * faults     lines in it
 * warnings   owned until it moves into the result
 * no_memory  sticky
 */
struct loading {
    const struct config_sources *sources;
    json_t *tree;
    struct mcpx_text pointer;
    struct settings settings;
    struct mcpx_text *errors;
    size_t faults;
    struct mcpx_text warnings;
    bool no_memory;
};

/**
 * Begins an error line, "SOURCE: POINTER: "; an empty pointer is left out. Whoever begins a line
 * ends it with a newline.
 */
struct mcpx_text *error_begin(struct loading *loading, const char *source,
                              const char *pointer);

/** Begins a warning line in the same way. */
struct mcpx_text *warning_begin(struct loading *loading, const char *source,
                                const char *pointer);

/** Begins an error line with `found X`, as write_found writes it. */
struct mcpx_text *error_found(struct loading *loading, const char *source, const char *pointer,
                              const json_t *value, bool hidden);

/** A whole error line. */
void error_line(struct loading *loading, const char *source, const char *pointer,
                const char *sentence);

/** A whole warning line. */
void warning_line(struct loading *loading, const char *source, const char *pointer,
                  const char *sentence);

/** The same lines about the file's value at the pointer. */
void error_here(struct loading *loading, const char *sentence);
void warning_here(struct loading *loading, const char *sentence);
struct mcpx_text *error_found_here(struct loading *loading, const json_t *value, bool hidden);

/**
 * A whole error line: a value was found that does not fit the row. Says what is allowed, and shows
 * no secret: a string in the place of a container may be one too.
 */
void error_unfit(struct loading *loading, const char *source, const char *pointer,
                 const json_t *value, const struct setting *row);

/**
 * A whole line about a setting: `line` is error_line or warning_line. It names where the value came
 * from, a variable or the file.
 */
void setting_line(struct loading *loading, const char *pointer, const char *sentence,
                  void (*line)(struct loading *, const char *, const char *, const char *));

/**
 * Appends the value that was found, such as `"x" (string)`. Long strings are cut, containers
 * counted; with `hidden`, only type and size are shown.
 */
void write_found(const json_t *value, bool hidden, struct mcpx_text *out);

/**
 * Each appends a segment to the pointer: "/name", escaped as RFC 6901 section 3 wants, or "/3".
 * Returns the length before, for pointer_pop.
 */
size_t pointer_push(struct loading *loading, const char *name);
size_t pointer_push_index(struct loading *loading, size_t index);

/** Cuts the pointer back to an earlier length; 0 = the whole file. */
void pointer_pop(struct loading *loading, size_t len);

/** Makes it /SECTION/NAME. */
void pointer_set(struct loading *loading, const char *section, const char *name);

/** The pointer as a C string; "" when it is empty or memory ran out. */
const char *pointer_text(const struct loading *loading);

/** The file's value at /section/NAME..., walked by member names; NULL when absent. */
const json_t *tree_at(const struct loading *loading, const char *section, const char *name);

/* ---- the steps, in the order config_load takes them ---- */

/** Reads and checks the file against the table. Without a file it does nothing. */
void load_file(struct loading *loading);

/** Reads MCPX_* variables. */
void load_environment(struct loading *loading);

/** Applies --listen and takes the addresses apart into settings.config.listen. */
void load_listen(struct loading *loading);

/** Takes the networks of trusted_proxies apart. */
void load_proxies(struct loading *loading);

/** Writes every setting down, for config_compare, and names the policy. When all are final. */
void note_values(struct loading *loading);

/** Checks grants, names and references in profiles and participants. */
void check_people(struct loading *loading);

/** Puts profiles and participants into `tokens`. Only after checks that found no fault. */
void build_people(struct loading *loading, struct tokens *tokens);

/** Reads secrets and key files and puts the keys into `tokens`, checking them. */
void load_keys(struct loading *loading, struct tokens *tokens);

/** Writes warnings about settings that are valid but are probably mistakes. */
void write_warnings(struct loading *loading, const struct tokens *tokens);

/**
 * Makes the path of a setting such as can be opened: one of the file is relative to the file's
 * directory, one of the environment to ours.
 */
void setting_resolve(struct loading *loading, const char *pointer, char **path);

#endif
