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

/** An answer. Zero-initialised it is `200` with an empty JSON body. */
struct http_reply {
    /* Not MCPX_OK: the answer is a problem (RFC 9457) and `body` is ignored. */
    enum mcpx_err err;
    int status;            /* of a problem, set after http_reply_fail; 0 = the one of `err` */
    const char *header;    /* borrowed; one more header line with its CRLF; NULL = none */
    const char *type;      /* media type of `body`; NULL = application/json */
    struct mcpx_text body; /* owned */
    /* The problem's detail; empty = the error's own text. Owned. */
    struct mcpx_text detail;
    /* With MCPX_EOPENING: who asks for the topic; who comes in by a WebSocket. Owned. */
    struct grant *grant;
    struct mcpx_text scratch; /* what of the target was decoded; owned */
    /* Of a problem: what keeps the router from working, as short texts; borrowed, NULL from the
     * first that is not used. */
    const char *reasons[2];
    unsigned allow; /* when not 0: the methods of the path, for `Allow` */
    bool preflight; /* answers a CORS preflight: status 204 with Access-Control-Allow-* */
    /* Borrowed; an allowed origin, told that it may read the answer. */
    struct mcpx_slice origin;
    bool head;       /* the method is HEAD: everything but the body */
    bool reload;     /* the answer is what becomes of a reload (http_answer) */
    int64_t wait_ms; /* with 429: when to ask again; 0 = soon */
    int64_t wall_ms; /* for `Date`; 0 = there is none */
};

/** Frees what the answer owns. */
void http_reply_fini(struct http_reply *reply);

/**
 * Turns the answer into a problem with the error's own status; with MCPX_OK it is none any more.
 *
 * detail   a sentence without a secret, copied. NULL: the caller appends one to `reply->detail`,
 *          or the error's own text stands there
 *
 * Returns false, for those who return whether all is well.
 */
bool http_reply_fail(struct http_reply *reply, enum mcpx_err err, const char *detail);

/** The status it is answered with. */
int http_reply_status(const struct http_reply *reply);

/**
 * Appends the whole answer: status line, headers (`Connection: close`), body. A problem's is
 * `application/problem+json`; 401 carries `WWW-Authenticate: Bearer`, 429 and 503 `Retry-After`.
 * HEAD gets no body. An
 * answer whose body ran out of memory becomes a 503, and `reply` says so afterwards. Never fails
 * but for memory, which shows as `out->failed`.
 */
void http_reply_write(struct http_reply *reply, struct mcpx_text *out);

/* ---- a request target taken apart. Protocol: sections 7 and 8. ---- */

/** A request target in origin form, split at its first '?'. */
struct http_target {
    struct mcpx_slice path; /* begins with '/'; still percent-encoded */
    /* What follows the '?', still percent-encoded; absent when there is no '?'. */
    struct mcpx_slice query;
};

/**
 * Splits a target. Returns false, `out` untouched, when it does not begin with '/' or holds a
 * space or a control character. `raw` is borrowed for as long as `out` is used.
 */
bool http_target_parse(struct mcpx_slice raw, struct http_target *out);

/** How '+' reads: as itself in a path, as a space in a query. */
enum http_plus { HTTP_PLUS_LITERAL, HTTP_PLUS_SPACE };

/**
 * Undoes percent-encoding.
 *
 * scratch   the decoded bytes are appended; room for raw.len bytes must have been reserved, so
 *           that slices given out earlier stay valid
 * out       lends the decoded bytes in `scratch`; never absent
 *
 * Returns false, `out` untouched, when a '%' is not followed by two hexadecimal digits.
 */
bool http_decode(struct mcpx_slice raw, enum http_plus plus, struct mcpx_text *scratch,
                 struct mcpx_slice *out);

/**
 * What a parameter of a query, or a member of a body, has to be. Lists and what is looked at
 * elsewhere (HTTP_ANY) only bodies have.
 */
enum http_type { HTTP_TEXT, HTTP_NUMBER, HTTP_TOPIC, HTTP_LIST, HTTP_IDS, HTTP_ANY };

/** A parameter somebody understands. */
struct http_param {
    const char *name;
    enum http_type type;
    bool required;
    size_t least, most;      /* of a number; bytes of a text; members of a list; 0 = any */
    const char *must;        /* a sentence for who gets that wrong */
    struct mcpx_slice value; /* absent until it is found */
    uint64_t number;         /* filled where it is one */
};

/**
 * Finds and decodes the parameters somebody understands; others are passed over unread.
 *
 * query    as http_target_parse gives it
 * params   rows filled by the caller (names of at most 16 bytes); values are filled here
 * reply    has room for query.len bytes in `scratch`, where the values go
 *
 * Returns false with a problem: a parameter of ours is given twice, or with malformed
 * percent-encoding in its value; then one is required and missing, or not what it must be.
 */
bool http_params_read(struct mcpx_slice query, struct http_param *params, size_t count,
                      struct http_reply *reply);

#endif
