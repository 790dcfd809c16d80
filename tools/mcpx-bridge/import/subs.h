/*
 * subs.h - participants that subscribed to updates of a resource.
 */
#ifndef MCPX_BRIDGE_IMPORT_SUBS_H
#define MCPX_BRIDGE_IMPORT_SUBS_H

#include "lib/base/map.h"
#include "tools/mcpx-bridge/import/config.h"

/** Most subscriptions of all participants together. */
enum { IMPORT_SUBS_MAX = 10000 };

/** One participant's subscription to one resource. `number` grows; `next`: of those ended. */
struct import_sub {
    struct mcpx_slice uri;
    struct import_who who;
    uint64_t number;
    struct import_sub *next;
};

/**
 * Subscriptions in the order they were made. Zero-initialised but for the secret `key` is empty.
 */
struct import_subs {
    struct mx_map_key key;
    struct mx_map by_uri;
    struct import_sub **rows, *ended;
    size_t count, size;
    uint64_t last_number;
};

/** Frees all. */
void import_subs_fini(struct import_subs *subs);

/** Adds a subscription, once. Returns false when there are too many. */
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

/**
 * Ends all subscriptions of a participant, of everybody in its topic when `id` is absent. They are
 * ended at once, and wait to be handed out.
 */
void import_subs_end(struct import_subs *subs, struct import_who who);

/** Hands out one that was ended, NULL when there is none; for free(). */
struct import_sub *import_subs_take_ended(struct import_subs *subs);

/** True when anybody has subscribed to the resource. */
bool import_subs_are_of(const struct import_subs *subs, struct mcpx_slice uri);

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
