/*
 * Shares: whoever takes all that one may take leaves the others theirs. What breaks here is that
 * one host, or one token, keeps everybody else out. Protocol: sections 7 and 8; SECURITY.md.
 */
#include "tests/support/jwt.h"
#include "tests/support/key_pair.h"
#include "tests/support/rude_client.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static struct daemon router;

static const char livez[] = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
static const char metrics[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

/* Of "ann-token-0123456789abcdef". */
static const char ann_sha256[] =
    "3cf5305b9bfd6309e71832e24a02624d7954ce49fea9053cc7d65702533d102f";

/* The status of one request from an address of this machine. */
static int ask_from(const char *source, const char *request)
{
    struct mcpx_slice answer;
    struct rude rude;
    int status = 0;

    rude_open_from(&rude, &router, source);
    rude_say(&rude, request);
    answer = rude_drain(&rude);
    if (answer.len > 12)
        status = atoi(answer.text + strlen("HTTP/1.1 "));
    rude_shut(&rude);
    return status;
}

static int ask_as(const char *token, struct rude *rude)
{
    char request[8400];

    snprintf(request, sizeof request,
             "GET /v0.1/topics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n",
             token);
    return rude_http(rude, &router, request);
}

/* Over its rate an address is told so late or at once, and others are answered meanwhile. */
Test(shares, an_address_that_floods_keeps_no_other_out, .timeout = 120)
{
    enum { FLOOD = 60 };
    static struct rude flood[FLOOD];
    struct rude guest = {0};
    int refused = 0;

    daemon_start(&router, "{\"limits\":{\"connects_per_s\":8}}", 0);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < FLOOD; i++) {
            rude_open_from(&flood[i], &router, "127.0.0.2");
            rude_say(&flood[i], livez);
        }
        cr_expect_eq(ask_from("127.0.0.1", livez), 200, "round %d", round);
        cr_expect_eq(ask_from("127.0.0.3", metrics), 200, "round %d", round);
        for (int i = 0; i < FLOOD; i++) {
            struct mcpx_slice answer = rude_drain(&flood[i]);

            if (answer.len > 12 && strncmp(answer.text + 9, "429", 3) == 0) {
                cr_expect(strstr(answer.text, "(limits.connects_per_s)") &&
                              strstr(answer.text, "Retry-After"),
                          "%s", answer.text);
                refused++;
            }
            rude_shut(&flood[i]);
        }
    }
    cr_expect_geq(refused, 100, "%d", refused);
    rude_join(&guest, &router, "guest", "room", "");
    rude_shut(&guest);
    cr_expect_eq(daemon_stop(&router), 0);
}

/*
 * An agent of a team tries an old token again and again, and all of the team share an address:
 * none of the others comes in any more. Protocol: section 8.
 */
Test(shares, who_has_a_good_token_comes_in_where_somebody_tries_bad_ones, .timeout = 120)
{
    enum { BAD = 25, GOOD = 60 };
    static struct rude bad[BAD];
    static char headers[8400];
    struct rude good;
    int entered = 0;

    daemon_start(&router, "{\"limits\":{\"connects_per_s\":10}}", 0);
    snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\n",
             rude_token(&router, "ann", "room", "[]"));
    for (int i = 0; i < BAD; i++) {
        rude_open_from(&bad[i], &router, "127.0.0.2");
        rude_ask_upgrade(&bad[i], "/ws?topic=room", "Authorization: Bearer old\r\n");
    }
    for (int i = 0; i < GOOD; i++) {
        int64_t began_ms = support_now_ms();

        rude_open_from(&good, &router, "127.0.0.2");
        rude_ask_upgrade(&good, "/ws?topic=room&instance=auto", headers);
        entered += rude_pass_head(&good) == 101 && support_now_ms() - began_ms < 1000;
        rude_shut(&good);
    }
    cr_expect_geq(entered, 55, "%d of %d", entered, GOOD);
    for (int i = 0; i < BAD; i++) {
        struct mcpx_slice answer = rude_drain(&bad[i]);

        cr_expect(answer.len > 12 && answer.text[9] == '4', "%d: 401 or 429", i);
        rude_shut(&bad[i]);
    }
    cr_expect_gt(
        rude_metric(&router, "mcpx_cap_refusals_total{cap=\"limits.connects_per_s\"}"), 0);
    cr_expect_eq(daemon_stop(&router), 0);
}

/* Four keys without a name, in files; `config` is what names them. */
static void write_keys(char paths[4][64], char *config, size_t size)
{
    int len = snprintf(config, size,
                       "{\"listen\":[\"127.0.0.1:0\"],\"participants\":{\"ann\":{"
                       "\"token_sha256\":\"%s\",\"topics\":[\"*\"],\"grants\":[\"chat\"]}},"
                       "\"auth\":{\"jwt\":{\"keys\":[",
                       ann_sha256);

    for (int i = 0; i < 4; i++) {
        EVP_PKEY *pair = key_pair_new("P-521");
        char *pem = key_pair_pem(pair, 0);
        int fd;

        strcpy(paths[i], "/tmp/mcpx-key-XXXXXX");
        fd = mkstemp(paths[i]);
        cr_assert_eq(write(fd, pem, strlen(pem)), (ssize_t)strlen(pem));
        close(fd);
        len += snprintf(config + len, size - (size_t)len,
                        "%s{\"alg\":\"ES512\",\"public_key_file\":\"%s\"}", i ? "," : "",
                        paths[i]);
        free(pem);
        EVP_PKEY_free(pair);
    }
    snprintf(config + len, size - (size_t)len, "]}}}");
}

/* How many of them have their answer by now. */
static int count_answered(const struct rude *strangers, int count)
{
    int answered = 0;

    for (int i = 0; i < count; i++) {
        struct pollfd look = {.fd = strangers[i].fd, .events = POLLIN};

        answered += poll(&look, 1, 0) > 0;
    }
    return answered;
}

/*
 * Strangers show tokens that others have signed, each of which four keys are asked for: everybody
 * who is in a topic waits for the arithmetic. Here they do not, whoever comes first.
 */
Test(shares, signatures_of_strangers_hold_up_no_message, .timeout = 120)
{
    enum { STRANGERS = 64 };
    static struct rude strangers[STRANGERS];
    char paths[4][64], config[2048], headers[1024], source[32];
    EVP_PKEY *other = key_pair_new("P-521");
    char *token = key_pair_sign(other, "{\"alg\":\"ES512\"}", "{\"sub\":\"eve\"}", "ES512");
    struct rude ann = {0};
    struct frame echo;

    write_keys(paths, config, sizeof config);
    daemon_start_plain(&router, config);
    snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\n", token);
    cr_assert_eq(rude_enter(&ann, &router, "ann-token-0123456789abcdef", "/ws?topic=room"),
                 101);
    for (int i = 0; i < STRANGERS; i++) {
        snprintf(source, sizeof source, "127.0.1.%d", 1 + i);
        rude_open_from(&strangers[i], &router, source);
    }
    for (int i = 0; i < STRANGERS; i++)
        rude_ask_upgrade(&strangers[i], "/ws?topic=room", headers);
    rude_chat(&ann, "m1", "{}");
    cr_assert(rude_expect(&ann, "\"m1\"", &echo));
    cr_expect_lt(count_answered(strangers, STRANGERS), STRANGERS / 4,
                 "the echo waited for signatures");
    for (int i = 0; i < STRANGERS; i++) {
        struct mcpx_slice answer = rude_drain(&strangers[i]);

        cr_expect(answer.len > 12 && strncmp(answer.text + 9, "401", 3) == 0, "%d", i);
        rude_shut(&strangers[i]);
    }
    rude_shut(&ann);
    cr_expect_eq(daemon_stop(&router), 0);
    for (int i = 0; i < 4; i++)
        unlink(paths[i]);
    free(token);
    EVP_PKEY_free(other);
}

/* A hundred requests in a moment, where ten attempts a second are allowed. */
Test(shares, participants_with_a_token_cost_their_address_nothing, .timeout = 120)
{
    static char ann[8192];
    struct rude rude;

    daemon_start(&router, "{\"limits\":{\"connects_per_s\":10}}", 0);
    snprintf(ann, sizeof ann, "%s", rude_token(&router, "ann", "room", "[]"));
    for (int i = 0; i < 100; i++) {
        cr_assert_eq(ask_as(ann, &rude), 200, "%d: %s", i, rude.in.text);
        rude_shut(&rude);
    }
    cr_expect_eq(daemon_stop(&router), 0);
}

/*
 * A crowd that says nothing, and somebody who came before it. False when that took so long that he
 * may have been cut for his own silence.
 */
static bool crowd_leaves_others_in(int count, unsigned long descriptors)
{
    enum { CROWD_MAX = 1200, SILENCE_MS = 9000 };
    static struct rude crowd[CROWD_MAX];
    struct rude early;
    long start_ms;
    bool heard, in_time;
    int i;

    daemon_start(&router, "{\"limits\":{\"connects_per_s\":0}}", descriptors);
    start_ms = support_now_ms();
    rude_open_from(&early, &router, "127.0.0.1");
    cr_expect_eq(ask_from("127.0.0.1", livez), 200); /* it was accepted by now */
    for (i = 0; i < count; i++)
        rude_open_from(&crowd[i], &router, "127.0.0.2");
    cr_expect_eq(ask_from("127.0.0.3", livez), 200, "a newcomer");
    cr_expect_eq(ask_from("127.0.0.2", livez), 200, "one beside the crowd");
    cr_expect(daemon_logs(&router, "unauthenticated_cut"));
    cr_expect_not(daemon_logged(&router, "accept_paused"), "%d of %lu", count, descriptors);
    cr_expect_not(daemon_logged(&router, "turned_away"));
    rude_say(&early, livez);
    heard = rude_drain(&early).len > 12;
    rude_drain(&crowd[0]);
    heard = heard && rude_is_quiet(&crowd[count - 1], 100);
    in_time = support_now_ms() - start_ms < SILENCE_MS;
    cr_expect(heard || !in_time, "of the crowd the oldest makes way, nobody else");
    for (i = 0; i < count; i++)
        rude_shut(&crowd[i]);
    rude_shut(&early);
    cr_expect_eq(daemon_stop(&router), 0);
    return in_time;
}

Test(shares, silent_unauthenticated_connections_push_out_their_own, .timeout = 300)
{
    struct rlimit limit = {4096, 4096};
    int tries = 1;

    setrlimit(RLIMIT_NOFILE, &limit);
    while (!crowd_leaves_others_in(1200, 0) && tries < 10)
        tries++;
    while (!crowd_leaves_others_in(300, 128) && tries < 10)
        tries++;
    cr_expect_lt(tries, 10, "this machine is too slow to tell");
}

/* Requests at once; each counts by its work, of which sanitizers make more. */
#if defined(__SANITIZE_ADDRESS__)
enum { BURST = 2 };
#else
enum { BURST = 10 };
#endif

Test(shares, requests_of_a_participant_have_a_rate, .timeout = 120)
{
    static char ann[8192], bob[8192];
    struct rude rude;
    int passed = 0, refused = 0;

    daemon_start(&router, "{\"limits\":{\"connects_per_s\":0,\"requests_per_minute\":60}}", 0);
    snprintf(ann, sizeof ann, "%s", rude_token(&router, "ann", "room", "[]"));
    snprintf(bob, sizeof bob, "%s", rude_token(&router, "bob", "room", "[]"));
    for (int i = 0; i < 40; i++) {
        int status = ask_as(ann, &rude);

        passed += status == 200;
        refused += status == 429;
        if (status == 429)
            cr_expect(strstr(rude.in.text, "\"code\":\"request_rate\"") &&
                          strstr(rude.in.text, "(limits.requests_per_minute)") &&
                          strstr(rude.in.text, "Retry-After: "),
                      "%s", rude.in.text);
        rude_shut(&rude);
    }
    cr_expect_geq(passed, BURST, "%d", passed);
    cr_expect_geq(refused, 20, "%d", refused);
    cr_expect_eq(passed + refused, 40);
    cr_expect_eq(ask_as(bob, &rude), 200, "another one's share");
    rude_shut(&rude);
    cr_expect_eq(ask_from("127.0.0.1", metrics), 200);
    cr_expect_eq(daemon_stop(&router), 0);
}

static void join_as_filler(struct rude *rude, int topic)
{
    char target[64];

    snprintf(target, sizeof target, "/ws?topic=t%d&history=0", topic);
    rude_open(rude, &router, 0);
    rude_ask_upgrade(rude, target, "Authorization: Bearer filler-token\r\n");
    cr_assert_eq(rude_pass_head(rude), 101, "%d: %s", topic, rude->in.text);
    cr_assert(rude_expect(rude, "system/welcome", NULL), "%d", topic);
}

/*
 * 10,000 topics, each with 64 KiB of history where their own bounds allow 8 MiB: 640 MiB in all,
 * where 64 are allowed. In every 50th somebody stays. Besides the logs the process may grow by
 * 4 KiB a topic (its own state, and what malloc loses at the edges of pieces) and by 32 MiB
 * (sanitizers have memory of their own). Nobody is pinged: those who stay answer nothing meanwhile,
 * and a slow machine takes longer than they would be waited for.
 */
Test(shares, ten_thousand_topics_stay_below_the_bound_of_all_logs, .timeout = 600)
{
    enum { TOPICS = 10000, STAY = 50, MESSAGES = 4, BOUND = 64 << 20 };
    static struct rude stay[TOPICS / STAY];
    static char payload[16400];
    struct rlimit limit = {4096, 4096};
    struct rude rude;
    long rss, grown;
    char id[32];

    setrlimit(RLIMIT_NOFILE, &limit);
    daemon_start(
        &router,
        "{\"participants\":{\"filler\":{\"token_sha256\":\"3bd4bfe84934a205595472c61bcdbc7c"
        "85ba264ba23949ebafb8d312ed3d0088\",\"topics\":[\"*\"],"
        "\"grants\":[\"*\"]}},\"topics\":{\"max_per_participant\":0},"
        "\"limits\":{\"requests_per_minute\":0,\"ping_s\":0,\"log_bytes\":67108864}}",
        0);
    rss = daemon_rss_kib(&router);
    snprintf(payload, sizeof payload, "{\"x\":\"%0*d\"}", 16300, 0);
    for (int i = 0; i < TOPICS; i++) {
        join_as_filler(&rude, i);
        for (int j = 0; j < MESSAGES; j++) {
            snprintf(id, sizeof id, "m%d-%d", i, j);
            rude_chat(&rude, id, payload);
        }
        cr_assert(rude_expect(&rude, id, NULL), "%d", i);
        if (i % STAY == 0)
            stay[i / STAY] = rude;
        else
            rude_shut(&rude);
    }
    grown = daemon_rss_kib(&router) - rss;
    cr_expect_eq(rude_metric(&router, "mcpx_topics"), TOPICS);
    cr_expect_eq(rude_metric(&router, "mcpx_log_bytes_max"), BOUND);
    cr_expect_leq(rude_metric(&router, "mcpx_log_bytes"), BOUND);
    cr_expect_geq(rude_metric(&router, "mcpx_log_bytes"), BOUND / 2, "and makes use of it");
    cr_expect_leq(grown, (BOUND >> 10) + 4 * TOPICS + (32 << 10), "%ld KiB", grown);
    fprintf(stderr, "10,000 topics: %ld KiB grown, %ld bytes of logs\n", grown,
            rude_metric(&router, "mcpx_log_bytes"));
    for (int i = 0; i < TOPICS / STAY; i++) {
        rude_chat(&stay[i], "still", "{}");
        cr_expect(rude_expect(&stay[i], "\"still\"", NULL), "%d goes on", i);
        rude_shut(&stay[i]);
    }
    cr_expect_eq(daemon_stop(&router), 0);
}

/* What breaks: to come and to go takes as long as a table is that nobody needs. */
Test(shares, no_more_descriptors_are_prepared_for_than_connections_need, .timeout = 120)
{
    enum { CONNECTIONS = 100, OTHERS = 1024 + 256 };
    struct rlimit limit = {4096, 4096};

    setrlimit(RLIMIT_NOFILE, &limit);
    daemon_start(&router, "{\"limits\":{\"connections\":100}}", 0);
    cr_expect_eq(rude_metric(&router, "process_max_fds"), CONNECTIONS + OTHERS);
    cr_expect_eq(daemon_stop(&router), 0);
}

/* What breaks: one participant who comes, is sent away and does not answer keeps everybody out. */
Test(shares, those_who_do_not_answer_a_close_frame_use_up_no_descriptors, .timeout = 120)
{
    enum { CROWD = 600, DESCRIPTORS = 400, ROOM = DESCRIPTORS / 2, OTHERS = 60 };
    static struct rude crowd[CROWD];
    static char token[8192];
    struct rlimit limit = {4096, 4096};
    struct rude guest = {0};
    int open;

    setrlimit(RLIMIT_NOFILE, &limit);
    daemon_start(&router, NULL, DESCRIPTORS);
    snprintf(token, sizeof token, "%s", rude_token(&router, "ann", "room", "[]"));
    for (int i = 0; i < CROWD; i++) {
        cr_assert_eq(rude_enter(&crowd[i], &router, token, "/ws?topic=room&instance=auto"),
                     101);
        rude_frame(&crowd[i], BINARY, "", 0);
        cr_assert_eq(rude_close_code(&crowd[i]), 1003);
    }
    open = daemon_descriptors(&router);
    cr_expect(open > ROOM / 2 && open < ROOM + OTHERS, "%d", open);
    rude_join(&guest, &router, "guest", "room", "");
    rude_shut(&guest);
    cr_expect_not(daemon_logged(&router, "accept_paused"));
    for (int i = 0; i < CROWD; i++)
        rude_shut(&crowd[i]);
    cr_expect_eq(daemon_stop(&router), 0);
}
