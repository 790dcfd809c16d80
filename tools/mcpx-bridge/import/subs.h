/*
 * subs.h - participants that subscribed to updates of a resource.
 */
#ifndef MCPX_BRIDGE_IMPORT_SUBS_H
#define MCPX_BRIDGE_IMPORT_SUBS_H

#include "tools/mcpx-bridge/import/who.h"

/** Most subscriptions of all participants together. */
enum { IMPORT_SUBS_MAX = 10000 };

/** One participant's subscription to one resource. */
struct import_sub {
    struct mcpx_slice uri;
    struct import_who who;
};

/** Subscriptions in the order they were made. Zero-initialised is empty. */
struct import_subs {
    struct import_sub *rows;
    size_t count, size;
};

/** Frees all. */
void import_subs_fini(struct import_subs *subs);

/** True when there is room for one more of that participant, or it has this one. */
bool import_subs_may_add(const struct import_subs *subs, struct mcpx_slice uri,
                         struct import_who who);

/** Adds a subscription, once. Returns false when memory ran out or there are too many. */
bool import_subs_add(struct import_subs *subs, struct mcpx_slice uri, struct import_who who);

/** Removes a subscription if there is one. */
void import_subs_remove(struct import_subs *subs, struct mcpx_slice uri,
                        struct import_who who);

/** True when somebody other than that participant has subscribed to the resource. */
bool import_subs_others(const struct import_subs *subs, struct mcpx_slice uri,
                        struct import_who who);

/**
 * The first subscription at or after *at that is the first of its resource, and *at moved behind
 * it; NULL when there is none.
 */
const struct import_sub *import_subs_next(const struct import_subs *subs, size_t *at);

/** Any subscription of that participant, of anybody in its topic when `id` is absent; or NULL. */
const struct import_sub *import_subs_of(const struct import_subs *subs, struct import_who who);

/**
 * The participants of a topic that get an update: the subscribers of the resource. When no
 * topic has any, these are the subscribers of a resource whose URI is the beginning of this
 * one.
 *
 * out       filled with at most `max` participant ids, each once, lent until the next change
 *
 * Returns how many there are; more than `max` when they did not fit.
 */
size_t import_subs_readers(const struct import_subs *subs, struct mcpx_slice uri, size_t topic,
                           struct mcpx_slice *out, size_t max);

#endif
