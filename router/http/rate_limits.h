/*
 * rate_limits.h - rates of requests before and after the participant is known. Time is an argument.
 * Protocol: sections 7 and 8.
 */
#ifndef EDGE_RATE_LIMITS_H
#define EDGE_RATE_LIMITS_H

#include "lib/base/bucket.h"
#include "lib/base/map.h"
#include "router/http/forwarded.h"
#include "router/hub/hub.h"

/**
 * Shares of a rate per address: what an IPv6 network (/48) may spend, and all addresses together.
 * Beyond the latter only those still come in who have spent a tenth of their share at most.
 */
enum {
    RATE_LIMITS_NETWORK_SHARES = 4,
    RATE_LIMITS_ALL_SHARES = 10,
    RATE_LIMITS_MODEST_PART = 10
};

/**
 * Over its rate, so many times its rate of an address's attempts, and of all together, are still
 * looked at: is the credential good? RATE_LIMITS_TLS_LOOK is how many attempts one counts for that
 * begins with a handshake.
 */
enum {
    RATE_LIMITS_LOOK_SHARES = 2,
    RATE_LIMITS_LOOK_ALL_SHARES = 4,
    RATE_LIMITS_TLS_LOOK = 8
};

struct rate_limits;

/**
 * Makes one, with nobody owing anything.
 *
 * connects_per_s         connection attempts of an address; 0 = no limit
 * requests_per_minute    requests of a participant, handshakes included; a sixth of it may come
 *                        at once; 0 = no limit
 *
 * Returns NULL when memory runs out.
 */
struct rate_limits *rate_limits_new(struct chance chance, uint64_t connects_per_s,
                                    uint64_t requests_per_minute);

/** Other rates from now on, as for rate_limits_new. A changed rate begins with a full bucket. */
void rate_limits_set_rates(struct rate_limits *rates, uint64_t connects_per_s,
                           uint64_t requests_per_minute);

/** Frees it. NULL is allowed. */
void rate_limits_free(struct rate_limits *rates);

/** A connection came: true, and its address is charged, when it may go on. */
bool rate_limits_admits(struct rate_limits *rates, struct address from, struct mcpx_now now);

/**
 * An attempt that rate_limits_admits has refused: true, and `looks` are charged to its address,
 * when its credential is to be looked at all the same. What has no good one is to be refused.
 */
bool rate_limits_looks(struct rate_limits *rates, struct address from, uint64_t looks,
                       struct mcpx_now now);

/**
 * A request of a connection has named its participant: the address has its charge back, which was
 * `looks` of rate_limits_looks or, if that is 0, an attempt, and the participant is charged one
 * instead. Returns 0, or the milliseconds until it may ask again; then nothing has changed, so that
 * a flood of refused requests counts for its address. A gate that is NULL asks nothing.
 */
int64_t rate_limits_knows(struct rate_limits *rates, struct address from, uint64_t looks,
                          struct mcpx_slice participant, struct mcpx_now now);

/** Charges a participant for the further requests that the work of one costs. */
void rate_limits_charge(struct rate_limits *rates, struct mcpx_slice participant,
                        uint64_t cost, struct mcpx_now now);

#endif
