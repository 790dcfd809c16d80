/*
 * outbox.h - what was composed and not yet seen to have arrived, in the order of sending. What a
 * connection swallowed is written again on the next one: the router knows ids and lets each pass
 * only once. Protocol: sections 1 and 5.
 * Includes own.h only.
 */
#ifndef MX_OUTBOX_H
#define MX_OUTBOX_H

#include "lib/participant/own.h"

/**
 * The line of envelopes: those written on this connection first, then the others.
 *
 * next          the first to be written; NULL when all are
 * bytes         of all texts in it
 * held_until    mono_ms before which nothing is written: the router asked for a pause, or echoes of
 *               what was written before are still to come; INT64_MIN = none
 * lent, lent_text
 *               the one handed out and not yet written; its own references
 */
struct mx_outbox {
    struct mx_own *first, *last, *next;
    size_t bytes;
    int64_t held_until;
    struct mx_own *lent;
    struct mx_block *lent_text;
};

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
struct mx_own *mx_outbox_written(struct mx_outbox *outbox);

/** The connection is gone: everything is to be written on the next one, in the same order. */
void mx_outbox_rewind(struct mx_outbox *outbox);

/** Writes nothing before `until` (mono_ms), if anything was written on an earlier connection. */
void mx_outbox_hold(struct mx_outbox *outbox, int64_t until);

/**
 * The router wants a written envelope again, later: it becomes the next one, and nothing is
 * written before `until` (mono_ms).
 */
void mx_outbox_retry(struct mx_outbox *outbox, struct mx_own *own, int64_t until);

/** Ends a pause that is over by `mono_ms`. */
void mx_outbox_lift(struct mx_outbox *outbox, int64_t mono_ms);

#endif
