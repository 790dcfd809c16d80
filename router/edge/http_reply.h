/*
 * http_reply.h - an answer while it is being made, and how it is written down.
 * Includes layers 0 and 1. Protocol: section 8.
 */
#ifndef EDGE_HTTP_REPLY_H
#define EDGE_HTTP_REPLY_H

#include <mcpx/error.h>
#include <mcpx/text.h>

/** Methods the API knows, as bits of a set. */
enum http_method { HTTP_GET = 1, HTTP_POST = 2, HTTP_DELETE = 4 };

/**
 * An answer. Zero-initialised it is `200` with an empty JSON body.
 *
 * status      0 = 200, unless `err` decides
 * err         not MCPX_OK: the answer is a problem (RFC 9457) and `body` is ignored
 * type        media type of `body`; NULL = application/json
 * body        owned
 * detail      the problem's detail; empty = the error's own text. Owned
 * allow       when not 0: the methods of the path, for `Allow`
 * preflight   answers a CORS preflight: status 204 with Access-Control-Allow-*
 * origin      borrowed; an allowed origin, told that it may read the answer
 * head        the method is HEAD: everything but the body
 * wait_ms     with 429: when to ask again; 0 = soon
 * cost        requests that it counts for besides the one it was, its length left out
 */
struct http_reply {
    int status;
    enum mcpx_err err;
    const char *type;
    struct mcpx_text body;
    struct mcpx_text detail;
    unsigned allow;
    bool preflight;
    struct mcpx_slice origin;
    bool head;
    int64_t wait_ms;
    uint64_t cost;
};

/** Frees what the answer owns. */
void http_reply_fini(struct http_reply *reply);

/**
 * Turns the answer into a problem. `detail` may be NULL: the caller then appends a sentence to
 * `reply->detail`, or leaves it to the error's own text. It must hold no secret.
 */
void http_reply_fail(struct http_reply *reply, enum mcpx_err err, const char *detail);

/**
 * Appends the whole answer: status line, headers, body. An answer whose body ran out of memory
 * becomes a 503.
 */
void http_reply_write(struct http_reply *reply, struct mcpx_text *out);

#endif
