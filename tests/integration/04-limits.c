/*
 * Limits: each is reached by somebody without manners, answered as documented, and everybody else
 * goes on. What breaks here is memory, descriptors, or a silent drop. Protocol: sections 1, 6, 7.
 */
#include "tests/support/rude_client.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

/* What a test has: a router, and two in a room of it, one of whom has no manners. */
static struct daemon router;
static struct rude a, b;

static void join_two(void)
{
    a = b = (struct rude){0};
    rude_join(&a, &router, "a", "room", "");
    rude_join(&b, &router, "b", "room", "");
}

static void end(void)
{
    rude_chat(&b, "still-here", "{}");
    cr_expect(rude_expect(&b, "\"id\":\"still-here\"", NULL), "the other goes on");
    rude_shut(&a);
    rude_shut(&b);
    cr_expect_eq(daemon_stop(&router), 0, "exit status; log: %s", router.log);
}

/* Nothing of the ten megabytes, or of the two to the sixtieth, needs to arrive. */
Test(limits, a_message_that_declares_too_much_is_refused_at_once, .timeout = 120)
{
    static const size_t sizes[] = {2097153, 10u << 20, (size_t)1 << 60};
    size_t i;

    daemon_start_default(&router);
    for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        join_two();
        rude_frame_head(&a, TEXT, sizes[i]);
        rude_say(&a, "some of it");
        cr_expect(rude_expect(&a, "longer than a message may be", NULL), "%zu", sizes[i]);
        cr_expect_eq(rude_close_code(&a), 1009, "%zu", sizes[i]);
        rude_shut(&a);
        rude_shut(&b);
    }
    join_two();
    end();
}

Test(limits, members_beyond_the_limit_are_answered_503, .timeout = 120)
{
    struct rude c = {0};

    daemon_start(&router, "{\"limits\":{\"connections\":2,\"connects_per_s\":0}}", 0);
    join_two();
    cr_expect_eq(
        rude_enter(&c, &router, rude_token(&router, "c", "room", "[]"), "/ws?topic=room"), 503,
        "%s", c.in.text ? c.in.text : "(no answer)");
    rude_shut(&c);
    end();
}

/* The waiting connection would wake the loop again and again. Members make no room, as those who
 * are silent do. */
Test(limits, running_out_of_descriptors_does_not_spin_and_passes, .timeout = 120)
{
    enum { DESCRIPTORS = 64, MANY = DESCRIPTORS };
    static struct rude many[MANY + 1];
    static char token[8192];
    long cpu_ms;
    int i;

    daemon_start(&router, "{\"limits\":{\"connects_per_s\":0,\"messages_per_minute\":0}}",
                 DESCRIPTORS);
    join_two();
    snprintf(token, sizeof token, "%s", rude_token(&router, "c", "room", "[]"));
    for (i = 0; i < MANY && daemon_descriptors(&router) < DESCRIPTORS; i++)
        cr_assert_eq(rude_enter(&many[i], &router, token, "/ws?topic=room&instance=auto"),
                     101);
    rude_open(&many[i], &router, 0);
    cr_assert(daemon_logs(&router, "accept_paused"));
    rude_chat(&a, "while-full", "{}");
    cr_expect(rude_expect(&b, "while-full", NULL), "members go on meanwhile");
    cpu_ms = daemon_cpu_ms(&router);
    cr_expect(rude_is_quiet(&b, 1000));
    cpu_ms = daemon_cpu_ms(&router) - cpu_ms;
    cr_expect(cpu_ms < 200, "%ld ms of a second with nothing to do", cpu_ms);
    for (; i >= 0; i--)
        rude_shut(&many[i]);
    cr_expect_eq(rude_http(&many[0], &router, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"), 200);
    rude_shut(&many[0]);
    end();
}

/* Begins a message of a million bytes and does not end it. False when that was too much. */
static bool begin_message(struct rude *rude)
{
    static char piece[1000000];
    struct frame frame;

    memset(piece, 'x', sizeof piece);
    rude_frame(rude, TEXT_OPEN, piece, sizeof piece);
    rude_frame(rude, PING, "", 0);
    while (rude_next(rude, &frame)) {
        if (frame.first == PONG)
            return true;
        if (frame.first != CLOSE)
            continue;
        cr_expect_eq((unsigned char)frame.payload[0] << 8 | (unsigned char)frame.payload[1],
                     1008);
        return false;
    }
    cr_expect(false, "ended without a close frame");
    return false;
}

/* Each within its own limit, in a topic of its own; together they would take everything. Who holds
 * most loses most: others can go on sending in pieces. */
Test(limits, unfinished_messages_are_bounded_together_and_in_time, .timeout = 120)
{
    enum { MANY = 80, FIT = 64 };
    static struct rude many[MANY];
    char topic[16];
    long rss, begun_ms, all_begun_ms, ended_ms;
    bool goes_on[MANY];
    int i, left = -1, cut = 0;

    daemon_start(&router, "{\"limits\":{\"connects_per_s\":0}}", 0);
    join_two();
    rude_frame(&a, TEXT_OPEN, "{", 1);
    rss = daemon_rss_kib(&router);
    begun_ms = support_now_ms();
    for (i = 0; i < MANY; i++) {
        snprintf(topic, sizeof topic, "t%d", i);
        rude_join(&many[i], &router, "hoarder", topic, "");
        cr_assert(rude_expect(&many[i], "\"event\":\"join\"", NULL));
        goes_on[i] = begin_message(&many[i]);
    }
    all_begun_ms = support_now_ms();
    rss = daemon_rss_kib(&router) - rss;
    cr_expect(rss < 100 * 1024, "%ld KiB", rss);
    rude_frame(&a, CONTINUE_LAST, "", 0);
    cr_expect(rude_expect(&a, "invalid_envelope", NULL), "somebody else's is finished");
    for (i = 0; i < MANY; i++) {
        goes_on[i] = goes_on[i] && rude_is_quiet(&many[i], 0);
        left = goes_on[i] ? i : left;
        cut += !goes_on[i];
    }
    cr_expect(cut >= MANY - FIT - 2 && cut <= MANY - FIT + 2, "%d were cut", cut);
    cr_assert_geq(left, 0);
    rude_frame(&many[left], CONTINUE_LAST, "", 0);
    cr_expect(rude_expect(&many[left], "invalid_envelope", NULL), "a finished one is routed");
    cr_expect(begin_message(&many[left]), "and makes room");
    for (i = 0; i < MANY; i++)
        if (i != left && goes_on[i])
            cr_expect_eq(rude_close_code(&many[i]), 1008, "%d", i);
    ended_ms = support_now_ms();
    cr_expect(ended_ms - begun_ms >= 29000, "%ld ms", ended_ms - begun_ms);
    cr_expect(ended_ms - all_begun_ms < 50000, "%ld ms", ended_ms - all_begun_ms);
    for (i = 0; i < MANY; i++)
        rude_shut(&many[i]);
    end();
}

/* Who was told to go may go on sending for five seconds; nobody counts that, so nobody keeps it. */
Test(limits, what_comes_behind_a_refusal_is_not_kept, .timeout = 120)
{
    enum { MANY = 16, PIECES = 64 };
    static struct rude many[MANY];
    static char piece[65536];
    char topic[16];
    long rss;

    memset(piece, 'x', sizeof piece);
    daemon_start(&router, "{\"limits\":{\"connects_per_s\":0}}", 0);
    for (int i = 0; i < MANY; i++) {
        snprintf(topic, sizeof topic, "t%d", i);
        rude_join(&many[i], &router, "hoarder", topic, "");
    }
    rss = daemon_rss_kib(&router);
    for (int i = 0; i < MANY; i++) {
        rude_frame(&many[i], BINARY, "", 0);
        cr_expect_eq(rude_close_code(&many[i]), 1003);
        for (int k = 0; k < PIECES; k++)
            rude_frame(&many[i], k ? CONTINUE_OPEN : TEXT_OPEN, piece, sizeof piece);
        rude_frame(&many[i], CLOSE, "", 0);
        rude_drain(&many[i]); /* all of it was read */
    }
    rss = daemon_rss_kib(&router) - rss;
    cr_expect(rss < 16 * 1024, "%ld KiB", rss);
    for (int i = 0; i < MANY; i++)
        rude_shut(&many[i]);
    cr_expect_eq(daemon_stop(&router), 0);
}

/* A refused message costs its sender, not the room, and never memory. */
Test(limits, a_flood_of_refused_messages_is_answered_600_times_and_ends_with_1008,
     .timeout = 120)
{
    struct frame frame;
    int i, answers = 0, code = 1006;

    daemon_start(&router, NULL, 0);
    join_two();
    for (i = 0; i < 20000; i++)
        rude_frame(&a, TEXT, "{", 1);
    while (code == 1006 && rude_next(&a, &frame)) {
        answers += frame_holds(&frame, "\"error\":\"invalid_envelope\"");
        if (frame.first == CLOSE && frame.len >= 2)
            code = (unsigned char)frame.payload[0] << 8 | (unsigned char)frame.payload[1];
    }
    cr_expect_eq(code, 1008, "closed with %d", code);
    /* The bucket fills up by ten a second meanwhile, and the last drop is answered, too. */
    cr_expect(answers > 600 && answers < 700, "%d answers", answers);
    end();
}
