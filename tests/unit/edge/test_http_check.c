/*
 * What breaks for whom: an agent asks first and is told otherwise than the router then decides, or
 * a participant learns what others are granted. Protocol: sections 3, 6 and 8.
 */
#include "http_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(http_check, .init = fixture_init, .fini = fixture_fini);

Test(http_check, decides_and_says_why)
{
    static const struct {
        const char *body, *decision;
    } rows[] = {
        /* itself: FIXTURE_FS_GRANTS */
        {"{\"kind\":\"chat\"}", "{\"allowed\":true,\"reason\":\"allowed\",\"grant\":\"chat\","
                                "\"nearest\":\"chat\"}"},
        {"{\"kind\":\"chat\",\"participant\":\"fs\"}",
         "{\"allowed\":true,\"reason\":\"allowed\",\"grant\":\"chat\",\"nearest\":\"chat\"}"},
        {"{\"kind\":\"chat\",\"participant\":\"fs~2\"}",
         "{\"allowed\":true,\"reason\":\"allowed\",\"grant\":\"chat\",\"nearest\":\"chat\"}"},
        {"{\"kind\":\"system/error\"}",
         "{\"allowed\":false,\"reason\":\"reserved_namespace\"}"},
        /* a list of grants */
        {"{\"kind\":\"mcp/request:tools/call:rm\",\"capabilities\":[\"mcp/proposal:*\"]}",
         "{\"allowed\":false,\"reason\":\"no_matching_grant\",\"nearest\":\"mcp/proposal:*\","
         "\"would_allow\":\"mcp/request:tools/call:rm\","
         "\"alternative\":\"mcp/proposal:tools/call:rm\"}"},
        {"{\"kind\":\"chat\",\"capabilities\":[]}",
         "{\"allowed\":false,\"reason\":\"no_matching_grant\",\"would_allow\":\"chat\"}"},
        {"{\"kind\":\"chat\",\"to\":[\"ann\"],"
         "\"capabilities\":[{\"kind\":\"chat\",\"to\":[\"bob\"]}]}",
         "{\"allowed\":false,\"reason\":\"target_not_allowed\"}"},
        {"{\"kind\":\"chat\",\"to\":[\"bob\"],"
         "\"capabilities\":[{\"kind\":\"chat\",\"to\":[\"bob\"]}]}",
         "{\"allowed\":true,\"reason\":\"allowed\"}"},
        {"{\"kind\":\"chat\",\"to\":[\"bob~2\",\"bob\"],"
         "\"capabilities\":[{\"kind\":\"chat\",\"to\":[\"bob\"]}]}",
         "{\"allowed\":true,\"reason\":\"allowed\"}"},
        {"{\"kind\":\"chat\",\"to\":[\"bobby~2\"],"
         "\"capabilities\":[{\"kind\":\"chat\",\"to\":[\"bob\"]}]}",
         "{\"allowed\":false,\"reason\":\"target_not_allowed\"}"},
        {"{\"kind\":\"chat\",\"capabilities\":"
         "[{\"kind\":\"chat\",\"expires\":\"2026-11-21T23:18:00Z\"}]}",
         "{\"allowed\":false,\"reason\":\"grant_expired\"}"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *expected = json_loads(rows[i].decision, 0, NULL);
        const char *name;
        json_t *value;

        fixture_post("/v0.1/check", FIXTURE_FS_BEARER, rows[i].body);
        cr_expect_eq(answer.status, 200, "%s: %s", rows[i].body, answer.text.text);
        json_object_foreach(expected, name, value)
            cr_expect(json_equal(json_object_get(answer.json, name), value), "%s: %s",
                      rows[i].body, answer.text.text);
        json_decref(expected);
    }
}

Test(http_check, says_what_is_wrong_with_a_question)
{
    static const struct {
        const char *body, *code, *detail; /* detail: its beginning */
    } rows[] = {
        {"{}", "bad_request", "kind is required"},
        {"{\"kind\":7}", "bad_request", "kind must be a string"},
        {"{\"kind\":\"a::b\"}", "invalid_kind", "kind: "},
        {"{\"kind\":\"\"}", "invalid_kind", "kind: "},
        {"{\"kind\":\"chat\",\"to\":\"ann\"}", "bad_request", "to must be an array"},
        {"{\"kind\":\"chat\",\"to\":[7]}", "bad_request", "to must be an array"},
        {"{\"kind\":\"chat\",\"to\":[\"\"]}", "bad_request", "to must be an array"},
        {"{\"kind\":\"chat\",\"participant\":{}}", "bad_request",
         "participant must be a string"},
        {"{\"kind\":\"chat\",\"capabilities\":{}}", "bad_request",
         "capabilities must be an array"},
        {"{\"kind\":\"chat\",\"capabilities\":[\"a b\"]}", "invalid_pattern",
         "capabilities: "},
        {"{\"kind\":\"chat\",\"capabilities\":[],\"participant\":\"fs\"}", "bad_request",
         "give participant or capabilities, but not both"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture_post("/v0.1/check", FIXTURE_FS_BEARER, rows[i].body);
        cr_expect_eq(answer.status, 400, "%s: %s", rows[i].body, answer.text.text);
        cr_expect_str_eq(answer_string("code"), rows[i].code, "%s", rows[i].body);
        cr_expect_eq(strncmp(answer_string("detail"), rows[i].detail, strlen(rows[i].detail)),
                     0, "%s: %s", rows[i].body, answer.text.text);
    }
}

Test(http_check, tells_about_others_only_to_those_who_may_ask)
{
    static const struct {
        const char *capabilities, *body;
        int status;
    } rows[] = {
        {"[\"chat\"]", "{\"kind\":\"chat\",\"participant\":\"fs\"}", 403},
        {"[\"chat\"]", "{\"kind\":\"chat\",\"participant\":\"nobody\"}", 403},
        {"[\"chat\"]", "{\"kind\":\"chat\",\"participant\":\"ann\"}", 200},
        {"[\"admin/check\"]", "{\"kind\":\"chat\",\"participant\":\"fs\"}", 200},
        {"[\"admin/*\"]", "{\"kind\":\"chat\",\"participant\":\"fs\"}", 200},
        {"[\"*\"]", "{\"kind\":\"chat\",\"participant\":\"fs\"}", 200},
        {"[\"*\"]", "{\"kind\":\"chat\",\"participant\":\"fs~3\"}", 200},
        {"[\"admin/*\"]", "{\"kind\":\"chat\",\"participant\":\"nobody\"}", 404},
        {"[{\"kind\":\"admin/*\",\"to\":[\"fs\"]}]",
         "{\"kind\":\"chat\",\"participant\":\"fs\"}", 403},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *bearer = fixture_bearer("ann", "room", rows[i].capabilities);

        fixture_post("/v0.1/check", bearer, rows[i].body);
        cr_expect_eq(answer.status, rows[i].status, "row %zu: %s", i, answer.text.text);
    }
}

/* Compiling patterns takes time that everybody else waits for. */
Test(http_check, bounds_the_list_of_grants)
{
    for (int count = 64; count <= 65; count++) {
        struct mcpx_text body = {0};

        mcpx_text_puts(&body, "{\"kind\":\"chat\",\"capabilities\":[\"chat\"");
        for (int i = 1; i < count; i++)
            mcpx_text_puts(&body, ",\"chat\"");
        mcpx_text_puts(&body, "]}");
        fixture_post("/v0.1/check", FIXTURE_FS_BEARER, body.text);
        cr_expect_eq(answer.status, count == 64 ? 200 : 400, "%d: %s", count,
                     answer.text.text);
        if (count > 64)
            cr_expect_str_eq(answer_string("detail"),
                             "capabilities must hold at most 64 grants");
        mcpx_text_fini(&body);
    }
}

Test(http_check, bounds_the_bytes_of_the_list)
{
    struct mcpx_text body = {0};

    mcpx_text_puts(&body, "{\"kind\":\"chat\",\"capabilities\":[\"chat:");
    for (int i = 0; i < 8192; i++)
        mcpx_text_puts(&body, "x");
    mcpx_text_puts(&body, "\"]}");
    fixture_post("/v0.1/check", FIXTURE_FS_BEARER, body.text);
    cr_expect_eq(answer.status, 400, "%s", answer.text.text);
    cr_expect_str_eq(answer_string("detail"), "capabilities must be at most 8192 bytes");
    mcpx_text_fini(&body);
}
