/*
 * reload_tell.h - what became of a reload, for the log, the audit and whoever has asked for it.
 */
#ifndef EDGE_RELOAD_TELL_H
#define EDGE_RELOAD_TELL_H

#include "router/edge/edge.h"
#include "router/policy/difference.h"

/** Who has asked for a reload. `by` is empty when it was a signal. */
struct reload_asker {
    struct mcpx_text by;
    struct address address;
};

/**
 * What was found.
 *
 * config       as it was read; empty once it is in force
 * errors       lines
 * difference   who gains and loses what
 * rows         the same as a JSON array, with the first `shown` of them
 * settings     other settings, as a JSON array (config_compare)
 */
struct reload_found {
    struct config config;
    struct mcpx_text errors;
    struct difference difference;
    struct mcpx_text rows;
    size_t shown;
    struct mcpx_text settings;
};

/**
 * The configuration is in force: lines in the log, one in the audit, and the answer in
 * edge->api.reloads. `was` names the policy of before.
 */
void reload_tell_done(struct edge *edge, const struct reload_found *found, const char *was,
                      const struct reload_asker *asker);

/** Nothing has changed: a line for each fault, and the answer. */
void reload_tell_refused(struct edge *edge, enum mcpx_err err,
                         const struct reload_found *found, const struct reload_asker *asker);

#endif
