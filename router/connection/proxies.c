/*
 * proxies.c - the router charges the address that a proxy names, not the proxy. The place of an
 * unauthenticated connection moves to that address, too.
 */
#include "lib/wire/tls.h"
#include "router/connection/refusal.h"

static const struct mx_http_fault no_head = {
    400, "a connection of this proxy has to begin with a PROXY head", NULL};

void proxies_begin(struct connection *connection)
{
    const struct config *config = connection->edge->config;

    connection->via_proxy = forwarded_is_trusted(config, connection->address);
    connection->wants_proxy_head =
        connection->via_proxy && config->proxy_address == PROXY_PROTOCOL;
}

/* TLS carries no answer before its handshake is complete. */
static bool carries_none(const struct connection *connection)
{
    return connection->tls && !mx_tls_is_open(connection->tls);
}

/* Charges the connection to its client address. Returns false, with a refusal, above a limit. */
static bool take_address(struct connection *connection, struct address whole)
{
    struct edge *edge = connection->edge;

    connection_unauthenticated_remove(connection);
    connection->via_proxy = false;
    connection->address = whole;
    connection->from = address_shared(whole);
    if (!connection_unauthenticated_add(connection)) {
        connection_kill(connection);
        return false;
    }
    if (rate_limits_admits(edge->api.rates, connection->from, edge_now(edge)))
        return true;
    connection->looks = carries_none(connection) ? RATE_LIMITS_TLS_LOOK : 1;
    if (rate_limits_looks(edge->api.rates, connection->from, connection->looks,
                          edge_now(edge)))
        return true;
    refusal_note_attempt(edge, connection->from, connection_remote(connection));
    if (carries_none(connection))
        connection_kill(connection);
    else
        answer_problem(connection, MCPX_ECONNECTS, NULL);
    return false;
}

static void refuse_head(struct connection *connection)
{
    struct edge *edge = connection->edge;

    if (log_permits(&edge->refuse_log, edge_now(edge).mono_ms))
        LOG(LOG_WARN, "proxy_head_bad", log_connection(connection),
            log_string("reason", no_head.detail),
            log_string("remote", connection_remote(connection)));
    if (connection->tls)
        connection_kill(connection);
    else
        answer_refuse(connection, &no_head);
}

bool proxies_take(struct connection *connection, char **bytes, size_t *len)
{
    struct mcpx_text *head = &connection->proxy_head;
    size_t some = PROXY_HEAD_MAX - head->len, used = 0;
    struct address from = connection->address;
    enum proxy_head found;

    if (connection->finished || connection->state == DEAD)
        return false;
    if (some > *len)
        some = *len;
    mcpx_text_add(head, *bytes, some);
    found =
        head->failed ? PROXY_HEAD_BAD : proxy_head_read(mcpx_text_view(head), &used, &from);
    if (found == PROXY_HEAD_MORE)
        return false;
    some -= found == PROXY_HEAD_BAD ? 0 : head->len - used;
    *bytes += some;
    *len -= some;
    mcpx_text_fini(head);
    connection->wants_proxy_head = false;
    if (found == PROXY_HEAD_BAD) {
        refuse_head(connection);
        return false;
    }
    if (found == PROXY_HEAD_FROM && !take_address(connection, from))
        return false;
    connection->via_proxy = false;
    return *len > 0;
}

bool proxies_take_head(struct connection *connection, const struct mx_http_head *head)
{
    return !connection->via_proxy ||
           take_address(connection,
                        forwarded_find(connection->edge->config, head, connection->address));
}
