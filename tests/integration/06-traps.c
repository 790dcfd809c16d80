/*
 * What WebSocket clients rely on of us, and we on libwebsockets without its promising it: complete
 * frames, control frames in between, ends of connections in every order. An upgrade of the library
 * that changes one of these fails here, by name. Protocol: sections 6 and 7.
 */
#include "tests/support/rude_client.h"
#include "tests/support/suite_router.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Those whom most tests have in a room. */
static struct rude a, b, witness;

static void shut(void)
{
    rude_shut(&a);
    rude_shut(&b);
    rude_shut(&witness);
    suite_router_stop();
}

TestSuite(traps, .init = suite_router_start, .fini = shut, .timeout = 120);

/* Nobody changes a byte of what is lent for writing: the log that frames are written from is what
 * history is served from later. */
Test(traps, what_was_written_is_unchanged_in_history)
{
    enum { COUNT = 200 };
    static char seen[COUNT][256];
    struct rude late = {0};
    struct frame frame;
    char id[32];
    int i;

    rude_join(&a, &router, "a", "room", "");
    for (i = 0; i < COUNT; i++) {
        snprintf(id, sizeof id, "r%d", i);
        rude_chat(&a, id, "{\"n\":1.10}");
    }
    for (i = 0; i < COUNT; i++) {
        snprintf(id, sizeof id, "\"id\":\"r%d\"", i);
        cr_assert(rude_expect(&a, id, &frame) && frame.len < 256);
        memcpy(seen[i], frame.payload, frame.len);
    }
    rude_join(&late, &router, "late", "room", "&history=200");
    cr_assert(rude_expect(&late, "\"kind\":\"system/history\"", &frame));
    for (i = 0; i < COUNT; i++)
        cr_expect(frame_holds(&frame, seen[i]), "%s", seen[i]);
    rude_shut(&a);
    rude_shut(&late);
}

/* Pongs do not wait for the hub's turn; they must not fall into the middle of its frames. */
Test(traps, pongs_come_between_frames_under_load)
{
    struct frame frame;
    int i, pongs = 0, chats = 0;
    char id[32];

    rude_join(&a, &router, "a", "room", "");
    /* A ping that finds an earlier pong unsent gets none of its own: so it is asked on until the
     * pongs are seen, and how many there are says nothing. */
    for (i = 0; i < 300 || (pongs == 0 && i < 30000); i++) {
        snprintf(id, sizeof id, "p%d", i);
        rude_chat(&a, id, "{}");
        rude_frame(&a, PING, id, strlen(id));
        while (chats <= i) {
            cr_assert(rude_next(&a, &frame));
            cr_assert(frame.first == TEXT || frame.first == PONG, "%02x", frame.first);
            pongs += frame.first == PONG;
            chats += frame_holds(&frame, "\"kind\":\"chat\"");
        }
    }
    cr_expect(pongs > 0);
}

/* A message after a close frame is not said any more. */
Test(traps, what_follows_a_close_is_ignored)
{
    struct frame frame;

    rude_join(&a, &router, "a", "room", "");
    rude_join(&b, &router, "b", "room", "");
    rude_frame(&a, CLOSE, "\x03\xe8", 2);
    rude_chat(&a, "too-late", "{}");
    rude_drain(&a);
    rude_chat(&b, "now", "{}");
    do {
        cr_assert(rude_next(&b, &frame));
        cr_expect(!frame_holds(&frame, "too-late"));
    } while (!frame_holds(&frame, "\"id\":\"now\""));
}

Test(traps, every_way_to_leave_is_noticed)
{
    int way;

    rude_join(&witness, &router, "witness", "room", "");
    for (way = 0; way < 4; way++) {
        rude_join(&a, &router, "a", "room", "");
        cr_assert(rude_expect(&a, "system/welcome", NULL));
        if (way == 0)
            rude_frame(&a, CLOSE, "\x03\xe8", 2);
        if (way == 1)
            shutdown(a.fd, SHUT_WR);
        if (way == 2)
            rude_frame_head(&a, TEXT, 1000); /* in the middle of a message */
        if (way == 3)
            rude_reset(&a);
        else
            rude_shut(&a);
        cr_expect(rude_expect(&witness, "\"event\":\"leave\"", NULL), "%d", way);
    }
}

/* The participant is in before the 101 is written: an end in between leaves nothing. */
Test(traps, upgrades_may_be_broken_off_at_any_time)
{
    const char *token = rude_token(&router, "a", "room", "[]");
    struct rude last;
    int i;

    for (i = 0; i < 60; i++) {
        rude_knock(&a, &router, token, "/ws?topic=room", "");
        if (i % 3 == 0)
            rude_reset(&a);
        else if (i % 3 == 1)
            shutdown(a.fd, SHUT_WR);
        rude_shut(&a);
    }
    cr_expect_eq(rude_http(&last, &router, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"), 200);
    rude_shut(&last);
}

/* Pings: whoever answers stays, whoever does not goes, and the room is told why. */
Test(traps, one_that_answers_no_ping_is_dropped)
{
    struct daemon pinging;
    struct rude mute = {0}, alive = {0};
    struct frame frame;
    bool told = false;
    int pings = 0;

    /* The one who answers comes first and has fifteen seconds for it:
       it is pinged before the other. */
    daemon_start(&pinging, "{\"limits\":{\"ping_s\":5,\"connects_per_s\":0}}", 0);
    rude_join(&alive, &pinging, "alive", "room", "");
    rude_join(&mute, &pinging, "mute", "room", "");
    while (!told) {
        cr_assert(rude_next(&alive, &frame));
        if (frame.first == PING) {
            pings++;
            rude_frame(&alive, PONG, frame.payload, frame.len);
        }
        told = frame_holds(&frame, "\"event\":\"leave\"");
        cr_expect(!told || frame_holds(&frame, "timeout"), "%.*s", (int)frame.len,
                  frame.payload);
    }
    cr_expect(pings >= 2, "%d", pings);
    cr_expect_eq(rude_close_code(&mute), 1001);
    rude_shut(&mute);
    rude_chat(&alive, "alive", "{}");
    cr_expect(rude_expect(&alive, "\"id\":\"alive\"", &frame));
    rude_shut(&alive);
    cr_expect_eq(daemon_stop(&pinging), 0);
}

/* Churn leaves neither descriptors nor much memory behind. */
Test(traps, five_hundred_visits_leave_nothing_behind)
{
    long before = 0, after, start_ms;
    int i, open_before = daemon_descriptors(&router), open_after;

    for (i = 0; i < 500; i++) {
        struct frame frame;

        rude_join(&a, &router, "a", "room", "&history=0");
        cr_assert(rude_expect(&a, "system/welcome", &frame));
        rude_shut(&a);
        if (i == 100)
            before = daemon_rss_kib(&router);
    }
    after = daemon_rss_kib(&router);
    cr_expect(after - before < 16384, "%ld KiB became %ld KiB", before, after);
    start_ms = support_now_ms(); /* the last to go may not be gone yet */
    do
        open_after = daemon_descriptors(&router);
    while (open_after > open_before && support_now_ms() < start_ms + DAEMON_PATIENCE_MS);
    cr_expect(open_before > 0 && open_after <= open_before, "%d descriptors became %d",
              open_before, open_after);
}
