/*
 * gate.h - what everybody may ask of the router before it is known who asks, and after. Time is
 * an argument. Protocol: sections 7 and 8.
 */
#ifndef EDGE_GATE_H
#define EDGE_GATE_H

#include "lib/base/bucket.h"
#include "lib/base/map.h"
#include "router/http/forwarded.h"
#include "router/hub/hub.h"
#include "router/hub/log/list.h"

/**
 * Shares of a rate per address: what an IPv6 network (/48) may spend, and all addresses together.
 * Beyond the latter only those still come in who have spent a tenth of their share at most.
 */
enum { GATE_NETWORK_SHARES = 4, GATE_ALL_SHARES = 10, GATE_MODEST_PART = 10 };

/**
 * Over its rate, so many times its rate of an address's attempts, and of all together, are still
 * looked at: is the credential good? GATE_TLS_LOOK is how many attempts one counts for that begins
 * with a handshake.
 */
enum { GATE_LOOK_SHARES = 2, GATE_LOOK_ALL_SHARES = 4, GATE_TLS_LOOK = 8 };

struct gate;

/**
 * Makes one, with nobody owing anything.
 *
 * connects_per_s         connection attempts of an address; 0 = no limit
 * requests_per_minute    requests of a participant, handshakes included; a sixth of it may come
 *                        at once; 0 = no limit
 *
 * Returns NULL when memory runs out.
 */
struct gate *gate_new(struct chance chance, uint64_t connects_per_s,
                      uint64_t requests_per_minute);

/** Other rates from now on, as for gate_new. Where a rate changes, what was spent is forgotten. */
void gate_set_rates(struct gate *gate, uint64_t connects_per_s, uint64_t requests_per_minute);

/** Frees it. NULL is allowed. */
void gate_free(struct gate *gate);

/** A connection came: true, and its address is charged, when it may go on. */
bool gate_admits(struct gate *gate, struct address from, struct mcpx_now now);

/**
 * An attempt that gate_admits has refused: true, and `looks` are charged to its address, when its
 * credential is to be looked at all the same. What has no good one is to be refused.
 */
bool gate_looks(struct gate *gate, struct address from, uint64_t looks, struct mcpx_now now);

/**
 * A request of a connection has named its participant: the address has its charge back, which was
 * `looks` of gate_looks or, if that is 0, an attempt, and the participant is charged one instead.
 * Returns 0, or the milliseconds until it may ask again; then nothing has changed, so that a flood
 * of refused requests counts for its address. A gate that is NULL asks nothing.
 */
int64_t gate_knows(struct gate *gate, struct address from, uint64_t looks,
                   struct mcpx_slice participant, struct mcpx_now now);

/** What was asked has cost so many requests more than the one it was charged for. */
void gate_charge(struct gate *gate, struct mcpx_slice participant, uint64_t cost,
                 struct mcpx_now now);

/*
 * Who holds how many of the places for connections without a token yet, and who has to give one
 * up.
 */

struct holder;

/** One place, part of what occupies it. `holder` is NULL while it is nobody's. */
struct holding {
    struct link link;
    struct holder *holder;
    uint64_t number; /* later ones have higher numbers */
};

/** Everybody who holds a place. Zeroed but for `key`, and after holders_init, it is empty. */
struct holders {
    struct link all;
    struct mx_map by_address;
    struct mx_map_key key;
    uint64_t last_number;
    size_t count; /* places taken */
};

/** Prepares an empty table. */
void holders_init(struct holders *holders, struct mx_map_key key);

/** Frees the table's own memory; nobody may hold a place any more. */
void holders_fini(struct holders *holders);

/** Gives an address one more place. False when memory runs out: then it has none. */
bool holders_add(struct holders *holders, struct address address, struct holding *holding);

/** The place is free again; harmless when it was. */
void holders_remove(struct holders *holders, struct holding *holding);

/**
 * The oldest place of the address that holds most, in the network (/48 for IPv6; an IPv4 address
 * is its own) that holds most; of several such, the oldest of all. NULL when there is none. Looks
 * at each address once.
 */
struct holding *holders_excess(const struct holders *holders);

#endif
