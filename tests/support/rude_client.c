/*
 * rude_client.c - sockets, masks and lengths by hand, so that what is wrong can be sent as
 * easily as what is right. A library would refuse to.
 */
#define _GNU_SOURCE /* memmem */
#include "tests/support/rude_client.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static bool connect_to(struct rude *rude, const struct daemon *daemon, size_t listener,
                       int receive_bytes, const char *source)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)daemon->port[listener])};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
                              .sin6_port = htons((uint16_t)daemon->port[listener])};
    bool six = daemon->v6[listener];
    struct sockaddr_in own = {.sin_family = AF_INET};
    int on = 1;

    *rude = (struct rude){0};
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    v6.sin6_addr = in6addr_loopback;
    rude->fd = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert(rude->fd >= 0);
    if (receive_bytes)
        setsockopt(rude->fd, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    if (source)
        cr_assert(inet_pton(AF_INET, source, &own.sin_addr) == 1 &&
                      bind(rude->fd, (struct sockaddr *)&own, sizeof own) == 0,
                  "%s: %s", source, strerror(errno));
    if (connect(rude->fd, six ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4,
                six ? sizeof v6 : sizeof v4))
        return false;
    setsockopt(rude->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(rude->fd, F_SETFL, O_NONBLOCK);
    return true;
}

bool rude_try_open(struct rude *rude, const struct daemon *daemon, size_t listener)
{
    return connect_to(rude, daemon, listener, 0, NULL);
}

void rude_open(struct rude *rude, const struct daemon *daemon, size_t listener)
{
    cr_assert(connect_to(rude, daemon, listener, 0, NULL), "connect: %s", strerror(errno));
}

void rude_open_narrow(struct rude *rude, const struct daemon *daemon, int receive_bytes)
{
    cr_assert(connect_to(rude, daemon, 0, receive_bytes, NULL), "connect: %s",
              strerror(errno));
}

void rude_open_from(struct rude *rude, const struct daemon *daemon, const char *source)
{
    cr_assert(connect_to(rude, daemon, 0, 0, source), "connect: %s", strerror(errno));
}

void rude_shut(struct rude *rude)
{
    if (rude->fd > 0)
        close(rude->fd);
    mcpx_text_fini(&rude->in);
    *rude = (struct rude){0};
}

void rude_reset(struct rude *rude)
{
    struct linger at_once = {1, 0};

    setsockopt(rude->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    rude_shut(rude);
}

static bool wait_for(struct rude *rude, short events)
{
    struct pollfd wait = {.fd = rude->fd, .events = events};

    return poll(&wait, 1, DAEMON_PATIENCE_MS) > 0;
}

void rude_send(struct rude *rude, const void *bytes, size_t len)
{
    const char *at = bytes;

    while (len) {
        ssize_t sent = send(rude->fd, at, len, MSG_NOSIGNAL);

        if (sent < 0 && errno == EAGAIN) {
            cr_assert(wait_for(rude, POLLOUT), "the router reads nothing any more");
            continue;
        }
        if (sent <= 0)
            return; /* what it said last is still to be read */
        at += sent;
        len -= (size_t)sent;
    }
}

void rude_say(struct rude *rude, const char *text)
{
    rude_send(rude, text, strlen(text));
}

static const unsigned char mask[4] = {0x12, 0x34, 0x56, 0x78};

static size_t head_write(unsigned char *head, int first, size_t len)
{
    size_t i, n = 2, digits = len < 126 ? 0 : len < 65536 ? 2 : 8;

    head[0] = (unsigned char)first;
    head[1] = (unsigned char)(0x80 | (digits == 0 ? len : digits == 2 ? 126 : 127));
    for (i = digits; i > 0; i--)
        head[n++] = (unsigned char)(len >> (8 * (i - 1)));
    memcpy(head + n, mask, 4);
    return n + 4;
}

void rude_frame_head(struct rude *rude, int first, size_t len)
{
    unsigned char head[16];

    rude_send(rude, head, head_write(head, first, len));
}

void rude_frame(struct rude *rude, int first, const void *payload, size_t len)
{
    unsigned char *bytes = malloc(len + 16);
    size_t i, head = head_write(bytes, first, len);

    for (i = 0; i < len; i++)
        bytes[head + i] = (unsigned char)(((const unsigned char *)payload)[i] ^ mask[i & 3]);
    rude_send(rude, bytes, head + len);
    free(bytes);
}

static void forget_used(struct rude *rude)
{
    if (rude->at < 65536 || rude->at < rude->in.len / 2)
        return;
    rude->in.len -= rude->at;
    memmove(rude->in.text, rude->in.text + rude->at, rude->in.len);
    rude->at = 0;
}

bool rude_receive(struct rude *rude)
{
    char bytes[65536];
    ssize_t got;

    if (rude->ended)
        return false;
    cr_assert(wait_for(rude, POLLIN), "nothing came within %d ms", DAEMON_PATIENCE_MS);
    got = recv(rude->fd, bytes, sizeof bytes, 0);
    if (got < 0 && errno == EAGAIN)
        return true;
    if (got <= 0) {
        rude->ended = true;
        return false;
    }
    mcpx_text_add(&rude->in, bytes, (size_t)got);
    return true;
}

bool rude_is_quiet(struct rude *rude, int ms)
{
    struct pollfd wait = {.fd = rude->fd, .events = POLLIN};

    return poll(&wait, 1, ms) == 0;
}

struct mcpx_slice rude_drain(struct rude *rude)
{
    while (rude_receive(rude))
        continue;
    return mcpx_text_view(&rude->in);
}

/* True when a whole frame is there. */
static bool parse(struct rude *rude, struct frame *out)
{
    const unsigned char *at = (const unsigned char *)rude->in.text + rude->at;
    size_t i, have = rude->in.len - rude->at, head = 2, len;

    if (have < 2)
        return false;
    len = at[1] & 127;
    cr_assert(!(at[1] & 128), "the router masked a frame");
    head += len == 126 ? 2 : len == 127 ? 8 : 0;
    if (have < head)
        return false;
    if (head > 2)
        for (i = 2, len = 0; i < head; i++)
            len = len << 8 | at[i];
    cr_assert(len < 64 << 20, "not a frame: first byte %02x, length %zu", at[0], len);
    if (have < head + len)
        return false;
    *out = (struct frame){at[0], (const char *)at + head, len};
    rude->at += head + len;
    return true;
}

bool rude_next(struct rude *rude, struct frame *out)
{
    forget_used(rude);
    while (!parse(rude, out))
        if (!rude_receive(rude))
            return false;
    return true;
}

bool rude_take(struct rude *rude, struct frame *out)
{
    forget_used(rude);
    return parse(rude, out);
}

bool frame_holds(const struct frame *frame, const char *part)
{
    return memmem(frame->payload, frame->len, part, strlen(part)) != NULL;
}

bool rude_expect(struct rude *rude, const char *part, struct frame *out)
{
    struct frame any;

    out = out ? out : &any;
    while (rude_next(rude, out))
        if (out->first == TEXT && frame_holds(out, part))
            return true;
    return false;
}

int rude_close_code(struct rude *rude)
{
    struct frame frame;

    while (rude_next(rude, &frame))
        if (frame.first == CLOSE)
            return frame.len < 2 ? 1005
                                 : (unsigned char)frame.payload[0] << 8 |
                                       (unsigned char)frame.payload[1];
    return 1006;
}

int rude_http(struct rude *rude, const struct daemon *daemon, const char *request)
{
    struct mcpx_slice answer;

    rude_open(rude, daemon, 0);
    rude_say(rude, request);
    answer = rude_drain(rude);
    return answer.len > 12 && memcmp(answer.text, "HTTP/1.", 7) == 0 ? atoi(answer.text + 9)
                                                                     : 0;
}

long rude_metric(const struct daemon *daemon, const char *name)
{
    char line[64];
    struct rude rude;
    const char *at;
    long value;

    snprintf(line, sizeof line, "\n%s ", name);
    cr_assert_eq(rude_http(&rude, daemon, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"), 200);
    at = strstr(rude.in.text, line);
    cr_assert(at != NULL, "%s", name);
    value = strtol(at + strlen(line), NULL, 10);
    rude_shut(&rude);
    return value;
}

const char *rude_token(const struct daemon *daemon, const char *participant, const char *topic,
                       const char *capabilities)
{
    static char token[8192];
    char request[8192], body[4096];
    struct rude rude;
    char *begin, *end;
    int len = snprintf(body, sizeof body,
                       "{\"participantId\":\"%s\",\"topic\":\"%s\",\"capabilities\":%s}",
                       participant, topic, capabilities);

    snprintf(request, sizeof request,
             "POST /v0.1/auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
             "Content-Length: %d\r\n\r\n%s",
             len, body);
    cr_assert_eq(rude_http(&rude, daemon, request), 200, "no token: %s",
                 rude.in.text ? rude.in.text : "(no answer)");
    begin = strstr(rude.in.text, "\"token\":\"");
    cr_assert(begin != NULL);
    begin += strlen("\"token\":\"");
    end = strchr(begin, '"');
    snprintf(token, sizeof token, "%.*s", (int)(end - begin), begin);
    rude_shut(&rude);
    return token;
}

void rude_ask_upgrade(struct rude *rude, const char *target, const char *headers)
{
    char request[16384];

    snprintf(request, sizeof request,
             "GET %s HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
             "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
             "%s\r\n",
             target, headers);
    rude_say(rude, request);
}

int rude_pass_head(struct rude *rude)
{
    char *end = NULL;

    while (!(rude->in.len && (end = strstr(rude->in.text, "\r\n\r\n"))))
        if (!rude_receive(rude))
            return 0;
    rude->at = (size_t)(end - rude->in.text) + 4;
    return atoi(rude->in.text + 9);
}

bool rude_knock(struct rude *rude, const struct daemon *daemon, const char *token,
                const char *target, const char *more)
{
    char header[8400];

    snprintf(header, sizeof header, "Authorization: Bearer %s\r\n%s", token, more);
    if (rude->fd <= 0 && !rude_try_open(rude, daemon, 0))
        return false;
    rude_ask_upgrade(rude, target, header);
    return true;
}

int rude_enter(struct rude *rude, const struct daemon *daemon, const char *token,
               const char *target)
{
    return rude_knock(rude, daemon, token, target, "") ? rude_pass_head(rude) : 0;
}

void rude_join(struct rude *rude, const struct daemon *daemon, const char *participant,
               const char *topic, const char *query)
{
    char target[512];

    snprintf(target, sizeof target, "/ws?topic=%s%s", topic, query);
    cr_assert_eq(
        rude_enter(rude, daemon, rude_token(daemon, participant, topic, "[\"*\"]"), target),
        101, "%s", rude->in.text ? rude->in.text : "(no answer)");
}

void rude_chat(struct rude *rude, const char *id, const char *payload)
{
    size_t size = strlen(id) + strlen(payload) + 128;
    char *text = malloc(size);
    int len = snprintf(text, size,
                       "{\"protocol\":\"mcpx/v0.1\",\"id\":\"%s\",\"kind\":\"chat\","
                       "\"payload\":%s}",
                       id, payload);

    rude_frame(rude, TEXT, text, (size_t)len);
    free(text);
}
