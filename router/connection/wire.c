/*
 * wire.c - libwebsockets reports writable sockets but never holds our bytes: its buffer is outside
 * our bounds and metrics, and a frame of its own could fall between two of ours.
 *
 * The output buffer holds copies, because the lender of the bytes (the hub's log) moves on. Under
 * TLS it holds encrypted bytes.
 */
#include "router/connection/connection.h"

#include "lib/wire/tls.h"
#include "router/connection/loop_budget.h"
#include "router/hub/log/log.h"

#include <errno.h>
#include <libwebsockets.h>
#include <stdlib.h>
#include <sys/socket.h>

/* A client that accepts fewer bytes than this in ANSWER_MS does not read. */
enum { PROGRESS_MIN = 16384 };

/* Bytes encrypted at once: as many as a run of the log lends. */
enum { SEALED_MAX = 262144 };

/* Returns how many bytes the kernel accepts now; -1 when the socket is broken. */
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
    if (connection->peer)
        peer_note_unsent(connection->peer, connection->unsent.size);
}

static void join_full(struct connection *connection)
{
    list_append(&connection->edge->full, &connection->in_full);
    connection->took_ms = edge_now(connection->edge).mono_ms;
}

void wire_drop(struct connection *connection)
{
    mcpx_text_fini(&connection->unsent);
    connection->unsent_at = 0;
    count(connection);
    list_remove(&connection->in_full);
    connection->full = false;
}

static bool keep(struct connection *connection, const char *bytes, size_t len)
{
    mcpx_text_add(&connection->unsent, bytes, len);
    count(connection);
    if (connection->unsent.failed)
        return false;
    if (!connection->full) {
        connection->full = true;
        list_remove(&connection->in_waiting);
        join_full(connection);
        lws_rx_flow_control(connection->wsi, 0);
        lws_callback_on_writable(connection->wsi);
    }
    return true;
}

bool wire_pass(struct connection *connection, struct mcpx_slice bytes)
{
    ssize_t sent = 0;

    if (connection->state == DEAD)
        return false;
    if (!connection->full)
        sent = send_now(connection, bytes.text, bytes.len);
    if (sent < 0)
        return false;
    return (size_t)sent == bytes.len ||
           keep(connection, bytes.text + sent, bytes.len - (size_t)sent);
}

static bool seal(struct connection *connection, const char *bytes, size_t len)
{
    struct mcpx_slice sealed;
    size_t some;

    for (; len > 0; bytes += some, len -= some) {
        some = len < SEALED_MAX ? len : SEALED_MAX;
        sealed = mx_tls_seal(connection->tls, bytes, some);
        if (!sealed.text || !wire_pass(connection, sealed))
            return false;
    }
    return true;
}

bool wire_write(struct connection *connection, const char *bytes, size_t len)
{
    if (connection->tls)
        return connection->state != DEAD && seal(connection, bytes, len);
    return wire_pass(connection, (struct mcpx_slice){bytes, len});
}

static void shut(struct connection *connection)
{
    shutdown(connection->fd, SHUT_WR);
    connection->deadline_ms = edge_now(connection->edge).mono_ms + LINGER_MS;
}

bool wire_close(struct connection *connection, int code, const char *reason)
{
    char frame[FRAME_HEAD_MAX + 2 + 123];
    size_t len = code == MX_CLOSE_NONE ? 0 : 2 + strlen(reason);
    size_t head = mx_frame_head_len(len);

    mx_frame_head_write(frame, MX_CLOSE, len);
    frame[head] = (char)(code >> 8);
    frame[head + 1] = (char)code;
    memcpy(frame + head + 2, reason, strlen(reason));
    return wire_write(connection, frame, head + len);
}

void wire_finish(struct connection *connection)
{
    if (connection->tls && !connection->finished)
        (void)wire_pass(connection,
                        mx_tls_end(connection->tls)); /* a broken socket needs no end */
    connection->finished = true;
    if (!connection->full && connection->state != DEAD)
        shut(connection);
}

/* Moves the deadline of an answer while its client reads. */
static void note_progress(struct connection *connection, size_t sent)
{
    list_remove(&connection->in_full);
    join_full(connection);
    connection->progress += sent;
    if (connection->state != ANSWERED || connection->progress < PROGRESS_MIN)
        return;
    connection->progress = 0;
    connection->deadline_ms = edge_now(connection->edge).mono_ms + ANSWER_MS;
}

static void go_on(struct connection *connection)
{
    wire_drop(connection);
    loop_budget_resume(connection);
    if (connection->finished) {
        shut(connection);
    } else if (connection->state == MEMBER && connection->peer &&
               !connection_is_welcoming(connection)) {
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
    if (!connection->full)
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

/*
 * The bound is shared, but its largest holder pays. Rejected: closing the connection of the piece
 * above the bound; one participant with many incomplete messages could close the connections of all
 * others.
 */

static struct mcpx_slice owner_of(const struct connection *connection)
{
    return peer_grant(connection->peer)->identity;
}

/* Returns the oldest incomplete message of the participant with most bytes. */
static struct connection *find_victim(struct edge *edge)
{
    struct mcpx_slice largest = mx_holders_largest(&edge->incomplete);
    struct link *link = edge->incomplete_all.next;

    while (!mcpx_slice_equal(owner_of(LIST_ELEMENT(link, struct connection, in_incomplete)),
                             largest))
        link = link->next;
    return LIST_ELEMENT(link, struct connection, in_incomplete);
}

static void drop(struct connection *connection, struct mcpx_now now)
{
    struct edge *edge = connection->edge;

    if (log_permits(&edge->refuse_log, now.mono_ms))
        LOG(LOG_WARN, "unfinished_messages",
            log_text("participant", peer_id(connection->peer)), log_identity(connection->peer),
            log_connection(connection), log_number("bytes", (int64_t)connection->message_size),
            log_number("of", (int64_t)edge->incomplete.held));
    incomplete_end(connection);
    hub_disconnect(edge->hub, connection->peer, MCPX_EFLOOD, now);
}

void incomplete_count(struct connection *connection)
{
    struct edge *edge = connection->edge;
    size_t held = mx_frames_held(&connection->frames), before = connection->message_size;

    if (!connection->message_due_ms) {
        connection->message_due_ms = edge_now(edge).mono_ms + INCOMPLETE_MS;
        list_append(&edge->incomplete_all, &connection->in_incomplete);
    }
    if (held > before &&
        !mx_holders_add(&edge->incomplete, owner_of(connection), held - before)) {
        drop(connection, edge_now(edge));
        return;
    }
    if (held < before)
        mx_holders_remove(&edge->incomplete, owner_of(connection), before - held);
    connection->message_size = held;
    while (edge->incomplete.held > bounds_buffers(edge->config))
        drop(find_victim(edge), edge_now(edge));
}

void incomplete_end(struct connection *connection)
{
    if (mx_frames_is_open(&connection->frames))
        mx_frames_skip(&connection->frames);
    if (!connection->message_due_ms)
        return;
    list_remove(&connection->in_incomplete);
    mx_holders_remove(&connection->edge->incomplete, owner_of(connection),
                      connection->message_size);
    connection->message_size = 0;
    connection->message_due_ms = 0;
}

/* Otherwise a client with a byte now and then could keep its buffer for ever. */
void incomplete_watch(struct connection *connection, struct mcpx_now now)
{
    if (connection->message_due_ms && connection->message_due_ms <= now.mono_ms)
        drop(connection, now);
}
