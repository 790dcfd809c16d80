/*
 * ws_keepalive.c - three numbers. libwebsockets has such a timer of its own, but it counts PONGs as
 * the only sign of life and calls nobody; and the router's pings, which it answers, it does not
 * tell of. So silence is what the client itself has not heard, and it asks.
 */
#include "lib/edge/ws_keepalive.h"

void mx_keepalive_start(struct mx_keepalive *keepalive, int64_t mono_ms)
{
    *keepalive = (struct mx_keepalive){mono_ms, mono_ms + MX_KEEPALIVE_MS, 0};
}

void mx_keepalive_received(struct mx_keepalive *keepalive, int64_t mono_ms)
{
    keepalive->heard_ms = mono_ms;
    if (keepalive->missed) {
        keepalive->missed = 0;
        keepalive->due_ms = mono_ms + MX_KEEPALIVE_MS;
    }
}

enum mx_keepalive_advice mx_keepalive_check(struct mx_keepalive *keepalive, int64_t mono_ms)
{
    if (mono_ms < keepalive->due_ms)
        return MX_KEEPALIVE_WAIT;
    /* While something comes all the time the deadline is moved here, once per pause. */
    if (!keepalive->missed && keepalive->heard_ms + MX_KEEPALIVE_MS > mono_ms) {
        keepalive->due_ms = keepalive->heard_ms + MX_KEEPALIVE_MS;
        return MX_KEEPALIVE_WAIT;
    }
    keepalive->due_ms = mono_ms + MX_KEEPALIVE_MS;
    return ++keepalive->missed < MX_KEEPALIVE_MAX ? MX_KEEPALIVE_PING : MX_KEEPALIVE_DEAD;
}

int64_t mx_keepalive_due(const struct mx_keepalive *keepalive)
{
    return keepalive->due_ms;
}
