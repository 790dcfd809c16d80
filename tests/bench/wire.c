/*
 * wire.c - raw sockets and RFC 6455 framing. Reads go into one large buffer shared by all
 * connections; what remains of a frame whose beginning is cut off is carried over to the next
 * read, so a connection costs a few hundred bytes and large payloads are never copied.
 */
#include "tests/bench/wire.h"
#include "tests/bench/wire_tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_SIZE = 262144, EVENTS = 512, PING = 9, PONG_FIRST = 0x8a };

static char buffer[WIRE_CARRY + READ_SIZE];

void wire_die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(stderr, "bench: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    exit(EXIT_FAILURE);
}

/* ---- opening ---- */

static void watch(struct wire *wire, int operation, unsigned events)
{
    struct epoll_event event = {.events = events, .data.ptr = wire};

    if (epoll_ctl(wire->epoll, operation, wire->fd, &event))
        wire_die("epoll_ctl: %s", strerror(errno));
}

void wire_connect(struct wire *wire, int epoll, int port, const char *target,
                  const char *token)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char request[2048];
    int yes = 1;
    int len = snprintf(request, sizeof request,
                       "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\n"
                       "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                       "Sec-WebSocket-Version: 13\r\nAuthorization: Bearer %s\r\n\r\n",
                       target, port, token);

    wire->epoll = epoll;
    wire->open = wire->ended = false;
    wire->left = wire->at = wire->carried = wire->unsent_len = 0;
    wire->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (wire->fd < 0 || connect(wire->fd, (struct sockaddr *)&address, sizeof address))
        wire_die("cannot connect to port %d: %s", port, strerror(errno));
    setsockopt(wire->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (len >= (int)sizeof request)
        wire_die("the upgrade is too long");
    wire->ssl = wire->tls ? wire_tls_begin(wire->fd) : NULL;
    watch(wire, EPOLL_CTL_ADD, EPOLLIN);
    wire_send(wire, (struct mcpx_slice){request, (size_t)len});
    if (wire_is_sending(wire))
        wire_die("cannot send the upgrade");
    fcntl(wire->fd, F_SETFL, O_NONBLOCK);
}

void wire_shut(struct wire *wire)
{
    if (wire->fd > 0)
        close(wire->fd);
    if (wire->ssl)
        wire_tls_end(wire->ssl);
    wire->ssl = NULL;
    wire->fd = 0;
    wire->open = false;
}

/* ---- sending ---- */

size_t wire_frame_head(char *out, size_t len)
{
    size_t head = len < 126 ? 2 : len < 65536 ? 4 : 10;

    out[0] = (char)0x81;
    out[1] = (char)(0x80 | (len < 126 ? len : len < 65536 ? 126 : 127));
    for (size_t i = 2; i < head; i++)
        out[i] = (char)(len >> 8 * (head - 1 - i));
    memset(out + head, 0, 4);
    return head + 4;
}

static void send_unsent(struct wire *wire)
{
    ssize_t sent = send(wire->fd, wire->unsent, wire->unsent_len, MSG_NOSIGNAL);

    if (sent < 0 && errno != EAGAIN)
        wire_die("send: %s", strerror(errno));
    if (sent > 0) {
        wire->unsent += sent;
        wire->unsent_len -= (size_t)sent;
    }
}

void wire_send(struct wire *wire, struct mcpx_slice bytes)
{
    if (wire->ssl)
        bytes = wire_tls_seal(wire->ssl, bytes);
    wire->unsent = bytes.text;
    wire->unsent_len = bytes.len;
    send_unsent(wire);
    if (wire->unsent_len > 0)
        watch(wire, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
}

static void send_rest(struct wire *wire)
{
    send_unsent(wire);
    if (wire->unsent_len == 0)
        watch(wire, EPOLL_CTL_MOD, EPOLLIN);
}

static void answer_ping(struct wire *wire, struct mcpx_slice bytes)
{
    char frame[6 + 125];
    struct mcpx_slice pong = {frame, 6 + bytes.len};

    if (bytes.len > 125 || wire_is_sending(wire))
        return; /* another one will come */
    frame[0] = (char)PONG_FIRST;
    frame[1] = (char)(0x80 | bytes.len);
    memset(frame + 2, 0, 4);
    memcpy(frame + 6, bytes.text, bytes.len);
    if (wire->ssl)
        pong = wire_tls_seal(wire->ssl, pong);
    (void)send(wire->fd, pong.text, pong.len, MSG_NOSIGNAL);
}

/* ---- receiving ---- */

/* The head of a server's frame: its length, or 0 when it is not all there. */
static size_t head_of(struct mcpx_slice in, size_t *len)
{
    const unsigned char *bytes = (const unsigned char *)in.text;
    size_t extra;

    if (in.len < 2)
        return 0;
    *len = bytes[1];
    extra = *len == 126 ? 2 : *len == 127 ? 8 : 0;
    if (in.len < 2 + extra)
        return 0;
    if (extra)
        *len = 0;
    for (size_t i = 0; i < extra; i++)
        *len = *len << 8 | bytes[2 + i];
    return 2 + extra;
}

static void advance(struct mcpx_slice *in, size_t len)
{
    in->text += len;
    in->len -= len;
}

static void show_more(struct wire *wire, struct mcpx_slice *in)
{
    size_t len = wire->left < in->len ? wire->left : in->len;

    wire->reader->more(wire, wire->at, (struct mcpx_slice){in->text, len});
    wire->at += len;
    wire->left -= len;
    advance(in, len);
}

/* False when the beginning of the next frame is not there yet. */
static bool show_frame(struct wire *wire, struct mcpx_slice *in)
{
    size_t len, shown, head = head_of(*in, &len);
    int opcode = in->len ? in->text[0] & 0x0f : 0;

    if (head == 0 || in->len - head < (len < WIRE_PREFIX ? len : WIRE_PREFIX))
        return false;
    advance(in, head);
    shown = len < in->len ? len : in->len;
    if (opcode == PING)
        answer_ping(wire, (struct mcpx_slice){in->text, shown});
    wire->reader->frame(wire, opcode, len, (struct mcpx_slice){in->text, shown});
    wire->at = shown;
    wire->left = len - shown;
    advance(in, shown);
    return true;
}

/* Takes the answer to the upgrade off the front. */
static void read_answer(struct wire *wire, struct mcpx_slice *in)
{
    for (size_t i = 3; i < in->len; i++) {
        if (memcmp(in->text + i - 3, "\r\n\r\n", 4) != 0)
            continue;
        if (memcmp(in->text, "HTTP/1.1 101", 12) != 0)
            wire_die("upgrade refused: %.*s", (int)in->len, in->text);
        advance(in, i + 1);
        wire->open = true;
        return;
    }
}

static void take(struct wire *wire, struct mcpx_slice in)
{
    if (!wire->open)
        read_answer(wire, &in);
    while (wire->open && in.len > 0) {
        if (wire->left > 0)
            show_more(wire, &in);
        else if (!show_frame(wire, &in))
            break;
    }
    if (in.len > WIRE_CARRY)
        wire_die("the server's answer is too long");
    memcpy(wire->carry, in.text, in.len);
    wire->carried = in.len;
}

/* Under TLS record by record. */
static void open_records(struct wire *wire, struct mcpx_slice sealed)
{
    size_t len;

    wire_tls_feed(wire->ssl, sealed);
    do {
        memcpy(buffer, wire->carry, wire->carried);
        len = wire_tls_open(wire->ssl, buffer + wire->carried, READ_SIZE);
        if (len > 0)
            take(wire, (struct mcpx_slice){buffer, wire->carried + len});
    } while (len > 0);
}

static void receive(struct wire *wire)
{
    static char records[READ_SIZE];
    ssize_t got;

    memcpy(buffer, wire->carry, wire->carried);
    got = recv(wire->fd, wire->ssl ? records : buffer + wire->carried, READ_SIZE, 0);
    if (got < 0 && errno == EAGAIN)
        return;
    if (got <= 0) {
        wire->ended = true;
        epoll_ctl(wire->epoll, EPOLL_CTL_DEL, wire->fd, NULL);
        return;
    }
    if (wire->ssl)
        open_records(wire, (struct mcpx_slice){records, (size_t)got});
    else
        take(wire, (struct mcpx_slice){buffer, wire->carried + (size_t)got});
}

void wire_turn(int epoll, int timeout_ms)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(epoll, events, EVENTS, timeout_ms);

    for (int i = 0; i < count; i++) {
        struct wire *wire = events[i].data.ptr;

        if (wire->fd > 0 && events[i].events & EPOLLOUT)
            send_rest(wire);
        if (wire->fd > 0 && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            receive(wire);
    }
}
