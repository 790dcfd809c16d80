/*
 * context.h - named contexts (router, topic, identity), kept in one file of the user; secrets,
 * kept from other processes; the files of a certificate, checked.
 */
#ifndef TOOLS_CONTEXT_H
#define TOOLS_CONTEXT_H

#include "tools/common/command.h"

#include <mcpx/client.h>

#include <jansson.h>
#include <stddef.h>

/** The settings of a context. Each has a row in context_settings. */
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

extern const struct context_setting_row {
    const char *option;   /* on the command line */
    const char *member;   /* in the file */
    const char *variable; /* in the environment; NULL when there is none */
} context_settings[CONTEXT_SETTING_COUNT];

/**
 * Reads $XDG_CONFIG_HOME/mcpx/contexts.json, else ~/.config/mcpx/contexts.json, and checks it:
 *
 *   {"current": NAME, "contexts": {NAME: {"url": ..., "token_file": ..., ...}}}
 *
 * A missing file counts as empty. A complaint names file, line and column.
 *
 * tree   given on STATUS_OK; has "contexts", and "current" when one is chosen
 *
 * Returns STATUS_OK, STATUS_USAGE when the file is at fault, or STATUS_FAILED.
 */
int contexts_read(json_t **tree);

/**
 * Replaces the file by `tree`. Only the user may read it (mode 0600). A program that reads it at
 * the same time gets the old file or the new one, never a part. Makes the folder when there is
 * none.
 *
 * Returns STATUS_OK, or STATUS_FAILED, having complained; the old file is then unchanged.
 */
int contexts_write(const json_t *tree);

/**
 * The name of the context to use: --context, else MCPX_CONTEXT, else the current one; NULL when
 * none is chosen. Lent by the command line, the environment or `tree`.
 */
const char *context_chosen(const struct arguments *arguments, const json_t *tree);

/** A setting of a context, lent by `tree`; NULL when it has none, or `name` is NULL. */
const char *context_value(const json_t *tree, const char *name, enum context_setting setting);

/** True when context_name_rule, a sentence, holds. */
bool context_name_is_valid(struct mcpx_slice name);
extern const char context_name_rule[];

/** Returns STATUS_OK, or STATUS_ABSENT, having complained, when `tree` has no such context. */
int context_find(const json_t *tree, const char *name);

/**
 * Takes a variable out of the environment, and its value out of the memory that the kernel shows as
 * /proc/PID/environ. Returns a copy, to be wiped with secret_wipe and freed; NULL when there was no
 * such variable, or when it was empty. Pointers that getenv returned for this variable point to
 * zeros afterwards.
 */
char *secret_take(const char *variable);

/**
 * Takes every variable MCPX_..._TOKEN and MCPX_..._SECRET out of the environment, as secret_take
 * does, but leaves MCPX_TOKEN. Children of the program must not inherit them.
 */
void secret_drop_others(void);

/** Overwrites memory that held a secret. NULL is allowed when `len` is 0. */
void secret_wipe(char *text, size_t len);

/**
 * From now on no other process of the same user may read the memory, environment or descriptors of
 * this one (/proc/PID, ptrace, core files), unless it has CAP_SYS_PTRACE. This also holds for
 * processes that it forks, until they execute another program.
 */
void secret_hide_process(void);

struct stat;

/**
 * Checks cert_file and key_file. Without key_file, the key is expected in cert_file, which is then
 * the key_file, too. Warns when others may read the key.
 *
 * api   address of the HTTP API
 *
 * Returns STATUS_OK, or STATUS_USAGE, having complained with the file and the reason.
 */
int certificate_check(const char *api, struct mcpx_client_config *client);

/** Warns when others may read a file with a secret. Pipes are exempt. */
void certificate_warn_of_readers(const char *file, const struct stat *about);

#endif
