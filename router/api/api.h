/*
 * api.h - the handlers behind the HTTP API's routes, and what each is given.
 * Protocol: section 8.
 */
#ifndef EDGE_API_H
#define EDGE_API_H

#include "router/api/http_api.h"
#include "router/http/http_reply.h"
#include <jansson.h>

/**
 * A request that found its route and may pass. Everything is borrowed.
 *
 * query    still percent-encoded; absent when there is none
 * name     the variable part of the path, decoded; absent on routes without one. On routes that
 *          are about a topic: a valid topic name that the token is valid for
 * claimant what it has shown, and
 * grant    what that earned; zeroed and NULL on open routes
 */
struct api_call {
    const struct http_api *api;
    const struct http_request *request;
    struct mcpx_now now;
    struct mcpx_slice query;
    struct mcpx_slice name;
    struct claimant claimant;
    struct grant *grant;
};

/*
 * Every handler fills `reply`: its body, or a problem by http_reply_fail. What each answers is
 * docs/http-api.md.
 */

/** GET /: says to people what this is, and where to look. */
void api_root(const struct api_call *call, struct http_reply *reply);

/** GET /health: for people and for clients of the original router. */
void api_health(const struct api_call *call, struct http_reply *reply);

/** GET /livez: the process answers. */
void api_live(const struct api_call *call, struct http_reply *reply);

/**
 * GET /readyz: connections are welcome; MCPX_EGOING while draining, MCPX_EUNAVAILABLE while
 * messages cannot be stored.
 */
void api_ready(const struct api_call *call, struct http_reply *reply);

/** GET /metrics: the statistics as Prometheus text, version 0.0.4. */
void api_metrics(const struct api_call *call, struct http_reply *reply);

/** GET /ws without an upgrade: says what to do. */
void api_upgrade(const struct api_call *call, struct http_reply *reply);

/** GET /v0.1/topics: names of the topics the token is valid for, sorted. */
void api_topics(const struct api_call *call, struct http_reply *reply);

/** GET /v0.1/topics/{topic}/participants: who is connected; nobody in an unknown topic. */
void api_participants(const struct api_call *call, struct http_reply *reply);

/** GET /v0.1/topics/{topic}/history: retained envelopes, newest first, byte-exact. */
void api_history(const struct api_call *call, struct http_reply *reply);

/** GET /v0.1/topics/{topic}/rate-limit: what the token's participant may still send. */
void api_rate_limit(const struct api_call *call, struct http_reply *reply);

/** POST /v0.1/auth/token: makes a token; the route exists in dev mode only. */
void api_token(const struct api_call *call, struct http_reply *reply);

/** POST /v0.1/tickets: single-use admission to one topic for a browser. */
void api_ticket(const struct api_call *call, struct http_reply *reply);

/** POST /v0.1/token: connections of the participant in a topic go on under this token. */
void api_renew(const struct api_call *call, struct http_reply *reply);

/** POST /v0.1/check: may somebody send a kind, and if not, why? */
void api_check(const struct api_call *call, struct http_reply *reply);

/** POST /admin/participants/{id}/capabilities: gives and takes away at run time. */
void api_change(const struct api_call *call, struct http_reply *reply);

/** DELETE /admin/participants/{id}: ends connections, and may keep their participant out. */
void api_kick(const struct api_call *call, struct http_reply *reply);

/** GET /admin/participants: who is configured, connected, or changed at run time. */
void api_admin_participants(const struct api_call *call, struct http_reply *reply);

/** GET /admin/topics: all topics, and how many participants are in each. */
void api_admin_topics(const struct api_call *call, struct http_reply *reply);

/** GET /admin/policy: the configuration's profiles and participants, without secrets. */
void api_admin_policy(const struct api_call *call, struct http_reply *reply);

/* ---- what handlers share ---- */

/** True from the moment a shutdown begins. */
bool api_is_going(const struct http_api *api);

/** Is it the name of a topic? Else the reply is a problem, MCPX_ETOPIC. */
bool api_is_topic(struct mcpx_slice topic, struct http_reply *reply);

/**
 * Finds the parameters of the query, whose values are decoded into `scratch` (http_params_read).
 * False with a problem.
 */
bool api_params_read(const struct api_call *call, struct http_param *params, size_t count,
                     struct mcpx_text *scratch, struct http_reply *reply);

/** A parameter that is a number from `least` to `most`; `out` stays where it is not given. */
bool api_number_read(const struct http_param *param, size_t least, size_t most, size_t *out,
                     struct http_reply *reply);

/**
 * Reads the query of a list of names: `limit` and `after`, which is decoded into `scratch`. False
 * with a problem.
 */
bool api_page_read(const struct api_call *call, struct mcpx_text *scratch,
                   struct name_page *page, struct http_reply *reply);

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

/** Tells log and audit of an act: `topic`, `by` and `address` of the note are filled. */
void api_tell(const struct api_call *call, const struct change_act *act,
              struct audit_note *note);

/** Appends a member with an instant; nothing when it is 0. */
void api_write_time(struct mcpx_text *out, const char *name, int64_t wall_ms);

/** Appends a member: the changes that hold now, as an array. */
void api_write_changes(const struct changed *changed, int64_t wall_ms, struct mcpx_text *out);

/* ---- a request's JSON body and its members, with answers for those who get it wrong. ---- */

/**
 * Reads a body as one JSON object without duplicate members, whatever its Content-Type.
 *
 * Returns the object, owned by the caller (json_decref), or NULL: `reply` then says where and
 * why, with MCPX_EREQUEST.
 */
json_t *api_body_read(struct mcpx_slice body, struct http_reply *reply);

/**
 * Reads a string member. `out` borrows from `body`; it is absent when the member is. Returns
 * false, with MCPX_EREQUEST naming the member in `reply`, when it is not a string.
 */
bool api_body_string(const json_t *body, const char *name, struct mcpx_slice *out,
                     struct http_reply *reply);

/**
 * Reads an array member as JSON text.
 *
 * out    filled with compact text that the caller frees with free(); NULL when there is no such
 *        member
 *
 * Returns false, with MCPX_EREQUEST or MCPX_ENOMEM in `reply`, when it is not an array.
 */
bool api_body_array(const json_t *body, const char *name, char **out,
                    struct http_reply *reply);

/**
 * Answers that a text member was refused: "NAME: reason (field, byte OFFSET)".
 *
 * fault   its reason and field may be NULL or empty
 */
void api_body_fault(enum mcpx_err err, const char *name, const struct mcpx_fault *fault,
                    struct http_reply *reply);

/* ---- may a connection be upgraded, and as whom? Protocol: section 7. ---- */

/**
 * Would this admission succeed now, and if its topic is not open, is it being opened? Begins that.
 *
 * Returns MCPX_OK; MCPX_EOPENING: ask again when hub_waits has changed; or whatever hub_may_admit
 * and hub_open say, with MCPX_ENOTNOW for a topic that cannot be opened.
 */
enum mcpx_err http_admission_ask(struct hub *hub, const struct grant *grant,
                                 const struct admission *admission, struct mcpx_now now);

/**
 * Judges a connection attempt.
 *
 * request     its head; `target` holds topic, routing, history, after, instance,
 *             instance_key, ticket and token
 * admission   filled on success, and with MCPX_EOPENING; its slices point into `scratch`
 * scratch     caller's buffer for decoded query values; reset here
 * grant       likewise, with a reference the caller owns; untouched on failure
 * detail      filled on failure with a static sentence for the problem's `detail`
 *
 * Returns MCPX_OK or the error to answer with: MCPX_ETOPIC (topic missing, malformed or given
 * twice), MCPX_EREQUEST (another parameter is malformed), MCPX_ETOKEN, MCPX_EFORBIDDEN,
 * MCPX_EORIGIN, MCPX_EREQUESTS, or whatever changes_admit and http_admission_ask say. A ticket is
 * spent by the attempt.
 */
enum mcpx_err http_admission(const struct http_api *api, const struct http_request *request,
                             struct mcpx_now now, struct admission *admission,
                             struct mcpx_text *scratch, struct grant **grant,
                             const char **detail);

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

/** Who asks, by what the head and the certificate show. Returns as http_bearer. */
enum mcpx_err http_claimant(const struct http_request *request, struct claimant *out);

/**
 * The request's participant is known: it is charged, and its caller is good (gate_knows). Returns
 * 0, or the milliseconds until it may ask again.
 */
int64_t http_wait_ms(const struct http_api *api, const struct http_request *request,
                     struct mcpx_slice participant, struct mcpx_now now);

/** True when there is no Origin header, or a configured pattern covers it. */
bool http_origin_is_allowed(const struct config *config, struct mcpx_slice origin);

#endif
