/*
 * moves.c - what one attacker with one machine can do to a router, a row each. All moves of an
 * attacker run at the same time, each in a process that begins again whenever it is refused. None
 * checks anything: what counts is what the others notice.
 */
#define _GNU_SOURCE /* SCHED_IDLE */
#include "tests/attack/attack.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HELD_MAX = 400, ANSWER_MS = 300, PIECE = 65536 };

static const char token[] = "attacker-token-0123456789abcdef";

/*
 * A move's own memory.
 *
 * port    the router's
 * held    connections it keeps, 0 = none; they are used in turns
 */
struct hand {
    int port;
    int held[HELD_MAX];
    unsigned turn;
    char text[3 * PIECE];
};

/* A connection from an address of the attacker's own; -1 when there is none to be had. */
static int dial(const struct hand *hand)
{
    struct sockaddr_in from = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 0x4200)};
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)hand->port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&from, sizeof from) == 0 &&
        connect(fd, (struct sockaddr *)&to, sizeof to) == 0) {
        fcntl(fd, F_SETFL, O_NONBLOCK);
        return fd;
    }
    close(fd);
    return -1;
}

static bool tell(int fd, const void *bytes, size_t len)
{
    return fd >= 0 && send(fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static void drop(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* Waits a little for an answer and throws it away. */
static bool was_answered(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    char bytes[4096];

    return poll(&wait, 1, ANSWER_MS) > 0 && recv(fd, bytes, sizeof bytes, 0) > 0;
}

static int enter(struct hand *hand, const char *topic)
{
    int fd = dial(hand);
    int len =
        snprintf(hand->text, sizeof hand->text,
                 "GET /ws?topic=%s&history=0 HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
                 "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                 "Authorization: Bearer %s\r\n\r\n",
                 topic, token);

    if (tell(fd, hand->text, (size_t)len) && was_answered(fd))
        return fd;
    drop(fd);
    return -1;
}

/* The next of the held connections, in a topic of its own; made when it is not there. */
static int *next_held(struct hand *hand, unsigned count, const char *topic)
{
    int *fd = &hand->held[hand->turn++ % count];
    char name[64];

    if (*fd <= 0) {
        snprintf(name, sizeof name, "%s-%u", topic, hand->turn % count);
        *fd = enter(hand, name);
    }
    return *fd > 0 ? fd : NULL;
}

static void lose(int *fd)
{
    close(*fd);
    *fd = 0;
}

/* Writes a frame with a mask of zeros; `declared` may be more than is there. */
static size_t frame(char *out, int first, size_t declared, const char *bytes, size_t len)
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

static size_t envelope(char *out, size_t size, const char *kind, unsigned n, size_t filling)
{
    char text[2 * PIECE];
    int len = snprintf(text, sizeof text,
                       "{\"protocol\":\"mcpx/v0.1\",\"id\":\"a%u\",\"kind\":\"%s\","
                       "\"payload\":{\"x\":\"%0*d\"}}",
                       n, kind, (int)filling, 0);

    (void)size;
    return frame(out, 0x81, (size_t)len, text, (size_t)len);
}

/* Sends the same bytes on a held connection as often as the socket takes them. */
static void pour(struct hand *hand, unsigned count, const char *topic, size_t len)
{
    static char prepared[3 * PIECE];
    int *fd;

    memcpy(prepared, hand->text, len); /* entering writes to hand->text */
    fd = next_held(hand, count, topic);
    for (int i = 0; fd && i < 64; i++) {
        char answers[PIECE];
        ssize_t sent = send(*fd, prepared, len, MSG_NOSIGNAL);

        if (sent >= 0 && (size_t)sent < len) {
            lose(fd);
            return;
        }
        if (sent < 0) {
            struct pollfd wait = {.fd = *fd, .events = POLLIN};

            if (poll(&wait, 1, 5) > 0 && recv(*fd, answers, sizeof answers, 0) <= 0)
                lose(fd);
            return;
        }
        while (recv(*fd, answers, sizeof answers, 0) > 0)
            continue;
    }
}

static void request(struct hand *hand, const char *text, size_t len)
{
    int fd = dial(hand);

    if (tell(fd, text, len))
        was_answered(fd);
    drop(fd);
}

static void ask(struct hand *hand, const char *method, const char *target, const char *bearer)
{
    int len = snprintf(hand->text, sizeof hand->text,
                       "%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
                       "Content-Type: application/json\r\nContent-Length: 18\r\n\r\n"
                       "{\"topic\":\"room-0\"}",
                       method, target, bearer);

    request(hand, hand->text, (size_t)len);
}

/* ---- without a token ---- */

static void connect_and_vanish(struct hand *hand)
{
    drop(dial(hand));
}

static void begin_and_wait(struct hand *hand)
{
    int *fd = &hand->held[hand->turn++ % HELD_MAX];

    if (*fd <= 0)
        *fd = dial(hand);
    if (*fd > 0 && !tell(*fd, "G", 1))
        lose(fd);
}

static void ask_for_lists(struct hand *hand)
{
    ask(hand, "GET", "/v0.1/topics", "nothing");
    ask(hand, "GET", "/health", "nothing");
    ask(hand, "POST", "/v0.1/tickets", "nothing");
}

static void show_false_tokens(struct hand *hand)
{
    ask(hand, "GET", "/ws?topic=room-0",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJieXN0YW5kZXItMCIsInRvcGljIjoicm9vbS0wIn0.AAAA");
}

static void send_long_heads(struct hand *hand)
{
    memset(hand->text, 'a', sizeof hand->text);
    memcpy(hand->text, "GET /", 5);
    request(hand, hand->text, sizeof hand->text);
}

/* ---- with a token that permits nothing ---- */

static void come_and_go(struct hand *hand)
{
    drop(enter(hand, "room-0"));
}

static void be_refused(struct hand *hand)
{
    pour(hand, 1, "room", envelope(hand->text, sizeof hand->text, "chat", hand->turn, 10));
}

static void leave_messages_unfinished(struct hand *hand)
{
    static const char part[32768] = "{\"protocol\":\"";

    pour(hand, HELD_MAX, "half", frame(hand->text, 0x01, sizeof part, part, sizeof part));
}

static void send_empty_frames(struct hand *hand)
{
    size_t len = 0;

    for (int i = 0; i < 500; i++) {
        len += frame(hand->text + len, 0x89, 0, NULL, 0);
        len += frame(hand->text + len, i == 0 ? 0x01 : 0x00, 0, NULL, 0);
    }
    pour(hand, 4, "empty", len);
}

/* Pings as long as they may be, each of which asks for an answer as long. */
static void ping(struct hand *hand)
{
    static const char payload[125];
    size_t len = 0;

    for (int i = 0; i < 500; i++)
        len += frame(hand->text + len, 0x89, sizeof payload, payload, sizeof payload);
    pour(hand, HELD_MAX, "ping", len);
}

/* Another place in the same topic, as long as there is one. */
static void take_seats(struct hand *hand)
{
    int *fd = &hand->held[hand->turn++ % HELD_MAX];

    if (*fd > 0)
        lose(fd);
    *fd = enter(hand, "room-0&instance=auto");
    if (*fd < 0)
        *fd = 0;
}

static void join_without_reading(struct hand *hand)
{
    (void)next_held(hand, HELD_MAX, "silent");
}

static void fill_topics(struct hand *hand)
{
    char topic[32];

    snprintf(topic, sizeof topic, "t-%u", hand->turn++);
    drop(enter(hand, topic));
}

static void list_with_token(struct hand *hand)
{
    ask(hand, "GET", "/v0.1/topics", token);
    ask(hand, "GET", "/v0.1/topics/room-0/participants", token);
    ask(hand, "GET", "/v0.1/topics/room-0/history?limit=1000", token);
    ask(hand, "POST", "/v0.1/tickets", token);
}

/* ---- with a token that permits to chat ---- */

static void chat_without_end(struct hand *hand)
{
    pour(hand, 1, "room", envelope(hand->text, sizeof hand->text, "chat", hand->turn, 10));
}

static void fill_histories(struct hand *hand)
{
    pour(hand, HELD_MAX, "full",
         envelope(hand->text, sizeof hand->text, "chat", hand->turn, PIECE));
}

static void send_what_is_costly(struct hand *hand)
{
    static char text[PIECE];
    int len =
        snprintf(text, sizeof text,
                 "{\"protocol\":\"mcpx/v0.1\",\"id\":\"c%u\",\"kind\":\"chat\",\"payload\":"
                 "{\"x\":",
                 hand->turn);
    int depth = 500;

    memset(text + len, '[', (size_t)depth);
    memset(text + len + depth, ']', (size_t)depth);
    memcpy(text + len + 2 * depth, "}}", 2);
    len += 2 * depth + 2;
    pour(hand, 8, "costly", frame(hand->text, 0x81, (size_t)len, text, (size_t)len));
}

/* Reads a full topic page by page, and from the start again. */
static void page_through_history(struct hand *hand)
{
    static const char *const pages[] = {"/v0.1/topics/full-0/history?limit=1000",
                                        "/v0.1/topics/full-1/history?limit=1",
                                        "/v0.1/topics/full-2/history?limit=1000&after=a2"};

    ask(hand, "GET", pages[hand->turn++ % 3], token);
}

/* Takes nothing of what its own flood makes the router write to it. */
static void chat_without_reading(struct hand *hand)
{
    size_t len = envelope(hand->text, sizeof hand->text, "chat", hand->turn, 4096);
    static char prepared[2 * PIECE];
    int *fd;

    memcpy(prepared, hand->text, len);
    fd = next_held(hand, 8, "deaf");
    if (fd && send(*fd, prepared, len, MSG_NOSIGNAL) != (ssize_t)len)
        lose(fd);
}

/* ---- all of it ---- */

static const struct move {
    enum attacker attacker;
    void (*run)(struct hand *hand);
} moves[] = {
    {STRANGER, connect_and_vanish},  {STRANGER, begin_and_wait},
    {STRANGER, ask_for_lists},       {STRANGER, show_false_tokens},
    {STRANGER, send_long_heads},     {SILENCED, come_and_go},
    {SILENCED, be_refused},          {SILENCED, leave_messages_unfinished},
    {SILENCED, send_empty_frames},   {SILENCED, join_without_reading},
    {SILENCED, fill_topics},         {SILENCED, list_with_token},
    {CHATTER, chat_without_end},     {CHATTER, fill_histories},
    {CHATTER, send_what_is_costly},  {CHATTER, chat_without_reading},
    {CHATTER, come_and_go},          {CHATTER, list_with_token},
    {CHATTER, page_through_history}, {CHATTER, take_seats},
    {SILENCED, take_seats},          {SILENCED, ping},
};

const char *const attacker_names[ATTACKERS] = {"somebody without a token",
                                               "somebody with a token that permits nothing",
                                               "somebody who may chat"};

size_t attacker_moves(enum attacker attacker)
{
    size_t count = 0;

    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        count += moves[i].attacker == attacker;
    return count;
}

static void play(const struct move *move, int port)
{
    struct hand *hand = calloc(1, sizeof *hand);
    struct sched_param lowest = {0};

    if (!hand || sched_setscheduler(0, SCHED_IDLE, &lowest))
        _exit(1);
    hand->port = port;
    for (;;)
        move->run(hand);
}

void attacker_begin(const struct daemon *router, enum attacker attacker, pid_t *children)
{
    pid_t parent = getpid();

    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        pid_t pid = moves[i].attacker == attacker ? fork() : 0;

        if (moves[i].attacker != attacker)
            continue;
        cr_assert(pid >= 0);
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() == parent)
                play(&moves[i], router->port[0]);
            _exit(1);
        }
        *children++ = pid;
    }
}
