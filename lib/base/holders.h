/*
 * holders.h - how much of one resource each owner holds, and the two limits for sharing it.
 *
 * The cap limits each owner, whatever others do. The total limits all together: when it is reached,
 * the largest holder gives way. Rates have buckets instead (bucket.h). An owner is a participant
 * or, before that is known, a network address.
 */
#ifndef MX_HOLDERS_H
#define MX_HOLDERS_H

#include "lib/base/map.h"

struct mx_holder;

/** The answer to an owner's request for more. */
enum mx_sharing {
    MX_SHARING_FITS,
    MX_SHARING_OVER_CAP,   /* refuse the owner's own request */
    MX_SHARING_OVER_TOTAL, /* take from mx_holders_largest, or refuse where nothing gives way */
};

/**
 * A table of owners. Zeroed except for the first three members, it is empty; mx_holders_fini frees
 * it. Each call takes steps in proportion to the logarithm of the owners, at most.
 *
 * count        owners that hold something
 */
struct mx_holders {
    struct mx_map_key key; /* secret: attackers cannot choose colliding names */
    uint64_t cap, total;   /* amounts; 0 = no bound */
    uint64_t held;         /* the sum of all amounts */
    size_t count, room;
    struct mx_holder **largest_first; /* a heap: the largest holder stands at 0 */
    struct mx_map by_owner;
};

/** Frees the table's memory and leaves it empty, with its key and bounds. */
void mx_holders_fini(struct mx_holders *holders);

/** Whether the owner may hold `amount` more. Changes nothing. */
enum mx_sharing mx_holders_ask(const struct mx_holders *holders, struct mcpx_slice owner,
                               uint64_t amount);

/**
 * Adds to the owner's amount, without regard to bounds; the name is copied. False, with nothing
 * changed, when memory runs out.
 */
bool mx_holders_add(struct mx_holders *holders, struct mcpx_slice owner, uint64_t amount);

/** Subtracts from the owner's amount, down to 0. Harmless for an owner that holds nothing. */
void mx_holders_remove(struct mx_holders *holders, struct mcpx_slice owner, uint64_t amount);

/** The owner's amount. */
uint64_t mx_holders_held(const struct mx_holders *holders, struct mcpx_slice owner);

/** The largest holder's name, lent until the next change; empty when nothing is held. */
struct mcpx_slice mx_holders_largest(const struct mx_holders *holders);

#endif
