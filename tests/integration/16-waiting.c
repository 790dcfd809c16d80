/*
 * Between the 101 and the welcome, on a disk from which nothing can be read for a while. What
 * breaks here: a client that waits for ever, or is told nothing; one who takes up all places by
 * waiting. Protocol: section 7.
 */
#include "tests/support/store_talk.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct store_router router;
static struct rude ann;

/* A router with a topic "room" of five messages that it has not loaded, and a disk to be set. */
static void start(const char *store, const char *more)
{
    talk_start(&router, store, NULL, more);
    talk_enter(&ann, &router, "ann", "", NULL);
    talk_say(&ann, "old", 5);
    talk_expect_order(&ann, "old", 0, 5);
    rude_shut(&ann);
    talk_restart_on_disk(&router);
}

static void ask(struct rude *rude, const char *participant, const char *topic)
{
    char target[64];

    *rude = (struct rude){0};
    snprintf(target, sizeof target, "/ws?topic=%s", topic);
    rude_knock(rude, &router.daemon, rude_token(&router.daemon, participant, topic, "[\"*\"]"),
               target, "");
}

/* The reason of the close frame. */
static void expect_close(struct rude *rude, int code, const char *reason)
{
    struct frame frame;

    while (rude_next(rude, &frame) && frame.first != CLOSE)
        continue;
    cr_assert_eq(frame.first, CLOSE, "it ended without a word");
    cr_expect_eq((unsigned char)frame.payload[0] * 256 + (unsigned char)frame.payload[1],
                 code);
    cr_expect_eq(frame.len - 2, strlen(reason));
    cr_expect(frame_holds(&frame, reason), "%.*s", (int)frame.len - 2, frame.payload + 2);
}

static void finish(void)
{
    rude_shut(&ann);
    talk_set_disk(&router, "fine");
    talk_stop(&router);
}

TestSuite(waiting, .fini = finish, .timeout = 300);

Test(waiting, what_is_said_meanwhile_is_routed_behind_the_welcome)
{
    start(",\"timeout_ms\":60000", "");
    talk_set_disk(&router, "hold");
    ask(&ann, "ann", "room");
    talk_say(&ann, "early", 10);
    cr_assert_eq(rude_pass_head(&ann), 101, "the upgrade does not wait");
    talk_say(&ann, "late", 10);
    cr_expect(rude_is_quiet(&ann, 200), "there is no welcome yet");
    talk_set_disk(&router, "fine");
    cr_assert(rude_expect(&ann, "system/welcome", NULL));
    cr_assert(rude_expect(&ann, "system/history", NULL));
    talk_expect_order(&ann, "early", 0, 10);
    talk_expect_order(&ann, "late", 0, 10);
}

Test(waiting, ends_with_1013_or_503_when_nothing_can_be_read)
{
    struct rude rude;

    start(",\"timeout_ms\":1000", "");
    talk_set_disk(&router, "hold");
    ask(&ann, "ann", "room");
    cr_assert_eq(rude_pass_head(&ann), 101);
    cr_expect_eq(talk_get(&rude, &router, "/v0.1/topics/room/history", "bob"), 503, "%s",
                 rude.in.text);
    cr_expect(strstr(rude.in.text, "Retry-After: "), "%s", rude.in.text);
    cr_expect(strstr(rude.in.text, "\"unavailable\""), "%s", rude.in.text);
    rude_shut(&rude);
    expect_close(&ann, 1013, "unavailable");
}

/* It has gone when its turn comes; others come in. */
Test(waiting, may_be_given_up)
{
    enum { MANY = 20 };
    static struct rude many[MANY];
    char name[32];

    start(",\"timeout_ms\":60000", "");
    talk_set_disk(&router, "hold");
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "c%d", i);
        ask(&many[i], name, "room");
        cr_assert_eq(rude_pass_head(&many[i]), 101);
    }
    for (int i = 0; i < MANY; i += 2)
        (i % 4 ? rude_shut : rude_reset)(&many[i]);
    talk_set_disk(&router, "fine");
    for (int i = 1; i < MANY; i += 2) {
        cr_assert(rude_expect(&many[i], "system/welcome", NULL));
        rude_shut(&many[i]);
    }
}

/* Who waits has a connection like everybody else. */
Test(waiting, takes_a_share_of_the_connections)
{
    enum { SHARE = 3 };
    struct rude many[SHARE], other;
    char topic[32];

    setenv("MCPX_LIMITS_CONNECTIONS_PER_PARTICIPANT", "3", 1);
    start(",\"timeout_ms\":60000", "");
    talk_set_disk(&router, "hold");
    for (int i = 0; i < SHARE; i++) {
        snprintf(topic, sizeof topic, "t%d", i);
        ask(&many[i], "ann", topic);
        cr_assert_eq(rude_pass_head(&many[i]), 101);
    }
    ask(&other, "ann", "room");
    cr_expect_eq(rude_pass_head(&other), 429);
    rude_shut(&other);
    ask(&other, "bob", "room");
    cr_assert_eq(rude_pass_head(&other), 101);
    talk_set_disk(&router, "fine");
    cr_assert(rude_expect(&other, "system/welcome", NULL));
    for (int i = 0; i < SHARE; i++) {
        cr_assert(rude_expect(&many[i], "system/welcome", NULL));
        rude_shut(&many[i]);
    }
    rude_shut(&other);
}

/* What is known only then is said with a close frame. */
Test(waiting, who_is_there_already_is_told_so)
{
    struct rude again;
    struct frame frame;

    start(",\"timeout_ms\":60000", ",\"auth\":{\"duplicate\":\"reject\"}");
    talk_set_disk(&router, "hold");
    ask(&ann, "ann", "room");
    cr_assert_eq(rude_pass_head(&ann), 101);
    ask(&again, "ann", "room");
    cr_assert_eq(rude_pass_head(&again), 101);
    talk_set_disk(&router, "fine");
    cr_assert(rude_expect(&ann, "system/welcome", &frame));
    expect_close(&again, 1008, "already_connected");
    rude_shut(&again);
}

/* A shutdown waits for nobody who is not in yet. */
Test(waiting, ends_with_a_shutdown)
{
    start(",\"timeout_ms\":60000", "");
    talk_set_disk(&router, "hold");
    ask(&ann, "ann", "room");
    cr_assert_eq(rude_pass_head(&ann), 101);
    kill(router.daemon.pid, SIGTERM);
    expect_close(&ann, 1013, "draining");
}
