/*
 * ws_pulse.c - three numbers. libwebsockets has such a timer of its own, but it counts PONGs as
 * the only sign of life and calls nobody; and the router's pings, which it answers, it does not
 * tell of. So silence is what the client itself has not heard, and it asks.
 */
#include "lib/edge/ws_pulse.h"

void mx_pulse_start(struct mx_pulse *pulse, int64_t mono_ms)
{
    *pulse = (struct mx_pulse){mono_ms, mono_ms + MX_PULSE_MS, 0};
}

void mx_pulse_hear(struct mx_pulse *pulse, int64_t mono_ms)
{
    pulse->heard_ms = mono_ms;
    if (pulse->missed) {
        pulse->missed = 0;
        pulse->due_ms = mono_ms + MX_PULSE_MS;
    }
}

enum mx_pulse_advice mx_pulse_check(struct mx_pulse *pulse, int64_t mono_ms)
{
    if (mono_ms < pulse->due_ms)
        return MX_PULSE_WAIT;
    /* While something comes all the time the deadline is moved here, once per pause. */
    if (!pulse->missed && pulse->heard_ms + MX_PULSE_MS > mono_ms) {
        pulse->due_ms = pulse->heard_ms + MX_PULSE_MS;
        return MX_PULSE_WAIT;
    }
    pulse->due_ms = mono_ms + MX_PULSE_MS;
    return ++pulse->missed < MX_PULSES ? MX_PULSE_PING : MX_PULSE_DEAD;
}

int64_t mx_pulse_due(const struct mx_pulse *pulse)
{
    return pulse->due_ms;
}
