/*
 * speech.h - the messages of a benchmark: envelopes of a given size that differ in their number.
 */
#ifndef BENCH_SPEECH_H
#define BENCH_SPEECH_H

#include <mcpx/base.h>

/** Where the number of the flow and that of the message stand, and how long they are. */
enum {
    SPEECH_BEGIN = 7,
    SPEECH_FLOW_LEN = 4,
    SPEECH_SERIAL_LEN = 10,
    SPEECH_SERIAL_AT = SPEECH_BEGIN + SPEECH_FLOW_LEN + 1,
    SPEECH_NUMBERS_END = SPEECH_SERIAL_AT + SPEECH_SERIAL_LEN,
};

/** The shortest message that can be asked for when `to` is empty. */
enum { SPEECH_MIN = 240 };

/**
 * An envelope of `bytes` bytes from participant `from`: protocol, id, ts, from, kind, to when it
 * is not "", and a payload of nested records. All are different and the same at each run.
 *
 * to   JSON array, or ""
 *
 * Returns text the caller frees. Ends the program when `bytes` is too small.
 */
char *speech_new(size_t bytes, const char *from, const char *to);

/** Writes the two numbers of a message into its id. */
void speech_number(char *text, unsigned flow, uint64_t serial);

/** Reads them back; false when the text does not begin like a message. */
bool speech_read(struct mcpx_slice text, unsigned *flow, uint64_t *serial);

/** A bearer token for a participant of a topic, with eight patterns; the caller frees it. */
char *speech_token(const char *participant, const char *topic, const char *secret);

/** The eight patterns; the last one covers what speech_new says. */
extern const char *const speech_grants[8];

#endif
