/*
 * pending.h - our envelopes under way: the outbox in order of sending, and the requests that wait
 * for an answer, by id and by deadline.
 */
#ifndef MX_PENDING_H
#define MX_PENDING_H

#include "lib/session/inbound.h"

struct mx_own;

/** A request of another participant that fulfils a proposal of ours. The proposal frees it. */
struct mx_fulfilment {
    struct mx_asked asked;
    struct mx_own *proposal; /* borrowed */
    struct mx_fulfilment *next;
};

/**
 * An envelope of ours that is under way: not yet written, not yet seen in the topic, or not yet
 * answered. It has a reference count: the table of those under way holds a reference, and so does
 * every event about it until it was told.
 */
struct mx_own {
    size_t refs;
    char uuid[MX_UUID_LEN + 1];
    struct mcpx_slice id; /* points to `uuid` */
    void *tag;
    struct mx_asked *asked; /* its request or proposal; NULL when no answer is awaited */
    /* It is an mcp/proposal: a request fulfils it, and the response to that request answers it. */
    bool proposal;
    struct mx_fulfilment *fulfilments; /* the requests that act on it, as far as seen */
    size_t fulfilment_count;
    int64_t deadline;      /* mono_ms; INT64_MAX = none */
    size_t heap_at;        /* its place among the deadlines + 1; 0 = it has none */
    struct mx_block *text; /* the composed text; NULL once it has its place in the topic */
    /* The text of an open proposal in the topic, sent again to a router that lost it. */
    struct mx_block *kept;
    struct mx_own *open_previous, *open_next; /* in the list of open proposals */
    uint64_t number;                          /* its place in the order of sending */
    bool is_answer;                           /* an mcp/response */
    /* The router sends no echo: it is addressed to others only, on a directed connection. */
    bool has_no_echo;
    unsigned writes;  /* how often it was written: after the first time it may have arrived */
    bool awaits_echo; /* written on the present connection, and its echo has not come yet */
    struct mx_own *previous, *next;
};

/** Takes one more reference and returns it. */
static inline struct mx_own *mx_own_ref(struct mx_own *own)
{
    own->refs++;
    return own;
}

/** Gives one reference back; the last frees it. NULL is allowed. */
void mx_own_unref(struct mx_own *own);

/**
 * Most written envelopes that wait for their echo. The router keeps the connection when it refuses
 * that many at once; after it asked for a pause, the number is smaller. After it could not store
 * one, that one is sent alone and first. Protocol: section 6.
 */
enum { MX_WINDOW = 256, MX_WINDOW_SLOW = 4, MX_WINDOW_ALONE = 1 };

/** How long to wait for echoes before writing more without them. */
enum { MX_ECHO_MS = 5000 };

/**
 * The outbox: composed envelopes that are not known to have arrived, in the order of sending.
 * Envelopes written on a broken connection are written again on the next one: the router knows the
 * ids and accepts each only once. Protocol: sections 1 and 5. First those written on this
 * connection, then the others.
 *
 * next          the first that is not written yet; NULL when all are
 */
struct mx_outbox {
    struct mx_own *first, *last, *next;
    size_t bytes; /* of all texts in it */
    size_t count; /* how many there are; sent_count: how many were ever put here */
    uint64_t sent_count;
    /* mono_ms before which nothing is written, because we wait for echoes of earlier envelopes
     * or for absent participants; INT64_MIN = none. */
    int64_t held_until;
    /* mono_ms before which nothing is written, because the router asked for a pause on this
     * connection; INT64_MIN = none. */
    int64_t paused_until;
    size_t echoes;      /* how many were written on this connection and wait for their echo */
    size_t window;      /* most of these; small after a pause, until everything has arrived */
    bool grows;         /* the window doubles with each that arrives */
    int64_t echo_until; /* mono_ms until which a full window waits for echoes */
    /* `lent`, `lent_text`: the one that is lent and not yet written; references. */
    struct mx_own *lent;
    struct mx_block *lent_text;
};

/** Releases what is lent; the envelopes belong to mx_pending. */
void mx_outbox_give_back(struct mx_outbox *outbox);

/** Puts an envelope with a text at the end. */
void mx_outbox_add(struct mx_outbox *outbox, struct mx_own *own);

/** Removes an envelope and releases its text. Does nothing when it is not there. */
void mx_outbox_remove(struct mx_outbox *outbox, struct mx_own *own);

/** Lends the next text to write; false when there is none. */
bool mx_outbox_peek(struct mx_outbox *outbox, struct mcpx_slice *text);

/** The lent text was written. Gives its envelope; NULL when there is none in the outbox. */
struct mx_own *mx_outbox_written(struct mx_outbox *outbox, int64_t mono_ms);

/** The connection is gone: everything will be written on the next one, in the same order. */
void mx_outbox_rewind(struct mx_outbox *outbox);

/**
 * Pauses until `until` (mono_ms). After a pause that the router asked for, MX_WINDOW_SLOW may wait.
 * After a failure of its store MX_WINDOW_ALONE may, doubled with each arrival.
 */
void mx_outbox_slow_down(struct mx_outbox *outbox, size_t window, int64_t until);

/** An envelope is about to be removed because it has arrived. */
void mx_outbox_arrived(struct mx_outbox *outbox);

/** Marks a written envelope to be written again, before all that were sent after it. */
void mx_outbox_retry(struct mx_outbox *outbox, struct mx_own *own);

/** mono_ms at which mx_outbox_end_pauses is due; INT64_MAX when nothing waits for it. */
int64_t mx_outbox_deadline(const struct mx_outbox *outbox);

/** Ends a pause that is over at `mono_ms`, and the waiting for late echoes. */
void mx_outbox_end_pauses(struct mx_outbox *outbox, int64_t mono_ms);

/** Most requests remembered that act on one proposal of ours. */
#define MX_FULFILMENTS_MAX 8

/**
 * All that are under way.
 *
 * open_first    proposals of ours that have arrived and are open, in the order of arrival
 */
struct mx_pending {
    struct mx_map_key key;
    /* Every envelope of ours under way: it has not arrived, or its answer is awaited. */
    struct mx_map ids;
    struct mx_map fulfilments; /* by the id of the fulfilling request */
    size_t awaited;            /* requests and proposals that wait for an answer */
    struct mx_own *open_first, *open_last;
    size_t open_bytes;    /* bytes of their texts */
    struct mx_own **heap; /* awaited envelopes that have a deadline; the earliest first */
    size_t heap_count, heap_size;
};

/** Releases everything. */
void mx_pending_fini(struct mx_pending *pending);

/** Makes sure that the next mx_pending_add cannot fail; false when memory runs out. */
bool mx_pending_reserve(struct mx_pending *pending);

/** Keeps an envelope, and awaits its answer when it has `asked`. After mx_pending_reserve. */
void mx_pending_add(struct mx_pending *pending, struct mx_own *own);

/** The envelope of ours with that id, or NULL. Borrowed. */
struct mx_own *mx_pending_find(const struct mx_pending *pending, struct mcpx_slice id);

/** The same, but only when its answer is awaited; NULL otherwise, and for an absent id. */
struct mx_own *mx_pending_awaited(const struct mx_pending *pending, struct mcpx_slice id);

/**
 * No longer awaits an answer. Does nothing when none was awaited. The caller calls
 * mx_pending_release next.
 */
void mx_pending_settle(struct mx_pending *pending, struct mx_own *own);

/** A proposal of ours has arrived: its text is kept until it is settled. Others are left. */
void mx_pending_keep_open(struct mx_pending *pending, struct mx_own *own);

/** Releases, and perhaps frees, an envelope that has arrived and needs no answer. */
void mx_pending_release(struct mx_pending *pending, struct mx_own *own);

/** The awaited envelope that expires first, or NULL when none ever does. Borrowed. */
struct mx_own *mx_pending_first(const struct mx_pending *pending);

/**
 * Any awaited envelope, or NULL when none is left; used when the session ends. `*at` is 0 at
 * first. The caller settles the envelope before the next call.
 */
struct mx_own *mx_pending_any(const struct mx_pending *pending, size_t *at);

/** Changes the deadline of an awaited envelope that has one. */
void mx_pending_defer(struct mx_pending *pending, struct mx_own *own, int64_t deadline);

/**
 * Remembers that a request acts on a proposal of ours. Beyond MX_FULFILMENTS_MAX the oldest by
 * the same sender is forgotten, or else the oldest of all. Returns false when memory runs out.
 */
bool mx_pending_fulfil(struct mx_pending *pending, struct mx_own *proposal,
                       const struct mx_asked *request);

/** The fulfilment by the request with that id, or NULL. Borrowed. */
struct mx_fulfilment *mx_pending_fulfilment(const struct mx_pending *pending,
                                            struct mcpx_slice request);

#endif
