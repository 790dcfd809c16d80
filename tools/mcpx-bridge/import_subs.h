/*
 * import_subs.h - who wants to hear that a resource was updated.
 * Includes base.h only.
 */
#ifndef MCPX_BRIDGE_IMPORT_SUBS_H
#define MCPX_BRIDGE_IMPORT_SUBS_H

#include <mcpx/base.h>

/** Most subscriptions of all participants together. */
enum { IMPORT_SUBS_MAX = 10000 };

/** One participant's subscription to one resource. */
struct import_sub {
    struct mcpx_slice uri, participant;
};

/** Subscriptions in the order they were made. Zero-initialised is empty. */
struct import_subs {
    struct import_sub *rows;
    size_t count, size;
};

/** Frees all. */
void import_subs_fini(struct import_subs *subs);

/** Adds a subscription, once. Returns false when memory ran out or there are too many. */
bool import_subs_add(struct import_subs *subs, struct mcpx_slice uri,
                     struct mcpx_slice participant);

/** Removes a subscription if there is one. */
void import_subs_remove(struct import_subs *subs, struct mcpx_slice uri,
                        struct mcpx_slice participant);

/** True when somebody other than that participant has subscribed to the resource. */
bool import_subs_others(const struct import_subs *subs, struct mcpx_slice uri,
                        struct mcpx_slice participant);

/**
 * The first subscription at or after *at of that participant, and *at moved behind it; NULL when
 * there is none. An absent participant stands for the first subscription of each resource.
 */
const struct import_sub *import_subs_next(const struct import_subs *subs,
                                          struct mcpx_slice participant, size_t *at);

/**
 * Who is to hear of an update: those subscribed to the resource; when there are none, those
 * subscribed to what it is a part of, by the beginning of its URI.
 *
 * out       filled with at most `max` participant ids, each once, lent until the next change
 *
 * Returns how many there are; more than `max` when they did not fit.
 */
size_t import_subs_readers(const struct import_subs *subs, struct mcpx_slice uri,
                           struct mcpx_slice *out, size_t max);

#endif
