/*
 * loop.h - the running router: made, run, stopped, freed.
 */
#ifndef EDGE_LOOP_H
#define EDGE_LOOP_H

#include "router/policy/config/config.h"

struct edge;

/**
 * Makes a router and opens its listeners.
 *
 * config    borrowed until edge_free; a reload puts another configuration into the same struct
 * sources   where it was read from, borrowed likewise
 * errors    one line for each reason it cannot
 * out       the router; untouched on failure
 *
 * Returns MCPX_OK, MCPX_ESYSTEM with `errors`, or MCPX_ENOMEM.
 */
enum mcpx_err edge_new(struct config *config, const struct config_sources *sources,
                       struct mcpx_text *errors, struct edge **out);

/** How many listeners there are. */
size_t edge_listeners(const struct edge *edge);

/** "ws://127.0.0.1:43117/ws" of listener `index`; lent until edge_free. */
const char *edge_url(const struct edge *edge, size_t index);

/**
 * Runs until SIGTERM or SIGINT has stopped it: nobody is accepted then, every client is told 1001,
 * and it returns when everybody has left, after config->drain_ms at the latest; after a second
 * signal at once. SIGHUP reloads the configuration (reload.h), SIGPIPE is ignored.
 */
void edge_run(struct edge *edge);

/** Frees the router; every connection is cut. NULL is allowed. */
void edge_free(struct edge *edge);

#endif
