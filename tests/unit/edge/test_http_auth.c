/*
 * What breaks for whom: anybody gets a token from a router that faces the world, existing clients
 * get none from one on their own desk, a browser's ticket lets two in. Protocol: sections 7, 8.
 */
#include "http_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(http_auth, .init = fixture_init, .fini = fixture_fini);

Test(http_auth, hands_out_tokens_in_dev_mode_only)
{
    static const char *const paths[] = {"/v0.1/auth/token", "/v0/auth/token"};
    const char *body = "{\"participantId\":\"ann\",\"topic\":\"room\"}";

    for (size_t i = 0; i < 2; i++) {
        router.config.dev = false;
        fixture_post(paths[i], NULL, body);
        cr_expect_eq(answer.status, 404, "%s", paths[i]);
        router.config.dev = true;
        fixture_post(paths[i], NULL, body);
        cr_expect_eq(answer.status, 200, "%s", answer.text.text);
        EXPECT_MEMBER("capabilities", "[\"mcp/*\",\"chat\"]");
    }
}

Test(http_auth, hands_out_tokens_that_open_doors)
{
    char bearer[4096];

    router.config.dev = true;
    fixture_post("/v0.1/auth/token", NULL,
                 "{\"participantId\":\"ann\",\"topic\":\"a/b\",\"capabilities\":"
                 "[\"chat\",{\"kind\":\"mcp/*\",\"to\":[\"fs\"]}],\"extra\":1}");
    cr_assert_eq(answer.status, 200, "%s", answer.text.text);
    EXPECT_MEMBER("capabilities", "[\"chat\",{\"kind\":\"mcp/*\",\"to\":[\"fs\"]}]");
    snprintf(bearer, sizeof bearer, "Bearer %s", answer_string("token"));
    fixture_get("/v0.1/topics/a%2Fb/participants", bearer);
    cr_expect_eq(answer.status, 200, "%s", answer.text.text);
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

    router.config.dev = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture_post("/v0.1/auth/token", NULL, rows[i].body);
        cr_expect_eq(answer.status, 400, "%s: %s", rows[i].body, answer.text.text);
        cr_expect_str_eq(answer_string("code"), rows[i].code, "%s", rows[i].body);
        cr_expect_eq(strncmp(answer_string("error"), rows[i].error, strlen(rows[i].error)), 0,
                     "%s: %s", rows[i].body, answer_string("error"));
    }
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

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture_post("/v0.1/tickets", rows[i].authorization, rows[i].body);
        cr_expect_eq(answer.status, rows[i].status, "row %zu: %s", i, answer.text.text);
        if (answer.status == 200) {
            cr_expect_eq(json_integer_value(json_object_get(answer.json, "expires_in")), 30);
            cr_expect_eq(strlen(answer_string("ticket")), 43);
        }
    }
}

/* At the cap of one it is the participant who is refused, and that is counted. */
Test(http_auth, stops_issuing_tickets_nobody_uses)
{
    static const struct {
        size_t each;
        int status, issued;
        uint64_t counted;
    } rows[] = {{0, 503, TICKETS_MAX, 0}, {3, 429, 3, 1}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int status = 200, issued = -1;

        fixture_again();
        tickets_set_each(router.api.tickets, rows[i].each);
        while (status == 200 && issued <= TICKETS_MAX) {
            fixture_post("/v0.1/tickets", FIXTURE_FS_BEARER, "{\"topic\":\"room-1\"}");
            status = answer.status;
            issued++;
        }
        cr_expect_eq(status, rows[i].status);
        cr_expect_eq(issued, rows[i].issued);
        cr_expect_eq(hub_stats(router.api.hub)->caps[CAP_TICKETS], rows[i].counted);
    }
}

/* A token of ann, with these capabilities, for `life_s`. */
static const char *bearer_of_ann(const char *can, int life_s)
{
    char claims[256];

    snprintf(claims, sizeof claims,
             "{\"sub\":\"ann\",\"topic\":\"room-1\",\"capabilities\":[\"%s\"],\"exp\":%lld}",
             can, (long long)(router.now.wall_ms / 1000 + life_s));
    return fixture_signed(claims);
}

static struct peer *come_in(struct mcpx_slice bearer, struct mcpx_slice named)
{
    struct admission admission = {.topic = MCPX_SLICE("room-1"), .instance = INSTANCE_AUTO};
    const struct credentials credentials = {.bearer = bearer, .named = named};
    struct grant *grant = NULL;
    struct peer *peer = NULL;

    cr_assert_eq(
        tokens_ask(router.config.tokens, &credentials, admission.topic, router.now, &grant),
        MCPX_OK);
    cr_assert_eq(hub_admit(router.api.hub, grant, &admission, NULL, router.now, &peer),
                 MCPX_OK);
    grant_unref(grant);
    return peer;
}

static int64_t left_s(const struct peer *peer)
{
    return (peer_grant(peer)->expires_ms - router.now.wall_ms + 500) / 1000;
}

/*
 * ann sits in a room for an hour (ann), a second window of hers came with the same token (ann~3);
 * her helper (ann~2) may chat for five seconds, another (ann~4) has all she has, for five seconds.
 */
Test(http_auth, renews_what_came_with_the_same_token_and_widens_no_other)
{
    static const struct {
        const char *what, *rest; /* of the body */
        bool replaces;           /* its own token */
        int status;
        const char *connections;
    } rows[] = {
        {"nothing is named", "", false, 404, NULL},
        {"a token nobody came with", ",\"replaces\":\"x\"", false, 404, NULL},
        {"the helper and its own token", ",\"id\":\"ann~2\"", true, 404, NULL},
        {"no string", ",\"replaces\":7", false, 400, NULL},
        {"one window", ",\"id\":\"ann~3\"", false, 200, "[\"ann~3\"]"},
        {"all of its token", "", true, 200, "[\"ann\",\"ann~3\"]"},
        {"the same again", "", true, 200, "[\"ann\",\"ann~3\"]"},
        {"those under it already", "", false, 200, "[\"ann\",\"ann~3\"]"},
    };
    const struct mcpx_slice none = {NULL, 0};
    const char *tokens[4], *fresh;
    char body[1024];
    struct peer *peers[4];

    router.config.hub.instances = 8;
    fixture_remake_hub();
    tokens[0] = tokens[2] = bearer_of_ann("*", 3600);
    tokens[1] = bearer_of_ann("chat", 5);
    tokens[3] = bearer_of_ann("*", 5);
    fresh = bearer_of_ann("*", 7200);
    for (size_t i = 0; i < 4; i++)
        peers[i] = come_in(mcpx_slice_of(tokens[i] + 7), none);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(body, sizeof body, "{\"topic\":\"room-1\"%s%s%s%s}", rows[i].rest,
                 rows[i].replaces ? ",\"replaces\":\"" : "",
                 rows[i].replaces ? tokens[0] + 7 : "", rows[i].replaces ? "\"" : "");
        fixture_post("/v0.1/token", fresh, body);
        cr_expect_eq(answer.status, rows[i].status, "%s: %s", rows[i].what, answer.text.text);
        if (rows[i].connections)
            cr_expect(
                json_equals(json_object_get(answer.json, "connections"), rows[i].connections),
                "%s: %s", rows[i].what, answer.text.text);
    }
    cr_expect_eq(left_s(peers[0]), 7200);
    cr_expect_eq(left_s(peers[1]), 5, "a helper is renewed");
    cr_expect_str_eq(peer_grant(peers[1])->capabilities.text, "[\"chat\"]");
    cr_expect_eq(left_s(peers[3]), 5, "a helper is renewed");
}

/* Nothing would end its connections that show no certificate: neither exp nor a revocation. */
Test(http_auth, renews_nothing_by_a_certificate_alone)
{
    static const char *const bodies[] = {"{\"topic\":\"room-1\"}",
                                         "{\"topic\":\"room-1\",\"id\":\"fs\"}"};
    const struct mcpx_slice none = {NULL, 0};

    come_in(mcpx_slice_of(strchr(FIXTURE_FS_BEARER, ' ') + 1), none);
    router.named = MCPX_SLICE("fs");
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        fixture_post("/v0.1/token", NULL, bodies[i]);
        cr_expect_eq(answer.status, 401, "%s", answer.text.text);
        fixture_post("/v0.1/token", FIXTURE_FS_BEARER, bodies[i]);
        cr_expect_eq(answer.status, 200, "%s", answer.text.text);
    }
}

/* An administrator keeps fs out of room-1: every door is shut, and the others stay open. */
Test(http_auth, opens_no_door_to_who_is_kept_out)
{
    static const struct ask rows[] = {
        {"POST", "/v0.1/tickets", FIXTURE_FS_BEARER, NULL, "{\"topic\":\"room-1\"}"},
        {"POST", "/v0.1/token", FIXTURE_FS_BEARER, NULL, "{\"topic\":\"room-1\"}"},
        {"POST", "/v0.1/check", FIXTURE_FS_BEARER, NULL,
         "{\"topic\":\"room-1\",\"kind\":\"chat\"}"},
        {"GET", "/v0.1/topics/room-1/history", FIXTURE_FS_BEARER, NULL, NULL},
        {"GET", "/v0.1/topics/room-1/participants", FIXTURE_FS_BEARER, NULL, NULL},
        {"GET", "/v0.1/topics/room-1/rate-limit", FIXTURE_FS_BEARER, NULL, NULL},
        {"POST", "/admin/participants/fs/capabilities", FIXTURE_FS_BEARER, NULL,
         "{\"topic\":\"room-1\",\"add\":[\"chat\"]}"},
        {"DELETE", "/admin/participants/fs?topic=room-1&for=0", FIXTURE_FS_BEARER, NULL, NULL},
    };
    const char *root = fixture_bearer("root", "room-1", "[\"admin/*\"]");

    fixture_join("root", "room-1");
    fixture_join("root", "room-2");
    fixture_ask(&(struct ask){"DELETE", "/admin/participants/fs?topic=room-1&for=60", root,
                              NULL, NULL});
    cr_assert_eq(answer.status, 200, "%s", answer.text.text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture_ask(&rows[i]);
        cr_expect_eq(answer.status, 403, "%s: %s", rows[i].target, answer.text.text);
        cr_expect_str_eq(answer_string("code"), "kicked", "%s", rows[i].target);
    }
    fixture_get("/v0.1/topics", FIXTURE_FS_BEARER);
    EXPECT_MEMBER("topics", "[\"room-2\"]");
    fixture_post("/v0.1/tickets", FIXTURE_FS_BEARER, "{\"topic\":\"room-2\"}");
    cr_expect_eq(answer.status, 200, "%s", answer.text.text);
}

/* An administrator grants what no message will ever ask for, and believes that it was granted. */
Test(http_auth, tells_an_administrator_of_a_typing_error)
{
    static const struct {
        const char *body, *warnings;
    } rows[] = {
        {"{\"topic\":\"room-1\",\"add\":[\"mcp/reqest:tools/call:x\",\"chat\"]}",
         "[\"grant \\\"mcp/reqest:tools/call:x\\\": covers no known kind; if that is a typing "
         "error, \\\"mcp/request:tools/call:x\\\" is meant\"]"},
        {"{\"topic\":\"room-1\",\"remove\":[\"mcp/request:tool/call:x\"]}",
         "[\"denial \\\"mcp/request:tool/call:x\\\": covers no known kind; if that is a "
         "typing "
         "error, \\\"mcp/request:tools/call:x\\\" is meant\"]"},
        {"{\"topic\":\"room-1\",\"add\":[\"mcp/request:tools/call:x\"]}", "[]"},
    };
    const char *root = fixture_bearer("root", "room-1", "[\"admin/*\"]");

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture_post("/admin/participants/fs/capabilities", root, rows[i].body);
        cr_expect_eq(answer.status, 200, "%s", answer.text.text);
        EXPECT_MEMBER("warnings", rows[i].warnings);
    }
}
