/* http_reply.h - an HTTP response under construction, and its writer. Protocol: section 8. */
#ifndef EDGE_HTTP_REPLY_H
#define EDGE_HTTP_REPLY_H

#include <mcpx/error.h>
#include <mcpx/text.h>

struct grant;

/** Methods the API knows, as bits of a set. */
enum http_method { HTTP_GET = 1, HTTP_POST = 2, HTTP_DELETE = 4 };

/** A response. Zero-initialised it is `200` with an empty JSON body. */
struct http_reply {
    /* Not MCPX_OK: the answer is a problem (RFC 9457) and `body` is ignored. */
    enum mcpx_err err;
    int status;            /* of a problem, set after http_reply_fail; 0 = the one of `err` */
    const char *header;    /* borrowed; one more header line with its CRLF; NULL = none */
    const char *type;      /* media type of `body`; NULL = application/json */
    struct mcpx_text body; /* owned */
    /* The problem's detail; empty = the error's own text. Owned. */
    struct mcpx_text detail;
    /* The requester of a topic, with MCPX_EOPENING; the participant of a WebSocket. Owned. */
    struct grant *grant;
    struct mcpx_text scratch; /* decoded parts of the target; owned */
    /* Of a problem: up to two reasons why the router is not ready, as short texts; borrowed, NULL =
     * unused. */
    const char *reasons[2];
    unsigned allow; /* when not 0: the methods of the path, for `Allow` */
    bool preflight; /* answers a CORS preflight: status 204 with Access-Control-Allow-* */
    /* Borrowed; an allowed origin, sent in Access-Control-Allow-Origin. */
    struct mcpx_slice origin;
    bool head;       /* the method is HEAD: everything but the body */
    bool reload;     /* the response is the result of a reload (http_answer) */
    int64_t wait_ms; /* with 429: delay of a retry; 0 = short */
    int64_t wall_ms; /* for `Date`; 0 = no header */
};

/** Frees what the answer owns. */
void http_reply_fini(struct http_reply *reply);

/**
 * Turns the response into a problem with the error's own status; MCPX_OK undoes that.
 *
 * detail   a sentence without a secret, copied. NULL: the caller appends one to `reply->detail`;
 *          without it the error's own text is sent
 *
 * Returns false, so that callers can return the call itself.
 */
bool http_reply_fail(struct http_reply *reply, enum mcpx_err err, const char *detail);

/** The status of the response. */
int http_reply_status(const struct http_reply *reply);

/**
 * Appends the whole response: status line, headers (`Connection: close`), body. A problem's is
 * `application/problem+json`; 401 carries `WWW-Authenticate: Bearer`, 429 and 503 `Retry-After`.
 * HEAD gets no body. When the body ran out of memory, the response becomes a 503, and `reply` that
 * problem. Fails only when memory runs out; that shows as `out->failed`.
 */
void http_reply_write(struct http_reply *reply, struct mcpx_text *out);

/* ---- parsing of a request target. Protocol: sections 7 and 8. ---- */

/** A request target in origin form, split at its first '?'. */
struct http_target {
    struct mcpx_slice path; /* begins with '/'; still percent-encoded */
    /* The part after the '?', still percent-encoded; absent without a '?'. */
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
 * The type of a parameter of a query or a member of a body. Only bodies have lists, and members
 * checked elsewhere (HTTP_ANY).
 */
enum http_type { HTTP_TEXT, HTTP_NUMBER, HTTP_TOPIC, HTTP_LIST, HTTP_IDS, HTTP_ANY };

/** A parameter known to the caller. */
struct http_param {
    const char *name;
    enum http_type type;
    bool required;
    size_t least, most;      /* of a number; bytes of a text; members of a list; 0 = any */
    const char *must;        /* the sentence of its error */
    struct mcpx_slice value; /* absent until it is found */
    uint64_t number;         /* filled where it is one */
};

/**
 * Finds and decodes the caller's parameters; others are skipped unread.
 *
 * query    as http_target_parse gives it
 * params   rows filled by the caller (names of at most 16 bytes); values are filled here
 * reply    has room for query.len bytes in `scratch`, where the values go
 *
 * Returns false with a problem: a known parameter is given twice, or with malformed
 * percent-encoding in its value; else one is required and missing, or has an invalid value.
 */
bool http_params_read(struct mcpx_slice query, struct http_param *params, size_t count,
                      struct http_reply *reply);

#endif
