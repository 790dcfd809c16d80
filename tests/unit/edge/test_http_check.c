/*
 * What breaks for whom: an agent asks first and is told otherwise than the router then decides, or
 * a participant learns what others are granted. Protocol: sections 3, 6 and 8.
 */
#include "http_fixture.h"
#include "lib/base/scoped.h"
#include "tests/support/rows.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(http_check, .init = fixture_init, .fini = fixture_fini);

static void expect_decision(char *const row[])
{
    json_auto_t *expected = json_loads(row[1], 0, NULL);
    const char *name;
    json_t *value;

    fixture_post("/v0.1/check", FIXTURE_FS_BEARER, row[0]);
    cr_expect_eq(answer.status, 200, "%s: %s", row[0], answer.text.text);
    json_object_foreach(expected, name, value)
        cr_expect(json_equal(json_object_get(answer.json, name), value), "%s: %s", row[0],
                  answer.text.text);
}

Test(http_check, decides_and_says_why)
{
    rows_each("edge/rows/check", "decided", expect_decision);
}

static void expect_refusal(char *const row[])
{
    fixture_post("/v0.1/check", FIXTURE_FS_BEARER, row[0]);
    cr_expect_eq(answer.status, 400, "%s: %s", row[0], answer.text.text);
    cr_expect_str_eq(answer_string("code"), row[1], "%s", row[0]);
    cr_expect_eq(strncmp(answer_string("detail"), row[2], strlen(row[2])), 0, "%s: %s", row[0],
                 answer.text.text);
}

Test(http_check, says_what_is_wrong_with_a_question)
{
    rows_each("edge/rows/check", "refused", expect_refusal);
}

static void expect_status(char *const row[])
{
    fixture_post("/v0.1/check", fixture_bearer("ann", "room", row[0]), row[1]);
    cr_expect_eq(answer.status, atoi(row[2]), "%s %s: %s", row[0], row[1], answer.text.text);
}

Test(http_check, tells_about_others_only_to_those_who_may_ask)
{
    rows_each("edge/rows/check", "of others", expect_status);
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
    mx_scoped_text body = {0};

    mcpx_text_puts(&body, "{\"kind\":\"chat\",\"capabilities\":[\"chat:");
    for (int i = 0; i < 8192; i++)
        mcpx_text_puts(&body, "x");
    mcpx_text_puts(&body, "\"]}");
    fixture_post("/v0.1/check", FIXTURE_FS_BEARER, body.text);
    cr_expect_eq(answer.status, 400, "%s", answer.text.text);
    cr_expect_str_eq(answer_string("detail"), "capabilities must be at most 8192 bytes");
}
