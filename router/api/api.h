/* api.h - the routes of the HTTP API, and the input of their handlers. Protocol: section 8. */
#ifndef EDGE_API_H
#define EDGE_API_H

#include "router/api/http_api.h"
#include "router/http/http_reply.h"
#include "router/policy/grants/changes.h"
#include "router/policy/grants/grant_list.h"

/**
 * Bounds of a request: parameters of its query; patterns of a change (`lifted` in changes.h has 64
 * bits).
 */
enum { API_QUERY_MAX = 10, API_PATTERNS_MAX = 64 };

/** A request with its route and permission. Everything is borrowed. */
struct api_call {
    const struct http_api *api;
    const struct http_request *request;
    struct mcpx_now now;
    /* The variable part of the path, decoded; absent on routes without one. On routes about a
     * topic, and for a WebSocket: a valid topic name, permitted by the token. */
    struct mcpx_slice name;
    struct http_param query[API_QUERY_MAX]; /* the parameters of the route */
    /* An object with members of the route's types; NULL for a route without a body. */
    json_t *body;
    struct credentials credentials; /* the caller's; zeroed on open routes */
    struct grant *grant;            /* of these; NULL on open routes */
};

/** Fills `reply`: its body (docs/http-api.md), or a problem by http_reply_fail. */
typedef void api_handler(const struct api_call *call, struct http_reply *reply);

/* ---- routes ---- */

/** A route requires nothing, a valid token, or a token valid for the topic. */
enum api_access { ACCESS_OPEN, ACCESS_TOKEN, ACCESS_TOPIC };

/** A row of a table of routes. The rows of one path are adjacent. */
struct api_route {
    enum http_method method;
    /* Literal text, with at most one "{...}" for one or more bytes; NULL = the table's end. */
    const char *path;
    const char *says;       /* its answer, as in docs/http-api.md */
    api_handler *handle;    /* NULL = a WebSocket */
    enum api_access access; /* for ACCESS_TOPIC, "{...}" is a topic's name */
    /* A kind to be covered by a grant of the caller (api_may); NULL = none. */
    const char *needs;
    /* Rows of its parameters, the last one without a name; NULL = it has none. */
    const struct http_param *query;
    /* Likewise of the members of its body; NULL = the body is not read. */
    const struct http_param *body;
    bool in_topic;    /* its handler checks `needs`, in the topic of the request */
    bool dev;         /* exists in dev mode only */
    const char *type; /* media type of the answer; NULL = application/json */
};

/* Parameters. In order: name, type, required, least, most. */
#define API_TEXT(name) name, HTTP_TEXT, .must = NULL
#define API_TOPIC "topic", HTTP_TOPIC, true, .must = NULL
#define API_TOPIC_IF_ANY "topic", HTTP_TOPIC, .must = NULL
#define API_NUMBER(name, least, most)                                                         \
    name, HTTP_NUMBER, false, least, most,                                                    \
        .must = name " must be a number from " #least " to " #most
#define API_ID(name)                                                                          \
    name, HTTP_TEXT, false, 1, MCPX_ID_MAX,                                                   \
        .must = name " must be an envelope id of 1 to 256 bytes"
#define API_GRANTS "capabilities", HTTP_LIST, .must = NULL
#define API_END .name = NULL

/** The routes of the file of the same name. */
extern const struct api_route api_routes[], api_admin_routes[], api_auth_routes[],
    api_change_routes[], api_check_routes[], api_metrics_routes[], api_topics_routes[];

/** The parameters of a list of names: api_page reads them. */
extern const struct http_param api_page_params[];

/* ---- shared functions ---- */

/** True from the moment a shutdown begins. */
bool api_is_going(const struct http_api *api);

/**
 * Reads a query into call->query, whose values are decoded into reply->scratch, and a body into
 * call->body. `rows` end with one without a name; NULL = nothing is read. Returns false with a
 * problem.
 */
bool api_read_query(struct api_call *call, const struct http_param *rows,
                    struct mcpx_slice query, struct http_reply *reply);
bool api_read_body(struct api_call *call, const struct http_param *rows,
                   struct http_reply *reply);

/** True for a valid name of a topic; else the reply is a problem, MCPX_ETOPIC. */
bool api_is_topic(struct mcpx_slice topic, struct http_reply *reply);

/** Returns a parameter of the route's query; `name` must be in one of its rows. */
const struct http_param *api_param(const struct api_call *call, const char *name);

/** Returns a string of the body, lent; absent when the member is. */
struct mcpx_slice api_string(const struct api_call *call, const char *name);

/** Returns the number of a parameter; `otherwise` when it is absent. */
size_t api_number(const struct api_call *call, const char *name, size_t otherwise);

/** Returns the requested page of a list of names: `limit` and `after` of the query. */
struct name_page api_page(const struct api_call *call);

/**
 * Ends the object of a list. With `next`, the last name of the page, it is marked as incomplete.
 */
void api_page_end(struct mcpx_slice next, struct mcpx_text *out);

/**
 * True when a grant of the caller covers `kind`, an `admin/NAME` never sent as a message. Else the
 * reply is a problem.
 */
bool api_may(const struct api_call *call, struct grant *grant, const char *kind,
             struct http_reply *reply);

/**
 * Returns the caller's present grant in a topic, a reference to be released. NULL with a problem
 * when its token is not valid there, or a ban keeps it out.
 */
struct grant *api_grant_in(const struct api_call *call, struct mcpx_slice topic,
                           struct http_reply *reply);

/**
 * Takes the token out of `Authorization: Bearer TOKEN` (RFC 6750; the scheme in any letter case,
 * as RFC 9110 section 11.1 says).
 *
 * bearer   borrows from `authorization`; absent without that header, and for another scheme (such
 *          as a proxy's own); untouched on failure
 *
 * Returns MCPX_OK, or MCPX_ETOKEN when the text behind "Bearer" is empty or not visible ASCII.
 */
enum mcpx_err http_bearer(struct mcpx_slice authorization, struct mcpx_slice *bearer);

/** Counts a refusal over a cap. The problem has the error's own text and the setting of the cap.
 * Returns false. */
bool api_over_cap(const struct api_call *call, enum mcpx_err err, enum cap cap,
                  struct http_reply *reply);

/**
 * Makes the reply a problem with a detail, for a caller without access or admission. Counts a
 * reached quota. Returns false.
 */
bool api_refuse(const struct api_call *call, enum mcpx_err err, struct http_reply *reply);

/** Fills target and author of a change. Returns false, with a problem, for an invalid id. */
bool api_target(const struct api_call *call, struct change_act *act, struct http_reply *reply);

/** Appends a member: the changes active now, as an array. */
void api_write_changes(const struct change_list *list, int64_t wall_ms, struct mcpx_text *out);

/**
 * Answers that a text member was refused: "NAME: reason (field, byte OFFSET)".
 *
 * fault   its reason and field may be NULL or empty
 */
void api_body_fault(enum mcpx_err err, const char *name, const struct mcpx_fault *fault,
                    struct http_reply *reply);

/* ---- admission ---- */

/**
 * Checks whether this admission would succeed now. Begins to open its topic if it is not open.
 *
 * Returns MCPX_OK; MCPX_EOPENING: ask again when hub_waits has changed; or an error of
 * hub_may_admit or hub_open, with MCPX_ENOTNOW for a topic that cannot be opened.
 */
enum mcpx_err http_admission_ask(struct hub *hub, const struct grant *grant,
                                 const struct admission *admission, struct mcpx_now now);

/** Reads an admission from a query into call->request->join. Returns false with a problem. */
bool api_read_admission(struct api_call *call, struct mcpx_slice query,
                        struct http_reply *reply);

/** Decides on an admission of call->grant. Protocol: section 7. */
void api_join(const struct api_call *call, struct http_reply *reply);

#endif
