/*
 * backoff.h - whether to connect again, and how long to wait before that.
 */
#ifndef MX_BACKOFF_H
#define MX_BACKOFF_H

#include <mcpx/base.h>

/** The longest pause. */
enum { MX_BACKOFF_MAX_MS = 30000 };

/**
 * How long a connection has to last to be a success, unless a message comes on it before: who
 * welcomes and closes, again and again, is not to be asked twice a second for ever.
 */
enum { MX_BACKOFF_STEADY_MS = 10000 };

/** How many connections in a row were no success. Zero-initialised is none. */
struct mx_backoff {
    unsigned failures;
};

/**
 * The pause before the next attempt: 0.5 s, doubled with each call up to 30 s. The result is a
 * random value from the upper half of that.
 *
 * chance   any 32 random bits
 */
int64_t mx_backoff_next(struct mx_backoff *backoff, uint32_t chance);

/**
 * How long a router that goes away wants its client to stay away, as the reason of its close frame
 * says: at most MX_BACKOFF_MAX_MS, so that nobody is kept away for ever. 0 when it says nothing.
 * Protocol: section 6.
 */
int64_t mx_backoff_told(struct mcpx_slice reason);

/**
 * True when no other attempt is to be made, because it would end like this one. See
 * mcpx_error_again.
 *
 * code           close code, or HTTP status of a refused attempt; 0 = neither
 * has_token      the application will give another token
 * has_instance   the session asks for an instance
 */
bool mx_backoff_is_final(int code, bool has_token, bool has_instance);

#endif
