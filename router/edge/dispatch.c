/*
 * dispatch.c - libwebsockets fills its buffer, perhaps with a thousand messages of one connection.
 * Bytes beyond the loop budget are deferred. Rejected: smaller reads; large messages would pay for
 * them.
 *
 * A TLS handshake costs as much as hundreds of messages, so it is charged to the common budget of
 * connections without a participant (loop_budget.h): a client opening many waits, and delivery goes
 * on.
 */
#include "router/edge/edge_parts.h"

#include "lib/wire/http_head.h"
#include "lib/wire/tls.h"
#include "router/connection/loop_budget.h"
#include "router/connection/refusal.h"

static void log_failed(const struct connection *connection, const char *why)
{
    if (refusal_may_log(connection->edge, connection->from))
        LOG(LOG_INFO, "tls_failed", log_connection(connection), log_string("reason", why),
            log_string("remote", connection_remote(connection)));
}

static void charge(struct connection *connection, const struct mx_tls_opened *opened)
{
    struct edge *edge = connection->edge;

    loop_budget_spend(connection, opened->records / LOOP_BUDGET_RECORDS);
    if (connection->state == MEMBER && opened->renewals)
        hub_charge(edge->hub, connection->peer, opened->renewals, edge_now(edge));
}

/*
 * Opens TLS records and answers the handshake. True when there are bytes of the client.
 *
 * sealed      the bytes read; on return the rest, when they were many records
 * bytes, len  bytes of the client, which may be changed in place, until the next call for any
 *             connection; none when it returns false
 */
static bool take_records(struct connection *connection, struct mcpx_slice *sealed,
                         char **bytes, size_t *len)
{
    struct edge *edge = connection->edge;
    struct mcpx_slice read = *sealed;
    struct mx_tls_opened opened;
    bool was_open;

    *sealed = (struct mcpx_slice){NULL, 0};
    if (connection->finished || connection->state == DEAD)
        return false;
    was_open = mx_tls_is_open(connection->tls);
    mx_tls_open(connection->tls, read.text, read.len, &opened);
    charge(connection, &opened);
    if (!was_open && mx_tls_is_open(connection->tls))
        edge->tls.figures.handshakes++;
    if (opened.sealed.len && !wire_pass(connection, opened.sealed)) {
        connection_kill(connection);
        return false;
    }
    if (opened.failed && !connection->ended) {
        edge->tls.figures.failed++;
        log_failed(connection, opened.failed);
    }
    if (opened.failed && opened.fault == MX_TLS_PLAIN) {
        mx_tls_free(connection->tls); /* the client does not speak TLS */
        connection->tls = NULL;
        answer_refuse(connection,
                      &(struct mx_http_fault){
                          400, "this port speaks TLS; use https:// or wss:// with it", NULL});
        return false;
    }
    *sealed = opened.left;
    *bytes = opened.plain;
    *len = opened.plain_len;
    connection->ended = opened.ended || opened.failed;
    return *len > 0;
}

/* Called behind the bytes of a read. After the client has closed, its bytes no longer count, but
 * our last output must still arrive. */
static void end_if_closed(struct connection *connection)
{
    if (!connection->ended || connection->deferred.len || connection->finished ||
        connection->state == DEAD)
        return;
    if (connection->state == UNAUTHENTICATED) {
        connection_answered(connection);
    } else {
        connection_depart(connection, CLOSE_LOST, (struct mcpx_slice){0});
        connection_leave(connection, LEAVE_MS);
    }
    wire_finish(connection);
}

/* ---- loop budgets ---- */

/* Passes on bytes of a client. In other states they are read and dropped, because closing with
 * unread bytes would lose our last output. */
static void hand_on(struct connection *connection, char *bytes, size_t len)
{
    if (connection->state == UNAUTHENTICATED)
        http_server_bytes(connection, bytes, len);
    else if (connection->state == MEMBER || connection->state == LEAVING)
        receive_bytes(connection, bytes, len);
}

static void defer(struct connection *connection, const char *bytes, size_t len)
{
    if (len && connection->state != DEAD && !loop_budget_defer(connection, bytes, len))
        connection_kill(connection);
}

/* Opens as much as the loop budget permits. Returns the rest. */
static struct mcpx_slice take_sealed(struct connection *connection, struct mcpx_slice sealed)
{
    char *bytes;
    size_t len;

    while (sealed.len && !connection->deferred.len && loop_budget_permits(connection)) {
        uint64_t began_ns = clock_ns();
        bool had_no_peer = !connection->peer;

        if (take_records(connection, &sealed, &bytes, &len))
            hand_on(connection, bytes, len);
        loop_budget_spend_time(connection, had_no_peer, began_ns);
    }
    return sealed;
}

/* The first `opened` bytes are not sealed. */
static void take(struct connection *connection, char *bytes, size_t len, size_t opened)
{
    struct mcpx_slice sealed = {bytes + opened, len - opened};
    uint64_t began_ns = clock_ns();
    bool had_no_peer = !connection->peer;

    if (opened && loop_budget_permits(connection))
        hand_on(connection, bytes, opened);
    else
        defer(connection, bytes, opened);
    loop_budget_spend_time(connection, had_no_peer, began_ns);
    sealed = take_sealed(connection, sealed);
    connection->opened = connection->deferred.len;
    defer(connection, sealed.text, sealed.len);
    end_if_closed(connection);
}

void dispatch_bytes(struct connection *connection, char *bytes, size_t len)
{
    if (connection->wants_proxy_head && !proxies_take(connection, &bytes, &len))
        return;
    if (connection->deferred.len)
        defer(connection, bytes, len);
    else
        take(connection, bytes, len, connection->tls ? 0 : len);
}

static void go_on(struct connection *connection)
{
    struct mcpx_text deferred = loop_budget_take(connection);

    take(connection, deferred.text, deferred.len,
         connection->tls ? connection->opened : deferred.len);
    mcpx_text_fini(&deferred);
    if (connection->state != DEAD)
        loop_budget_resume(connection);
}

bool dispatch_turn(struct edge *edge)
{
    struct connection *connection;
    struct link waiting;

    edge->turn++;
    edge->others_ns = 0;
    list_init(&waiting);
    list_splice(&waiting, &edge->waiting);
    while ((connection = LIST_FIRST(&waiting, struct connection, in_waiting))) {
        list_remove(&connection->in_waiting);
        if (loop_budget_permits(connection))
            go_on(connection);
        else
            loop_budget_resume(connection);
    }
    return !list_is_empty(&edge->waiting);
}
