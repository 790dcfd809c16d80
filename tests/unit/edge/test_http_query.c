/*
 * What breaks for whom: a topic named "a/b" or "büro" cannot be asked about, a parameter given
 * twice means one thing to a proxy and another to the router. Protocol: sections 7 and 8.
 */
#include "lib/base/scoped.h"
#include "router/http/http_reply.h"

#include <criterion/criterion.h>

static bool slice_is(struct mcpx_slice slice, const char *text)
{
    return text ? slice.text && mcpx_slice_equal(slice, mcpx_slice_of(text)) : !slice.text;
}

Test(http_query, splits_targets_at_the_first_question_mark)
{
    static const struct {
        const char *target, *path, *query;
    } rows[] = {
        {"/", "/", NULL},
        {"/ws", "/ws", NULL},
        {"/ws?", "/ws", ""},
        {"/ws?topic=a", "/ws", "topic=a"},
        {"/a%2Fb?x=?&y", "/a%2Fb", "x=?&y"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct http_target target;

        cr_expect(http_target_parse(mcpx_slice_of(rows[i].target), &target));
        cr_expect(slice_is(target.path, rows[i].path), "%s", rows[i].target);
        cr_expect(slice_is(target.query, rows[i].query), "%s", rows[i].target);
    }
}

Test(http_query, refuses_targets_that_are_no_path)
{
    static const char *const rows[] = {"",     "*",          "ws",   "http://host/ws",
                                       "/a b", "/a\r\nX: y", "/\x7f"};
    struct http_target target;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_not(http_target_parse(mcpx_slice_of(rows[i]), &target), "%s", rows[i]);
    cr_expect_not(http_target_parse((struct mcpx_slice){"/a\0b", 4}, &target));
}

Test(http_query, undoes_percent_encoding)
{
    static const struct {
        const char *raw;
        enum http_plus plus;
        const char *decoded; /* NULL: malformed */
    } rows[] = {
        {"", HTTP_PLUS_SPACE, ""},
        {"room", HTTP_PLUS_SPACE, "room"},
        {"a%2fb%2F", HTTP_PLUS_SPACE, "a/b/"},
        {"b%C3%BCro", HTTP_PLUS_SPACE, "b\xc3\xbcro"},
        {"a+b%2B", HTTP_PLUS_SPACE, "a b+"},
        {"a+b%2B", HTTP_PLUS_LITERAL, "a+b+"},
        {"%2525", HTTP_PLUS_SPACE, "%25"},
        {"%", HTTP_PLUS_SPACE, NULL},
        {"%4", HTTP_PLUS_SPACE, NULL},
        {"a%4g", HTTP_PLUS_SPACE, NULL},
        {"%+1", HTTP_PLUS_SPACE, NULL},
        {"%u0041", HTTP_PLUS_SPACE, NULL},
    };
    mx_scoped_text scratch = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mcpx_slice out = {0};
        bool fine = http_decode(mcpx_slice_of(rows[i].raw), rows[i].plus, &scratch, &out);

        cr_expect_eq(fine, rows[i].decoded != NULL, "%s", rows[i].raw);
        cr_expect(slice_is(out, rows[i].decoded), "%s", rows[i].raw);
    }
}

Test(http_query, finds_the_parameters_somebody_understands)
{
    static const struct {
        const char *query;
        const char *fault;
        const char *topic, *after;
    } rows[] = {
        {"", NULL, NULL, NULL},
        {"topic=a", NULL, "a", NULL},
        {"topic", NULL, "", NULL},
        {"&&x=1&topic=a&", NULL, "a", NULL},
        {"after=b&topic=a%26c", NULL, "a&c", "b"},
        {"topic=a=b", NULL, "a=b", NULL},
        {"Topic=a", NULL, NULL, NULL},
        {"t%6Fpic=a", NULL, "a", NULL},
        {"x=%zz&%zz=1", NULL, NULL, NULL},
        {"x=1&x=2", NULL, NULL, NULL},
        {"averyveryverylongname=1", NULL, NULL, NULL},
        {"topic=a&topic=a", "topic is given twice", "a", NULL},
        {"topic=a&t%6fpic=b", "topic is given twice", "a", NULL},
        {"topic=&topic=", "topic is given twice", "", NULL},
        {"topic=%4", "topic has malformed percent-encoding", NULL, NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct http_param params[] = {{.name = "topic"}, {.name = "after"}};
        struct http_reply reply = {0};

        mcpx_text_reserve(&reply.scratch, strlen(rows[i].query));
        cr_expect_eq(http_params_read(mcpx_slice_of(rows[i].query), params, 2, &reply),
                     !rows[i].fault, "%s", rows[i].query);
        cr_expect(slice_is(mcpx_text_view(&reply.detail), rows[i].fault), "%s", rows[i].query);
        cr_expect(slice_is(params[0].value, rows[i].topic), "%s", rows[i].query);
        cr_expect(slice_is(params[1].value, rows[i].after), "%s", rows[i].query);
        http_reply_fini(&reply);
    }
}
