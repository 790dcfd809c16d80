/*
 * moves.c - what one attacker with one machine can do to a router, a row each. All moves of an
 * attacker run at the same time, each in a process that begins again whenever it is refused. None
 * checks anything: what counts is what the others notice.
 */
#define _GNU_SOURCE /* SCHED_IDLE */
#include "tests/attack/attack.h"

#include "tests/attack/hand.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* More than the socket of somebody who reads nothing takes; seats in a topic, and in six. */
enum { LARGE = 256 << 10, SEATS = 64, CROWD = 6 * SEATS };

#define AUTO "history=0&instance=auto"

/* ---- without a token ---- */

static void connect_and_vanish(struct hand *hand)
{
    hand_drop(hand_dial(hand, false));
}

static void begin_and_wait(struct hand *hand)
{
    int *fd = &hand->held[hand->turn++ % HELD_MAX];

    if (*fd <= 0)
        *fd = hand_dial(hand, false);
    if (*fd > 0 && !hand_tell(*fd, "G", 1))
        hand_lose(fd);
}

static void ask_for_lists(struct hand *hand)
{
    hand_ask(hand, "GET", "/v0.1/topics", "nothing");
    hand_ask(hand, "GET", "/health", "nothing");
    hand_ask(hand, "POST", "/v0.1/tickets", "nothing");
}

static void show_false_tokens(struct hand *hand)
{
    hand_ask(hand, "GET", "/ws?topic=room-0",
             "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJieXN0YW5kZXItMCIsInRvcGljIjoicm9vbS0wIn0.AAAA");
}

static void send_long_heads(struct hand *hand)
{
    memset(hand->text, 'a', sizeof hand->text);
    memcpy(hand->text, "GET /", 5);
    hand_request(hand, hand->text, sizeof hand->text);
}

/* ---- with a token that permits nothing ---- */

static void come_and_go(struct hand *hand)
{
    hand_drop(hand_enter(hand, "topic=room-0&history=0", false));
}

static void be_refused(struct hand *hand)
{
    hand_pour(hand, 1, "room", hand_envelope(hand->text, "chat", hand->turn, 10));
}

static void leave_messages_unfinished(struct hand *hand)
{
    static const char part[32768] = "{\"protocol\":\"";

    hand_pour(hand, HELD_MAX, "half",
              hand_frame(hand->text, 0x01, sizeof part, part, sizeof part));
}

static void send_empty_frames(struct hand *hand)
{
    size_t len = 0;

    for (int i = 0; i < 500; i++) {
        len += hand_frame(hand->text + len, 0x89, 0, NULL, 0);
        len += hand_frame(hand->text + len, i == 0 ? 0x01 : 0x00, 0, NULL, 0);
    }
    hand_pour(hand, 4, "empty", len);
}

/* Pings as long as they may be, each of which asks for an answer as long. */
static void ping(struct hand *hand)
{
    static const char payload[125];
    size_t len = 0;

    for (int i = 0; i < 500; i++)
        len += hand_frame(hand->text + len, 0x89, sizeof payload, payload, sizeof payload);
    hand_pour(hand, HELD_MAX, "ping", len);
}

/* Another place in the same topic, as long as there is one. */
static void take_seats(struct hand *hand)
{
    int *fd = &hand->held[hand->turn++ % HELD_MAX];

    if (*fd > 0)
        hand_lose(fd);
    *fd = hand_enter(hand, "topic=room-0&instance=auto&history=0", false);
    if (*fd < 0)
        *fd = 0;
}

static void join_without_reading(struct hand *hand)
{
    static const struct crowd crowd = {HELD_MAX, 1, "silent", "history=0", false};

    (void)hand_next(hand, &crowd);
}

static void fill_topics(struct hand *hand)
{
    char query[48];

    snprintf(query, sizeof query, "topic=t-%u&history=0", hand->turn++);
    hand_drop(hand_enter(hand, query, false));
}

static void list_with_token(struct hand *hand)
{
    hand_ask(hand, "GET", "/v0.1/topics", attacker_token);
    hand_ask(hand, "GET", "/v0.1/topics/room-0/participants", attacker_token);
    hand_ask(hand, "GET", "/v0.1/topics/room-0/history?limit=1000", attacker_token);
    hand_ask(hand, "POST", "/v0.1/tickets", attacker_token);
}

/* ---- with a token that permits to chat ---- */

static void chat_without_end(struct hand *hand)
{
    hand_pour(hand, 1, "room", hand_envelope(hand->text, "chat", hand->turn, 10));
}

static void fill_histories(struct hand *hand)
{
    hand_pour(hand, HELD_MAX, "full", hand_envelope(hand->text, "chat", hand->turn, PIECE));
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
    hand_pour(hand, 8, "costly", hand_frame(hand->text, 0x81, (size_t)len, text, (size_t)len));
}

/* Reads a full topic page by page, and from the start again. */
static void page_through_history(struct hand *hand)
{
    static const char *const pages[] = {"/v0.1/topics/full-0/history?limit=1000",
                                        "/v0.1/topics/full-1/history?limit=1",
                                        "/v0.1/topics/full-2/history?limit=1000&after=a2"};

    hand_ask(hand, "GET", pages[hand->turn++ % 3], attacker_token);
}

/* Takes nothing of what its own flood makes the router write to it. */
static void chat_without_reading(struct hand *hand)
{
    static const struct crowd crowd = {8, 1, "stuck", "history=0", false};
    size_t len = hand_envelope(hand->text, "chat", hand->turn, 4096);
    static char prepared[2 * PIECE];
    int *fd;

    memcpy(prepared, hand->text, len);
    fd = hand_next(hand, &crowd);
    if (fd && send(*fd, prepared, len, MSG_NOSIGNAL) != (ssize_t)len)
        hand_lose(fd);
}

/* ---- with hundreds of connections that take nothing ---- */

/*
 * The last in each topic says what is too large for the sockets of the others. From those nothing
 * is read, or a byte a second.
 */
static void speak_to(struct hand *hand, const struct crowd *crowd, size_t sip)
{
    static char large[LARGE + 1024];
    unsigned at = hand->turn % crowd->count, round = hand->turn / crowd->count;
    int *fd = hand_next(hand, crowd);
    size_t len;

    if (fd && at % crowd->seats == crowd->seats - 1) {
        len = hand_envelope(large, "chat", hand->turn, LARGE);
        if (!hand_tell_all(*fd, large, len))
            hand_lose(fd);
    } else if (fd && round % 10 == 9) {
        if (!hand_tell(*fd, "\x89\x80\0\0\0", 6) || !hand_drain(*fd, sip))
            hand_lose(fd);
    }
    if (at == crowd->count - 1)
        poll(NULL, 0, 100);
}

static void speak_to_who_does_not_read(struct hand *hand)
{
    static const struct crowd crowd = {CROWD, SEATS, "stuck", AUTO, true};

    speak_to(hand, &crowd, 0);
}

static void speak_to_the_slow(struct hand *hand)
{
    static const struct crowd crowd = {CROWD, SEATS, "slow", AUTO, true};

    speak_to(hand, &crowd, 1);
}

static void fill_a_few(struct hand *hand)
{
    hand_pour(hand, 8, "full", hand_envelope(hand->text, "chat", hand->turn, PIECE));
}

static void join_for_history(struct hand *hand)
{
    static const struct crowd crowd = {HELD_MAX, 50, "full", "history=1000&instance=auto",
                                       true};

    (void)hand_next(hand, &crowd);
}

/* Pages of history over HTTP; the oldest of them is given up for the next. */
static void ask_for_pages(struct hand *hand)
{
    int *fd = &hand->held[hand->turn++ % HELD_MAX];
    int len = snprintf(hand->text, sizeof hand->text,
                       "GET /v0.1/topics/full-%u/history?limit=1000 HTTP/1.1\r\nHost: x\r\n"
                       "Authorization: Bearer %s\r\n\r\n",
                       hand->turn % 8, attacker_token);

    if (*fd > 0)
        hand_lose(fd);
    *fd = hand_dial(hand, true);
    hand_tell(*fd, hand->text, (size_t)len);
    poll(NULL, 0, 10);
}

/* ---- with hundreds of connections that never rest ---- */

/* The same on every connection as often as its socket takes it, when all of them are there. */
static void flood(struct hand *hand, const struct crowd *crowd, unsigned messages, size_t each)
{
    static char batch[3 * PIECE];
    static size_t len, sent[HELD_MAX];
    size_t *at = &sent[hand->turn % crowd->count];
    int *fd = hand_next(hand, crowd);
    ssize_t now;

    for (unsigned i = 0; hand->turn == 1 && i < messages; i++)
        len += hand_envelope(batch + len, "chat", i, each);
    if (!fd || hand->turn <= crowd->count)
        return;
    now = send(*fd, batch + *at, len - *at, MSG_NOSIGNAL);
    *at = (*at + (now > 0 ? (size_t)now : 0)) % len;
    if ((now < 0 && errno != EAGAIN) || !hand_drain(*fd, SIZE_MAX)) {
        hand_lose(fd);
        *at = 0;
    }
}

static void flood_with_short_ones(struct hand *hand)
{
    static const struct crowd crowd = {HELD_MAX, 1, "flood", "history=0", false};

    flood(hand, &crowd, 1000, 10);
}

static void flood_with_large_ones(struct hand *hand)
{
    static const struct crowd crowd = {HELD_MAX, 1, "large", "history=0", false};

    flood(hand, &crowd, 2, PIECE);
}

/* Everybody in the topic reads; what one says is written to all. */
static void echo_to_itself(struct hand *hand)
{
    static const struct crowd crowd = {CROWD, SEATS, "echo", AUTO, false};
    bool speaks = hand->turn % SEATS == 0;
    int *fd = hand_next(hand, &crowd);
    size_t len = hand_envelope(hand->text, "chat", hand->turn, PIECE);

    if (!fd)
        return;
    if ((speaks && !hand_tell_all(*fd, hand->text, len)) || !hand_drain(*fd, 4 * PIECE))
        hand_lose(fd);
}

/* ---- all of it ---- */

static const struct move {
    enum attacker attacker;
    void (*run)(struct hand *hand);
} moves[] = {
    {WITHOUT_TOKEN, connect_and_vanish},
    {WITHOUT_TOKEN, begin_and_wait},
    {WITHOUT_TOKEN, ask_for_lists},
    {WITHOUT_TOKEN, show_false_tokens},
    {WITHOUT_TOKEN, send_long_heads},
    {SILENCED, come_and_go},
    {SILENCED, be_refused},
    {SILENCED, leave_messages_unfinished},
    {SILENCED, send_empty_frames},
    {SILENCED, join_without_reading},
    {SILENCED, fill_topics},
    {SILENCED, list_with_token},
    {CHATTER, chat_without_end},
    {CHATTER, fill_histories},
    {CHATTER, send_what_is_costly},
    {CHATTER, chat_without_reading},
    {CHATTER, come_and_go},
    {CHATTER, list_with_token},
    {CHATTER, page_through_history},
    {CHATTER, take_seats},
    {SILENCED, take_seats},
    {SILENCED, ping},
    {NOT_READING, speak_to_who_does_not_read},
    {NOT_READING, speak_to_the_slow},
    {NOT_READING, fill_a_few},
    {NOT_READING, join_for_history},
    {NOT_READING, ask_for_pages},
    {FLOODER, flood_with_short_ones},
    {FLOODER, flood_with_large_ones},
    {FLOODER, echo_to_itself},
};

const char *const attacker_names[ATTACKERS] = {
    "somebody without a token", "somebody with a token that permits nothing",
    "somebody who may chat", "somebody with many connections who reads nothing",
    "somebody who floods from many connections"};

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
