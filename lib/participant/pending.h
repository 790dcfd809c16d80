/*
 * pending.h - our envelopes under way, by id; those that wait for an answer also by deadline.
 */
#ifndef MX_PENDING_H
#define MX_PENDING_H

#include "lib/core/map.h"
#include "lib/participant/own.h"

/** Most requests remembered that act on one proposal of ours. */
#define MX_FULFILMENTS_MAX 8

/**
 * All of them.
 *
 * ids           every envelope of ours under way: it has not arrived, or its answer is awaited
 * fulfilments   by the id of the fulfilling request
 * awaited       requests and proposals that wait for an answer
 * open_first    proposals of ours that have arrived and are open, in the order of arrival
 * open_bytes    bytes of their texts
 * heap          awaited envelopes that have a deadline; the earliest first
 */
struct mx_pending {
    struct mx_map_key key;
    struct mx_map ids;
    struct mx_map fulfilments;
    size_t awaited;
    struct mx_own *open_first, *open_last;
    size_t open_bytes;
    struct mx_own **heap;
    size_t heap_count, heap_size;
};

/** Releases everything. */
void mx_pending_fini(struct mx_pending *pending);

/** Makes sure that the next mx_pending_add cannot fail; false when memory runs out. */
bool mx_pending_reserve(struct mx_pending *pending);

/** Keeps an envelope, and awaits its answer when it has `asked`. After mx_pending_reserve. */
void mx_pending_add(struct mx_pending *pending, struct mx_own *own);

/** The envelope of ours with that id, or NULL. Borrowed. */
struct mx_own *mx_pending_find(const struct mx_pending *pending, struct mcpx_slice id);

/** The same, but only when its answer is awaited; NULL otherwise, and for an absent id. */
struct mx_own *mx_pending_awaited(const struct mx_pending *pending, struct mcpx_slice id);

/**
 * No longer awaits an answer. Does nothing when none was awaited. The caller calls
 * mx_pending_release next.
 */
void mx_pending_settle(struct mx_pending *pending, struct mx_own *own);

/**
 * A proposal of ours has arrived: its text is kept until it is settled. Does nothing for other
 * envelopes.
 */
void mx_pending_keep_open(struct mx_pending *pending, struct mx_own *own);

/**
 * Releases an envelope that is kept here, if it has arrived and no answer is awaited. That may
 * free it.
 */
void mx_pending_release(struct mx_pending *pending, struct mx_own *own);

/** The awaited envelope that expires first, or NULL when none ever does. Borrowed. */
struct mx_own *mx_pending_first(const struct mx_pending *pending);

/**
 * Any awaited envelope, or NULL when none is left; used when the session ends. `*at` is 0 at
 * first. The caller settles the envelope before the next call.
 */
struct mx_own *mx_pending_any(const struct mx_pending *pending, size_t *at);

/** Changes the deadline of an awaited envelope that has one. */
void mx_pending_defer(struct mx_pending *pending, struct mx_own *own, int64_t deadline);

/**
 * Remembers that a request acts on a proposal of ours. Beyond MX_FULFILMENTS_MAX the oldest by
 * the same sender is forgotten, or else the oldest of all. Returns false when memory runs out.
 */
bool mx_pending_fulfil(struct mx_pending *pending, struct mx_own *proposal,
                       const struct mx_asked *request);

/** The fulfilment by the request with that id, or NULL. Borrowed. */
struct mx_fulfilment *mx_pending_fulfilment(const struct mx_pending *pending,
                                            struct mcpx_slice request);

#endif
