/*
 * settings.h - the one table of settings: reading, documentation and schema all follow it.
 * Internal to config*.c and its tests.
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
    SETTING_LATER,    /* a string that has to be empty in this version */
    SETTING_STRINGS,  /* a list of strings; min and max count its entries */
    SETTING_PATTERNS, /* a list of capability patterns */
    SETTING_GRANTS,   /* a list of patterns and grant objects */
    SETTING_MAP,      /* an object whose member names are free */
    SETTING_LIST      /* a list of objects */
};

/**
 * One row of the table.
 *
 * pointer     JSON pointer; a segment "*" stands for any member name or index
 * type        see above
 * min, max    integers: range; strings: bytes; lists: entries
 * zero        "no limit" when 0 is allowed below `min`, with that meaning; "" otherwise
 * scale       the stored number is the written one times this
 * choices     NULL-terminated; the index is stored
 * fallback    default, as JSON text; NULL = none
 * unit        "bytes", "seconds", ... or ""
 * help        one sentence without final stop
 * offset      of the value in struct settings
 * size        of the value there; 0 = not stored from the table
 * live        a reload changes it; else the router has to be restarted for that
 */
struct setting {
    const char *pointer;
    enum setting_type type;
    int64_t min, max;
    const char *zero;
    int64_t scale;
    const char *const *choices;
    const char *fallback;
    const char *unit;
    const char *help;
    size_t offset;
    size_t size;
    bool live;
};

/** A list of C strings that it owns. */
struct names {
    char **text;
    size_t count;
};

/** Where a value came from; a later source replaces an earlier one. */
enum setting_source { FROM_DEFAULT, FROM_FILE, FROM_ENVIRONMENT, FROM_FLAGS };

enum { SETTINGS_MAX = 128 };

/** The table, ended by a row without pointer. */
extern const struct setting settings_table[];

/**
 * The values of the table: the public settings, and those that are needed only while loading.
 *
 * set_by   enum setting_source of each row of the table
 */
struct settings {
    struct config config;
    struct names listen;
    struct names proxies;
    struct names origins;
    char *issuer;
    char *audience;
    char *secret;
    char *secret_file;
    char *jwks_file;
    bool exp_optional;
    unsigned char set_by[SETTINGS_MAX];
};

/** The row of the value at a JSON pointer; NULL when there is none. */
const struct setting *settings_find(const char *pointer);

/** True when rows lie below the pointer: it is a section, written as an object. */
bool settings_has_section(const char *pointer);

/**
 * Appends the names a section knows, "depth, connections"; nothing for a map, whose names are
 * free.
 */
void settings_write_names(const char *section, struct mcpx_text *out);

/**
 * Appends the name of the environment variable of a row ("MCPX_LIMITS_DEPTH"); nothing for a
 * row that has none, being part of a map or a list.
 */
void setting_write_variable(const struct setting *row, struct mcpx_text *out);

/** Appends what is allowed: "an integer 1..65536 (0 = no limit)". */
void setting_write_expected(const struct setting *row, struct mcpx_text *out);

/**
 * Whether the value has the row's type and is in its range. The entries of lists are not
 * checked.
 */
bool setting_fits(const struct setting *row, const json_t *value);

/**
 * Stores a value that fits, releasing what was there.
 *
 * Returns MCPX_OK or MCPX_ENOMEM (then the old value stands).
 */
enum mcpx_err setting_store(const struct setting *row, const json_t *value,
                            enum setting_source source, struct settings *settings);

/** The source of the value at this pointer, which names a row. */
enum setting_source settings_source(const struct settings *settings, const char *pointer);

/**
 * The stored value of a row as JSON, a new reference; of a secret its SHA-256. NULL when memory
 * runs out.
 */
json_t *setting_value(const struct setting *row, const struct settings *settings);

/** Fills in all defaults. `settings` is zeroed. Returns MCPX_OK or MCPX_ENOMEM. */
enum mcpx_err settings_init(struct settings *settings);

/** Frees what the table stored. What was moved out of it has to be zeroed before. */
void settings_fini(struct settings *settings);

#endif
