/*
 * edge_tls.c - where TLS meets a connection. A handshake costs as much as hundreds of messages, so
 * it has its price in the turn that all share who are not authenticated (turn.h): whoever opens
 * many at once waits, and delivery goes on.
 *
 * Files are read again when they have not changed for a second: certificate and key are two files,
 * and between the first and the second change they do not belong together.
 */
#include "router/edge/edge_tls.h"

#include "router/edge/answer.h"
#include "router/edge/record.h"
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

/* ---- what comes in ---- */

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
    if (opened->worked)
        turn_spend(connection, TURN_HANDSHAKE);
    else if (connection->state != MEMBER && !opened->plain_len)
        turn_spend(connection, TURN_REQUEST);
    else if (connection->state == MEMBER && opened->renewals)
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

/* ---- the files ---- */

static void take_files(struct edge *edge, struct tls_files *files)
{
    struct edge_tls *tls = &edge->tls;

    tls_files_fini(&tls->files);
    tls->files = *files;
    tls->figures.until_s = files->until_s;
    tls->figures.crl_until_s = files->revoked.until_s;
    tls->lists_ended = false;
    if (files->revoked.lists)
        edge->generation++; /* who is in may be revoked */
    ocsp_staple(&tls->ocsp, files->context);
}

/* Without one, clients go on; so a response that cannot be used keeps nobody out. */
static void reread_response(struct edge *edge)
{
    struct edge_tls *tls = &edge->tls;
    const char *path = edge->config->tls.ocsp_file, *why;
    struct ocsp response = {.about = NULL};

    if (!*path)
        return;
    why = ocsp_read(path, tls->files.context, edge_now(edge).wall_ms, &response);
    if (why) {
        LOG(LOG_ERROR, "tls_ocsp_unusable", log_string("file", path),
            log_string("reason", why),
            log_string("hint", "one that was read before is shown as long as it is valid for "
                               "the certificate"));
    } else {
        ocsp_fini(&tls->ocsp);
        tls->ocsp = response;
        LOG(LOG_INFO, "tls_ocsp_read", log_number("expires", response.until_s));
    }
    if (!ocsp_is_about(&tls->ocsp, tls->files.context))
        ocsp_fini(&tls->ocsp);
    tls->figures.has_ocsp = true;
    tls->figures.ocsp_stale = why != NULL;
    tls->figures.ocsp_until_s = tls->ocsp.until_s;
}

static void tell_lists_ended(struct edge *edge)
{
    struct edge_tls *tls = &edge->tls;
    int64_t until_s = tls->files.revoked.until_s;

    if (!until_s || until_s > edge_now(edge).wall_ms / 1000 || tls->lists_ended)
        return;
    tls->lists_ended = true;
    LOG(LOG_ERROR, "tls_crl_expired", log_string("file", edge->config->tls.client_crl_file),
        log_string("hint", "everybody who shows a certificate is refused until there is "
                           "another one"));
}

static void end_response(struct edge *edge)
{
    struct edge_tls *tls = &edge->tls;

    if (!tls->ocsp.about || tls->ocsp.until_s > edge_now(edge).wall_ms / 1000)
        return;
    ocsp_fini(&tls->ocsp);
    tls->figures.ocsp_until_s = 0;
    LOG(LOG_ERROR, "tls_ocsp_expired", log_string("file", edge->config->tls.ocsp_file),
        log_string("hint", "clients are shown none until there is another one"));
}

enum mcpx_err edge_tls_open(struct edge *edge, struct mcpx_text *errors)
{
    struct edge_tls *tls = &edge->tls;
    struct tls_files files = {0};
    enum mcpx_err err;

    if (!edge->config->tls.wanted)
        return MCPX_OK;
    tls->stamp = tls->seen = tls_files_stamp(&edge->config->tls);
    err = tls_files_read(&edge->config->tls, errors, &files);
    if (err)
        return err;
    edge->api.tls = &tls->figures;
    take_files(edge, &files);
    reread_response(edge);
    tls->room = tls_room_new();
    return tls->room ? MCPX_OK : MCPX_ENOMEM;
}

void edge_tls_close(struct edge *edge)
{
    tls_files_fini(&edge->tls.files);
    ocsp_fini(&edge->tls.ocsp);
    tls_room_free(edge->tls.room);
    edge->tls.room = NULL;
}

void edge_tls_reread(struct edge *edge)
{
    struct edge_tls *tls = &edge->tls;
    struct tls_files files = {0};
    struct mcpx_text errors = {0};
    enum mcpx_err err;

    if (!tls->room)
        return;
    tls->stamp = tls->seen = tls_files_stamp(&edge->config->tls);
    err = tls_files_read(&edge->config->tls, &errors, &files);
    tls->figures.stale = err != MCPX_OK;
    if (err) {
        LOG(LOG_ERROR, "tls_files_unusable", log_text("reason", mcpx_text_view(&errors)),
            log_string("hint", "the certificate that was read before stays in force"));
    } else {
        record_keys(edge, "/tls");
        take_files(edge, &files);
        LOG(LOG_INFO, "tls_files_read", log_number("expires", files.until_s));
    }
    mcpx_text_fini(&errors);
    reread_response(edge);
}

void edge_tls_watch(struct edge *edge)
{
    struct edge_tls *tls = &edge->tls;
    int64_t now_ms = edge_now(edge).mono_ms;
    struct tls_stamp stamp;

    if (!tls->room || now_ms - tls->watched_ms < TICK_MS)
        return;
    tls->watched_ms = now_ms;
    end_response(edge);
    tell_lists_ended(edge);
    stamp = tls_files_stamp(&edge->config->tls);
    if (!tls_stamp_equals(&stamp, &tls->stamp) && tls_stamp_equals(&stamp, &tls->seen))
        edge_tls_reread(edge);
    tls->seen = stamp;
}
