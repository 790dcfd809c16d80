/*
 * own.h - an envelope of ours that is under way: not yet written, not yet seen in the topic, or
 * not yet answered. pending.h and outbox.h know which of these it is.
 */
#ifndef MX_OWN_H
#define MX_OWN_H

#include "lib/core/ident.h"
#include "lib/participant/asked.h"
#include "lib/participant/block.h"

struct mx_own;

/** A request of another participant that fulfils a proposal of ours. The proposal frees it. */
struct mx_fulfilment {
    struct mx_own *proposal; /* borrowed */
    struct mx_asked *asked;
    struct mx_fulfilment *next;
};

/**
 * An envelope of ours. It has a reference count: the table of those under way holds a
 * reference, and so does every event about it until it was told.
 *
 * asked        its request or proposal; NULL when no answer is awaited
 * proposal     it is an mcp/proposal: a request fulfils it, and the response to that request
 *              answers it
 * fulfilments  the requests that act on it, as far as seen
 * deadline     mono_ms; INT64_MAX = none
 * heap_at      its place among the deadlines + 1; 0 = it has none
 * text         the composed text; NULL once it has its place in the topic
 * kept         the text of an open proposal that has its place: a router that lost it gets it
 *              again
 * open         its neighbours in the list of open proposals
 * number       its place in the order of sending
 * is_answer    an mcp/response
 * has_no_echo  the router sends no echo: it is addressed to others only, on a directed
 *              connection
 * written      written on a connection
 * awaits_echo  written on the present connection, and its echo has not come yet
 * rewritten    written on more than one connection: the router may have accepted it already
 */
struct mx_own {
    size_t refs;
    char id[MX_UUID_LEN + 1];
    void *tag;
    struct mx_asked *asked;
    bool proposal;
    struct mx_fulfilment *fulfilments;
    size_t fulfilment_count;
    int64_t deadline;
    size_t heap_at;
    struct mx_block *text, *kept;
    struct mx_own *open_previous, *open_next;
    uint64_t number;
    bool is_answer, has_no_echo, written, rewritten, awaits_echo;
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

/** Its id. */
static inline struct mcpx_slice mx_own_id(const struct mx_own *own)
{
    return (struct mcpx_slice){own->id, MX_UUID_LEN};
}

#endif
