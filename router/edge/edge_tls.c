/*
 * edge_tls.c - where TLS meets a connection. A handshake costs as much as hundreds of messages, so
 * it has its price in the turn that all share who are not authenticated (turn.h): whoever opens
 * many at once waits, and delivery goes on.
 */
#include "router/edge/edge_tls.h"

#include "router/edge/answer.h"
#include "router/edge/tls.h"
#include "router/edge/turn.h"
#include "router/edge/wire.h"

static const struct answer_status wants_tls = {
    400, "Bad Request", NULL, "this port speaks TLS; use https:// or wss:// with it"};

bool edge_tls_begin(struct connection *connection)
{
    struct edge_tls *tls = &connection->edge->tls;

    connection->tls = tls_new(tls->room, tls->files.context);
    return connection->tls != NULL;
}

static void log_failed(const struct connection *connection, const char *why)
{
    struct edge *edge = connection->edge;
    char remote[REMOTE_SIZE];

    edge->tls.figures.failed++;
    if (log_share_permits(&edge->request_log, address_slice(&connection->from),
                          edge_now(edge).mono_ms))
        LOG(LOG_INFO, "tls_failed", log_connection(connection), log_string("reason", why),
            log_string("remote", connection_remote(connection, remote)));
}

/* Nothing more will come that counts; what was written last is still to arrive. */
static void end(struct connection *connection)
{
    if (connection->state == UNAUTHENTICATED) {
        connection_answered(connection);
    } else {
        connection_depart(connection, close_cause_lost());
        connection_leave(connection, LEAVE_MS);
    }
    wire_finish(connection);
}

/* To somebody who does not speak TLS at all, without it. */
static void refuse_plain(struct connection *connection)
{
    tls_free(connection->tls);
    connection->tls = NULL;
    answer_refuse(connection, &wants_tls);
}

/* What the client has made us do besides reading. */
static void charge(struct connection *connection, const struct tls_opened *opened)
{
    struct edge *edge = connection->edge;

    turn_spend(connection, opened->records / TURN_RECORDS);
    if (connection->state == MEMBER && opened->renewals)
        hub_charge(edge->hub, connection->peer, opened->renewals, edge_now(edge));
}

bool edge_tls_take(struct connection *connection, struct mcpx_slice *sealed, char **bytes,
                   size_t *len)
{
    struct edge *edge = connection->edge;
    struct mcpx_slice read = *sealed;
    struct tls_opened opened;
    bool was_open;

    *sealed = (struct mcpx_slice){NULL, 0};
    if (connection->finished || connection->state == DEAD)
        return false;
    was_open = tls_is_open(connection->tls);
    tls_open(connection->tls, read.text, read.len, &opened);
    charge(connection, &opened);
    if (!was_open && tls_is_open(connection->tls))
        edge->tls.figures.handshakes++;
    if (opened.sealed.len && !wire_pass(connection, opened.sealed)) {
        connection_kill(connection);
        return false;
    }
    if (opened.failed && !connection->ended)
        log_failed(connection, opened.failed);
    if (opened.failed && opened.is_http) {
        refuse_plain(connection);
        return false;
    }
    *sealed = opened.left;
    *bytes = opened.plain;
    *len = opened.plain_len;
    connection->ended = opened.ended || opened.failed;
    return *len > 0;
}

void edge_tls_after(struct connection *connection)
{
    if (connection->ended && !connection->deferred.len && !connection->finished &&
        connection->state != DEAD)
        end(connection);
}
