/*
 * refusal.c - a line about a refusal has all facts that an operator may ask for: the participant,
 * if it is certain; the nearest grant; the fault of a token. Finding them takes time, so it happens
 * after the rate limit has permitted the line. An expired token is verified as of its own time, so
 * that the line names its bearer. The dates of an unsigned token are never believed.
 */
#include "router/connection/refusal.h"

#include "lib/base/digits.h"
#include "lib/base/ident.h"
#include "lib/base/scoped.h"
#include "router/api/api.h"
#include "router/connection/connection.h"
#include "router/connection/loop_budget.h"
#include "router/http/http_reply.h"
#include "router/policy/identity/jwt.h"
#include "router/policy/identity/tokens.h"

/*
 * ---- answers: one request, one answer, one write. Rejected: several requests on a connection;
 * programs disagree where one HTTP request ends and the next begins.
 */

struct mcpx_slice request_path(const struct http_request *request)
{
    struct mcpx_slice rest = request->target;

    return mx_cut_at(&rest, '?');
}

void answer_send(struct connection *connection, struct http_reply *reply)
{
    mx_scoped_text answer = {0};

    reply->head = reply->head || connection->bodiless;
    reply->wall_ms = edge_now(connection->edge).wall_ms;
    http_reply_write(reply, &answer);
    connection_answered(connection);
    if (answer.failed || !wire_write(connection, answer.text, answer.len))
        connection_kill(connection);
    else
        wire_finish(connection);
}

void answer_problem(struct connection *connection, enum mcpx_err err, const char *detail)
{
    MX_SCOPED(http_reply_fini) struct http_reply reply = {0};

    http_reply_fail(&reply, err, detail);
    answer_send(connection, &reply);
}

void answer_refuse(struct connection *connection, const struct mx_http_fault *why)
{
    MX_SCOPED(http_reply_fini) struct http_reply reply = {0};

    http_reply_fail(&reply, MCPX_EREQUEST, why->detail);
    reply.status = why->status;
    reply.header = why->header;
    answer_send(connection, &reply);
}

/* ---- what is wrong with a token ---- */

/* The fault of a refused token, and its bearer. */
struct token_reason {
    const char *reason; /* a static sentence; NULL when nothing is wrong with it */
    /* Its grant but for its dates, so its bearer is certain. The caller owns the reference; NULL
     * when the bearer is not certain. */
    struct grant *grant;
    /* The bearer it claims, when that is not certain: any client can write such a token. Owned by
     * the caller; may be empty. */
    struct mcpx_text claimed;
};

static const char unknown[] = "neither a token of the configuration nor a JWT";

/* Returns the unverified claims of a token; NULL when it has none. */
static json_t *read_claims(struct mcpx_slice bearer)
{
    struct mcpx_slice rest = bearer, claims;
    mx_scoped_text text = {0};

    (void)mx_cut_at(&rest, '.');
    claims = mx_cut_at(&rest, '.');
    if (!rest.text || bearer.len > JWT_BYTES_MAX || !mx_base64url_decode(claims, &text) ||
        text.failed)
        return NULL;
    return json_loadb(text.text, text.len, JSON_REJECT_DUPLICATES, NULL);
}

static int64_t date_of(const json_t *claims, const char *name, int64_t missing)
{
    int64_t date = missing;

    (void)jwt_date(json_object_get(claims, name), &date);
    return date;
}

/* True when its dates forbid the token now. `at_ms` is then an instant at which they permit it. */
static bool dates_forbid(const json_t *claims, int64_t wall_ms, int64_t *at_ms)
{
    int64_t exp = date_of(claims, "exp", INT64_MAX);
    int64_t nbf = date_of(claims, "nbf", 0), iat = date_of(claims, "iat", 0);
    int64_t begin = nbf > iat ? nbf : iat;

    *at_ms = wall_ms >= exp ? exp - 1 : begin;
    return wall_ms >= exp || begin > wall_ms;
}

/*
 * Finds out why tokens_ask has returned MCPX_ETOKEN for this token. Its signature, if it matters,
 * is verified already. `credentials` is borrowed, without a certificate; `out` is zeroed by the
 * caller, and released with token_reason_fini.
 */
static void token_reason_find(struct tokens *tokens, struct credentials *credentials,
                              struct mcpx_now now, struct token_reason *out)
{
    const struct mcpx_slice any = {NULL, 0};
    json_t *claims = read_claims(credentials->bearer);
    struct grant *good = NULL; /* the token may be good by now */
    const json_t *name = json_object_get(claims, "participantId");

    credentials->why = &out->reason;
    (void)tokens_ask(tokens, credentials, any, now, &good);
    credentials->why = NULL;
    grant_unref(good);
    if (!claims && out->reason)
        out->reason = unknown;
    if (!claims || !dates_forbid(claims, now.wall_ms, &now.wall_ms) ||
        tokens_ask(tokens, credentials, any, now, &out->grant))
        mcpx_text_slice(&out->claimed,
                        json_slice(name ? name : json_object_get(claims, "sub")));
    json_decref(claims);
}

static void token_reason_fini(struct token_reason *reason)
{
    grant_unref(reason->grant);
    mcpx_text_fini(&reason->claimed);
}

/* ---- messages ---- */

static const char *message_reason(const struct verdict *verdict)
{
    return verdict->err == MCPX_ECAPABILITY ? mcpx_refusal_wire(verdict->decision.refusal)
                                            : mcpx_strerror(verdict->err);
}

/*
 * ---- the audit. A refusal stands behind all envelopes accepted before it, so the store works
 * first.
 */

void record(struct edge *edge, struct audit_note *note)
{
    struct mcpx_now now = edge_now(edge);

    if (!record_is_kept(edge))
        return;
    note->wall_ms = now.wall_ms;
    store_turn(edge->store, edge->hub, now);
    store_note(edge->store, note);
}

static void record_message(struct connection *connection, const struct verdict *verdict,
                           size_t bytes)
{
    const struct peer *peer = connection->peer;
    struct audit_note note = {.what = AUDIT_REFUSE, .bytes = bytes};

    note.topic = peer_topic_name(peer);
    note.from = peer_id(peer);
    note.to = verdict->to;
    note.to_count = verdict->to_count;
    note.id = verdict->id;
    note.kind_sent = verdict->kind_sent;
    note.grant = verdict->decision.grant;
    note.error = mcpx_slice_of(mcpx_error_wire(verdict->err));
    note.reason = mcpx_slice_of(message_reason(verdict));
    record(connection->edge, &note);
}

static void log_message(struct connection *connection, const struct verdict *verdict)
{
    const struct peer *peer = connection->peer;
    struct edge *edge = connection->edge;

    if (!log_wants(LOG_INFO))
        return;
    if (!log_share_permits(&edge->message_log, peer_grant(peer)->identity,
                           edge_now(edge).mono_ms)) {
        connection->left_out++;
        return;
    }
    LOG(LOG_INFO, "message_refused", log_text("participant", peer_id(peer)),
        log_identity(peer), log_text("topic", peer_topic_name(peer)),
        log_connection(connection), log_known("id", verdict->id),
        log_known("kind", verdict->kind_sent),
        log_string("code", mcpx_error_wire(verdict->err)),
        log_string("reason", message_reason(verdict)),
        log_known("grant", verdict->decision.grant),
        log_known("nearest", verdict->decision.nearest), log_left_out(connection));
    connection->left_out = 0;
}

void refusal_note_message(struct connection *connection, const struct verdict *verdict,
                          size_t bytes)
{
    if (!connection->peer || verdict->err == MCPX_ECLOSED)
        return;
    if (record_is_kept(connection->edge))
        record_message(connection, verdict, bytes);
    log_message(connection, verdict);
}

/* ---- requests ---- */

bool refusal_may_log(struct edge *edge, struct address from)
{
    return log_share_permits(&edge->request_log, address_slice(&from), edge_now(edge).mono_ms);
}

void refusal_note_attempt(struct edge *edge, struct address from, const char *remote)
{
    struct audit_note nobody = {.what = AUDIT_TURNED_AWAY};

    hub_note_cap(edge->hub, CAP_CONNECTS);
    if (refusal_may_log(edge, from))
        LOG(LOG_WARN, "turned_away", log_string("code", mcpx_error_wire(MCPX_ECONNECTS)),
            log_string("reason", mcpx_strerror(MCPX_ECONNECTS)), log_string("remote", remote));
    record_turned_away(edge, &nobody, from, MCPX_ECONNECTS, NULL);
}

void refusal_delay(struct connection *connection)
{
    struct edge *edge = connection->edge;

    connection->is_refused = true;
    connection->deadline_ms = edge_now(edge).mono_ms + REFUSAL_MS;
    loop_budget_hold(connection);
    refusal_note_attempt(edge, connection->from, connection_remote(connection));
}

enum { PARAM_TOPIC, PARAM_TOKEN, PARAM_COUNT };

/* Reads the topic and the token of a request, as far as possible. */
static void read_params(const struct connection *connection,
                        const struct http_request *request, struct http_param *params,
                        struct http_reply *query)
{
    const bool query_token = connection->edge->config->query_token;
    struct http_target target;
    struct mcpx_slice bearer = {0};

    if (http_target_parse(request->target, &target) &&
        mcpx_text_reserve(&query->scratch, request->target.len))
        (void)http_params_read(target.query, params, PARAM_COUNT, query);
    if (http_bearer(request->authorization, &bearer) || bearer.text || !query_token)
        params[PARAM_TOKEN].value = bearer;
}

/* Finds the participant of a request, as far as possible. */
static void find_who(struct edge *edge, const struct http_request *request,
                     struct mcpx_slice token, enum mcpx_err err, struct token_reason *found)
{
    struct credentials credentials = {.bearer = token,
                                      .signature = &request->caller->signature};
    struct mcpx_slice any = {0};

    if (token.len == 0)
        credentials = (struct credentials){.named = request->named};
    if (token.len && err == MCPX_ETOKEN)
        token_reason_find(edge->config->tokens, &credentials, edge_now(edge), found);
    else if (token.len || request->named.len)
        (void)tokens_ask(edge->config->tokens, &credentials, any, edge_now(edge),
                         &found->grant);
}

static void judge_certificate(const struct http_request *request, struct mcpx_slice token,
                              struct token_reason *found)
{
    if (request->named.len == 0)
        found->reason =
            "no name of its certificate stands in tls.client_names, or several for "
            "different participants, or it was revoked";
    else if (token.len && !found->reason)
        found->reason = "its token or ticket is not of whom its certificate stands for";
    mcpx_text_reset(&found->claimed);
    mcpx_text_slice(&found->claimed, request->shown);
}

void refusal_note_request(struct connection *connection, const struct http_request *request,
                          enum mcpx_err err, const char *detail)
{
    struct http_param params[PARAM_COUNT] = {{.name = "topic"}, {.name = "token"}};
    struct edge *edge = connection->edge;
    MX_SCOPED(token_reason_fini) struct token_reason found = {.reason = NULL};
    struct audit_note who = {.what = AUDIT_TURNED_AWAY};
    MX_SCOPED(http_reply_fini) struct http_reply query = {0};
    bool logs = log_wants(LOG_INFO) && refusal_may_log(edge, connection->from);

    if (!logs && !record_is_kept(edge))
        return;
    read_params(connection, request, params, &query);
    find_who(edge, request, params[PARAM_TOKEN].value, err, &found);
    if (request->named.text && err == MCPX_ETOKEN)
        judge_certificate(request, params[PARAM_TOKEN].value, &found);
    if (!found.reason)
        found.reason = detail ? detail : mcpx_strerror(err);
    who.topic = params[PARAM_TOPIC].value;
    if (found.grant)
        who.from = found.grant->identity;
    record_turned_away(edge, &who, connection->from, err, found.reason);
    if (logs)
        LOG(LOG_INFO, "refused", log_text("path", request_path(request)),
            log_known("participant", who.from),
            log_known("claimed", mcpx_text_view(&found.claimed)),
            log_known("topic", who.topic), log_connection(connection),
            log_string("code", mcpx_error_wire(err)), log_string("reason", found.reason),
            log_string("remote", connection_remote(connection)));
}

void record_turned_away(struct edge *edge, struct audit_note *note, struct address from,
                        enum mcpx_err err, const char *reason)
{
    char address[ADDRESS_TEXT_SIZE];

    note->what = AUDIT_TURNED_AWAY;
    note->address = mcpx_slice_of(address_text(from, address));
    note->error = mcpx_slice_of(mcpx_error_wire(err));
    note->reason = mcpx_slice_of(reason ? reason : mcpx_strerror(err));
    record(edge, note);
}

static void log_change(const struct audit_note *note)
{
    static const char *const change_events[] = {[AUDIT_GRANT] = "granted",
                                                [AUDIT_REVOKE] = "revoked",
                                                [AUDIT_KICK] = "kicked",
                                                [AUDIT_LIFT] = "lifted"};
    char until[MX_TIME_LEN + 1] = "";

    if (note->until)
        mx_time_format(note->until, until);
    LOG(LOG_INFO, change_events[note->what], log_text("participant", note->from),
        log_text("topic", note->topic), log_known("grant", note->grant),
        log_known("until", mcpx_slice_of(until)), log_text("by", note->by),
        log_text("remote", note->address));
}

void record_change(void *edge, const struct audit_note *note)
{
    struct audit_note copy = *note;

    log_change(note);
    record(edge, &copy);
}
