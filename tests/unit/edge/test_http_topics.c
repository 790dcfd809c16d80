/*
 * What breaks for whom: an agent that pages through history meets other bytes than were sent, a
 * hole, or the same envelope twice; somebody lists rooms that are none of its business.
 * Protocol: section 8, and section 1 (byte fidelity).
 */
#include "http_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(http_topics, .init = fixture_init, .fini = fixture_fini);

/* Ids of the envelopes under `key`, joined by spaces. */
static const char *ids_of(const char *key)
{
    static char ids[8192];
    const json_t *list = json_object_get(answer.json, key);

    ids[0] = '\0';
    for (size_t i = 0; i < json_array_size(list); i++) {
        strcat(ids, i > 0 ? " " : "");
        strcat(ids, json_string_value(json_object_get(json_array_get(list, i), "id")));
    }
    return ids;
}

static void say_numbered(struct peer *peer, int number, size_t filler)
{
    char *text = malloc(filler + 200);
    int len = sprintf(text,
                      "{\"protocol\":\"mcpx/v0.1\",\"id\":\"m%d\",\"kind\":\"chat\","
                      "\"payload\":{\"text\":\"%*s\"}}",
                      number, (int)filler, "");

    cr_assert_gt(len, 0);
    fixture_say(peer, text);
    free(text);
}

Test(http_topics, lists_only_what_the_token_is_good_for)
{
    const char *bearer;

    fixture_join("ann", "room-2");
    fixture_join("ann", "private");
    fixture_join("bob", "room-1");
    fixture_get("/v0.1/topics", FIXTURE_FS_BEARER);
    EXPECT_ANSWER("{\"topics\":[\"room-1\",\"room-2\"]}");

    bearer = fixture_bearer("eve", "private", "[]");
    fixture_get("/v0.1/topics", bearer);
    EXPECT_ANSWER("{\"topics\":[\"private\"]}");

    bearer = fixture_bearer("eve", "elsewhere", "[]");
    fixture_get("/v0.1/topics", bearer);
    EXPECT_ANSWER("{\"topics\":[]}");
}

Test(http_topics, tells_who_is_connected)
{
    const char *bearer = fixture_bearer("eve", "room", "[]");

    fixture_get("/v0.1/topics/room/participants", bearer);
    EXPECT_ANSWER("{\"participants\":[]}");

    fixture_join("bob", "room");
    fixture_join("ann", "room");
    fixture_get("/v0.1/topics/room/participants", bearer);
    EXPECT_ANSWER("{\"participants\":[{\"id\":\"ann\",\"capabilities\":[\"*\"]},"
                  "{\"id\":\"bob\",\"capabilities\":[\"*\"]}]}");
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
    const char *bearer = fixture_bearer("eve", "room", "[]");
    struct peer *peer = fixture_join("ann", "room");

    for (int i = 1; i <= 5; i++)
        say_numbered(peer, i, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char target[128];

        snprintf(target, sizeof target, "/v0.1/topics/room/history%s", rows[i].query);
        fixture_get(target, bearer);
        cr_expect_eq(answer.status, rows[i].status, "%s: %s", target, answer.text.text);
        if (rows[i].status == 200) {
            cr_expect_str_eq(ids_of("history"), rows[i].ids, "%s", target);
            cr_expect_str_eq(ids_of("messages"), rows[i].ids, "%s", target);
            cr_expect(json_is_true(json_object_get(answer.json, "complete")), "%s", target);
            cr_expect_eq(json_object_get(answer.json, "next") != NULL, rows[i].next != NULL,
                         "%s", target);
            if (rows[i].next)
                cr_expect_str_eq(answer_string("next"), rows[i].next, "%s", target);
        } else {
            cr_expect_str_eq(answer_string("detail"), rows[i].ids, "%s", target);
        }
    }
}

Test(http_topics, treats_an_unknown_topic_like_an_empty_one)
{
    const char *bearer = fixture_bearer("eve", "room", "[]");

    fixture_get("/v0.1/topics/room/history", bearer);
    EXPECT_ANSWER("{\"history\":[],\"messages\":[],\"complete\":true}");
    fixture_get("/v0.1/topics/room/history?after=m1", bearer);
    cr_expect_eq(answer.status, 404);
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
    const char *bearer = fixture_bearer("eve", "room", "[]");
    struct peer *peer = fixture_join("ann", "room");
    char expected[4096];

    for (size_t i = 0; i < 3; i++)
        fixture_say(peer, rows[i]);
    snprintf(expected, sizeof expected,
             "{\"history\":[%s,%s,%s],\"messages\":[%s,%s,%s],\"complete\":true}", rows[2],
             rows[1], rows[0], rows[2], rows[1], rows[0]);
    fixture_get("/v0.1/topics/room/history", bearer);
    cr_expect(mcpx_slice_equal(answer.body, mcpx_slice_of(expected)), "%s\n%s",
              answer.body.text, expected);
}

Test(http_topics, cuts_long_history_at_a_whole_envelope_and_says_so)
{
    const char *bearer = fixture_bearer("eve", "room", "[]");
    struct peer *peer = fixture_join("ann", "room");
    char target[128] = "/v0.1/topics/room/history";
    int next = 20;

    /* 20 KiB each, but the 10th larger than a whole page. */
    for (int i = 1; i <= next; i++)
        say_numbered(peer, i, i == 10 ? 300 * 1024 : 20 * 1024);
    for (bool complete = false; !complete;) {
        const json_t *page;

        fixture_get(target, bearer);
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
                     answer_string("next"));
    }
    cr_expect_eq(next, 0, "paging lost m%d", next);
}

Test(http_topics, tells_what_may_still_be_sent)
{
    struct peer *peer;
    const char *bearer = fixture_bearer("ann", "room", "[]");

    fixture_get("/v0.1/topics/room/rate-limit", bearer);
    cr_expect_eq(answer.status, 404);
    cr_expect_str_eq(answer_string("error"), "Participant not found in topic");

    peer = fixture_join("ann", "room");
    say_numbered(peer, 1, 1);
    fixture_get("/v0.1/topics/room/rate-limit", bearer);
    cr_expect_eq(answer.status, 200);
    cr_expect_eq(json_integer_value(json_object_get(answer.json, "messages")), 5999, "%s",
                 answer.text.text);
    cr_expect(json_is_integer(json_object_get(answer.json, "bytes")));
    cr_expect_str_eq(answer_string("resetTime"), "2026-11-21T23:18:00.011Z");
}

Test(http_topics, says_null_where_nothing_is_limited)
{
    const char *bearer;

    router.config.hub.messages_per_minute = 0;
    router.config.hub.bytes_per_minute = 0;
    fixture_remake_hub();
    bearer = fixture_bearer("ann", "room", "[]");
    fixture_join("ann", "room");
    fixture_get("/v0.1/topics/room/rate-limit", bearer);
    EXPECT_ANSWER("{\"messages\":null,\"bytes\":null,"
                  "\"resetTime\":\"2026-11-21T23:18:00.001Z\"}");
}

/* Topics of a router that has many, made in an order that is not the one they are told in. */
static void join_many(int count)
{
    char topic[32], name[32];

    for (int i = 0; i < count; i++) {
        snprintf(topic, sizeof topic, "room-%05d", (i * 7919) % count);
        snprintf(name, sizeof name, "p%d", i % 50);
        fixture_join(name, topic);
    }
}

/* The names of one page, which have to sort behind `last`, which is moved. How many there are. */
static size_t read_page(const char *key, char last[64])
{
    const json_t *list = json_object_get(answer.json, key);

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
static size_t follow(const char *path, const char *key, size_t limit)
{
    char target[256], last[64] = "", next[64] = "";
    size_t count, total = 0;

    do {
        snprintf(target, sizeof target, "%s?limit=%zu%s%s", path, limit,
                 *next ? "&after=" : "", next);
        fixture_get(target, FIXTURE_FS_BEARER);
        cr_assert_eq(answer.status, 200, "%s: %s", target, answer.text.text);
        count = read_page(key, last);
        cr_expect_leq(count, limit);
        total += count;
        snprintf(next, sizeof next, "%s", answer_string("next"));
        cr_expect_eq(json_is_false(json_object_get(answer.json, "complete")), *next != 0);
    } while (*next);
    return total;
}

Test(http_topics, lists_many_topics_in_pages)
{
    join_many(2500);
    fixture_get("/v0.1/topics", FIXTURE_FS_BEARER);
    cr_expect_eq(json_array_size(json_object_get(answer.json, "topics")), 1000);
    cr_expect_str_eq(answer_string("next"), "room-00999");
    cr_expect_eq(follow("/v0.1/topics", "topics", 1000), 2500);
    cr_expect_eq(follow("/v0.1/topics", "topics", 7), 2500);
}

Test(http_topics, lists_many_participants_in_pages)
{
    static const char path[] = "/v0.1/topics/room-1/participants";
    char name[32];

    for (int i = 0; i < 2500; i++) {
        snprintf(name, sizeof name, "p%05d", (i * 7919) % 2500);
        fixture_join(name, "room-1");
    }
    fixture_get(path, FIXTURE_FS_BEARER);
    cr_expect_eq(json_array_size(json_object_get(answer.json, "participants")), 1000);
    cr_expect_str_eq(answer_string("next"), "p00999");
    cr_expect_eq(follow(path, "participants", 300), 2500);
    fixture_get("/v0.1/topics/room-1/participants?limit=0", FIXTURE_FS_BEARER);
    cr_expect_eq(answer.status, 400);
}

/* Topics come and go; who is in the middle of a list goes on where the name was. */
Test(http_topics, a_name_that_is_gone_is_still_a_place_to_go_on_from)
{
    fixture_join("ann", "room-1");
    fixture_join("ann", "room-3");
    fixture_get("/v0.1/topics?after=room-2", FIXTURE_FS_BEARER);
    EXPECT_ANSWER("{\"topics\":[\"room-3\"]}");
    fixture_get("/v0.1/topics?after=room-3", FIXTURE_FS_BEARER);
    EXPECT_ANSWER("{\"topics\":[]}");
    fixture_get("/v0.1/topics?after=a&after=b", FIXTURE_FS_BEARER);
    cr_expect_eq(answer.status, 400);
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
    const char *bearer;

    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        bearer = fixture_bearer("ann", "room", "[]");
        router.api.rates = rate_limits_new((struct chance){fill_with_ones, NULL}, 0, 60);
        router.api.work_ns = slow_work_ns;
        for (int request = 0; request < 2; request++) {
            fixture_get(targets[i], bearer);
            cr_expect_eq(answer.status, request == 0 ? 200 : 429, "%s", targets[i]);
        }
        rate_limits_free(router.api.rates);
        router.api.rates = NULL;
    }
}
