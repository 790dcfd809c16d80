/*
 * outbox.h - composed envelopes that are not known to have arrived, in the order of sending.
 * What was written on a connection that broke is written again on the next one: the router
 * knows the ids and accepts each only once. Protocol: sections 1 and 5.
 */
#ifndef MX_OUTBOX_H
#define MX_OUTBOX_H

#include "lib/participant/own.h"

/**
 * Most written envelopes that wait for their echo. The router ends no connection when it
 * refuses that many at once; after it asked for a pause, the number is smaller. After it could not
 * store one, that one goes alone, so that none overtakes it. Protocol: section 6.
 */
enum { MX_WINDOW = 256, MX_WINDOW_SLOW = 4, MX_WINDOW_ALONE = 1 };

/** How long to wait for echoes before writing more without them. */
enum { MX_ECHO_MS = 5000 };

/**
 * The list of envelopes: first those written on this connection, then the others.
 *
 * next          the first that is not written yet; NULL when all are
 * bytes         of all texts in it
 * count         how many there are; sent_count: how many were ever put here
 * held_until    mono_ms before which nothing is written, because we wait for echoes of earlier
 *               envelopes or for absent participants; INT64_MIN = none
 * paused_until  mono_ms before which nothing is written, because the router asked for a pause on
 *               this connection; INT64_MIN = none
 * echoes        how many were written on this connection and wait for their echo
 * window        most of these; small after a pause, until everything has arrived
 * grows         the window doubles with each that arrives
 * echo_until    mono_ms until which a full window waits for echoes
 * lent, lent_text
 *               the one that is lent and not yet written; references
 */
struct mx_outbox {
    struct mx_own *first, *last, *next;
    size_t bytes, count;
    uint64_t sent_count;
    int64_t held_until, paused_until;
    size_t echoes, window;
    bool grows;
    int64_t echo_until;
    struct mx_own *lent;
    struct mx_block *lent_text;
};

/** Makes an empty outbox. */
void mx_outbox_init(struct mx_outbox *outbox);

/** Releases what is lent; the envelopes belong to mx_pending. */
void mx_outbox_fini(struct mx_outbox *outbox);

/** Puts an envelope with a text at the end. */
void mx_outbox_add(struct mx_outbox *outbox, struct mx_own *own);

/** Removes an envelope and releases its text. Does nothing when it is not there. */
void mx_outbox_remove(struct mx_outbox *outbox, struct mx_own *own);

/** Lends the next text to write; false when there is none. */
bool mx_outbox_peek(struct mx_outbox *outbox, struct mcpx_slice *text);

/**
 * The lent text was written. Gives its envelope; NULL when nothing was lent, or the envelope is
 * not in the outbox any more.
 */
struct mx_own *mx_outbox_written(struct mx_outbox *outbox, int64_t mono_ms);

/** The connection is gone: everything will be written on the next one, in the same order. */
void mx_outbox_rewind(struct mx_outbox *outbox);

/** Writes nothing before `until` (mono_ms), or before mx_outbox_release. */
void mx_outbox_hold(struct mx_outbox *outbox, int64_t until);

/** Ends the holding. A pause that the router asked for goes on. */
void mx_outbox_release(struct mx_outbox *outbox);

/** True when something in it was written on an earlier connection. */
bool mx_outbox_is_repeating(const struct mx_outbox *outbox);

/**
 * Pauses until `until` (mono_ms), because the router asked for it. Afterwards the window is
 * small.
 */
void mx_outbox_slow_down(struct mx_outbox *outbox, int64_t until);

/**
 * Pauses until `until` (mono_ms), because the router could not store what was written. Afterwards
 * one envelope goes alone, and the window doubles with each that arrives.
 */
void mx_outbox_probe(struct mx_outbox *outbox, int64_t until);

/** An envelope is about to be removed because it has arrived. */
void mx_outbox_arrived(struct mx_outbox *outbox);

/** Marks a written envelope to be written again, before all that were sent after it. */
void mx_outbox_retry(struct mx_outbox *outbox, struct mx_own *own);

/** mono_ms at which mx_outbox_end_pauses is due; INT64_MAX when nothing waits for it. */
int64_t mx_outbox_deadline(const struct mx_outbox *outbox);

/**
 * Ends a pause that is over at `mono_ms`, and the waiting for echoes that did not come in time.
 */
void mx_outbox_end_pauses(struct mx_outbox *outbox, int64_t mono_ms);

#endif
