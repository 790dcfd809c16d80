/*
 * context.h - named contexts: where to connect and as whom, kept in one file of the user.
 */
#ifndef TOOLS_CONTEXT_H
#define TOOLS_CONTEXT_H

#include "tools/common/command.h"

#include <jansson.h>

/** What a context may hold. Each has a row in context_settings. */
enum context_setting {
    CONTEXT_URL,
    CONTEXT_TOPIC,
    CONTEXT_TOKEN_FILE,
    CONTEXT_AS,
    CONTEXT_CA_FILE,
    CONTEXT_CERT_FILE,
    CONTEXT_KEY_FILE,
    CONTEXT_SETTING_COUNT
};

/**
 * The names of a setting.
 *
 * option     on the command line
 * member     in the file
 * variable   in the environment; NULL when there is none
 */
struct context_setting_row {
    const char *option;
    const char *member;
    const char *variable;
};

extern const struct context_setting_row context_settings[CONTEXT_SETTING_COUNT];

/**
 * Reads $XDG_CONFIG_HOME/mcpx/contexts.json, else ~/.config/mcpx/contexts.json, and checks it:
 *
 *   {"current": NAME, "contexts": {NAME: {"url": ..., "token_file": ..., ...}}}
 *
 * A file that is not there counts as an empty one. A complaint names file, line and column.
 *
 * verb   for complaints
 * tree   given on STATUS_OK; has "contexts", and "current" when one is
 *
 * Returns STATUS_OK, STATUS_USAGE when the file is at fault, or STATUS_FAILED.
 */
int contexts_read(const char *verb, json_t **tree);

/**
 * Replaces the file by `tree`. Only the user may read it (mode 0600). A program that reads it at
 * the same time gets the old file or the new one, never a part. Makes the folder when there is
 * none.
 *
 * Returns STATUS_OK, or STATUS_FAILED, having complained; the old file is then unchanged.
 */
int contexts_write(const char *verb, const json_t *tree);

/**
 * The name of the context to use: that of --context, else that of MCPX_CONTEXT, else the current
 * one; NULL when none is chosen. Lent by the command line, the environment or `tree`.
 */
const char *context_chosen(const struct arguments *arguments, const json_t *tree);

/** As context_chosen, and complains when `tree` has no such context. Returns as context_find. */
int context_choose(const struct arguments *arguments, const json_t *tree, const char **name);

/** A setting of a context, lent by `tree`; NULL when it has none, or `name` is NULL. */
const char *context_value(const json_t *tree, const char *name, enum context_setting setting);

/** True when context_name_rule, a sentence, holds. */
bool context_name_is_valid(const char *name);
extern const char context_name_rule[];

/** Returns STATUS_OK, or STATUS_ABSENT, having complained, when `tree` has no such context. */
int context_find(const char *verb, const json_t *tree, const char *name);

#endif
