/*
 * edge_tls.c - where TLS meets a connection. A handshake costs as much as hundreds of messages, so
 * it is charged to the turn of all unauthenticated connections (turn.h): a client that opens many
 * waits, and delivery goes on. A name in a certificate counts only with the participant that the
 * administrator has written beside it, because authorities sign names for many purposes. A
 * certificate stands for nobody when it has names of two participants, or was revoked.
 */
#include "router/edge/edge_parts.h"

#include "lib/wire/http_head.h"
#include "lib/wire/tls.h"
#include "router/connection/connection.h"
#include "router/connection/turn.h"

#include <stdlib.h>

static const struct mx_http_fault wants_tls = {
    400, "this port speaks TLS; use https:// or wss:// with it", NULL};

bool edge_tls_begin(struct connection *connection)
{
    struct edge_tls *tls = &connection->edge->tls;

    connection->tls = mx_tls_new(tls->room, tls->files.context, NULL);
    return connection->tls != NULL;
}

static void log_failed(const struct connection *connection, const char *why)
{
    struct edge *edge = connection->edge;

    edge->tls.figures.failed++;
    if (log_share_permits(&edge->request_log, address_slice(&connection->from),
                          edge_now(edge).mono_ms))
        LOG(LOG_INFO, "tls_failed", log_connection(connection), log_string("reason", why),
            log_string("remote", connection_remote(connection)));
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
    mx_tls_free(connection->tls);
    connection->tls = NULL;
    answer_refuse(connection, &wants_tls);
}

/* Charges for work that the client caused besides reading. */
static void charge(struct connection *connection, const struct mx_tls_opened *opened)
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
    if (opened.failed && !connection->ended)
        log_failed(connection, opened.failed);
    if (opened.failed && opened.fault == MX_TLS_PLAIN) {
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

static int compare(const void *key, const void *row)
{
    return strcmp(key, ((const struct tls_name *)row)->name);
}

static const char *find(const struct tls_settings *settings, const char *name)
{
    const struct tls_name *row = settings->names;

    if (settings->name_count > 0)
        row = bsearch(name, settings->names, settings->name_count, sizeof *row, compare);
    return row ? row->participant : NULL;
}

/*
 * The participant that all known names of the list mean; NULL when there is none. The names end
 * with a NUL each.
 */
static const char *participant_of(const struct tls_settings *settings,
                                  const struct mcpx_text *names)
{
    const char *found = NULL;

    for (size_t at = 0; at < names->len; at += strlen(names->text + at) + 1) {
        const char *participant = find(settings, names->text + at);

        if (participant && found && strcmp(found, participant) != 0)
            return NULL;
        if (participant)
            found = participant;
    }
    return found;
}

bool certificate_read(const struct connection *connection, struct certificate *out)
{
    struct edge *edge = connection->edge;
    const char *participant = NULL;
    size_t len;

    if (!mx_tls_names(connection->tls, &out->shown))
        return !out->shown.failed;
    if (!revocation_has(&edge->tls.files.revoked, mx_tls_chain(connection->tls),
                        edge_now(edge).wall_ms / 1000))
        participant = participant_of(&edge->config->tls, &out->shown);
    for (size_t i = 0; i < out->shown.len; i++)
        if (out->shown.text[i] == '\0')
            out->shown.text[i] = ' ';
    len = out->shown.len;
    mcpx_text_puts(&out->shown, participant ? participant : "");
    if (out->shown.failed)
        return false;
    out->named = (struct mcpx_slice){out->shown.text + len, out->shown.len - len};
    out->shown.len = len;
    return true;
}

void certificate_fini(struct certificate *certificate)
{
    mcpx_text_fini(&certificate->shown);
    *certificate = (struct certificate){0};
}
