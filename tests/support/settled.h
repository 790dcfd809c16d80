/*
 * settled.h - a configuration from text, for tests: written to a file, loaded, removed.
 */
#ifndef SUPPORT_SETTLED_H
#define SUPPORT_SETTLED_H

#include "router/policy/config/config.h"

/** Chance that tests can predict: every byte is one more than the byte before. */
struct chance settled_chance(void);

/**
 * A loaded configuration.
 *
 * err      what config_load returned
 * config   filled when err is MCPX_OK
 * errors   its lines, with the path of the file replaced by "FILE"; never NULL
 */
struct settled {
    enum mcpx_err err;
    struct config config;
    struct mcpx_text errors;
};

/**
 * Loads JSON text as a configuration file.
 *
 * text          NULL = no file
 * environment   NULL-terminated, or NULL
 * dev           as --dev
 */
struct settled settled_load(const char *text, const char *const *environment, bool dev);

/**
 * The same with all sources in the caller's hand, but for `file`, `chance` and `wall_ms`, which is
 * the beginning of 2026-11-22.
 */
struct settled settled_load_from(const char *text, struct config_sources sources);

/** Frees everything. */
void settled_fini(struct settled *settled);

/** The warnings, with the path of the file replaced by "FILE". Kept in the config. */
const char *settled_warnings(struct settled *settled);

#endif
