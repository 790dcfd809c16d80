/*
 * outbox.h - what was composed and not yet seen to have arrived, in the order of sending. What a
 * connection swallowed is written again on the next one: the router knows ids and lets each pass
 * only once. Protocol: sections 1 and 5.
 */
#ifndef MX_OUTBOX_H
#define MX_OUTBOX_H

#include "lib/participant/own.h"

/**
 * Most envelopes written whose echo has not come: as many as may be refused at once without the
 * router ending the connection, and fewer after it asked for a pause. Protocol: section 6.
 */
enum { MX_WINDOW = 256, MX_WINDOW_SLOW = 4 };

/** How long echoes are waited for before more is written without them. */
enum { MX_ECHO_MS = 5000 };

/**
 * The line of envelopes: those written on this connection first, then the others.
 *
 * next          the first to be written; NULL when all are
 * bytes         of all texts in it
 * count         how many there are; sent_count: how many there ever were
 * held_until    mono_ms before which nothing is written, because echoes of what was written before, or
 *               other participants, are still to come; INT64_MIN = none
 * paused_until  mono_ms before which nothing is written, because the router asked for a pause on
 *               this connection; INT64_MIN = none
 * echoes        how many were written on this connection and have their echo still to come
 * window        most of these; small from a pause on until everything has arrived
 * echo_until    mono_ms until which a full window waits for echoes
 * lent, lent_text
 *               the one handed out and not yet written; its own references
 */
struct mx_outbox {
    struct mx_own *first, *last, *next;
    size_t bytes, count;
    uint64_t sent_count;
    int64_t held_until, paused_until;
    size_t echoes, window;
    int64_t echo_until;
    struct mx_own *lent;
    struct mx_block *lent_text;
};

/** Makes an empty outbox. */
void mx_outbox_init(struct mx_outbox *outbox);

/** Lets go of what is lent; the envelopes belong to mx_pending. */
void mx_outbox_fini(struct mx_outbox *outbox);

/** Puts an envelope with a text at the end. */
void mx_outbox_add(struct mx_outbox *outbox, struct mx_own *own);

/** Takes an envelope out and lets go of its text. Harmless when it is not there. */
void mx_outbox_remove(struct mx_outbox *outbox, struct mx_own *own);

/** Lends the next text to write; false when there is none. */
bool mx_outbox_peek(struct mx_outbox *outbox, struct mcpx_slice *text);

/**
 * What was lent is written. Returns it with a reference for the caller; NULL when nothing was lent,
 * or it is not in the outbox any more.
 */
struct mx_own *mx_outbox_written(struct mx_outbox *outbox, int64_t mono_ms);

/** The connection is gone: everything is to be written on the next one, in the same order. */
void mx_outbox_rewind(struct mx_outbox *outbox);

/** Writes nothing before `until` (mono_ms), or before mx_outbox_release. */
void mx_outbox_hold(struct mx_outbox *outbox, int64_t until);

/** What was held may be written; a pause that the router asked for goes on. */
void mx_outbox_release(struct mx_outbox *outbox);

/** True when something in it was written on an earlier connection. */
bool mx_outbox_is_repeating(const struct mx_outbox *outbox);

/** The router asked for a pause until `until` (mono_ms); afterwards less is written at a time. */
void mx_outbox_slow_down(struct mx_outbox *outbox, int64_t until);

/** A written envelope is to be written again: before all that was sent after it. */
void mx_outbox_retry(struct mx_outbox *outbox, struct mx_own *own);

/** mono_ms at which mx_outbox_lift lets something be written; INT64_MAX when nothing waits so. */
int64_t mx_outbox_deadline(const struct mx_outbox *outbox);

/** Ends a pause that is over by `mono_ms`, and the waiting for echoes that do not come. */
void mx_outbox_lift(struct mx_outbox *outbox, int64_t mono_ms);

#endif
