/*
 * api.h - the handlers behind the HTTP API's routes, and what each is given.
 * Protocol: section 8.
 */
#ifndef EDGE_API_H
#define EDGE_API_H

#include "router/api/http_api.h"
#include "router/http/http_reply.h"
#include "router/policy/grants/changes.h"
#include "router/policy/grants/grant_list.h"

/**
 * Bounds of a request: parameters of its query; patterns of one plan, as `lifted` of its draft
 * has a bit for each.
 */
enum { API_QUERY_MAX = 10, API_PATTERNS_MAX = 64 };

/** A request that found its route and may pass. Everything is borrowed. */
struct api_call {
    const struct http_api *api;
    const struct http_request *request;
    struct mcpx_now now;
    /* The variable part of the path, decoded; absent on routes without one. On routes that are
     * about a topic, and for a WebSocket: a valid topic name that the token is valid for. */
    struct mcpx_slice name;
    struct http_param query[API_QUERY_MAX]; /* the parameters that the route has */
    /* An object whose members are of the types that the route says; NULL where it says
     * none. */
    json_t *body;
    struct credentials credentials; /* what it has shown; zeroed on open routes */
    struct grant *grant;            /* what that earned; NULL on open routes */
};

/**
 * A handler fills `reply`: its body, or a problem by http_reply_fail. Which one is for what is the
 * table in http_api.c; what each answers is docs/http-api.md.
 */
typedef void api_handler(const struct api_call *call, struct http_reply *reply);

api_handler api_root, api_openapi, api_health, api_live, api_ready, api_metrics, api_upgrade;
api_handler api_topics, api_participants, api_history, api_rate_limit;
api_handler api_token, api_ticket, api_renew, api_check;
api_handler api_change, api_kick, api_admin_participants, api_admin_topics, api_admin_policy;

/* ---- what handlers share ---- */

/** True from the moment a shutdown begins. */
bool api_is_going(const struct http_api *api);

/**
 * Reads a query into call->query, whose values are decoded into reply->scratch, and a body into
 * call->body. `rows` end with one without a name; NULL = nothing is looked at. False with a
 * problem.
 */
bool api_read_query(struct api_call *call, const struct http_param *rows,
                    struct mcpx_slice query, struct http_reply *reply);
bool api_read_body(struct api_call *call, const struct http_param *rows,
                   struct http_reply *reply);

/** Is it the name of a topic? Else the reply is a problem, MCPX_ETOPIC. */
bool api_is_topic(struct mcpx_slice topic, struct http_reply *reply);

/** A parameter of the route's query, which has to be one of its rows. */
const struct http_param *api_param(const struct api_call *call, const char *name);

/** A string of the body, lent; absent when the member is. */
struct mcpx_slice api_string(const struct api_call *call, const char *name);

/** The number of a parameter; `otherwise` where it is not given. */
size_t api_number(const struct api_call *call, const char *name, size_t otherwise);

/** The page of a list of names that the query asks for: `limit` and `after`. */
struct name_page api_page(const struct api_call *call);

/**
 * Ends the object of a list: says that it is not complete when `next` is there, the name to go on
 * behind.
 */
void api_page_end(struct mcpx_slice next, struct mcpx_text *out);

/**
 * Does a grant of the caller cover a kind that is only asked of grants, `admin/NAME`? Else the
 * reply is a problem.
 */
bool api_may(const struct api_call *call, struct grant *grant, const char *kind,
             struct http_reply *reply);

/**
 * The caller's grant in a topic, as it is now. Returns a reference the caller owns; NULL with a
 * problem when its token is not valid there, or an administrator keeps it out.
 */
struct grant *api_grant_in(const struct api_call *call, struct mcpx_slice topic,
                           struct http_reply *reply);

/** Whom the path names, and who asks. False, with a problem, when it names nobody. */
bool api_target(const struct api_call *call, struct change_act *act, struct http_reply *reply);

/** Appends a member with an instant; nothing when it is 0. */
void api_write_time(struct mcpx_text *out, const char *name, int64_t wall_ms);

/** Appends a member: the changes that hold now, as an array. */
void api_write_changes(const struct changed *changed, int64_t wall_ms, struct mcpx_text *out);

/**
 * Answers that a text member was refused: "NAME: reason (field, byte OFFSET)".
 *
 * fault   its reason and field may be NULL or empty
 */
void api_body_fault(enum mcpx_err err, const char *name, const struct mcpx_fault *fault,
                    struct http_reply *reply);

/* ---- who asks, and who comes in ---- */

/**
 * Would this admission succeed now, and if its topic is not open, is it being opened? Begins that.
 *
 * Returns MCPX_OK; MCPX_EOPENING: ask again when hub_waits has changed; or whatever hub_may_admit
 * and hub_open say, with MCPX_ENOTNOW for a topic that cannot be opened.
 */
enum mcpx_err http_admission_ask(struct hub *hub, const struct grant *grant,
                                 const struct admission *admission, struct mcpx_now now);

/** How somebody wants to come in, from the query into call->request->join. Returns NULL, or what is
 * wrong with it. */
const char *api_read_wishes(const struct api_call *call);

/** May they, as call->grant? Protocol: section 7. */
void api_join(const struct api_call *call, struct http_reply *reply);

/**
 * Takes the token out of `Authorization: Bearer TOKEN` (RFC 6750; the scheme in any letter case,
 * as RFC 9110 section 11.1 says).
 *
 * bearer   borrows from `authorization`; absent when there is no Authorization, or one of another
 *          scheme (a proxy's own, say); untouched on failure
 *
 * Returns MCPX_OK, or MCPX_ETOKEN when "Bearer" is followed by nothing or by anything but visible
 * ASCII.
 */
enum mcpx_err http_bearer(struct mcpx_slice authorization, struct mcpx_slice *bearer);

/**
 * Finds the caller by head and certificate, and by the query of a request for a WebSocket; fills
 * call->credentials and call->grant.
 *
 * topic   absent = any
 *
 * Returns MCPX_OK, MCPX_ETOKEN, or as tokens_ask.
 */
enum mcpx_err api_find_grant(struct api_call *call, struct mcpx_slice topic);

/**
 * The reply is a problem for a caller that may not ask, or not come in, with a sentence for its
 * detail; a cap that is reached is counted. Returns false.
 */
bool api_refuse(const struct api_call *call, enum mcpx_err err, struct http_reply *reply);

#endif
