/*
 * watch.h - resources and lists that the client watches.
 */
#ifndef MCPX_BRIDGE_EXPOSE_WATCH_H
#define MCPX_BRIDGE_EXPOSE_WATCH_H

#include "tools/mcpx-bridge/expose/calls.h"

#include <mcpx/rpc.h>

struct expose;
struct expose_request;

/** Remembers, or forgets, that the client watches a resource. */
void expose_watch_set(struct expose *x, const struct expose_thing *thing,
                      struct mcpx_slice shown, bool on);

/** Passes notifications/resources/updated on when the client watches that. */
void expose_watch_updated(struct expose *x, struct mcpx_slice participant,
                          const struct mcpx_rpc *rpc);

/**
 * A call failed. When it was to watch a resource, that is not watched; other calls are ignored.
 */
void expose_unwatch(struct expose *x, const struct expose_call *call);

/** A participant has come back: tells it what the client watches. */
void expose_watch_renew(struct expose *x, struct mcpx_slice participant);

/** Frees all. */
void expose_watch_fini(struct expose *x);

/** Handles subscriptions/listen of 2026-07-28. */
bool expose_listen(struct expose *x, const struct expose_request *request);

/** Ends it, when `id` names it. Returns whether it did. */
bool expose_listen_end(struct expose *x, struct mcpx_slice id);

/** Tells the client that a list changed, in the way that the client chose. */
void expose_tell_changed(struct expose *x, enum expose_list list);

#endif
