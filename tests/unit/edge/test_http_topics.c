/*
 * What breaks for whom: an agent that pages through history meets other bytes than were sent, a
 * hole, or the same envelope twice; somebody lists rooms that are none of its business.
 * Protocol: section 8, and section 1 (byte fidelity).
 */
#include "http_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static void get(struct fixture *fixture, const char *target, const char *bearer,
                struct answer *answer)
{
    fixture_ask(fixture, &(struct ask){"GET", target, bearer, NULL, NULL}, answer);
}

/* Ids of the envelopes under `key`, joined by spaces. */
static const char *ids_of(const struct answer *answer, const char *key)
{
    static char ids[8192];
    const json_t *list = json_object_get(answer->json, key);

    ids[0] = '\0';
    for (size_t i = 0; i < json_array_size(list); i++) {
        strcat(ids, i > 0 ? " " : "");
        strcat(ids, json_string_value(json_object_get(json_array_get(list, i), "id")));
    }
    return ids;
}

static void say_numbered(struct fixture *fixture, struct peer *peer, int number, size_t filler)
{
    char *text = malloc(filler + 200);
    int len = sprintf(text,
                      "{\"protocol\":\"mcpx/v0.1\",\"id\":\"m%d\",\"kind\":\"chat\","
                      "\"payload\":{\"text\":\"%*s\"}}",
                      number, (int)filler, "");

    cr_assert_gt(len, 0);
    fixture_say(fixture, peer, text);
    free(text);
}

Test(http_topics, lists_only_what_the_token_is_good_for)
{
    struct fixture fixture;
    struct answer answer;
    char *bearer;

    fixture_init(&fixture);
    fixture_join(&fixture, "ann", "room-2");
    fixture_join(&fixture, "ann", "private");
    fixture_join(&fixture, "bob", "room-1");
    get(&fixture, "/v0.1/topics", FIXTURE_FS_BEARER, &answer);
    cr_expect(json_equals(answer.json, "{\"topics\":[\"room-1\",\"room-2\"]}"), "%s",
              answer.text.text);
    answer_fini(&answer);

    bearer = fixture_bearer(&fixture, "eve", "private", "[]");
    get(&fixture, "/v0.1/topics", bearer, &answer);
    cr_expect(json_equals(answer.json, "{\"topics\":[\"private\"]}"), "%s", answer.text.text);
    answer_fini(&answer);
    free(bearer);

    bearer = fixture_bearer(&fixture, "eve", "elsewhere", "[]");
    get(&fixture, "/v0.1/topics", bearer, &answer);
    cr_expect(json_equals(answer.json, "{\"topics\":[]}"), "%s", answer.text.text);
    answer_fini(&answer);
    free(bearer);
    fixture_fini(&fixture);
}

Test(http_topics, tells_who_is_connected)
{
    struct fixture fixture;
    struct answer answer;
    char *bearer;

    fixture_init(&fixture);
    bearer = fixture_bearer(&fixture, "eve", "room", "[]");
    get(&fixture, "/v0.1/topics/room/participants", bearer, &answer);
    cr_expect(json_equals(answer.json, "{\"participants\":[]}"), "%s", answer.text.text);
    answer_fini(&answer);

    fixture_join(&fixture, "bob", "room");
    fixture_join(&fixture, "ann", "room");
    get(&fixture, "/v0.1/topics/room/participants", bearer, &answer);
    cr_expect(json_equals(answer.json,
                          "{\"participants\":[{\"id\":\"ann\",\"capabilities\":[\"*\"]},"
                          "{\"id\":\"bob\",\"capabilities\":[\"*\"]}]}"),
              "%s", answer.text.text);
    answer_fini(&answer);
    free(bearer);
    fixture_fini(&fixture);
}

Test(http_topics, pages_through_history_newest_first)
{
    static const struct {
        const char *query;
        int status;
        const char *ids; /* or the detail of a refusal */
        const char *next;
    } rows[] = {
        {"", 200, "m5 m4 m3 m2 m1", NULL},
        {"?limit=2", 200, "m5 m4", "m4"},
        {"?limit=5", 200, "m5 m4 m3 m2 m1", NULL},
        {"?after=m1&limit=2", 200, "m5 m4", "m4"},
        {"?after=m3&limit=2", 200, "m5 m4", NULL},
        {"?limit=1000", 200, "m5 m4 m3 m2 m1", NULL},
        {"?limit=0", 400, "limit must be a number from 1 to 1000", NULL},
        {"?limit=1001", 400, "limit must be a number from 1 to 1000", NULL},
        {"?limit=-1", 400, "limit must be a number from 1 to 1000", NULL},
        {"?limit=", 400, "limit must be a number from 1 to 1000", NULL},
        {"?limit=1&limit=2", 400, "limit is given twice", NULL},
        {"?before=m4", 200, "m3 m2 m1", NULL},
        {"?before=m4&limit=1", 200, "m3", "m3"},
        {"?after=m3", 200, "m5 m4", NULL},
        {"?after=m1&before=m4", 200, "m3 m2", NULL},
        {"?after=m4&before=m2", 200, "", NULL},
        {"?after=m5", 200, "", NULL},
        {"?before=%6d4", 200, "m3 m2 m1", NULL},
        {"?before=zz", 404, "before or after names no retained envelope", NULL},
        {"?after=zz", 404, "before or after names no retained envelope", NULL},
        {"?before=", 400, "before must be an envelope id of 1 to 256 bytes", NULL},
        {"?after=%4", 400, "after has malformed percent-encoding", NULL},
        {"?unknown=%4", 200, "m5 m4 m3 m2 m1", NULL},
    };
    struct fixture fixture;
    struct peer *peer;
    char *bearer;

    fixture_init(&fixture);
    bearer = fixture_bearer(&fixture, "eve", "room", "[]");
    peer = fixture_join(&fixture, "ann", "room");
    for (int i = 1; i <= 5; i++)
        say_numbered(&fixture, peer, i, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char target[128];
        struct answer answer;

        snprintf(target, sizeof target, "/v0.1/topics/room/history%s", rows[i].query);
        get(&fixture, target, bearer, &answer);
        cr_expect_eq(answer.status, rows[i].status, "%s: %s", target, answer.text.text);
        if (rows[i].status == 200) {
            cr_expect_str_eq(ids_of(&answer, "history"), rows[i].ids, "%s", target);
            cr_expect_str_eq(ids_of(&answer, "messages"), rows[i].ids, "%s", target);
            cr_expect(json_is_true(json_object_get(answer.json, "complete")), "%s", target);
            cr_expect_eq(json_object_get(answer.json, "next") != NULL, rows[i].next != NULL,
                         "%s", target);
            if (rows[i].next)
                cr_expect_str_eq(answer_string(&answer, "next"), rows[i].next, "%s", target);
        } else {
            cr_expect_str_eq(answer_string(&answer, "detail"), rows[i].ids, "%s", target);
        }
        answer_fini(&answer);
    }
    free(bearer);
    fixture_fini(&fixture);
}

Test(http_topics, treats_an_unknown_topic_like_an_empty_one)
{
    struct fixture fixture;
    struct answer answer;
    char *bearer;

    fixture_init(&fixture);
    bearer = fixture_bearer(&fixture, "eve", "room", "[]");
    get(&fixture, "/v0.1/topics/room/history", bearer, &answer);
    cr_expect(json_equals(answer.json, "{\"history\":[],\"messages\":[],\"complete\":true}"),
              "%s", answer.text.text);
    answer_fini(&answer);
    get(&fixture, "/v0.1/topics/room/history?after=m1", bearer, &answer);
    cr_expect_eq(answer.status, 404);
    answer_fini(&answer);
    free(bearer);
    fixture_fini(&fixture);
}

Test(http_topics, gives_history_back_byte_for_byte)
{
    /* With `ts` and `from`, so that the router has nothing to add. */
    static const char *const rows[] = {
        "{\"protocol\":\"mcpx/v0.1\",\"id\":\"a\",\"ts\":\"x\",\"from\":\"ann\","
        "\"kind\":\"chat\",\"payload\":{\"n\":1e400,\"big\":123456789012345678901234567890,"
        "\"d\":1.10,\"z\":-0,\"nul\":\"\\u0000\",\"k\":1,\"k\":2}}",
        "{ \"payload\" : { \"]\" : \"\\\"}],[{\" , \"half\" : \"\\ud800\" } "
        ",\t\"kind\":\"chat\","
        "\"x\":[1, 2,3],\"from\":\"ann\",\"ts\":\"\",\"id\":\"b\",\"protocol\":\"mcpx/v0.1\"}",
        ("{\"protocol\":\"mcpx\\/v0.1\",\"id\":\"\\u0063\",\"ts\":\"x\",\"from\":\"ann\","
         "\"kind\":\"chat\",\"payload\":{\"b\xc3\xbcro\":\"\xf0\x9f\x98\x80\"}}"),
    };
    struct fixture fixture;
    struct answer answer;
    struct peer *peer;
    char expected[4096];
    char *bearer;

    fixture_init(&fixture);
    bearer = fixture_bearer(&fixture, "eve", "room", "[]");
    peer = fixture_join(&fixture, "ann", "room");
    for (size_t i = 0; i < 3; i++)
        fixture_say(&fixture, peer, rows[i]);
    snprintf(expected, sizeof expected,
             "{\"history\":[%s,%s,%s],\"messages\":[%s,%s,%s],\"complete\":true}", rows[2],
             rows[1], rows[0], rows[2], rows[1], rows[0]);
    get(&fixture, "/v0.1/topics/room/history", bearer, &answer);
    cr_expect(mcpx_slice_equal(answer.body, mcpx_slice_of(expected)), "%s\n%s",
              answer.body.text, expected);
    answer_fini(&answer);
    free(bearer);
    fixture_fini(&fixture);
}

Test(http_topics, cuts_long_history_at_a_whole_envelope_and_says_so)
{
    struct fixture fixture;
    struct answer answer;
    struct peer *peer;
    char *bearer;
    char target[128] = "/v0.1/topics/room/history";
    int next = 20;

    fixture_init(&fixture);
    bearer = fixture_bearer(&fixture, "eve", "room", "[]");
    peer = fixture_join(&fixture, "ann", "room");
    /* 20 KiB each, but the 10th larger than a whole page. */
    for (int i = 1; i <= next; i++)
        say_numbered(&fixture, peer, i, i == 10 ? 300 * 1024 : 20 * 1024);
    for (bool complete = false; !complete;) {
        const json_t *page;

        get(&fixture, target, bearer, &answer);
        cr_assert_eq(answer.status, 200);
        page = json_object_get(answer.json, "history");
        complete = json_is_true(json_object_get(answer.json, "complete"));
        cr_assert(complete || json_array_size(page) > 0, "no way on from m%d", next + 1);
        cr_expect(answer.body.len <= 260 * 1024 || json_array_size(page) == 1, "%zu bytes",
                  answer.body.len);
        for (size_t i = 0; i < json_array_size(page); i++) {
            const json_t *id = json_object_get(json_array_get(page, i), "id");

            cr_expect_eq(atoi(json_string_value(id) + 1), next--);
        }
        cr_expect_eq(json_object_get(answer.json, "next") != NULL, !complete, "m%d", next);
        if (!complete)
            snprintf(target, sizeof target, "/v0.1/topics/room/history?before=%s",
                     answer_string(&answer, "next"));
        answer_fini(&answer);
    }
    cr_expect_eq(next, 0, "paging lost m%d", next);
    free(bearer);
    fixture_fini(&fixture);
}

Test(http_topics, tells_what_may_still_be_sent)
{
    struct fixture fixture;
    struct answer answer;
    struct peer *peer;
    char *bearer;

    fixture_init(&fixture);
    bearer = fixture_bearer(&fixture, "ann", "room", "[]");
    get(&fixture, "/v0.1/topics/room/rate-limit", bearer, &answer);
    cr_expect_eq(answer.status, 404);
    cr_expect_str_eq(answer_string(&answer, "error"), "Participant not found in topic");
    answer_fini(&answer);

    peer = fixture_join(&fixture, "ann", "room");
    say_numbered(&fixture, peer, 1, 1);
    get(&fixture, "/v0.1/topics/room/rate-limit", bearer, &answer);
    cr_expect_eq(answer.status, 200);
    cr_expect_eq(json_integer_value(json_object_get(answer.json, "messages")), 5999, "%s",
                 answer.text.text);
    cr_expect(json_is_integer(json_object_get(answer.json, "bytes")));
    cr_expect_str_eq(answer_string(&answer, "resetTime"), "2026-11-21T23:18:00.011Z");
    answer_fini(&answer);
    free(bearer);
    fixture_fini(&fixture);
}

Test(http_topics, says_null_where_nothing_is_limited)
{
    struct fixture fixture;
    struct answer answer;
    char *bearer;

    fixture_init(&fixture);
    fixture.config.hub.messages_per_minute = 0;
    fixture.config.hub.bytes_per_minute = 0;
    fixture_remake_hub(&fixture);
    bearer = fixture_bearer(&fixture, "ann", "room", "[]");
    fixture_join(&fixture, "ann", "room");
    get(&fixture, "/v0.1/topics/room/rate-limit", bearer, &answer);
    cr_expect(json_equals(answer.json, "{\"messages\":null,\"bytes\":null,"
                                       "\"resetTime\":\"2026-11-21T23:18:00.001Z\"}"),
              "%s", answer.text.text);
    answer_fini(&answer);
    free(bearer);
    fixture_fini(&fixture);
}

/* Topics of a router that has many, made in an order that is not the one they are told in. */
static void join_many(struct fixture *fixture, int count)
{
    char topic[32], name[32];

    for (int i = 0; i < count; i++) {
        snprintf(topic, sizeof topic, "room-%05d", (i * 7919) % count);
        snprintf(name, sizeof name, "p%d", i % 50);
        fixture_join(fixture, name, topic);
    }
}

/* The names of one page, which have to sort behind `last`, which is moved. How many there are. */
static size_t read_page(const struct answer *answer, const char *key, char last[64])
{
    const json_t *list = json_object_get(answer->json, key);

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        const char *name =
            json_string_value(json_is_object(entry) ? json_object_get(entry, "id") : entry);

        cr_assert(strcmp(name, last) > 0, "%s behind %s", name, last);
        snprintf(last, 64, "%s", name);
    }
    return json_array_size(list);
}

/* Follows the pages of a list to its end; returns how many names there were. */
static size_t follow(struct fixture *fixture, const char *path, const char *key, size_t limit)
{
    char target[256], last[64] = "", next[64] = "";
    size_t count, total = 0;

    do {
        struct answer answer;

        snprintf(target, sizeof target, "%s?limit=%zu%s%s", path, limit,
                 *next ? "&after=" : "", next);
        get(fixture, target, FIXTURE_FS_BEARER, &answer);
        cr_assert_eq(answer.status, 200, "%s: %s", target, answer.text.text);
        count = read_page(&answer, key, last);
        cr_expect_leq(count, limit);
        total += count;
        snprintf(next, sizeof next, "%s", answer_string(&answer, "next"));
        cr_expect_eq(json_is_false(json_object_get(answer.json, "complete")), *next != 0);
        answer_fini(&answer);
    } while (*next);
    return total;
}

Test(http_topics, lists_many_topics_in_pages)
{
    struct fixture fixture;
    struct answer answer;

    fixture_init(&fixture);
    join_many(&fixture, 2500);
    get(&fixture, "/v0.1/topics", FIXTURE_FS_BEARER, &answer);
    cr_expect_eq(json_array_size(json_object_get(answer.json, "topics")), 1000);
    cr_expect_str_eq(answer_string(&answer, "next"), "room-00999");
    answer_fini(&answer);
    cr_expect_eq(follow(&fixture, "/v0.1/topics", "topics", 1000), 2500);
    cr_expect_eq(follow(&fixture, "/v0.1/topics", "topics", 7), 2500);
    fixture_fini(&fixture);
}

Test(http_topics, lists_many_participants_in_pages)
{
    static const char path[] = "/v0.1/topics/room-1/participants";
    struct fixture fixture;
    struct answer answer;
    char name[32];

    fixture_init(&fixture);
    for (int i = 0; i < 2500; i++) {
        snprintf(name, sizeof name, "p%05d", (i * 7919) % 2500);
        fixture_join(&fixture, name, "room-1");
    }
    get(&fixture, path, FIXTURE_FS_BEARER, &answer);
    cr_expect_eq(json_array_size(json_object_get(answer.json, "participants")), 1000);
    cr_expect_str_eq(answer_string(&answer, "next"), "p00999");
    answer_fini(&answer);
    cr_expect_eq(follow(&fixture, path, "participants", 300), 2500);
    get(&fixture, "/v0.1/topics/room-1/participants?limit=0", FIXTURE_FS_BEARER, &answer);
    cr_expect_eq(answer.status, 400);
    answer_fini(&answer);
    fixture_fini(&fixture);
}

/* Topics come and go; who is in the middle of a list goes on where the name was. */
Test(http_topics, a_name_that_is_gone_is_still_a_place_to_go_on_from)
{
    struct fixture fixture;
    struct answer answer;

    fixture_init(&fixture);
    fixture_join(&fixture, "ann", "room-1");
    fixture_join(&fixture, "ann", "room-3");
    get(&fixture, "/v0.1/topics?after=room-2", FIXTURE_FS_BEARER, &answer);
    cr_expect(json_equals(answer.json, "{\"topics\":[\"room-3\"]}"), "%s", answer.text.text);
    answer_fini(&answer);
    get(&fixture, "/v0.1/topics?after=room-3", FIXTURE_FS_BEARER, &answer);
    cr_expect(json_equals(answer.json, "{\"topics\":[]}"), "%s", answer.text.text);
    answer_fini(&answer);
    get(&fixture, "/v0.1/topics?after=a&after=b", FIXTURE_FS_BEARER, &answer);
    cr_expect_eq(answer.status, 400);
    answer_fini(&answer);
    fixture_fini(&fixture);
}

static void fill_with_ones(void *context, void *bytes, size_t len)
{
    (void)context;
    memset(bytes, 1, len);
}

static uint64_t slow_work_ns(void)
{
    static uint64_t ns;

    return ns += 20 * (uint64_t)HTTP_WORK_NS;
}

/* A few costly requests a second, each counted as one, take all of the loop. */
Test(http_topics, a_request_counts_for_the_work_it_makes)
{
    static const char *const targets[] = {"/v0.1/topics", "/v0.1/topics/room/participants",
                                          "/v0.1/topics/room/history"};
    struct fixture fixture;
    struct answer answer;
    char *bearer;

    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        fixture_init(&fixture);
        bearer = fixture_bearer(&fixture, "ann", "room", "[]");
        fixture.api.gate = gate_new((struct chance){fill_with_ones, NULL}, 0, 60);
        fixture.api.work_ns = slow_work_ns;
        for (int request = 0; request < 2; request++) {
            get(&fixture, targets[i], bearer, &answer);
            cr_expect_eq(answer.status, request == 0 ? 200 : 429, "%s", targets[i]);
            answer_fini(&answer);
        }
        gate_free(fixture.api.gate);
        fixture.api.gate = NULL;
        free(bearer);
        fixture_fini(&fixture);
    }
}
