/*
 * Readers that do not read. What breaks here lets one stuck laptop stop a whole room, or fill the
 * router's memory. Protocol: section 5. Traps of libwebsockets 4.1.6: T1 (a FIN while output is
 * waiting costs a whole processor), T2 and T3 (close frames lost behind waiting output).
 */
#include "tests/support/rude_client.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static const char tight[] =
    "{\"limits\":{\"messages_per_minute\":0,\"bytes_per_minute\":0,\"connects_per_s\":0,"
    "\"backlog_bytes\":4194304,\"ping_s\":0},\"topics\":{\"history\":{\"bytes\":1048576}}}";

/* Sanitizers have memory of their own. */
enum { RSS_GROWTH_KIB = 65536, BATCH = 250 };

static struct daemon router;

static void start(void)
{
    daemon_start(&router, tight, 0);
}

static void stop(void)
{
    cr_expect_eq(daemon_stop(&router), 0, "exit status; log: %s", router.log);
}

/* Those whom most tests have in a room. */
static struct rude stuck, a, b;

static void shut(void)
{
    rude_shut(&stuck);
    rude_shut(&a);
    rude_shut(&b);
    stop();
}

TestSuite(slow_reader, .init = start, .fini = shut, .timeout = 280);

static char filler[2048];

static void make_filler(size_t len)
{
    memset(filler, 'x', len);
    filler[len] = '\0';
}

static int leaves_seen;

/* `a` publishes a batch, and `a` and `b` read all of it. */
static void publish_batch(int from, int count)
{
    char id[32], payload[2100];
    struct frame frame;
    int i;

    for (i = from; i < from + count; i++) {
        snprintf(id, sizeof id, "m%d", i);
        snprintf(payload, sizeof payload, "{\"t\":\"%s\"}", filler);
        rude_chat(&a, id, payload);
    }
    for (i = from; i < from + count; i++) {
        snprintf(id, sizeof id, "\"id\":\"m%d\"", i);
        do {
            cr_assert(rude_next(&b, &frame));
            leaves_seen += frame_holds(&frame, "\"event\":\"leave\"");
        } while (!frame_holds(&frame, "\"kind\":\"chat\""));
        cr_assert(frame_holds(&frame, id), "lost before m%d", i);
        cr_assert(rude_expect(&a, id, &frame));
    }
}

Test(slow_reader, one_that_stops_reading_costs_the_others_nothing)
{
    enum { MESSAGES = 50000 };
    long before, after;
    int i;

    rude_open_narrow(&stuck, &router, 16384);
    rude_join(&stuck, &router, "stuck", "room", "");
    rude_join(&a, &router, "a", "room", "");
    rude_join(&b, &router, "b", "room", "");
    make_filler(400);
    publish_batch(0, BATCH);
    before = daemon_rss_kib(&router);
    for (i = BATCH; i < MESSAGES; i += BATCH)
        publish_batch(i, BATCH);
    after = daemon_rss_kib(&router);
    cr_expect(after - before < RSS_GROWTH_KIB, "%ld KiB became %ld KiB", before, after);
    cr_expect_eq(leaves_seen, 1, "the room is told");
    cr_expect(rude_expect(&stuck, "slow_consumer", NULL), "when it reads on, it is told why");
    cr_expect_eq(rude_close_code(&stuck), 4003);
}

/* Fills the way to a client that does not read, short of what gets it closed. */
static void choke(void)
{
    int i;

    rude_open_narrow(&stuck, &router, 4096);
    rude_join(&stuck, &router, "stuck", "room", "");
    rude_join(&a, &router, "a", "room", "");
    rude_join(&b, &router, "b", "room", "");
    make_filler(2000);
    for (i = 0; i < 3000; i += 100)
        publish_batch(i, 100);
}

/* T1: an end that is read again and again while output waits costs a whole processor. */
Test(slow_reader, a_fin_while_choked_costs_no_processor_time)
{
    long cpu_ms;

    choke();
    rude_frame(&stuck, CLOSE, "\x03\xe8", 2);
    shutdown(stuck.fd, SHUT_WR);
    publish_batch(100000, 10);
    cpu_ms = daemon_cpu_ms(&router);
    cr_expect(rude_is_quiet(&a, 1000));
    cpu_ms = daemon_cpu_ms(&router) - cpu_ms;
    cr_expect(cpu_ms < 200, "%ld ms of a second with nothing to do", cpu_ms);
}

Test(slow_reader, a_reset_while_choked_is_noticed)
{
    choke();
    rude_reset(&stuck);
    cr_expect(rude_expect(&b, "\"event\":\"leave\"", NULL));
    publish_batch(200000, 10);
}

/* Waiting output continues where it was torn: frames stay whole, pings are answered after it. */
Test(slow_reader, one_that_reads_on_in_time_has_lost_nothing)
{
    struct frame frame;
    char id[32];
    int i;

    choke();
    rude_frame(&stuck, PING, "are you there", 13);
    for (i = 0; i < 3000; i++) {
        bool pong = false;

        snprintf(id, sizeof id, "\"id\":\"m%d\"", i);
        do {
            cr_assert(rude_next(&stuck, &frame), "ended before m%d", i);
            cr_assert(frame.first == TEXT || frame.first == PONG, "%02x", frame.first);
            pong = pong || frame.first == PONG;
        } while (!frame_holds(&frame, "\"kind\":\"chat\""));
        cr_assert(frame_holds(&frame, id), "at m%d: %.80s", i, frame.payload);
    }
    rude_chat(&stuck, "back", "{}");
    cr_expect(rude_expect(&b, "\"id\":\"back\"", &frame));
}

static char *large_payload(size_t len)
{
    char *text = malloc(len + 1);

    cr_assert_not_null(text);
    memset(text, 'x', len);
    memcpy(text, "{\"x\":\"", 6);
    memcpy(text + len - 2, "\"}", 3);
    return text;
}

/* What sockets do not take is seen, and bounded for all together: those who have taken nothing for
 * longest go first, who reads stays. */
Test(slow_reader, what_sockets_do_not_take_is_bounded_together)
{
    enum { STUCK = 40, LARGE = 4 << 20, BOUND = 64 << 20 };
    static struct rude many[STUCK];
    struct daemon large;
    char *text = large_payload(LARGE), name[16];
    long unsent, most = 0, lag = 0, start_ms;
    int i;

    daemon_start(&large, "{\"limits\":{\"message_bytes\":8388608,\"connects_per_s\":0}}", 0);
    for (i = 0; i < STUCK; i++) {
        snprintf(name, sizeof name, "stuck%d", i);
        rude_open_narrow(&many[i], &large, 4096);
        rude_join(&many[i], &large, name, "room", "");
    }
    rude_join(&a, &large, "a", "room", "");
    rude_join(&b, &large, "b", "room", "");
    for (i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "large%d", i);
        rude_chat(&a, name, text);
        cr_assert(rude_expect(&b, name, NULL), "%s", name);
        cr_assert(rude_expect(&a, name, NULL), "%s", name);
        unsent = rude_metric(&large, "mcpx_unsent_bytes");
        most = unsent > most ? unsent : most; /* who is slow for a second may be gone by now */
        if (lag == 0)
            lag = rude_metric(&large, "mcpx_reader_lag_max_bytes");
    }
    cr_expect_gt(lag, (long)LARGE, "%ld: how far they are behind is seen, too", lag);
    cr_expect_geq(most, (long)BOUND, "%ld: it is seen", most);
    start_ms = support_now_ms();
    while (unsent > BOUND && support_now_ms() < start_ms + DAEMON_PATIENCE_MS)
        unsent = rude_metric(&large, "mcpx_unsent_bytes");
    cr_expect_leq(unsent, (long)BOUND, "%ld", unsent);
    cr_expect(daemon_logs(&large, "slow_consumer_cut"));
    rude_chat(&a, "after", "{}");
    cr_expect(rude_expect(&b, "\"id\":\"after\"", NULL));
    cr_expect(rude_expect(&a, "\"id\":\"after\"", NULL), "who reads is still there");
    for (i = 0; i < STUCK; i++)
        rude_shut(&many[i]);
    rude_shut(&a);
    rude_shut(&b);
    free(text);
    cr_expect_eq(daemon_stop(&large), 0);
}

/* An answer is not cut for a reader who takes his time, as long as he reads. */
Test(slow_reader, a_page_of_history_arrives_whole_however_slowly_it_is_read)
{
    enum { LARGE = 3 << 20 };
    struct rude reader;
    struct mcpx_slice answer;
    char request[9000], *length, *text = large_payload(LARGE);
    struct daemon large;
    long start_ms;

    daemon_start(&large, "{\"limits\":{\"message_bytes\":8388608}}", 0);
    rude_join(&a, &large, "a", "room", "");
    rude_chat(&a, "large", text);
    cr_assert(rude_expect(&a, "\"id\":\"large\"", NULL));
    snprintf(request, sizeof request,
             "GET /v0.1/topics/room/history HTTP/1.1\r\nHost: x\r\n"
             "Authorization: Bearer %s\r\n\r\n",
             rude_token(&large, "c", "room", "[]"));
    rude_open_narrow(&reader, &large, 16384);
    rude_say(&reader, request);
    start_ms = support_now_ms();
    while (rude_receive(&reader))
        if (support_now_ms() - start_ms < 12000)
            rude_is_quiet(&a, 100);
    answer = rude_drain(&reader);
    length = strstr(answer.text, "Content-Length: ");
    cr_assert(length != NULL);
    cr_expect_eq(answer.len - (size_t)(strstr(answer.text, "\r\n\r\n") + 4 - answer.text),
                 strtoull(length + 16, NULL, 10));
    cr_expect_gt(answer.len, (size_t)LARGE, "%zu", answer.len);
    cr_expect(support_now_ms() - start_ms > 11000, "it was read slowly");
    rude_shut(&reader);
    rude_shut(&a);
    free(text);
    cr_expect_eq(daemon_stop(&large), 0);
}
