/*
 * stream.c - a socket and its poll handle have memory of their own, because libuv needs it after
 * the stream is closed. So a stream is closed, and its owner freed, at once, also from within a
 * callback. Each address tried is another socket.
 *
 * Rejected: libuv's own streams. They may write later, keep each text until it is sent, and raise
 * SIGPIPE, which ends a program by default. Here a write is tried at once, and only bytes that the
 * socket does not take are copied. A stream that cannot write still reads: the last bytes of the
 * other side often say why.
 */
#include "lib/edge/stream.h"

#include "lib/base/digits.h"
#include "lib/base/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* SEALED_MAX: bytes sealed at once. KEPT_MAX: a larger text gives its memory back. */
enum { READ_MAX = 65536, SEALED_MAX = 262144, KEPT_MAX = 1 << 20 };

/* `stream` is NULL once it is detached; `events` are those that the loop watches. */
struct mx_socket {
    uv_poll_t poll;
    struct mx_stream *stream;
    int fd, events;
};

/* A request to the resolver has memory of its own: it may outlive the stream. */
struct mx_lookup {
    uv_getaddrinfo_t request;
    struct mx_stream *stream; /* NULL = the stream is closed */
};

void mx_stream_init(struct mx_stream *stream, uv_loop_t *loop,
                    const struct mx_stream_calls *calls, void *owner)
{
    *stream =
        (struct mx_stream){.loop = loop, .calls = calls, .owner = owner, .is_reading = true};
}

/* ---- its poll handle ---- */

static void on_event(uv_poll_t *poll, int status, int events);

/* A TLS handshake reads even while the owner does not. */
static bool wants_bytes(const struct mx_stream *stream)
{
    return stream->is_connected && !stream->has_ended &&
           (stream->is_reading || !stream->is_open);
}

/* Asks the loop for the events needed now. */
static void watch(struct mx_stream *stream)
{
    struct mx_socket *socket = stream->socket;
    int events = wants_bytes(stream) ? UV_READABLE : 0;

    if (!stream->is_connected || stream->rest.len || stream->is_yielding)
        events |= UV_WRITABLE;
    if (!socket || events == socket->events)
        return;
    socket->events = events;
    if (events)
        uv_poll_start(&socket->poll, events, on_event);
    else
        uv_poll_stop(&socket->poll);
}

/* Takes `fd`. Returns 0, or an error of libuv. */
static int attach(struct mx_stream *stream, int fd)
{
    struct mx_socket *socket = malloc(sizeof *socket);
    int err = socket ? uv_poll_init(stream->loop, &socket->poll, fd) : UV_ENOMEM;

    if (err) {
        free(socket);
        close(fd);
        return err;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    socket->poll.data = socket;
    socket->stream = stream;
    socket->fd = fd;
    socket->events = 0;
    stream->socket = socket;
    watch(stream);
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void detach(struct mx_stream *stream)
{
    struct mx_socket *socket = stream->socket;

    if (!socket)
        return;
    stream->socket = NULL;
    socket->stream = NULL;
    uv_close((uv_handle_t *)&socket->poll, on_closed);
    close(socket->fd);
}

/* ---- writing ---- */

/* Returns how many bytes the kernel took. */
static size_t send_now(struct mx_stream *stream, const char *bytes, size_t len)
{
    ssize_t sent =
        stream->is_cut ? 0 : send(stream->socket->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (sent >= 0)
        return (size_t)sent;
    stream->is_cut = errno != EAGAIN && errno != EINTR && errno != ENOBUFS;
    return 0;
}

static bool pass(struct mx_stream *stream, struct mcpx_slice bytes)
{
    size_t sent = stream->rest.len ? 0 : send_now(stream, bytes.text, bytes.len);

    if (sent < bytes.len && !stream->is_cut)
        mcpx_text_add(&stream->rest, bytes.text + sent, bytes.len - sent);
    stream->is_cut = stream->is_cut || stream->rest.failed;
    watch(stream);
    return !stream->is_cut;
}

static bool seal(struct mx_stream *stream, struct mcpx_slice bytes)
{
    while (bytes.len) {
        size_t len = bytes.len < SEALED_MAX ? bytes.len : SEALED_MAX;
        struct mcpx_slice sealed = mx_tls_seal(stream->tls, bytes.text, len);

        if (!sealed.text || !pass(stream, sealed))
            return false;
        bytes = mx_behind(bytes, len);
    }
    return true;
}

bool mx_stream_write(struct mx_stream *stream, struct mcpx_text *text)
{
    bool fine = !text->failed;

    if (!stream->is_open || stream->is_shut || (!text->len && fine))
        return true;
    if (fine)
        fine = stream->tls ? seal(stream, mcpx_text_view(text))
                           : pass(stream, mcpx_text_view(text));
    if (text->size > KEPT_MAX)
        mcpx_text_fini(text);
    else
        mcpx_text_reset(text);
    return fine;
}

size_t mx_stream_unwritten(const struct mx_stream *stream)
{
    return stream->rest.len - stream->rest_at;
}

void mx_stream_yield(struct mx_stream *stream)
{
    stream->is_yielding = true;
    watch(stream);
}

static void shut_down(struct mx_stream *stream)
{
    if (stream->socket)
        shutdown(stream->socket->fd, SHUT_WR);
    stream->is_down = true;
}

void mx_stream_shut(struct mx_stream *stream)
{
    if (stream->is_shut)
        return;
    if (stream->tls && stream->is_open)
        (void)pass(stream, mx_tls_end(stream->tls));
    stream->is_shut = true;
    if (!stream->rest.len)
        shut_down(stream);
}

/* Bytes of a cut stream count as written; reading reports the error. */
static void go_on_writing(struct mx_stream *stream)
{
    struct mcpx_text *rest = &stream->rest;

    if (rest->len)
        stream->rest_at +=
            send_now(stream, rest->text + stream->rest_at, rest->len - stream->rest_at);
    mx_forget(rest, &stream->rest_at);
    if (rest->len && !stream->is_cut)
        return;
    mcpx_text_fini(rest);
    stream->rest_at = 0;
    stream->is_yielding = false;
    if (stream->is_shut)
        shut_down(stream);
    stream->calls->written(stream);
}

/* ---- reading ---- */

static void end(struct mx_stream *stream)
{
    stream->has_ended = true;
    if (stream->is_open) {
        stream->calls->bytes(stream, (struct mcpx_slice){0});
        return;
    }
    stream->fault = MX_TLS_CUT;
    stream->calls->broken(stream, "the connection was cut");
}

/* Reports in this order: the handshake is done, bytes, an end. */
static void tell_opened(struct mx_socket *socket, const struct mx_tls_opened *opened)
{
    struct mx_stream *stream = socket->stream;

    if (!stream->is_open && mx_tls_is_open(stream->tls)) {
        stream->is_open = true;
        stream->calls->opened(stream);
    }
    if (socket->stream && opened->plain_len)
        stream->calls->bytes(stream, (struct mcpx_slice){opened->plain, opened->plain_len});
    if (socket->stream && opened->failed) {
        stream->fault = opened->fault;
        stream->calls->broken(stream, opened->failed);
    } else if (socket->stream && opened->ended) {
        end(stream);
    }
}

static void open_records(struct mx_socket *socket, const char *bytes, size_t len)
{
    struct mx_tls_opened opened = {.left = {bytes, len}};

    do {
        struct mx_stream *stream = socket->stream;

        mx_tls_open(stream->tls, opened.left.text, opened.left.len, &opened);
        if (opened.sealed.len)
            (void)pass(stream, opened.sealed);
        tell_opened(socket, &opened);
    } while (socket->stream && opened.left.len);
}

static void go_on_reading(struct mx_socket *socket)
{
    struct mx_stream *stream = socket->stream;
    char bytes[READ_MAX];
    ssize_t len = recv(socket->fd, bytes, sizeof bytes, MSG_DONTWAIT);

    if (len < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (len < 0)
        stream->calls->broken(stream, uv_strerror(-errno));
    else if (len == 0)
        end(stream);
    else if (stream->tls)
        open_records(socket, bytes, (size_t)len);
    else
        stream->calls->bytes(stream, (struct mcpx_slice){bytes, (size_t)len});
}

void mx_stream_read(struct mx_stream *stream, bool wanted)
{
    stream->is_reading = wanted;
    watch(stream);
}

/* ---- the beginning ---- */

int mx_stream_accept(struct mx_stream *stream, uv_tcp_t *listener,
                     struct sockaddr_storage *from)
{
    uv_tcp_t *taken = malloc(sizeof *taken); /* libuv accepts into handles of its own */
    int err, fd = -1, len = sizeof *from;

    if (!taken)
        return UV_ENOMEM;
    uv_tcp_init(stream->loop, taken);
    taken->data = taken;
    err = uv_accept((uv_stream_t *)listener, (uv_stream_t *)taken);
    if (!err)
        err = uv_tcp_getpeername(taken, (struct sockaddr *)from, &len);
    if (!err)
        err = uv_fileno((uv_handle_t *)taken, &fd);
    if (!err && (fd = fcntl(fd, F_DUPFD_CLOEXEC, 0)) < 0)
        err = -errno;
    uv_close((uv_handle_t *)taken, on_closed);
    if (err)
        return err;
    stream->is_connected = stream->is_open = true;
    err = attach(stream, fd);
    stream->is_open = !err;
    return err;
}

static int dial(struct mx_stream *stream, const struct addrinfo *at)
{
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), err;

    if (fd < 0)
        return -errno;
    if (!connect(fd, at->ai_addr, at->ai_addrlen) || errno == EINPROGRESS)
        return attach(stream, fd);
    err = -errno;
    close(fd);
    return err;
}

/* `err` is the result of the address before. */
static void dial_next(struct mx_stream *stream, int err)
{
    detach(stream);
    while (err && stream->next) {
        const struct addrinfo *at = stream->next;

        stream->next = at->ai_next;
        err = dial(stream, at);
    }
    if (err)
        stream->calls->broken(stream, uv_strerror(err));
}

static void end_dial(struct mx_socket *socket)
{
    struct mx_stream *stream = socket->stream;
    int err = 0;
    socklen_t size = sizeof err;

    getsockopt(socket->fd, SOL_SOCKET, SO_ERROR, &err, &size);
    if (err) {
        dial_next(stream, -err);
        return;
    }
    stream->is_connected = true;
    if (stream->tls) {
        open_records(socket, NULL, 0);
        return;
    }
    stream->is_open = true;
    stream->calls->opened(stream);
}

static void on_event(uv_poll_t *poll, int status, int events)
{
    struct mx_socket *socket = poll->data;

    if (status < 0) { /* libuv no longer watches it; the socket tells why */
        events = socket->events;
        socket->events = 0;
    }
    if (socket->stream && !socket->stream->is_connected) {
        end_dial(socket);
        events = 0;
    }
    if (socket->stream && events & UV_WRITABLE)
        go_on_writing(socket->stream);
    if (socket->stream && events & UV_READABLE && wants_bytes(socket->stream))
        go_on_reading(socket);
    if (socket->stream)
        watch(socket->stream);
}

static void on_found(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
    struct mx_lookup *lookup = request->data;
    struct mx_stream *stream = lookup->stream;

    free(lookup);
    if (!stream) {
        uv_freeaddrinfo(found);
        return;
    }
    stream->lookup = NULL;
    stream->found = stream->next = found;
    dial_next(stream, status ? status : UV_EAI_NONAME);
}

int mx_stream_connect(struct mx_stream *stream, const char *host, int port, struct mx_tls *tls)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct mx_lookup *lookup = malloc(sizeof *lookup);
    char service[8];
    int err = UV_ENOMEM;

    stream->tls = tls;
    snprintf(service, sizeof service, "%d", port);
    if (lookup) {
        lookup->request.data = lookup;
        lookup->stream = stream;
        err = uv_getaddrinfo(stream->loop, &lookup->request, on_found, host, service, &hints);
    }
    if (err)
        free(lookup);
    else
        stream->lookup = lookup;
    return err;
}

void mx_stream_close(struct mx_stream *stream)
{
    stream->is_closed = true;
    stream->is_open = false;
    detach(stream);
    if (stream->lookup) {
        stream->lookup->stream = NULL;
        uv_cancel((uv_req_t *)&stream->lookup->request);
        stream->lookup = NULL;
    }
    uv_freeaddrinfo(stream->found);
    stream->found = stream->next = NULL;
    mx_tls_free(stream->tls);
    stream->tls = NULL;
    mcpx_text_fini(&stream->rest);
    stream->rest_at = 0;
}
