/*
 * http_api.h - from one HTTP request to the whole of its answer, without a socket.
 * Includes layers 0 to 3. Protocol: sections 7 and 8.
 */
#ifndef EDGE_HTTP_API_H
#define EDGE_HTTP_API_H

#include "router/edge/gate.h"
#include "router/hub/hub.h"
#include "router/policy/config.h"
#include "router/policy/tickets.h"
#include "router/policy/tokens.h"

/** Largest request body accepted, in bytes. */
enum { HTTP_BODY_MAX = 65536 };

/**
 * A request as it came in. All slices are borrowed for the call.
 *
 * method          "GET", "HEAD", "POST", ...
 * target          raw request target: path and query, still percent-encoded
 * authorization   value of the Authorization header; absent when there was none
 * origin          likewise
 * content_type    likewise
 * body            empty when there was none
 * from            where it comes from
 */
struct http_request {
    struct mcpx_slice method;
    struct mcpx_slice target;
    struct mcpx_slice authorization;
    struct mcpx_slice origin;
    struct mcpx_slice content_type;
    struct mcpx_slice body;
    struct address from;
};

/** What the answers are made from; all borrowed. Without a `gate` nothing is charged.
 * `log_lost` is for the metrics (log.h). */
struct http_api {
    struct hub *hub;
    const struct config *config;
    struct tickets *tickets;
    struct gate *gate;
    int64_t started_mono_ms;
    uint64_t log_lost;
};

/**
 * Who asks with a good token is charged for it (gate.h): one request, and one more for each
 * HTTP_COST_BYTES of the answer, for each HTTP_COST_NAMES topics that were looked at to make it,
 * and for each HTTP_COST_GRANTS bytes of grants that had to be compiled.
 */
enum { HTTP_COST_BYTES = 32768, HTTP_COST_NAMES = 256, HTTP_COST_GRANTS = 256 };

/**
 * Appends the whole answer: status line, headers (`Connection: close`), body. HEAD gets no body.
 * Never fails but for memory, which shows as `out->failed`.
 */
void http_answer(const struct http_api *api, const struct http_request *request,
                 struct mcpx_now now, struct mcpx_text *out);

/**
 * Appends a whole answer with an `application/problem+json` body (RFC 9457) for `err`: its
 * status, title, and `code`; `detail` may be NULL. 401 carries `WWW-Authenticate: Bearer`, 429
 * and 503 `Retry-After`. Used for refused upgrades too.
 */
void http_problem(enum mcpx_err err, const char *detail, struct mcpx_text *out);

/**
 * A connection attempt: may it be upgraded, and as whom?
 *
 * request     its head; `target` holds topic, routing, history, after, instance,
 *             instance_key, ticket and token
 * admission   filled on success; its slices point into `scratch`
 * scratch     caller's buffer for decoded query values; reset here
 * grant       filled on success with a reference the caller owns; untouched on failure
 * detail      filled on failure with a static sentence for the problem's `detail`
 *
 * Returns MCPX_OK or the error to answer with: MCPX_ETOPIC (topic missing, malformed or given
 * twice), MCPX_EREQUEST (another parameter is malformed), MCPX_ETOKEN, MCPX_EFORBIDDEN,
 * MCPX_EORIGIN, MCPX_EREQUESTS, or whatever hub_may_admit says. A ticket is spent by the attempt.
 */
enum mcpx_err http_admission(const struct http_api *api, const struct http_request *request,
                             struct mcpx_now now, struct admission *admission,
                             struct mcpx_text *scratch, struct grant **grant,
                             const char **detail);

#endif
