/*
 * wire.c - libwebsockets tells when a socket takes bytes and never holds any of ours: what it held
 * no bound could see and no metric show, and a message of its own could fall between two of ours.
 * Bytes that wait are copied, because what lent them (the hub's log) moves on. Under TLS send()
 * would be libwebsockets' own write, at the one place below where it stands.
 * Includes wire.h, bounds.h, turn.h, libwebsockets.
 */
#include "router/edge/wire.h"
#include "router/edge/bounds.h"
#include "router/edge/turn.h"

#include <errno.h>
#include <libwebsockets.h>
#include <sys/socket.h>

/* Who takes less than this in ANSWER_MS is no reader; who takes nothing for so long is slow. */
enum { PROGRESS_MIN = 16384, SLOW_MS = 1000 };

/* How many bytes the kernel takes at once; -1 when the socket is broken. */
static ssize_t send_now(struct connection *connection, const char *bytes, size_t len)
{
    ssize_t sent = send(connection->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (sent < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOBUFS))
        return 0;
    return sent;
}

static void count(struct connection *connection)
{
    struct edge *edge = connection->edge;

    edge->unsent += connection->unsent.size - connection->unsent_counted;
    connection->unsent_counted = connection->unsent.size;
}

static void join_line(struct connection *connection)
{
    list_append(&connection->edge->choked, &connection->in_choked);
    connection->took_ms = edge_now(connection->edge).mono_ms;
}

void wire_drop(struct connection *connection)
{
    mcpx_text_fini(&connection->unsent);
    connection->unsent_at = 0;
    count(connection);
    list_remove(&connection->in_choked);
    connection->choked = false;
}

/* Not closed with a word: its socket takes none, and the frame that is half sent would have to be
 * sent to its end. */
static void cut(struct connection *connection)
{
    struct edge *edge = connection->edge;
    struct mcpx_now now = edge_now(edge);
    char remote[REMOTE_SIZE];

    if (log_permits(&edge->refuse_log, now.mono_ms))
        LOG(LOG_WARN, "slow_consumer_cut",
            log_string("remote", connection_remote(connection, remote)),
            log_number("bytes", (int64_t)connection->unsent.size),
            log_number("of", (int64_t)edge->unsent));
    if (connection->peer)
        hub_condemn(edge->hub, connection->peer, MCPX_ESLOW, now);
    connection_kill(connection);
}

void wire_relieve(struct edge *edge)
{
    int64_t now_ms = edge_now(edge).mono_ms;

    while (edge->unsent > bounds_buffers(edge->config) && !list_is_empty(&edge->choked)) {
        struct connection *slowest =
            LIST_ELEMENT(edge->choked.next, struct connection, in_choked);

        if (now_ms - slowest->took_ms < SLOW_MS)
            return; /* a large message for many is on its way, and nobody is slow yet */
        cut(slowest);
    }
}

static bool keep(struct connection *connection, const char *bytes, size_t len)
{
    mcpx_text_add(&connection->unsent, bytes, len);
    count(connection);
    if (connection->unsent.failed)
        return false;
    if (!connection->choked) {
        connection->choked = true;
        list_remove(&connection->in_waiting);
        join_line(connection);
        lws_rx_flow_control(connection->wsi, 0);
        lws_callback_on_writable(connection->wsi);
    }
    return true;
}

bool wire_write(struct connection *connection, const char *bytes, size_t len)
{
    ssize_t sent = 0;

    if (connection->state == DEAD)
        return false;
    if (!connection->choked)
        sent = send_now(connection, bytes, len);
    if (sent < 0)
        return false;
    return (size_t)sent == len || keep(connection, bytes + sent, len - (size_t)sent);
}

static void shut(struct connection *connection)
{
    connection->shut = true;
    shutdown(connection->fd, SHUT_WR);
    connection->deadline_ms = edge_now(connection->edge).mono_ms + LINGER_MS;
}

void wire_finish(struct connection *connection)
{
    connection->finished = true;
    if (!connection->choked && connection->state != DEAD)
        shut(connection);
}

/* A reader of an answer has time for as long as it reads. */
static void note_progress(struct connection *connection, size_t sent)
{
    list_remove(&connection->in_choked);
    join_line(connection);
    connection->progress += sent;
    if (connection->state != ANSWERED || connection->progress < PROGRESS_MIN)
        return;
    connection->progress = 0;
    connection->deadline_ms = edge_now(connection->edge).mono_ms + ANSWER_MS;
}

static void go_on(struct connection *connection)
{
    wire_drop(connection);
    if (connection->rest.len)
        turn_resume(connection);
    else
        lws_rx_flow_control(connection->wsi, 1);
    if (connection->finished) {
        shut(connection);
    } else if (connection->state == MEMBER && connection->peer && !connection->fresh) {
        connection->deadline_ms = 0;
        peer_unstall(connection->peer, edge_now(connection->edge));
    }
}

int wire_writable(struct connection *connection)
{
    const struct mcpx_text *unsent = &connection->unsent;
    ssize_t sent;

    if (connection->state == DEAD)
        return -1;
    if (!connection->choked)
        return 0;
    sent = send_now(connection, unsent->text + connection->unsent_at,
                    unsent->len - connection->unsent_at);
    if (sent < 0)
        return -1;
    connection->unsent_at += (size_t)sent;
    if (connection->unsent_at == unsent->len) {
        go_on(connection);
        return 0;
    }
    if (sent)
        note_progress(connection, (size_t)sent);
    lws_callback_on_writable(connection->wsi);
    return 0;
}
