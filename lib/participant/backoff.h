/*
 * backoff.h - how long to wait before the next attempt to connect, and whether there is to be one.
 */
#ifndef MX_BACKOFF_H
#define MX_BACKOFF_H

#include <mcpx/base.h>

/** Attempts that failed since the last success. Zero-initialised is none. */
struct mx_backoff {
    unsigned failures;
};

/**
 * The pause before the next attempt: 0.5 s, doubled with each call up to 30 s, and drawn from the
 * upper half of that.
 *
 * chance   any 32 random bits
 */
int64_t mx_backoff_next(struct mx_backoff *backoff, uint32_t chance);

/**
 * Whether there will be no other attempt: it would end as this one did. See mcpx_error_again.
 *
 * code           close code, or HTTP status of a refused attempt; 0 = neither
 * has_token      another token will come
 * has_instance   an instance is asked for
 */
bool mx_backoff_is_final(int code, bool has_token, bool has_instance);

#endif
