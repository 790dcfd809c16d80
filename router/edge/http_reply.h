/*
 * http_reply.h - an answer while it is being made, and how it is written down.
 * Protocol: section 8.
 */
#ifndef EDGE_HTTP_REPLY_H
#define EDGE_HTTP_REPLY_H

#include <mcpx/error.h>
#include <mcpx/text.h>

struct grant;

/** Methods the API knows, as bits of a set. */
enum http_method { HTTP_GET = 1, HTTP_POST = 2, HTTP_DELETE = 4 };

/**
 * An answer. Zero-initialised it is `200` with an empty JSON body.
 *
 * err         not MCPX_OK: the answer is a problem (RFC 9457) and `body` is ignored
 * status      of a problem, set after http_reply_fail; 0 = the one of `err`
 * title       borrowed; NULL = as the status says
 * header      borrowed; one more header line with its CRLF; NULL = none
 * type        media type of `body`; NULL = application/json
 * body        owned
 * detail      the problem's detail; empty = the error's own text. Owned
 * grant       with MCPX_EOPENING: who asks for the topic. Owned
 * reasons     of a problem: what keeps the router from working, as short texts; borrowed, NULL from
 *             the first that is not used
 * allow       when not 0: the methods of the path, for `Allow`
 * preflight   answers a CORS preflight: status 204 with Access-Control-Allow-*
 * origin      borrowed; an allowed origin, told that it may read the answer
 * head        the method is HEAD: everything but the body
 * wait_ms     with 429: when to ask again; 0 = soon
 * reload      the answer is what becomes of a reload (http_answer)
 */
struct http_reply {
    enum mcpx_err err;
    int status;
    const char *title;
    const char *header;
    const char *type;
    struct mcpx_text body;
    struct mcpx_text detail;
    struct grant *grant;
    const char *reasons[2];
    unsigned allow;
    bool preflight;
    struct mcpx_slice origin;
    bool head;
    bool reload;
    int64_t wait_ms;
};

/** Frees what the answer owns. */
void http_reply_fini(struct http_reply *reply);

/**
 * Turns the answer into a problem with the error's own status; with MCPX_OK it is none any more.
 *
 * detail   a sentence without a secret, copied. NULL: the caller appends one to `reply->detail`,
 *          or the error's own text stands there
 */
void http_reply_fail(struct http_reply *reply, enum mcpx_err err, const char *detail);

/** The status it is answered with. */
int http_reply_status(const struct http_reply *reply);

/**
 * Appends the whole answer: status line, headers (`Connection: close`), body. HEAD gets no body. An
 * answer whose body ran out of memory becomes a 503, and `reply` says so afterwards. Never fails
 * but for memory, which shows as `out->failed`.
 */
void http_reply_write(struct http_reply *reply, struct mcpx_text *out);

/**
 * Appends a whole answer with an `application/problem+json` body (RFC 9457) for `err`: its
 * status, title, and `code`; `detail` may be NULL. 401 carries `WWW-Authenticate: Bearer`, 429
 * and 503 `Retry-After`.
 */
void http_problem(enum mcpx_err err, const char *detail, struct mcpx_text *out);

#endif
