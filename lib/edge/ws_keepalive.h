/*
 * ws_keepalive.h - is the router still there? Asked by the clock, answered without one.
 */
#ifndef EDGE_WS_KEEPALIVE_H
#define EDGE_WS_KEEPALIVE_H

#include <mcpx/base.h>

/** A ping goes out after each MX_KEEPALIVE_MS of silence; the third such pause is the end. */
enum { MX_KEEPALIVE_MS = 25000, MX_KEEPALIVE_MAX = 3 };

/** Zero-initialised is not started; see mx_keepalive_start. */
struct mx_keepalive {
    int64_t heard_ms;
    int64_t due_ms;
    int missed;
};

enum mx_keepalive_advice { MX_KEEPALIVE_WAIT, MX_KEEPALIVE_PING, MX_KEEPALIVE_DEAD };

/** The connection was made. */
void mx_keepalive_start(struct mx_keepalive *keepalive, int64_t mono_ms);

/** Something came. */
void mx_keepalive_received(struct mx_keepalive *keepalive, int64_t mono_ms);

/**
 * What to do now. Pauses are counted by asking: a program that was stopped for an hour is not told
 * DEAD before it has pinged and waited.
 */
enum mx_keepalive_advice mx_keepalive_check(struct mx_keepalive *keepalive, int64_t mono_ms);

/** mono_ms at which to ask again. */
int64_t mx_keepalive_due(const struct mx_keepalive *keepalive);

#endif
