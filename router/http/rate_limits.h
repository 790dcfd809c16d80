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
 * Multiples of the rate of an address: for an IPv6 network (/48), and for all addresses together.
 * Above the latter, only addresses that have spent at most a tenth of their quota are admitted.
 */
enum {
    RATE_LIMITS_NETWORK_SHARES = 4,
    RATE_LIMITS_ALL_SHARES = 10,
    RATE_LIMITS_MODEST_PART = 10
};

/**
 * Attempts above the rate are still examined for a valid credential, up to these multiples of the
 * rate: of an address, and of all together. A TLS handshake counts as RATE_LIMITS_TLS_LOOK
 * attempts.
 */
enum {
    RATE_LIMITS_LOOK_SHARES = 2,
    RATE_LIMITS_LOOK_ALL_SHARES = 4,
    RATE_LIMITS_TLS_LOOK = 8
};

struct rate_limits;

/**
 * Makes one, with full buckets.
 *
 * connects_per_s         connection attempts of an address; 0 = no limit
 * requests_per_minute    requests of a participant, handshakes included; a sixth of it may arrive
 *                        at once; 0 = no limit
 *
 * Returns NULL when memory runs out.
 */
struct rate_limits *rate_limits_new(struct chance chance, uint64_t connects_per_s,
                                    uint64_t requests_per_minute);

/** Sets other rates, as for rate_limits_new. A changed rate begins with a full bucket. */
void rate_limits_set_rates(struct rate_limits *rates, uint64_t connects_per_s,
                           uint64_t requests_per_minute);

/** Frees it. NULL is allowed. */
void rate_limits_free(struct rate_limits *rates);

/** Returns true, and charges the address, when a new connection may continue. */
bool rate_limits_admits(struct rate_limits *rates, struct address from, struct mcpx_now now);

/**
 * For an attempt refused by rate_limits_admits: true, and `looks` are charged to its address, when
 * its credential is to be examined all the same. The caller refuses it without a valid one.
 */
bool rate_limits_looks(struct rate_limits *rates, struct address from, uint64_t looks,
                       struct mcpx_now now);

/**
 * Moves the charge of a request from its address to its now known participant: gives back `looks`
 * of rate_limits_looks, or one attempt if that is 0, and charges the participant one request.
 * Returns 0, or the milliseconds until the next permitted request; then nothing is moved, so that a
 * flood of refused requests counts against its address. NULL = no limits.
 */
int64_t rate_limits_knows(struct rate_limits *rates, struct address from, uint64_t looks,
                          struct mcpx_slice participant, struct mcpx_now now);

/** Charges a participant for costly work as for `cost` further requests. */
void rate_limits_charge(struct rate_limits *rates, struct mcpx_slice participant,
                        uint64_t cost, struct mcpx_now now);

#endif
