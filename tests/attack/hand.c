/*
 * hand.c - sockets that never block: an attacker who waits for one connection spares the others.
 */
#include "tests/attack/hand.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_MS = 300 };

const char attacker_token[] = "attacker-token-0123456789abcdef";

/* From an address of the attacker's own. */
int hand_dial(const struct hand *hand, bool narrow)
{
    struct sockaddr_in from = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 0x4200)};
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)hand->port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int bytes = 4096;

    if (fd < 0)
        return -1;
    if (narrow)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    if (bind(fd, (struct sockaddr *)&from, sizeof from) == 0 &&
        connect(fd, (struct sockaddr *)&to, sizeof to) == 0) {
        fcntl(fd, F_SETFL, O_NONBLOCK);
        return fd;
    }
    close(fd);
    return -1;
}

bool hand_tell(int fd, const void *bytes, size_t len)
{
    return fd >= 0 && send(fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len;
}

bool hand_tell_all(int fd, const char *bytes, size_t len)
{
    struct pollfd wait = {.fd = fd, .events = POLLOUT | POLLIN};

    while (len > 0 && poll(&wait, 1, ANSWER_MS) > 0) {
        ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL);

        if ((sent < 0 && errno != EAGAIN) || !hand_drain(fd, SIZE_MAX))
            return false;
        bytes += sent > 0 ? sent : 0;
        len -= sent > 0 ? (size_t)sent : 0;
    }
    return len == 0;
}

void hand_drop(int fd)
{
    if (fd >= 0)
        close(fd);
}

bool hand_was_answered(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    char bytes[4096];

    return poll(&wait, 1, ANSWER_MS) > 0 && recv(fd, bytes, sizeof bytes, 0) > 0;
}

bool hand_drain(int fd, size_t most)
{
    char bytes[PIECE];
    ssize_t got = 1;

    while (most > 0 && got > 0) {
        got = recv(fd, bytes, most < sizeof bytes ? most : sizeof bytes, 0);
        most -= got > 0 ? (size_t)got : 0;
    }
    return got > 0 || (got < 0 && errno == EAGAIN);
}

int hand_enter(struct hand *hand, const char *query, bool narrow)
{
    int fd = hand_dial(hand, narrow);
    int len = snprintf(hand->text, sizeof hand->text,
                       "GET /ws?%s HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
                       "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                       "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                       "Authorization: Bearer %s\r\n\r\n",
                       query, attacker_token);

    if (hand_tell(fd, hand->text, (size_t)len) && hand_was_answered(fd))
        return fd;
    hand_drop(fd);
    return -1;
}

int *hand_next(struct hand *hand, const struct crowd *crowd)
{
    unsigned at = hand->turn++ % crowd->count;
    int *fd = &hand->held[at];
    char query[96];

    if (*fd <= 0) {
        snprintf(query, sizeof query, "topic=%s-%u&%s", crowd->topic, at / crowd->seats,
                 crowd->query);
        *fd = hand_enter(hand, query, crowd->narrow && at % crowd->seats != crowd->seats - 1);
    }
    return *fd > 0 ? fd : NULL;
}

void hand_lose(int *fd)
{
    close(*fd);
    *fd = 0;
}

size_t hand_frame(char *out, int first, size_t declared, const char *bytes, size_t len)
{
    size_t at = 0;

    out[at++] = (char)first;
    if (declared < 126) {
        out[at++] = (char)(0x80 | declared);
    } else {
        int digits = declared < 65536 ? 2 : 8;

        out[at++] = (char)(0x80 | (digits == 2 ? 126 : 127));
        for (int i = digits; i > 0; i--)
            out[at++] = (char)(declared >> (8 * (i - 1)));
    }
    memset(out + at, 0, 4);
    if (len)
        memcpy(out + at + 4, bytes, len);
    return at + 4 + len;
}

size_t hand_envelope(char *out, const char *kind, unsigned n, size_t filling)
{
    char text[256];
    int before = snprintf(text, sizeof text,
                          "{\"protocol\":\"mcpx/v0.1\",\"id\":\"a%u\",\"kind\":\"%s\","
                          "\"payload\":{\"x\":\"",
                          n, kind);
    size_t head = hand_frame(out, 0x81, (size_t)before + filling + 3, text, (size_t)before);

    memset(out + head, '0', filling);
    memcpy(out + head + filling, "\"}}", 3);
    return head + filling + 3;
}

void hand_pour(struct hand *hand, unsigned count, const char *topic, size_t len)
{
    const struct crowd crowd = {count, 1, topic, "history=0", false};
    static char prepared[3 * PIECE];
    int *fd;

    memcpy(prepared, hand->text, len); /* entering writes to hand->text */
    fd = hand_next(hand, &crowd);
    for (int i = 0; fd && i < 64; i++) {
        char answers[PIECE];
        ssize_t sent = send(*fd, prepared, len, MSG_NOSIGNAL);

        if (sent >= 0 && (size_t)sent < len) {
            hand_lose(fd);
            return;
        }
        if (sent < 0) {
            struct pollfd wait = {.fd = *fd, .events = POLLIN};

            if (poll(&wait, 1, 5) > 0 && recv(*fd, answers, sizeof answers, 0) <= 0)
                hand_lose(fd);
            return;
        }
        while (recv(*fd, answers, sizeof answers, 0) > 0)
            continue;
    }
}

void hand_request(struct hand *hand, const char *text, size_t len)
{
    int fd = hand_dial(hand, false);

    if (hand_tell(fd, text, len))
        hand_was_answered(fd);
    hand_drop(fd);
}

void hand_ask(struct hand *hand, const char *method, const char *target, const char *bearer)
{
    int len = snprintf(hand->text, sizeof hand->text,
                       "%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
                       "Content-Type: application/json\r\nContent-Length: 18\r\n\r\n"
                       "{\"topic\":\"room-0\"}",
                       method, target, bearer);

    hand_request(hand, hand->text, (size_t)len);
}
