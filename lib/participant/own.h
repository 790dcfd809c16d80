/*
 * own.h - one envelope of ours that is under way: not yet written, not yet seen in the topic, or
 * not yet answered. Which of these it is, pending.h and outbox.h know.
 */
#ifndef MX_OWN_H
#define MX_OWN_H

#include "lib/core/ident.h"
#include "lib/participant/asked.h"
#include "lib/participant/block.h"

struct mx_own;

/** A request of somebody else that fulfils a proposal of ours. The proposal frees it. */
struct mx_fulfilment {
    struct mx_own *proposal; /* borrowed */
    struct mx_asked *asked;
    struct mx_fulfilment *next;
};

/**
 * An envelope of ours. Counted: the table of those under way holds it, and so does every event
 * about it until it was told.
 *
 * asked        what it asks; NULL when no answer is awaited any more, or never was
 * proposal     an mcp/proposal: fulfilled by somebody's request, answered by that one's response
 * fulfilments  requests seen that act on it
 * deadline     mono_ms; INT64_MAX = none
 * heap_at      its place among the deadlines + 1; 0 = it has none
 * text         as composed; NULL once it has its place in the topic
 * kept         the same of an open proposal that has: a router that lost it is to get it again
 * open         its neighbours among those
 * number       its place in the order of sending
 * is_answer    an mcp/response
 * has_no_echo  the router sends none: addressed to others only, on a directed connection
 * written      handed to a connection
 * awaits_echo  handed to the present one, and its echo is still to come
 * rewritten    handed to more than one: the router may have accepted it already
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
