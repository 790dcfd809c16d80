/*
 * reload.h - reads the configuration again while the router runs: all of it comes into force or
 * none.
 */
#ifndef EDGE_RELOAD_H
#define EDGE_RELOAD_H

#include "router/connection/edge.h"

/**
 * Prepares it. `sources` is where edge->config was read from; borrowed until reload_free. Returns
 * MCPX_OK or MCPX_ENOMEM.
 */
enum mcpx_err reload_new(struct edge *edge, const struct config_sources *sources);

/** Releases it; no thread may be reading any more. NULL is allowed. */
void reload_free(struct reload *reload);

/**
 * Begins to read what is there now. Another thread does it; the loop puts it into force, tells the
 * log and the audit, and the participants in the turns after it (renew.h). One that is asked for
 * while another is under way begins behind it.
 *
 * by     the participant, or "signal"; borrowed
 * from   where the request came from; NULL = nowhere
 *
 * Returns its number, for reload_is_done.
 */
uint64_t reload_ask(struct edge *edge, struct mcpx_slice by, const struct address *from);

/** A signal asks for it, behind the files of TLS and of keys, which are read again in any case. */
void reload_all(struct edge *edge);

/** Has the reload of that number ended? What became of the last one is in edge->api.reloads. */
bool reload_is_done(const struct edge *edge, uint64_t number);

/** Has any ended since this was asked last? */
bool reload_has_ended(struct edge *edge);

/**
 * Begins what a signal has asked for, and frees some of the configuration that was in force before.
 * True while there is more of that.
 */
bool reload_turn(struct edge *edge);

#endif
