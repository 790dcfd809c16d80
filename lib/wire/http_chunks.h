/*
 * http_chunks.h - a body in chunks, as proxies send what came to them by HTTP/2: read as strictly
 * as a head, as it arrives. RFC 9112 section 7.1. Extensions and trailers are read over.
 */
#ifndef MX_HTTP_CHUNKS_H
#define MX_HTTP_CHUNKS_H

#include "lib/wire/http_head.h"

#include <mcpx/text.h>

/**
 * What was read so far. Zero-initialised is the beginning.
 *
 * at      private
 * digits  private: of the size at hand
 * around  private: bytes that are not of the body; no more than MX_HTTP_HEAD_MAX
 * left    bytes of the chunk at hand that are still to come, at most 2^32 - 1
 * is_done the whole body was read; what follows is not looked at
 */
struct mx_http_chunks {
    int at;
    unsigned digits;
    size_t around;
    uint64_t left;
    bool is_done;
};

/**
 * Takes the next bytes of a body, and adds what is content to `body`. Who calls it bounds
 * `body->len + left`, and looks at `body->failed`.
 *
 * Returns NULL, or what is wrong; then no more may be taken.
 */
const struct mx_http_fault *mx_http_chunks_take(struct mx_http_chunks *chunks,
                                                struct mcpx_slice bytes,
                                                struct mcpx_text *body);

#endif
