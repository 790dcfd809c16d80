/*
 * What breaks for whom: clients of the original router get other statuses than they know, a page
 * of a foreign origin reads a topic, a load balancer keeps sending people to a router that is
 * going away. Protocol: section 8.
 */
#include "http_fixture.h"
#include "router/http/http_reply.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(http_api, .init = fixture_init, .fini = fixture_fini);

Test(http_api, answers_known_and_unknown_paths)
{
    static const struct {
        const char *method, *target;
        int status;
        const char *line; /* a header to be there */
    } rows[] = {
        {"GET", "/health", 200, "Content-Type: application/json"},
        {"GET", "/health?x=%", 200, "Content-Type: application/json"},
        {"HEAD", "/livez", 200, "Content-Length: 18"},
        {"GET", "/livez", 200, "Content-Length: 18"},
        {"GET", "/readyz", 200, "Connection: close"},
        {"GET", "/metrics", 200, "Content-Type: text/plain; version=0.0.4; charset=utf-8"},
        {"GET", "/ws?topic=a", 400, "Vary: Origin"},
        {"GET", "/", 200, "Content-Type: text/plain; charset=utf-8"},
        {"GET", "/openapi.json", 200, "Content-Type: application/json"},
        {"GET", "/health/", 404, "Vary: Origin"},
        {"GET", "//health", 404, "Vary: Origin"},
        {"GET", "/v0.1/topics/room", 404, "Vary: Origin"},
        {"GET", "/v0.1/topics//history", 404, "Vary: Origin"},
        {"GET", "/admin/audit", 404, "Vary: Origin"},
        {"HEAD", "/nowhere", 404, "Vary: Origin"},
        {"GET", "*", 400, "Vary: Origin"},
        {"GET", "http://host/health", 400, "Vary: Origin"},
        {"GET", "", 400, "Vary: Origin"},
        {"POST", "/health", 405, "Allow: GET, HEAD, OPTIONS"},
        {"get", "/health", 405, "Allow: GET, HEAD, OPTIONS"},
        {"BREW", "/health", 405, "Allow: GET, HEAD, OPTIONS"},
        {"GET", "/v0.1/check", 405, "Allow: POST, OPTIONS"},
        {"HEAD", "/v0.1/tickets", 405, "Allow: POST, OPTIONS"},
        {"GET", "/v0.1/token", 405, "Allow: POST, OPTIONS"},
        {"POST", "/v0.1/token", 401, "WWW-Authenticate: Bearer"},
        {"DELETE", "/v0.1/topics", 405, "Allow: GET, HEAD, OPTIONS"},
        {"OPTIONS", "/v0.1/check", 204, "Allow: POST, OPTIONS"},
        {"OPTIONS", "/nowhere", 404, "Vary: Origin"},
        {"GET", "/v0.1/topics", 401, "WWW-Authenticate: Bearer"},
        {"GET", "/v0.1/topics/%zz/history", 400, "Vary: Origin"},
        {"GET", "/v0.1/topics/%0a/history", 400, "Vary: Origin"},
        {"GET", "/v0.1/topics/%ff/history", 400, "Vary: Origin"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture_ask(&(struct ask){rows[i].method, rows[i].target, NULL, NULL, NULL});
        cr_expect_eq(answer.status, rows[i].status, "%s %s: %d", rows[i].method,
                     rows[i].target, answer.status);
        cr_expect(answer_has(rows[i].line), "%s %s: %s", rows[i].method, rows[i].target,
                  answer.text.text);
    }
}

Test(http_api, says_how_long_it_has_been_well)
{
    fixture_get("/health", NULL);
    EXPECT_ANSWER("{\"status\":\"healthy\",\"uptime\":62.234,"
                  "\"timestamp\":\"2026-11-21T23:18:00.001Z\","
                  "\"protocol\":\"mcpx/v0.1\"}");
}

Test(http_api, is_alive_but_not_ready_while_draining)
{
    hub_drain(router.api.hub, router.now);
    fixture_get("/readyz", NULL);
    cr_expect_eq(answer.status, 503);
    cr_expect_str_eq(answer_string("code"), "draining");
    cr_expect(answer_has("Retry-After: 5"), "%s", answer.text.text);
    fixture_get("/livez", NULL);
    cr_expect_eq(answer.status, 200);
}

Test(http_api, asks_for_a_token_that_is_good_for_the_topic)
{
    const char *bearer = fixture_bearer("ann", "room", "[]");
    char *lower = strdup(bearer);

    memcpy(lower, "bEARER", 6);
    const struct {
        const char *authorization, *target;
        int status;
        const char *error;
    } rows[] = {
        {NULL, "/v0.1/topics", 401, "No token provided"},
        {"", "/v0.1/topics", 401, "No token provided"},
        {"Basic YTpi", "/v0.1/topics", 401, "No token provided"},
        {"Bearerx", "/v0.1/topics", 401, "No token provided"},
        {"Bearer", "/v0.1/topics", 401, "Invalid token"},
        {"Bearer  ", "/v0.1/topics", 401, "Invalid token"},
        {"Bearer nonsense", "/v0.1/topics", 401, "Invalid token"},
        {"Bearer a,  Bearer b", "/v0.1/topics", 401, "Invalid token"},
        {"Bearer a\r\nX: y", "/v0.1/topics", 401, "Invalid token"},
        {NULL, "/v0.1/topics/room/history?token=x", 401, "No token provided"},
        {bearer, "/v0.1/topics/other/history", 403, "Access denied to topic"},
        {bearer, "/v0.1/topics/room%2F/history", 403, "Access denied to topic"},
        {bearer, "/v0.1/topics/room/history", 200, ""},
        {bearer, "/v0.1/topics/r%6F%6fm/history", 200, ""},
        {lower, "/v0.1/topics/room/participants", 200, ""},
        {FIXTURE_FS_BEARER, "/v0.1/topics/room-7/history", 200, ""},
        {FIXTURE_FS_BEARER, "/v0.1/topics/room/history", 403, "Access denied to topic"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture_ask(&(struct ask){"GET", rows[i].target, rows[i].authorization, NULL, NULL});
        cr_expect_eq(answer.status, rows[i].status, "row %zu: %s", i, answer.text.text);
        cr_expect_str_eq(answer_string("error"), rows[i].error, "row %zu", i);
    }
    free(lower);
}

Test(http_api, names_topics_in_any_spelling)
{
    static const struct {
        const char *topic, *path;
    } rows[] = {
        {"room:general", "/v0.1/topics/room:general/participants"},
        {"room:general", "/v0.1/topics/room%3Ageneral/participants"},
        {"a/b", "/v0.1/topics/a%2Fb/participants"},
        {"a/b", "/v0.1/topics/a/b/participants"},
        {"x/history", "/v0.1/topics/x/history/participants"},
        {"b\xc3\xbcro", "/v0.1/topics/b%C3%BCro/participants"},
        {"1+1 %", "/v0.1/topics/1+1%20%25/participants"},
        {"..", "/v0.1/topics/../participants"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *bearer = fixture_bearer("ann", rows[i].topic, "[]");

        fixture_get(rows[i].path, bearer);
        cr_expect_eq(answer.status, 200, "%s: %s", rows[i].path, answer.text.text);
    }
}

Test(http_api, lets_pages_of_allowed_origins_read)
{
    static const struct {
        const char *method, *origin;
        int status;
        const char *line; /* to be there; NULL: no Access-Control header at all */
    } rows[] = {
        {"GET", NULL, 200, NULL},
        {"GET", "http://localhost:3001", 200,
         "Access-Control-Allow-Origin: http://localhost:3001"},
        {"GET", "https://a.example.org", 200,
         "Access-Control-Allow-Origin: https://a.example.org"},
        {"GET", "http://evil.example", 403, NULL},
        {"GET", "https://a.example.org.evil.example", 403, NULL},
        {"HEAD", "http://evil.example", 403, NULL},
        {"GET", "null", 403, NULL},
        {"GET", "", 403, NULL},
        {"GET", "http://localhost:1\r\nX: y", 403, NULL},
        {"OPTIONS", "http://localhost:3001", 204,
         "Access-Control-Allow-Methods: GET, HEAD, OPTIONS"},
        {"OPTIONS", "http://localhost:3001", 204,
         "Access-Control-Allow-Headers: Authorization, Content-Type"},
        {"OPTIONS", "http://evil.example", 403, NULL},
        {"OPTIONS", NULL, 204, NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture_ask(&(struct ask){rows[i].method, "/health", NULL, rows[i].origin, NULL});
        cr_expect_eq(answer.status, rows[i].status, "row %zu: %s", i, answer.text.text);
        if (rows[i].line)
            cr_expect(answer_has(rows[i].line), "row %zu: %s", i, answer.text.text);
        else
            cr_expect_not(strstr(answer.text.text, "Access-Control"), "row %zu", i);
    }
}

Test(http_api, lets_pages_read_refusals_too)
{
    fixture_ask(&(struct ask){"GET", "/v0.1/topics", NULL, "http://localhost:1", NULL});
    cr_expect_eq(answer.status, 401);
    cr_expect(answer_has("Access-Control-Allow-Origin: http://localhost:1"));
}

Test(http_api, refuses_bodies_beyond_the_bound)
{
    char *body = malloc(HTTP_BODY_MAX + 2);

    memset(body, ' ', HTTP_BODY_MAX + 1);
    body[HTTP_BODY_MAX + 1] = '\0';
    fixture_post("/v0.1/check", FIXTURE_FS_BEARER, body);
    cr_expect_eq(answer.status, 413, "%s", answer.text.text);
    free(body);
}

Test(http_api, explains_every_error_that_has_a_status)
{
    for (int err = 1; err < MCPX_ERR_COUNT; err++) {
        int status = mcpx_error_status((enum mcpx_err)err);

        struct http_reply reply = {0};

        answer_forget();
        http_reply_fail(&reply, (enum mcpx_err)err, err % 2 ? "a \"quoted\"\ndetail" : NULL);
        http_reply_write(&reply, &answer.text);
        http_reply_fini(&reply);
        cr_assert_eq(strncmp(answer.text.text, "HTTP/1.1 ", 9), 0);
        answer.status = atoi(answer.text.text + 9);
        cr_expect_eq(answer.status, status ? status : 500, "%s",
                     mcpx_strerror((enum mcpx_err)err));
        answer.json = json_loads(strstr(answer.text.text, "\r\n\r\n") + 4, 0, NULL);
        cr_expect_str_eq(answer_string("code"), mcpx_error_wire((enum mcpx_err)err));
        if (err % 2)
            cr_expect_str_eq(answer_string("detail"), "a \"quoted\"\ndetail");
        else /* a setting may stand behind it */
            cr_expect_eq(strstr(answer_string("detail"), mcpx_strerror((enum mcpx_err)err)),
                         answer_string("detail"));
    }
}
