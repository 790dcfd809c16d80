/*
 * http_server.c - keeps the head of a request as it came until the request is answered, because
 * parsed values point into it. The body of a GET or DELETE is never read: the answer goes out and
 * the connection ends. Bytes behind the head of a handshake are frames already.
 */
#include "lib/base/scoped.h"
#include "lib/wire/http_head.h"
#include "router/connection/connection.h"
#include "router/connection/loop_budget.h"
#include "router/connection/refusal.h"
#include "router/edge/edge_parts.h"

#include <stdlib.h>

/* certificate   of the client; `request` borrows from it */
struct exchange {
    struct mcpx_text in; /* bytes of the head, and those read with its end */
    struct mx_http_scan scan;
    size_t head_len; /* 0 while the head is not whole */
    struct mx_http_head head;
    struct http_request request;
    struct admission join; /* how a request for a WebSocket joins */
    struct http_caller caller;
    struct certificate certificate;
    struct mcpx_text body;
    struct mx_http_chunks chunks;
};

static const struct mx_http_fault bad_method = {
    501, "the method is not known here; methods have capital letters", NULL};
static const struct mx_http_fault two_fields = {
    400, "Authorization, Origin and Content-Type may stand there once each", NULL};
static const struct mx_http_fault no_length = {
    411, "Content-Length or Transfer-Encoding: chunked is required", NULL};
static const struct mx_http_fault tls_on_plain_port = {
    400, "this port does not speak TLS; use http:// or ws:// with it", NULL};

/* The type of a handshake's record; no request begins with it. RFC 8446 section 5.1. */
enum { TLS_FIRST_BYTE = 0x16 };

static const struct method {
    const char *name;
    bool has_body;
} methods[] = {{"GET", false},  {"HEAD", false},   {"POST", true},    {"PUT", true},
               {"PATCH", true}, {"DELETE", false}, {"OPTIONS", false}};

/* Returns NULL for an unknown method. */
static const struct method *find_method(struct mcpx_slice name)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (mcpx_slice_equal(name, mcpx_slice_of(methods[i].name)))
            return &methods[i];
    return NULL;
}

static void exchange_free(struct exchange *exchange)
{
    if (!exchange)
        return;
    mcpx_text_fini(&exchange->in);
    mcpx_text_fini(&exchange->body);
    certificate_fini(&exchange->certificate);
    jwt_signature_fini(&exchange->caller.signature);
    free(exchange);
}

/* Tells log and audit of a refusal: each one of a WebSocket, others by their status. A question for
 * the router's state (/readyz) is left out. */
static void note_refusal(struct connection *connection, const struct http_request *request,
                         const struct http_reply *reply)
{
    static const int statuses[] = {401, 403, 429, 503};
    bool tells = request->join,
         asks_how = mcpx_slice_equal(request_path(request), MCPX_SLICE("/readyz"));

    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        tells |= http_reply_status(reply) == statuses[i];
    if (tells && reply->err && !asks_how)
        refusal_note_request(connection, request, reply->err,
                             reply->detail.len ? reply->detail.text : NULL);
}

static bool wait_for(struct connection *connection, struct http_reply *reply);

static void answer(struct connection *connection);

/* True when the answer waits for a signature to be verified, or was given here. */
static bool waits_for_signature(struct connection *connection)
{
    struct jwt_signature *signature = &connection->exchange->caller.signature;

    if (signature->state != JWT_SIGNATURE_WANTED || connection->state != UNAUTHENTICATED ||
        connection->is_refused)
        return false;
    if (!signatures_ask(connection, signature, answer))
        answer_problem(connection, MCPX_ENOMEM, NULL);
    return true;
}

/* True when the participant has entered or waits, or the connection is gone. Bytes behind the head
 * are frames; they may end the connection. */
static bool upgrade(struct connection *connection, struct http_reply *reply)
{
    struct exchange *exchange = connection->exchange;
    size_t begin = exchange->head_len;

    if (!reply->grant)
        return false;
    if (!upgrade_enter(connection, &exchange->head, &exchange->join, reply))
        return !reply->err;
    connection->exchange = NULL;
    receive_bytes(connection, exchange->in.text + begin, exchange->in.len - begin);
    exchange_free(exchange);
    return true;
}

static void answer(struct connection *connection)
{
    const struct http_request *request = &connection->exchange->request;
    struct http_caller *caller = &connection->exchange->caller;
    struct edge *edge = connection->edge;
    MX_SCOPED(http_reply_fini) struct http_reply reply = {0};

    hub_note_edge(edge->hub, edge->unsent, edge->incomplete.held);
    http_answer(&edge->api, request, edge_now(edge), &reply);
    if (reply.err == MCPX_EOPENING && waits_for_signature(connection))
        return;
    if (request->join ? upgrade(connection, &reply)
                      : reply.err == MCPX_EOPENING && wait_for(connection, &reply))
        return;
    if (caller->looks && !caller->is_good) {
        refusal_delay(connection);
        return;
    }
    answer_send(connection, &reply);
    LOG(LOG_DEBUG, "request", log_text("method", request->method),
        log_text("path", request_path(request)),
        log_number("status", http_reply_status(&reply)));
    note_refusal(connection, request, &reply);
}

/* ---- waiting for a topic, or for a reload ---- */

static bool ask_again(struct waiter *waiter, bool late)
{
    struct connection *connection = waiter->connection;
    struct edge *edge = connection->edge;
    enum mcpx_err err =
        hub_open(edge->hub, waiter->grant, mcpx_text_view(&waiter->text), edge_now(edge));

    if (err == MCPX_EOPENING && !late)
        return false;
    waiters_remove(connection);
    connection->exchange->request.again = true;
    if (edge->stopping)
        answer_problem(connection, MCPX_EGOING, NULL);
    else if (err == MCPX_EOPENING)
        answer_problem(connection, MCPX_EUNAVAILABLE, NULL);
    else
        answer(connection);
    return true;
}

/* Does not ask the API again: after the reload it may refuse the administrator. */
static bool ask_reload(struct waiter *waiter, bool late)
{
    struct connection *connection = waiter->connection;
    const struct edge *edge = connection->edge;
    const struct reload_report *report = &edge->api.reloads;
    MX_SCOPED(http_reply_fini)
    struct http_reply reply = {.origin = connection->exchange->request.origin};

    (void)late; /* it always ends */
    if (!edge->stopping && !reload_is_done(edge, waiter->reload))
        return false;
    waiters_remove(connection);
    if (edge->stopping)
        http_reply_fail(&reply, MCPX_EGOING, NULL);
    else if (report->err)
        http_reply_fail(&reply, report->err, NULL);
    if (!edge->stopping)
        mcpx_text_slice(reply.err ? &reply.detail : &reply.body,
                        mcpx_text_view(&report->text));
    answer_send(connection, &reply);
    return true;
}

/* Adds a waiter. False when memory runs out; `reply` then has that error. */
static bool wait_for(struct connection *connection, struct http_reply *reply)
{
    struct waiter waiter = {.ask = ask_again, .grant = reply->grant, .text = reply->detail};

    if (reply->reload)
        waiter = (struct waiter){.ask = ask_reload};
    if (reply->detail.failed || !waiters_add(connection, &waiter)) {
        http_reply_fail(reply, MCPX_ENOMEM, NULL);
        return false;
    }
    if (reply->reload) {
        connection->waiter->reload =
            reload_ask(connection->edge, mcpx_text_view(&reply->detail), &connection->from);
    } else {
        reply->grant = NULL;
        reply->detail = (struct mcpx_text){0};
    }
    return true;
}

/* ---- the body ---- */

static bool is_too_big(struct connection *connection, uint64_t len)
{
    if (len > HTTP_BODY_MAX)
        answer_problem(connection, MCPX_ETOOBIG, "the body is larger than 65536 bytes");
    return len > HTTP_BODY_MAX;
}

static void take_body(struct connection *connection, struct mcpx_slice bytes)
{
    struct exchange *exchange = connection->exchange;
    const struct mx_http_fault *fault =
        mx_http_chunks_take(&exchange->chunks, &bytes, &exchange->body);

    if (is_too_big(connection, exchange->body.len + exchange->chunks.left))
        return;
    exchange->request.body = mcpx_text_view(&exchange->body);
    if (fault)
        answer_refuse(connection, fault);
    else if (exchange->body.failed)
        answer_problem(connection, MCPX_ENOMEM, NULL);
    else if (exchange->chunks.is_done)
        answer(connection);
}

/* False when a refusal was written. */
static bool judge_body(struct connection *connection)
{
    struct exchange *exchange = connection->exchange;
    bool takes = find_method(exchange->request.method)->has_body;

    if (takes && !exchange->head.has_length && !exchange->head.is_chunked) {
        answer_refuse(connection, &no_length);
        return false;
    }
    if (is_too_big(connection, exchange->head.length))
        return false;
    exchange->chunks = mx_http_body(&exchange->head);
    exchange->chunks.is_done = exchange->chunks.is_done || !takes;
    return true;
}

/* Sends 100 to a client that expects it. RFC 9110 section 10.1.1. False when it was refused. */
static bool send_continue(struct connection *connection, bool came)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    const struct mx_http_head *head = &connection->exchange->head;
    struct mcpx_slice expected;

    if (head->minor == 0 || !mx_http_find(head, "expect", &expected))
        return true;
    if (!mx_http_is(head, "expect", "100-continue")) {
        answer_refuse(connection,
                      &(struct mx_http_fault){417, "only 100-continue can be expected", NULL});
        return false;
    }
    if (!came && !wire_write(connection, text, sizeof text - 1))
        connection_kill(connection);
    return true;
}

/* ---- the head ---- */

static void begin_body(struct connection *connection, struct mcpx_slice rest)
{
    if (!judge_body(connection))
        return;
    if (connection->exchange->chunks.is_done)
        answer(connection);
    else if (send_continue(connection, rest.len > 0))
        take_body(connection, rest);
}

/* True for a WebSocket. Other upgrades are ignored, as RFC 9110 section 7.8 permits: some clients
 * ask for HTTP/2 with every request. */
static bool asks_for_upgrade(const struct mx_http_head *head)
{
    return head->minor == 1 && mx_http_lists(head, "upgrade", "websocket");
}

/* Picks the fields for the API. Returns NULL, or the error. A repeated field is an error, because
 * HTTP parsers differ in the one they use. */
static const struct mx_http_fault *read_request(const struct mx_http_head *head,
                                                struct http_request *out)
{
    struct mcpx_slice type;

    if (!find_method(head->method))
        return &bad_method;
    out->method = head->method;
    out->target = head->target;
    if (mx_http_find(head, "authorization", &out->authorization) > 1 ||
        mx_http_find(head, "origin", &out->origin) > 1 ||
        mx_http_find(head, "content-type", &type) > 1)
        return &two_fields;
    return NULL;
}

static void begin(struct connection *connection)
{
    struct exchange *exchange = connection->exchange;
    struct mcpx_slice whole = mcpx_text_view(&exchange->in);
    struct mcpx_slice rest = {whole.text + exchange->head_len, whole.len - exchange->head_len};
    const struct mx_http_fault *why;

    whole.len = exchange->head_len;
    why = mx_http_request_read(whole, &exchange->head);
    if (why) {
        answer_refuse(connection, why);
        return;
    }
    if (!proxies_take_head(connection, &exchange->head))
        return;
    exchange->request.from = connection->from;
    exchange->request.caller = &exchange->caller;
    exchange->caller.looks = connection->looks;
    if (connection->tls && !certificate_read(connection, &exchange->certificate)) {
        answer_problem(connection, MCPX_ENOMEM, NULL);
        return;
    }
    exchange->request.named = exchange->certificate.named;
    exchange->request.shown = mcpx_text_view(&exchange->certificate.shown);
    why = read_request(&exchange->head, &exchange->request);
    if (why) {
        answer_refuse(connection, why);
    } else if (!asks_for_upgrade(&exchange->head)) {
        begin_body(connection, rest);
    } else if (upgrade_judge(connection, &exchange->head)) {
        exchange->request.join = &exchange->join;
        answer(connection);
    }
}

static void take_head(struct connection *connection, const char *bytes, size_t len)
{
    struct exchange *exchange = connection->exchange;
    const struct mx_http_fault *fault;

    mcpx_text_add(&exchange->in, bytes, len);
    if (exchange->in.failed) {
        connection_kill(connection);
        return;
    }
    if (exchange->in.text[0] == TLS_FIRST_BYTE) {
        /* The client speaks TLS and may not understand this answer. */
        answer_refuse(connection, &tls_on_plain_port);
        if (refusal_may_log(connection->edge, connection->from))
            LOG(LOG_INFO, "tls_on_plain_port", log_connection(connection),
                log_string("hint", "its address in listen has no tls:// before it"),
                log_string("remote", connection_remote(connection)));
        return;
    }
    connection->bodiless = exchange->in.len > 5 && memcmp(exchange->in.text, "HEAD ", 5) == 0;
    fault = mx_http_scan(&exchange->scan, mcpx_text_view(&exchange->in), &exchange->head_len);
    if (fault)
        answer_refuse(connection, fault);
    else if (exchange->head_len)
        begin(connection);
}

void http_server_bytes(struct connection *connection, const char *bytes, size_t len)
{
    if (!connection->exchange)
        connection->exchange = calloc(1, sizeof *connection->exchange);
    if (!connection->exchange)
        connection_kill(connection);
    else if (connection->exchange->head_len)
        take_body(connection, (struct mcpx_slice){bytes, len});
    else
        take_head(connection, bytes, len);
}

void http_server_end(struct connection *connection)
{
    exchange_free(connection->exchange);
    connection->exchange = NULL;
}
