/*
 * What breaks for whom: anybody gets a token from a router that faces the world, existing clients
 * get none from one on their own desk, a browser's ticket lets two in. Protocol: sections 7, 8.
 */
#include "http_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static void post(struct fixture *fixture, const char *target, const char *bearer,
                 const char *body, struct answer *answer)
{
    fixture_ask(fixture, &(struct ask){"POST", target, bearer, NULL, body}, answer);
}

Test(http_auth, hands_out_tokens_in_dev_mode_only)
{
    static const char *const paths[] = {"/v0.1/auth/token", "/v0/auth/token"};
    const char *body = "{\"participantId\":\"ann\",\"topic\":\"room\"}";
    struct fixture fixture;
    struct answer answer;

    fixture_init(&fixture);
    for (size_t i = 0; i < 2; i++) {
        fixture.config.dev = false;
        post(&fixture, paths[i], NULL, body, &answer);
        cr_expect_eq(answer.status, 404, "%s", paths[i]);
        answer_fini(&answer);
        fixture.config.dev = true;
        post(&fixture, paths[i], NULL, body, &answer);
        cr_expect_eq(answer.status, 200, "%s", answer.text.text);
        cr_expect(
            json_equals(json_object_get(answer.json, "capabilities"), "[\"mcp/*\",\"chat\"]"));
        answer_fini(&answer);
    }
    fixture_fini(&fixture);
}

Test(http_auth, hands_out_tokens_that_open_doors)
{
    struct fixture fixture;
    struct answer answer;
    char bearer[4096];

    fixture_init(&fixture);
    fixture.config.dev = true;
    post(&fixture, "/v0.1/auth/token", NULL,
         "{\"participantId\":\"ann\",\"topic\":\"a/b\",\"capabilities\":"
         "[\"chat\",{\"kind\":\"mcp/*\",\"to\":[\"fs\"]}],\"extra\":1}",
         &answer);
    cr_assert_eq(answer.status, 200, "%s", answer.text.text);
    cr_expect(json_equals(json_object_get(answer.json, "capabilities"),
                          "[\"chat\",{\"kind\":\"mcp/*\",\"to\":[\"fs\"]}]"));
    snprintf(bearer, sizeof bearer, "Bearer %s", answer_string(&answer, "token"));
    answer_fini(&answer);
    fixture_ask(&fixture,
                &(struct ask){"GET", "/v0.1/topics/a%2Fb/participants", bearer, NULL, NULL},
                &answer);
    cr_expect_eq(answer.status, 200, "%s", answer.text.text);
    answer_fini(&answer);
    fixture_fini(&fixture);
}

Test(http_auth, says_what_is_wrong_with_a_token_request)
{
    static const struct {
        const char *body, *code, *error; /* error: its beginning */
    } rows[] = {
        {NULL, "bad_request", "body is empty"},
        {"{}", "bad_request", "participantId and topic are required"},
        {"{\"participantId\":\"ann\"}", "bad_request", "participantId and topic are required"},
        {"{\"topic\":\"room\"}", "bad_request", "participantId and topic are required"},
        {"{\"participantId\":\"\",\"topic\":\"room\"}", "bad_request",
         "participantId and topic are required"},
        {"{\"participantId\":7,\"topic\":\"room\"}", "bad_request",
         "participantId must be a string"},
        {"{\"participantId\":\"ann\",\"topic\":[\"room\"]}", "bad_request",
         "topic must be a string"},
        {"{\"participantId\":\"ann\",\"topic\":null}", "bad_request",
         "topic must be a string"},
        {"{\"participantId\":\"System:x\",\"topic\":\"room\"}", "bad_request",
         "participantId must be"},
        {"{\"participantId\":\"desk~2\",\"topic\":\"room\"}", "bad_request",
         "participantId must be"},
        {"{\"participantId\":\"ann\",\"topic\":\"a\\nb\"}", "bad_topic", "topic must be"},
        {"{\"participantId\":\"ann\",\"topic\":\"room\",\"capabilities\":\"chat\"}",
         "bad_request", "capabilities must be an array"},
        {"{\"participantId\":\"ann\",\"topic\":\"room\",\"capabilities\":[\"a::b\"]}",
         "invalid_pattern", "capabilities: "},
        {"{\"participantId\":\"ann\",\"topic\":\"room\",\"capabilities\":[7]}", "bad_request",
         "capabilities: "},
        {"{\"topic\":\"a\",\"topic\":\"b\"}", "bad_request",
         "body names a member twice (line 1, column "},
        {"{\"topic\":\"a\"}x", "bad_request", "body is not valid JSON (line 1, column "},
        {"{\"topic\":\"a\\u0000\"}", "bad_request", "body is not valid JSON (line 1, column "},
        {"{", "bad_request", "body is not valid JSON (line 1, column "},
        {"[]", "bad_request", "body must be a JSON object"},
        {"7", "bad_request", "body is not valid JSON"},
        {"\xff", "bad_request", "body is not valid JSON"},
    };
    struct fixture fixture;

    fixture_init(&fixture);
    fixture.config.dev = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct answer answer;

        post(&fixture, "/v0.1/auth/token", NULL, rows[i].body, &answer);
        cr_expect_eq(answer.status, 400, "%s: %s", rows[i].body, answer.text.text);
        cr_expect_str_eq(answer_string(&answer, "code"), rows[i].code, "%s", rows[i].body);
        cr_expect_eq(
            strncmp(answer_string(&answer, "error"), rows[i].error, strlen(rows[i].error)), 0,
            "%s: %s", rows[i].body, answer_string(&answer, "error"));
        answer_fini(&answer);
    }
    fixture_fini(&fixture);
}

Test(http_auth, issues_tickets_for_topics_the_token_is_good_for)
{
    static const struct {
        const char *authorization, *body;
        int status;
    } rows[] = {
        {NULL, "{\"topic\":\"room-1\"}", 401},
        {"Bearer nonsense", "{\"topic\":\"room-1\"}", 401},
        {FIXTURE_FS_BEARER, "{\"topic\":\"other\"}", 403},
        {FIXTURE_FS_BEARER, "{\"topic\":7}", 400},
        {FIXTURE_FS_BEARER, "{\"topic\":\"\"}", 400},
        {FIXTURE_FS_BEARER, "{}", 400},
        {FIXTURE_FS_BEARER, NULL, 400},
        {FIXTURE_FS_BEARER, "{\"topic\":\"room-1\"}", 200},
    };
    struct fixture fixture;

    fixture_init(&fixture);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct answer answer;

        post(&fixture, "/v0.1/tickets", rows[i].authorization, rows[i].body, &answer);
        cr_expect_eq(answer.status, rows[i].status, "row %zu: %s", i, answer.text.text);
        if (answer.status == 200) {
            cr_expect_eq(json_integer_value(json_object_get(answer.json, "expires_in")), 30);
            cr_expect_eq(strlen(answer_string(&answer, "ticket")), 43);
        }
        answer_fini(&answer);
    }
    fixture_fini(&fixture);
}

Test(http_auth, stops_issuing_tickets_nobody_uses)
{
    struct fixture fixture;
    struct answer answer;
    int status = 200, issued = -1;

    fixture_init(&fixture);
    while (status == 200 && issued <= TICKETS_MAX) {
        post(&fixture, "/v0.1/tickets", FIXTURE_FS_BEARER, "{\"topic\":\"room-1\"}", &answer);
        status = answer.status;
        issued++;
        answer_fini(&answer);
    }
    cr_expect_eq(status, 503);
    cr_expect_eq(issued, TICKETS_MAX);
    fixture_fini(&fixture);
}
