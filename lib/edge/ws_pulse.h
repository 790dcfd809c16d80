/*
 * ws_pulse.h - is the router still there? Asked by the clock, answered without one.
 */
#ifndef EDGE_WS_PULSE_H
#define EDGE_WS_PULSE_H

#include <mcpx/base.h>

/** A ping goes out after each MX_PULSE_MS of silence; the third such pause is the end. */
enum { MX_PULSE_MS = 25000, MX_PULSES = 3 };

/** Zero-initialised is not beating; see mx_pulse_start. */
struct mx_pulse {
    int64_t heard_ms;
    int64_t due_ms;
    int missed;
};

enum mx_pulse_advice { MX_PULSE_WAIT, MX_PULSE_PING, MX_PULSE_DEAD };

/** The connection was made. */
void mx_pulse_start(struct mx_pulse *pulse, int64_t mono_ms);

/** Something came. */
void mx_pulse_hear(struct mx_pulse *pulse, int64_t mono_ms);

/**
 * What to do now. Pauses are counted by asking: a program that was stopped for an hour is not told
 * DEAD before it has pinged and waited.
 */
enum mx_pulse_advice mx_pulse_check(struct mx_pulse *pulse, int64_t mono_ms);

/** mono_ms at which to ask again. */
int64_t mx_pulse_due(const struct mx_pulse *pulse);

#endif
