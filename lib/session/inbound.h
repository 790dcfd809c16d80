/*
 * inbound.h - messages as a session holds them: a text with several holders; the content of a
 * request or proposal without its envelope; an incoming message, and the memory for reading one at
 * a time. Also others' requests and proposals by id, and digests of recent envelopes, so that none
 * is told twice.
 */
#ifndef MX_INBOUND_H
#define MX_INBOUND_H

#include "lib/base/holders.h"
#include "lib/base/ident.h"

#include <mcpx/envelope.h>
#include <mcpx/rpc.h>
#include <mcpx/session.h>

/**
 * A text, immutable once made: a message from its arrival until the last event about it, an
 * envelope of ours from its composition until its echo.
 */
struct mx_block {
    size_t refs;
    size_t len;
    char text[];
};

/** Copies a text. Returns a block with one reference, or NULL when memory runs out. */
struct mx_block *mx_block_new(struct mcpx_slice text);

/** Takes one more reference and returns the block; NULL is allowed. */
struct mx_block *mx_block_ref(struct mx_block *block);

/** Gives one reference back; the last one frees the block. NULL is allowed. */
void mx_block_unref(struct mx_block *block);

/** The text, lent as long as the block is held. */
static inline struct mcpx_slice mx_block_text(const struct mx_block *block)
{
    return (struct mcpx_slice){block->text, block->len};
}

/**
 * Longest JSON-RPC id of a request in bytes, as written. It has a limit because any participant
 * may choose it, and we keep it.
 */
enum { MX_RPC_ID_MAX = 1024 };

/**
 * One request or proposal. A view when its slices belong to others, a copy when made by
 * mx_asked_copy.
 *
 * from        its sender; absent for our own
 * proposer    the sender of the proposal that the request fulfils; absent when it fulfils none
 * operation   METHOD[:CONTEXT] of the kind as delivered
 * method, context
 *             as the payload says them
 * rpc_id      raw; absent in proposals
 * params      raw; kept for our own proposals only, because they are not needed for others
 */
struct mx_asked {
    struct mcpx_slice id, from, proposer, operation, method, context, rpc_id, params;
    const struct mcpx_slice *to; /* addressees; none = everyone */
    size_t to_count;
};

/** The view of a received envelope. Borrows both. No proposer, no params. */
struct mx_asked mx_asked_of(const struct mcpx_envelope *envelope, const struct mcpx_rpc *rpc);

/**
 * Copies a view to the beginning of a zeroed struct of `size` bytes, which has its strings behind
 * it and is to be freed with free(). NULL when memory runs out.
 */
void *mx_asked_copy(const struct mx_asked *view, size_t size);

/** True when the payload asks for the same METHOD and CONTEXT. */
bool mx_asked_is_operation(const struct mx_asked *asked, const struct mcpx_rpc *rpc);

/** True when it was addressed to everyone, or to this participant among others. */
bool mx_asked_was_for(const struct mx_asked *asked, struct mcpx_slice participant);

/** Deepest nesting of a message that is read. */
enum { MX_DEPTH_MAX = 65536 };

/** A received message, or one of a page of history, with what was read of it. */
struct mx_incoming {
    struct mcpx_now now;    /* when it came */
    struct mx_block *block; /* the text it came in */
    struct mcpx_slice span; /* its extent in the block */
    /* The envelope read from it; NULL when it cannot be read. */
    const struct mcpx_envelope *envelope;
    /* Its payload as a JSON-RPC message that fits the kind; NULL when it is none, or was not
     * asked for. Like the envelope it is lent until the reader reads another message. */
    const struct mcpx_rpc *rpc;
    struct mcpx_fault fault; /* what is wrong with it, once something is */
    /* To be told: it is addressed to everyone (except an echo), or names us. */
    bool is_for_us;
};

/**
 * The reader, zero-initialised. It keeps what it read until it reads another message. Its
 * envelope's scratch only grows, so a message that was read once can be read again without failure.
 */
struct mx_reader {
    /* The text of the message read last, a reference; NULL = nothing was read. */
    struct mx_block *block;
    struct mcpx_envelope envelope;
    struct mcpx_rpc rpc;
    bool has_rpc; /* `rpc` is the payload of `envelope` */
};

/** Frees its memory. */
void mx_reader_fini(struct mx_reader *reader);

/**
 * Reads the message at `span` in `block` into `envelope`; as mcpx_envelope_parse. Does nothing when
 * that is what it read last.
 */
enum mcpx_err mx_reader_read(struct mx_reader *reader, struct mx_block *block,
                             struct mcpx_slice span, struct mcpx_fault *fault);

/** The payload of the envelope read last; NULL unless it is a JSON-RPC message. */
const struct mcpx_rpc *mx_reader_rpc(struct mx_reader *reader);

/**
 * Reads a message, of which `now`, `block` and `span` are filled. Returns as mx_reader_read, and
 * MCPX_EINVALID when it does not say who sent it.
 */
enum mcpx_err mx_reader_open(struct mx_reader *reader, struct mx_incoming *in);

/**
 * Reads the payload of the message opened last into in->rpc and compares it with the kind. Returns
 * MCPX_VIOLATION_NONE when they agree, else MCPX_VIOLATION_RPC or MCPX_VIOLATION_KIND with
 * in->fault filled.
 */
enum mcpx_violation mx_reader_judge(struct mx_reader *reader, struct mx_incoming *in);

/* ---- what others sent ---- */

/** A request or proposal of another participant, and its neighbours by arrival. */
struct mx_heard {
    struct mx_asked asked;
    struct mx_heard *older, *newer;
};

/** Most bytes kept. There is a limit because others choose the kinds, ids and names. */
enum { MX_INBOUND_BYTES = 64 * 1024 * 1024 };

/**
 * Requests or proposals. Beyond their bounds, the oldest of the sender that has most is
 * forgotten; all instances of one participant are one sender. The caller sets `senders.key` and
 * `max`; the rest is zero.
 */
struct mx_inbound {
    size_t max, bytes;
    struct mx_map ids;         /* to struct mx_heard */
    struct mx_holders senders; /* how much of both bounds each uses, as one number */
    struct mx_heard *oldest, *newest;
};

/** Forgets everything. */
void mx_inbound_fini(struct mx_inbound *inbound);

/**
 * The request or proposal with that id; NULL when there is none or the id is absent. Lent until
 * it is forgotten.
 */
const struct mx_asked *mx_inbound_find(const struct mx_inbound *inbound, struct mcpx_slice id);

/**
 * Remembers a copy. It replaces the same sender's request or proposal with that id.
 *
 * Returns MCPX_OK; MCPX_EDUPLICATE when that id is of another sender; MCPX_ENOMEM.
 */
enum mcpx_err mx_inbound_add(struct mx_inbound *inbound, const struct mx_asked *asked);

/** Forgets the request or proposal with that id. Returns false when there is none. */
bool mx_inbound_remove(struct mx_inbound *inbound, struct mcpx_slice id);

/**
 * Digests of the last `max` envelopes. A digest covers sender, id and payload; another payload
 * makes another envelope. The router accepts an id only once while it remembers it; later, or after
 * a restart, a sender may write again an envelope told before.
 * The caller sets `key` and `max`; the rest is zero.
 */
struct mx_recent {
    struct mx_map_key key;
    size_t max;
    struct mx_map set;
    uint64_t *ring;
    size_t size, next;
};

/** Forgets everything. */
void mx_recent_fini(struct mx_recent *recent);

/** The digest of an envelope. */
uint64_t mx_recent_digest(const struct mx_recent *recent,
                          const struct mcpx_envelope *envelope);

/** True when an envelope with that digest was noted lately. */
bool mx_recent_has(const struct mx_recent *recent, uint64_t digest);

/** Makes sure that the next mx_recent_note cannot fail; false when memory runs out. */
bool mx_recent_reserve(struct mx_recent *recent);

/** Notes a digest. Once there are `max`, it replaces the oldest. After mx_recent_reserve. */
void mx_recent_note(struct mx_recent *recent, uint64_t digest);

#endif
