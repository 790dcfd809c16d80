/*
 * reader.h - a message that comes in, and the memory for reading one message at a time.
 */
#ifndef MX_READER_H
#define MX_READER_H

#include "lib/participant/block.h"
#include "lib/participant/validate.h"

/** Deepest nesting of a message that is read. */
enum { MX_DEPTH_MAX = 65536 };

/**
 * A message that came, or one of a page of history. It travels with what was read of it.
 *
 * now        when it came
 * block      the text it came in
 * span       its extent in the block
 * envelope   the envelope read from it; NULL when it cannot be read
 * rpc        its payload as a JSON-RPC message that fits the kind; NULL when it is none, or was not
 *            asked for. Like the envelope it is lent until the reader reads another message
 */
struct mx_incoming {
    struct mcpx_now now;
    struct mx_block *block;
    struct mcpx_slice span;
    const struct mcpx_envelope *envelope;
    const struct mcpx_rpc *rpc;
};

/**
 * The reader, zero-initialised. It keeps what it read until it reads another message. Its
 * envelope's scratch only grows, so a message that was read once can be read again without
 * failure.
 *
 * block      the text of the message read last, a reference; NULL = nothing was read
 * has_rpc    `rpc` is the payload of `envelope`
 */
struct mx_reader {
    struct mx_block *block;
    struct mcpx_envelope envelope;
    struct mcpx_rpc rpc;
    bool has_rpc;
};

/** Frees its memory. */
void mx_reader_fini(struct mx_reader *reader);

/**
 * Reads the message at `span` in `block` into `envelope`; as mcpx_envelope_parse. Does nothing when
 * that is what it read last.
 */
enum mcpx_err mx_reader_read(struct mx_reader *reader, struct mx_block *block,
                             struct mcpx_slice span, struct mcpx_fault *fault);

/** The payload of what was read last; NULL when it is no JSON-RPC message. */
const struct mcpx_rpc *mx_reader_rpc(struct mx_reader *reader);

/**
 * Reads a message, of which all but `envelope` and `rpc` is filled. Returns as mx_reader_read, and
 * MCPX_EINVALID when it does not say who sent it.
 */
enum mcpx_err mx_reader_open(struct mx_reader *reader, struct mx_incoming *in,
                             struct mcpx_fault *fault);

/** Reads the payload of the message opened last into in->rpc; as mx_validate_payload. */
enum mcpx_violation mx_reader_judge(struct mx_reader *reader, struct mx_incoming *in,
                                    struct mcpx_fault *fault);

#endif
