/*
 * What breaks for whom: one bad line and a monitoring system drops the whole page; a label with
 * somebody's name and it stores every room there ever was. docs/http-api.md, "Metrics".
 */
#include "http_fixture.h"
#include "router/store/store.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>

TestSuite(http_metrics, .init = fixture_init, .fini = fixture_fini);

/* Every line is a comment or `name{labels} number`, and no series stands twice. */
static void check_exposition(char *text)
{
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        const char *space = strrchr(line, ' ');

        if (strncmp(line, "# HELP ", 7) == 0 || strncmp(line, "# TYPE ", 7) == 0)
            continue;
        cr_assert(space && isdigit((unsigned char)space[1]), "%s", line);
        cr_expect(isalpha((unsigned char)*line), "%s", line);
    }
}

static size_t occurrences(const char *text, const char *what)
{
    size_t count = 0;

    while ((text = strstr(text, what))) {
        count++;
        text++;
    }
    return count;
}

Test(http_metrics, exports_every_counter_once)
{
    struct peer *peer;
    struct verdict verdict;

    peer = fixture_join("secret-agent", "secret-room");
    fixture_say(peer,
                "{\"protocol\":\"mcpx/v0.1\",\"id\":\"1\",\"kind\":\"chat\",\"payload\":{}}");
    hub_route(router.api.hub, peer, MCPX_SLICE("nonsense"), router.now, &verdict);
    router.now.wall_ms += 7200000; /* somebody has set the clock */
    fixture_get("/metrics", NULL);
#define EXPECT_METRIC(member, name, type, help)                                               \
    cr_expect_eq(occurrences(answer.text.text, "\n" name " "), 1, "%s", name);
    STATS_TABLE(EXPECT_METRIC)
    cr_expect(strstr(answer.text.text, "\nmcpx_connections 1\n"));
    cr_expect(strstr(answer.text.text, "\nmcpx_received_total 2\n"), "%s", answer.text.text);
    cr_expect(strstr(answer.text.text, "\nmcpx_refused_total{code=\"invalid_envelope\"} 1\n"),
              "%s", answer.text.text);
    cr_expect_eq(
        occurrences(answer.text.text, "mcpx_refused_total{code=\"invalid_envelope\"}"), 1);
    cr_expect_eq(occurrences(answer.text.text, "mcpx_closed_total{code=\"slow_consumer\"} 0"),
                 1);
    cr_expect(strstr(answer.text.text, "\nprocess_start_time_seconds 1795303017\n"), "%s",
              answer.text.text);
    cr_expect(strstr(answer.text.text, "\nmcpx_build_info{version=\""));
    cr_expect_not(strstr(answer.text.text, "secret"));
    check_exposition(answer.text.text + answer.head.len);
}

/* A hardened container may hide /proc: an alert at 0 bytes or 0 descriptors would be false. */
Test(http_metrics, what_cannot_be_asked_is_absent)
{
    static const struct process rows[] = {{70000, 1, 2, 3, 4}, {70000, 0, 0, 3, 4}};

    for (int i = 0; i < 2; i++) {
        struct process process = rows[i];
        const char *text;

        fixture_again();
        router.api.process = &process;
        fixture_get("/metrics", NULL);
        text = answer.text.text;
        cr_expect_eq(occurrences(text, "\nprocess_resident_memory_bytes "), i == 0);
        cr_expect_eq(occurrences(text, "\nprocess_open_fds "), i == 0);
        cr_expect_eq(occurrences(text, "\nprocess_max_fds 3\n"), 1);
    }
}

/* Says so many messages; `said` counts on, as ids are good for one. */
static void say(struct peer *peer, int count)
{
    static int said;

    for (int i = 0; i < count; i++) {
        char text[120];

        snprintf(
            text, sizeof text,
            "{\"protocol\":\"mcpx/v0.1\",\"id\":\"s%d\",\"kind\":\"chat\",\"payload\":{}}",
            said++);
        fixture_say(peer, text);
    }
}

/* Offers `most` peers what they have to read, as a flush does; all of it when that is -1. */
static void flush(int most)
{
    struct peer *peer;
    struct output output;

    while (most-- != 0 && (peer = hub_next_ready(router.api.hub)))
        while (peer_peek(peer, &output))
            peer_pop(peer);
}

static void wait_ms(int64_t ms)
{
    router.now.mono_ms += ms;
    router.now.wall_ms += ms;
}

/* Asks, and expects each of these lines, the last one NULL. */
static void expect_lines(const char *const *lines)
{
    fixture_get("/metrics", NULL);
    for (; *lines; lines++) {
        char line[120];

        snprintf(line, sizeof line, "\n%s\n", *lines);
        cr_expect_eq(occurrences(answer.text.text, line), 1, "%s in %s", *lines,
                     answer.text.text);
    }
}

/* An operator has to see that somebody falls behind before that one is cut for it. */
Test(http_metrics, tells_how_far_readers_are_behind)
{
    static const char *const nobody[] = {
        "mcpx_reader_lag_max_envelopes 0", "mcpx_reader_lag_max_bytes 0",
        "mcpx_reader_lag_max_seconds 0.000", "mcpx_readers_lagging{envelopes=\"1\"} 0", NULL};
    static const char *const two[] = {"mcpx_reader_lag_max_envelopes 12",
                                      "mcpx_reader_lag_max_bytes 1327",
                                      "mcpx_reader_lag_max_seconds 3.500",
                                      "mcpx_readers_lagging{envelopes=\"1\"} 2",
                                      "mcpx_readers_lagging{envelopes=\"10\"} 1",
                                      "mcpx_readers_lagging{envelopes=\"100\"} 0",
                                      NULL};
    struct peer *talks, *slow, *slower;

    talks = fixture_join("talks", "room-1");
    slow = fixture_join("slow", "room-1");
    say(talks, 5);
    slower = fixture_join("slower", "room-1"); /* is not behind with its history */
    flush(-1);
    expect_lines(nobody);
    peer_stall(slower);
    say(talks, 3);
    wait_ms(500);
    expect_lines(nobody); /* counted half a second ago */
    flush(-1);
    peer_stall(slow);
    say(talks, 9);
    flush(-1);
    wait_ms(3000);
    expect_lines(two);
    peer_unstall(slow, router.now);
    peer_unstall(slower, router.now);
    flush(-1);
    wait_ms(1000);
    expect_lines(nobody);
}

/* What comes within 20 ms is told from what comes within a second, and nothing counts twice. */
Test(http_metrics, tells_how_long_deliveries_take)
{
    static const char *const lines[] = {"mcpx_delivery_seconds_bucket{le=\"0.001\"} 0",
                                        "mcpx_delivery_seconds_bucket{le=\"0.010\"} 0",
                                        "mcpx_delivery_seconds_bucket{le=\"0.020\"} 3",
                                        "mcpx_delivery_seconds_bucket{le=\"0.200\"} 3",
                                        "mcpx_delivery_seconds_bucket{le=\"1.000\"} 5",
                                        "mcpx_delivery_seconds_bucket{le=\"5.000\"} 5",
                                        "mcpx_delivery_seconds_bucket{le=\"+Inf\"} 6",
                                        "mcpx_delivery_seconds_sum 9.660",
                                        "mcpx_delivery_seconds_count 6",
                                        NULL};
    static const struct {
        int count;
        int64_t ms;
    } rows[] = {{3, 20}, {2, 300}, {1, 9000}};
    struct peer *talks, *stops;

    talks = fixture_join("talks", "room-1");
    stops = fixture_join("stops", "room-1");
    (void)fixture_join("reads", "room-1");
    flush(-1);
    peer_stall(stops); /* is not waited for */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        say(talks, rows[i].count);
        wait_ms(rows[i].ms);
        flush(-1);
        hub_note_written(router.api.hub, router.now);
        hub_note_written(router.api.hub, router.now);
    }
    expect_lines(lines);
}

/* Each time it is asked, more time has passed: 80 ns, then 160 ns, and so on. */
static uint64_t slowing_ns(void)
{
    static uint64_t ns, step;

    return ns += step += 80;
}

/* The first is timed, and each 61st: 160 ns between the first two times it was asked, then 320. */
Test(http_metrics, times_the_matches_of_some_messages)
{
    static const char *const none[] = {"mcpx_match_seconds_sum 0.000000000",
                                       "mcpx_match_seconds_count 0", NULL};
    static const char *const one[] = {"mcpx_match_seconds_bucket{le=\"0.000000100\"} 0",
                                      "mcpx_match_seconds_bucket{le=\"0.000000250\"} 1",
                                      "mcpx_match_seconds_sum 0.000000160",
                                      "mcpx_match_seconds_count 1", NULL};
    static const char *const two[] = {"mcpx_match_seconds_bucket{le=\"0.000000250\"} 1",
                                      "mcpx_match_seconds_bucket{le=\"0.000000500\"} 2",
                                      "mcpx_match_seconds_bucket{le=\"0.010000000\"} 2",
                                      "mcpx_match_seconds_sum 0.000000480",
                                      "mcpx_match_seconds_count 2",
                                      NULL};
    struct peer *talks;

    talks = fixture_join("talks", "room-1");
    say(talks, HUB_MATCH_SAMPLE);
    expect_lines(none); /* without a clock */
    hub_time_matches(router.api.hub, slowing_ns);
    say(talks, HUB_MATCH_SAMPLE);
    expect_lines(one);
    say(talks, 1);
    expect_lines(two);
}

/* Nobody needs a log to see that it is a denial that refuses, or a grant that has ended. */
Test(http_metrics, counts_refused_kinds_by_reason)
{
    static const char *const lines[] = {
        "mcpx_refused_total{code=\"capability_violation\"} 1",
        "mcpx_capability_refused_total{reason=\"no_matching_grant\"} 0",
        "mcpx_capability_refused_total{reason=\"denied\"} 0",
        "mcpx_capability_refused_total{reason=\"grant_expired\"} 0",
        "mcpx_capability_refused_total{reason=\"target_not_allowed\"} 0",
        "mcpx_capability_refused_total{reason=\"reserved_namespace\"} 1",
        NULL};
    struct verdict verdict;

    hub_route(router.api.hub, fixture_join("talks", "room-1"),
              MCPX_SLICE("{\"protocol\":\"mcpx/v0.1\",\"id\":\"1\",\"kind\":\"system/x\","
                         "\"payload\":{}}"),
              router.now, &verdict);
    expect_lines(lines);
}

/* Which cap somebody runs into is seen without a log; each is there before the first refusal. */
Test(http_metrics, counts_what_was_over_a_cap_by_its_setting)
{
    char lines[CAP_COUNT][100];
    const char *expected[CAP_COUNT + 1] = {NULL};

    for (int cap = 0; cap < CAP_COUNT; cap++) {
        snprintf(lines[cap], sizeof lines[cap], "mcpx_cap_refusals_total{cap=\"%s\"} %d",
                 cap_setting((enum cap)cap), (cap + 1) % 3);
        expected[cap] = lines[cap];
        for (int i = 0; i < (cap + 1) % 3; i++)
            hub_note_cap(router.api.hub, (enum cap)cap);
    }
    expect_lines(expected);
}

/* With more messages coming in each turn than it has time to write a round of, no round ends. */
Test(http_metrics, times_deliveries_of_a_round_that_never_ends)
{
    enum { READERS = 8, TURNS = 40, OFFERED = 4 };
    struct peer *peers[READERS];
    const struct mx_histogram *times;
    uint64_t count = 0;

    for (int i = 0; i < READERS; i++) {
        char name[16];

        snprintf(name, sizeof name, "p%d", i);
        peers[i] = fixture_join(name, "room-1");
    }
    flush(-1);
    for (int i = 0; i < TURNS; i++) {
        say(peers[0], 1);
        wait_ms(10);
        flush(OFFERED);
        hub_note_written(router.api.hub, router.now);
    }
    times = &hub_stats(router.api.hub)->delivery;
    for (size_t i = 0; i <= MX_CLASSES_MAX; i++)
        count += times->counts[i];
    cr_expect_geq(count, TURNS - 2 * READERS / OFFERED - 1, "%d", (int)count);
    cr_expect_leq(times->sum / count, 2 * 10 * READERS / OFFERED, "%d ms each",
                  (int)(times->sum / count));
    cr_expect_geq(times->sum / count, 10, "%d ms each", (int)(times->sum / count));
}

/* Whom an alert is to wake has to be told why. */
Test(http_metrics, tells_why_connections_are_not_welcome)
{
    static const char *const reasons[] = {"store full",   "store failed", "store slow",
                                          "store locked", "audit full",   "audit failed",
                                          "audit slow"};
    char line[64];

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        snprintf(line, sizeof line, "mcpx_unready{reason=\"%s\"} 0", reasons[i]);
        expect_lines((const char *[]){line, NULL});
        router.api.store_why = reasons[i];
        snprintf(line, sizeof line, "mcpx_unready{reason=\"%s\"} 1", reasons[i]);
        expect_lines((const char *[]){line, "mcpx_unready{reason=\"draining\"} 0", NULL});
        router.api.store_why = NULL;
    }
    router.api.going = true;
    expect_lines((const char *[]){"mcpx_unready{reason=\"draining\"} 1",
                                  "mcpx_unready{reason=\"store full\"} 0", NULL});
}

/* A turn of 3 ms is slow for everybody who waits, and has to be seen. */
Test(http_metrics, tells_how_long_turns_of_the_loop_take)
{
    static const char *const lines[] = {"mcpx_loop_turn_seconds_bucket{le=\"0.001000\"} 1",
                                        "mcpx_loop_turn_seconds_bucket{le=\"0.005000\"} 2",
                                        "mcpx_loop_turn_seconds_sum 0.003040",
                                        "mcpx_loop_turn_seconds_count 2", NULL};
    struct mx_histogram turns = {0};

    mx_histogram_add(&turns, &stage_times, 1, 40);
    mx_histogram_add(&turns, &stage_times, 1, 3000);
    router.api.turns = &turns;
    expect_lines(lines);
}

static void wake_nobody(void *context)
{
    (void)context;
}

static void expect_no_room(void)
{
    fixture_get("/metrics", NULL);
    cr_expect_eq(occurrences(answer.text.text, "_free_bytes"), 0);
    cr_expect_eq(occurrences(answer.text.text, "\nmcpx_audit_lines_total 0\n"), 1);
}

/* An alert on room that is an hour old is silent about a disk that has gone away since. */
Test(http_metrics, leaves_out_the_room_of_a_disk_that_does_not_tell_it)
{
    static const char *const line[] = {"mcpx_store_free_bytes 0", NULL};
    struct disk_figures disks = {.store = 0, .audit = -1, .asked_ms = 70000};
    struct store *store = NULL;
    struct mcpx_text errors = {0};

    cr_assert_eq(store_new(&(struct store_config){0}, wake_nobody, NULL, &errors, &store),
                 MCPX_OK);
    router.api.store = store;
    router.api.disks = &disks;
    router.config.hub.stored = router.config.hub.audited = true;
    wait_ms(DISK_KNOWN_MS - 1);
    expect_lines(line);
    wait_ms(1);
    expect_no_room();
    disks = (struct disk_figures){-1, -1, router.now.mono_ms};
    expect_no_room();
    store_free(store);
}
