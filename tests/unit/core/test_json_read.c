/*
 * What breaks for whom: a participant that decides by a member which another reader sees
 * differently, or not at all, acts on something nobody granted. Protocol: sections 1 and 2.
 */
#include <mcpx/json.h>

#include "tests/support/count.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define S(literal) MCPX_SLICE(literal)
#define T(literal)                                                                            \
    {                                                                                         \
        (literal), sizeof(literal) - 1                                                        \
    } /* in static tables */

static void expect_slice(struct mcpx_slice found, const char *expected, const char *row)
{
    if (!expected)
        cr_expect_null(found.text, "%s gives %.*s", row, (int)found.len, found.text);
    else
        cr_expect(found.text && mcpx_slice_equal(found, mcpx_slice_of(expected)),
                  "%s gives %.*s", row, (int)found.len, found.text ? found.text : "");
}

Test(json_read, a_value_has_the_type_its_first_byte_says)
{
    static const struct {
        const char *text;
        enum mcpx_json_type type;
    } rows[] = {
        {NULL, MCPX_JSON_ABSENT}, {"", MCPX_JSON_ABSENT},       {"\"\"", MCPX_JSON_STRING},
        {"0", MCPX_JSON_NUMBER},  {"-1e400", MCPX_JSON_NUMBER}, {"{}", MCPX_JSON_OBJECT},
        {"[1]", MCPX_JSON_ARRAY}, {"true", MCPX_JSON_BOOL},     {"false", MCPX_JSON_BOOL},
        {"null", MCPX_JSON_NULL},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        cr_expect_eq(mcpx_json_type(mcpx_slice_of(rows[i].text)), rows[i].type, "%s",
                     rows[i].text ? rows[i].text : "absent");
}

Test(json_read, a_check_gives_the_value_without_the_space_around_it)
{
    static const struct {
        const char *text;
        const char *value;
    } rows[] = {
        {"{}", "{}"},   {" \r\n\t{\"a\":1}\n", "{\"a\":1}"},
        {" 12 ", "12"}, {"\"x\" ", "\"x\""},
        {"[ ]", "[ ]"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_slice value = {NULL, 0};

        cr_expect_eq(mcpx_json_check(mcpx_slice_of(rows[i].text), 0, &value, NULL), MCPX_OK,
                     "%s", rows[i].text);
        expect_slice(value, rows[i].value, rows[i].text);
    }
}

Test(json_read, a_check_says_what_is_wrong_and_where)
{
    static const struct {
        const char *text;
        size_t depth_max;
        enum mcpx_err err;
        size_t offset;
    } rows[] = {
        {"", 0, MCPX_EINVALID, 0},      {"{\"a\":1,}", 0, MCPX_EINVALID, 7},
        {"{} {}", 0, MCPX_EINVALID, 3}, {"[[1]]", 1, MCPX_EINVALID, 1},
        {"\"\xff\"", 0, MCPX_EUTF8, 1}, {"\xef\xbb\xbf{}", 0, MCPX_EINVALID, 0},
        {"[1", 0, MCPX_EINVALID, 2},    {"nul", 0, MCPX_EINVALID, 3},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_slice text = mcpx_slice_of(rows[i].text), value = S("untouched");
        struct mcpx_fault fault = {NULL, NULL, 99};

        cr_expect_eq(mcpx_json_check(text, rows[i].depth_max, &value, &fault), rows[i].err,
                     "%s", rows[i].text);
        cr_expect_eq(fault.offset, rows[i].offset, "%s: %zu", rows[i].text, fault.offset);
        cr_expect(fault.reason && *fault.reason, "%s", rows[i].text);
        expect_slice(value, "untouched", rows[i].text);
        cr_expect_eq(mcpx_json_check(text, rows[i].depth_max, &value, NULL), rows[i].err, "%s",
                     rows[i].text);
    }
}

/* "name=value;" for each step of a walk; "-" for an absent name */
static char *walked(const char *text)
{
    struct mcpx_text out = {0};
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, mcpx_slice_of(text));
    mcpx_text_puts(&out, "");
    while (mcpx_json_walk_next(&walk)) {
        mcpx_text_slice(&out, walk.name.text ? walk.name : S("-"));
        mcpx_text_puts(&out, "=");
        mcpx_text_slice(&out, walk.value);
        mcpx_text_puts(&out, ";");
    }
    cr_expect_not(mcpx_json_walk_next(&walk), "%s goes on after its end", text);
    cr_expect_null(walk.value.text, "%s", text);
    return out.text;
}

Test(json_read, a_walk_passes_over_every_member_and_item_in_order)
{
    static const struct {
        const char *text;
        const char *steps;
    } rows[] = {
        {NULL, ""},
        {"{}", ""},
        {"{ }", ""},
        {"[]", ""},
        {"[\n]", ""},
        {"1", ""},
        {"\"[1]\"", ""},
        {"null", ""},
        {"{\"a\":1}", "a=1;"},
        {"{\"\":\"\"}", "=\"\";"},
        {"{ \"a\" : 1 , \"b\" : 2 }", "a=1;b=2;"},
        {"{\"a\":1,\"a\":2}", "a=1;a=2;"},
        {"{\"\\u0061\":{\"x\":[1,{}]},\"b\":[]}", "\\u0061={\"x\":[1,{}]};b=[];"},
        {"{\"}\":\"{\",\"\\\"\":\"\\\\\",\"]\":\"[\\\"]\"}",
         "}=\"{\";\\\"=\"\\\\\";]=\"[\\\"]\";"},
        {"[1,2,3]", "-=1;-=2;-=3;"},
        {"[ [ ] , { } ]", "-=[ ];-={ };"},
        {"[\"a\",-1.5e+3,true,false,null]", "-=\"a\";-=-1.5e+3;-=true;-=false;-=null;"},
        {"[123456789012345678901234567890,1e400,1.10]",
         "-=123456789012345678901234567890;-=1e400;-=1.10;"},
        {"{\"a\":[{\"b\":\"]}\"}],\"c\":0}", "a=[{\"b\":\"]}\"}];c=0;"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char *steps = walked(rows[i].text);

        cr_expect_str_eq(steps, rows[i].steps, "%s", rows[i].text ? rows[i].text : "absent");
        free(steps);
    }
}

/* Whoever hands over a text that was never checked gets nonsense, but no read beyond its end. */
Test(json_read, a_walk_through_any_cut_of_a_text_ends_within_it)
{
    static const char whole[] =
        "{\"a\\u00e9\":[1,{\"b\":\"]\"},null],\"c\":-1.5e3,\"d\":\"\\n\"}";

    for (size_t len = 0; len < sizeof whole - 1; len++)
        for (size_t from = 0; from < len; from++) {
            char *copy = malloc(len - from);
            struct mcpx_json_walk walk;
            int steps = 0;

            memcpy(copy, whole + from, len - from);
            mcpx_json_walk_start(&walk, (struct mcpx_slice){copy, len - from});
            while (mcpx_json_walk_next(&walk))
                cr_assert_leq(steps++, 60);
            free(copy);
        }
}

Test(json_read, a_nested_value_costs_no_stack)
{
    enum { DEPTH = 65000 };
    char *text = malloc(DEPTH * 2);
    struct mcpx_json_walk walk;

    memset(text, '[', DEPTH);
    memset(text + DEPTH, ']', DEPTH);
    mcpx_json_walk_start(&walk, (struct mcpx_slice){text, DEPTH * 2});
    cr_assert(mcpx_json_walk_next(&walk));
    cr_expect_eq(walk.value.len, DEPTH * 2 - 2);
    cr_expect_not(mcpx_json_walk_next(&walk));
    free(text);
}

Test(json_read, a_member_is_found_by_what_its_name_stands_for)
{
    static const struct {
        const char *object;
        const char *name;
        const char *value;
        size_t count;
    } rows[] = {
        {"{\"name\":1}", "name", "1", 1},
        {"{\"\\u006eame\":1}", "name", "1", 1},
        {"{\"\\u006E\\u0061me\":1}", "name", "1", 1},
        {"{\"n\":0,\"name\":1,\"\\u006eame\":2}", "name", "1", 2},
        {"{\"name\":1,\"name\":1,\"name\":1}", "name", "1", 3},
        {"{\"Name\":1,\"nam\":2,\"names\":3,\"\":4}", "name", NULL, 0},
        {"{\"name\\u0000\":1}", "name", NULL, 0},
        {"{\"x\":{\"name\":1}}", "name", NULL, 0},
        {"{\"x\":\"name\"}", "name", NULL, 0},
        {"{\"\":1}", "", "1", 1},
        {"{\"a/b\":1}", "a/b", "1", 1},
        {"{\"a\\/b\":1}", "a/b", "1", 1},
        {"{\"\\ud83d\\ude00\":1}", "\xf0\x9f\x98\x80", "1", 1},
        {"[\"name\",1]", "name", NULL, 0},
        {"[\"\"]", "", NULL, 0},
        {"\"name\"", "name", NULL, 0},
        {NULL, "name", NULL, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_slice object = mcpx_slice_of(rows[i].object);
        const char *row = rows[i].object ? rows[i].object : "absent";

        expect_slice(mcpx_json_get(object, rows[i].name), rows[i].value, row);
        cr_expect_eq(mcpx_json_count(object, rows[i].name), rows[i].count, "%s", row);
    }
}

Test(json_read, a_string_equals_the_text_it_stands_for)
{
    static const struct {
        const char *value;
        struct mcpx_slice text;
        bool equal;
    } rows[] = {
        {"\"tools/call\"", T("tools/call"), true},
        {"\"tools\\/call\"", T("tools/call"), true},
        {"\"\\u0074ools\\u002fcall\"", T("tools/call"), true},
        {"\"tools\\/call\"", T("tools\\/call"), false},
        {"\"tools/call \"", T("tools/call"), false},
        {"\"tools/cal\"", T("tools/call"), false},
        {"\"\"", T(""), true},
        {"\"\\u0000\"", T("\0"), true},
        {"\"\\u0000\"", T(""), false},
        {"\"\xc3\xa9\"", T("\xc3\xa9"), true},
        {"\"\\u00E9\"", T("\xc3\xa9"), true},
        {"\"\\ud83d\\ude00\"", T("\xf0\x9f\x98\x80"), true},
        {"\"\\ud83d\"", T("\xef\xbf\xbd"), false},
        {"\"e\\u0301\"", T("\xc3\xa9"), false}, /* no normalisation */
        {"1", T("1"), false},
        {"null", T("null"), false},
        {"[\"a\"]", T("a"), false},
        {NULL, T(""), false},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        cr_expect_eq(mcpx_json_equals(mcpx_slice_of(rows[i].value), rows[i].text),
                     rows[i].equal, "%s and %s", rows[i].value ? rows[i].value : "absent",
                     rows[i].text.text);
}

Test(json_read, an_unescaped_string_is_appended_whole_or_not_at_all)
{
    static const struct {
        const char *value;
        const char *text; /* NULL: refused */
    } rows[] = {
        {"\"\"", ""},
        {"\"abc\"", "abc"},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u00e9\\u20ac\\ud83d\\ude00\"", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\"a\\ud83d\"", NULL},
        {"\"\\ude00\\ud83d\"", NULL},
        {"\"\\ud83dx\"", NULL},
        {"12", NULL},
        {"{}", NULL},
        {NULL, NULL},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *row = rows[i].value ? rows[i].value : "absent";
        struct mcpx_text out = {0};
        char expected[64];

        mcpx_text_puts(&out, "> ");
        cr_expect_eq(mcpx_json_add_unescaped(&out, mcpx_slice_of(rows[i].value)),
                     rows[i].text != NULL, "%s", row);
        snprintf(expected, sizeof expected, "> %s", rows[i].text ? rows[i].text : "");
        cr_expect_str_eq(out.text, expected, "%s", row);
        cr_expect_eq(out.len, strlen(expected), "%s", row);
        mcpx_text_fini(&out);
    }
}

Test(json_read, counts_items_and_members)
{
    static const struct {
        const char *value;
        size_t length;
    } rows[] = {{"[]", 0},     {"[1]", 1},       {"[[1,2],{},3]", 3},
                {"{}", 0},     {"{\"a\":1}", 1}, {"{\"a\":1,\"a\":[2,3]}", 2},
                {"\"ab\"", 0}, {"12", 0},        {"null", 0},
                {"", 0}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_eq(mcpx_json_length(mcpx_slice_of(rows[i].value)), rows[i].length, "%s",
                     rows[i].value);
}
