/*
 * settings.h - the one table of settings, shared by reading, documentation and schema; and the
 * state of one reading of the configuration. Internal to config*.c and its tests.
 */
#ifndef POLICY_SETTINGS_H
#define POLICY_SETTINGS_H

#include "router/policy/config/config.h"
#include "router/policy/grants/grant_list.h"

#include <jansson.h>

/** The types of settings. */
enum setting_type {
    SETTING_BOOL,
    SETTING_INTEGER,
    SETTING_CHOICE,
    SETTING_STRING,
    SETTING_SECRET,   /* a string that is never shown */
    SETTING_SHA256,   /* 64 hexadecimal digits, never shown either */
    SETTING_STRINGS,  /* a list of strings; min and max count its entries */
    SETTING_PATTERNS, /* a list of capability patterns */
    SETTING_GRANTS,   /* a list of patterns and grant objects */
    SETTING_MAP,      /* an object with free member names */
    SETTING_LIST      /* a list of objects */
};

/** One row of the table. */
struct setting {
    const char *pointer; /* JSON pointer; a segment "*" stands for any member name or index */
    enum setting_type type; /* see above */
    int64_t min, max;       /* integers: range; strings: bytes; lists: entries */
    /* "no limit" when 0 is allowed below `min`, with that meaning; "" otherwise. */
    const char *zero;
    int64_t scale;              /* the stored number is the written one times this */
    const char *const *choices; /* NULL-terminated; the index is stored */
    const char *fallback;       /* default, as JSON text; NULL = none */
    size_t offset;              /* of the value in struct settings */
    size_t size;                /* of the value there; 0 = not stored from the table */
    bool live;                  /* takes effect at a reload; else requires a restart */
};

/** The source of a value; a later source replaces an earlier one. */
enum setting_source { FROM_DEFAULT, FROM_FILE, FROM_ENVIRONMENT, FROM_FLAGS };

enum { SETTINGS_MAX = 128 };

/** The table, ended by a row without pointer. */
extern const struct setting settings_table[];

/** The values of the table: the public settings, and those needed only while loading. */
struct settings {
    struct config config;
    struct names listen;
    struct names proxies;
    char *issuer;
    char *audience;
    char *secret;
    char *secret_file;
    char *jwks_file;
    bool exp_optional;
    unsigned char set_by[SETTINGS_MAX]; /* enum setting_source of each row of the table */
};

/** The row of the value at a JSON pointer; NULL when there is none. */
const struct setting *settings_find(const char *pointer);

/** True when rows lie below the pointer: it is a section, written as an object. */
bool settings_has_section(const char *pointer);

/**
 * Appends the names a section knows, "depth, connections"; nothing for a map: its names are free.
 */
void settings_write_names(const char *section, struct mcpx_text *out);

/**
 * Appends the name of the environment variable of a row ("MCPX_LIMITS_DEPTH"); nothing for a part
 * of a map or a list.
 */
void setting_write_variable(const struct setting *row, struct mcpx_text *out);

/** Appends what is allowed: "an integer 1..65536 (0 = no limit)". */
void setting_write_expected(const struct setting *row, struct mcpx_text *out);

/**
 * True when the value has the row's type and is in its range. The entries of lists are not checked.
 */
bool setting_fits(const struct setting *row, const json_t *value);

/**
 * Stores a value that fits, releasing what was there.
 *
 * Returns MCPX_OK or MCPX_ENOMEM.
 */
enum mcpx_err setting_store(const struct setting *row, const json_t *value,
                            enum setting_source source, struct settings *settings);

/** The source of the value at this pointer of a row. */
enum setting_source settings_source(const struct settings *settings, const char *pointer);

/** Fills in all defaults. `settings` is zeroed. Returns MCPX_OK or MCPX_ENOMEM. */
enum mcpx_err settings_init(struct settings *settings);

/** Frees the stored values. Members moved elsewhere must be zeroed before. */
void settings_fini(struct settings *settings);

/* The state of one config_load, shared by its steps, and its error and warning lines. */

/** One reading of the configuration. */
struct loading {
    const struct config_sources *sources; /* borrowed */
    json_t *tree;              /* the file's value, owned; NULL without a file in JSON */
    struct mcpx_text pointer;  /* JSON pointer of the value under examination in the file */
    struct settings settings;  /* values so far */
    struct mcpx_text *errors;  /* borrowed: one line per error */
    size_t faults;             /* lines in it */
    struct mcpx_text warnings; /* owned until it moves into the result */
    bool no_memory;            /* sticky */
};

/** An error, or something valid that is probably a mistake. */
enum report_sort { REPORT_ERROR, REPORT_WARNING };

/**
 * Begins a line, "SOURCE: POINTER: "; an empty pointer is left out. The caller ends the line with a
 * newline.
 */
struct mcpx_text *report_begin(struct loading *loading, enum report_sort sort,
                               const char *source, const char *pointer);

/** Begins a line about a setting, named as in its source: by its flag, its variable, or, in the
 * file, by `at`, the pointer of the setting or of an entry of it. */
struct mcpx_text *report_begin_setting(struct loading *loading, enum report_sort sort,
                                       const char *setting, const char *at);

/** Writes a whole line. */
void report_line(struct loading *loading, enum report_sort sort, const char *source,
                 const char *pointer, const char *sentence);

/** A condition, and the line about a setting when it holds. */
struct report_rule {
    bool is_so;
    enum report_sort sort;
    const char *setting, *sentence;
};

/** Writes a line for each condition that holds. */
void report_rules(struct loading *loading, const struct report_rule *rules, size_t count);

/** Writes a line about the file's value at the pointer. */
void report_here(struct loading *loading, enum report_sort sort, const char *sentence);

/**
 * Appends `found X`, such as `found "x" (string)`. Long strings are cut, containers counted; with
 * `hidden`, only type and size are shown. NULL = text that is not UTF-8.
 */
void found_write(const json_t *value, bool hidden, struct mcpx_text *out);

/** Begins an error line about the file's value at the pointer with the found value. */
struct mcpx_text *error_found_here(struct loading *loading, const json_t *value, bool hidden);

/**
 * Writes an error line: the value does not fit the row. Shows the allowed values, but no secret: a
 * string in the place of a container may be one too.
 */
void error_unfit(struct loading *loading, const char *source, const char *pointer,
                 const json_t *value, const struct setting *row);

/**
 * Each appends a segment to the pointer: "/name", escaped by RFC 6901 section 3, or "/3". Returns
 * the length before, for pointer_pop.
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

/** Checks profiles and participants, and puts them into `tokens` unless there are errors. */
void load_people(struct loading *loading, struct tokens *tokens);

/** Reads secrets and key files and puts the keys into `tokens`, checking them. */
void load_keys(struct loading *loading, struct tokens *tokens);

/** Writes warnings about settings that are valid but are probably mistakes. */
void write_warnings(struct loading *loading, const struct tokens *tokens);

#endif
