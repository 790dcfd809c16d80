/*
 * What breaks for whom: somebody approves a proposal and something else is executed. Whether it is
 * the same is decided here. Protocol: sections 2 and 4.
 */
#include <mcpx/json.h>

#include "tests/support/count.h"
#include "tests/support/fault_alloc.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static bool same(const char *a, const char *b)
{
    return mcpx_json_same(mcpx_slice_of(a), mcpx_slice_of(b));
}

Test(json_same, values_are_the_same_when_they_mean_the_same)
{
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        {"1", "1", true},
        {"1", "1.0", false}, /* by their bytes: who knows what a reader makes of them */
        {"1e2", "100", false},
        {"-0", "0", false},
        {"true", "true", true},
        {"true", "false", false},
        {"null", "null", true},
        {"null", "\"null\"", false},
        {"\"a\"", "\"\\u0061\"", true},
        {"\"\\/\"", "\"/\"", true},
        {"\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\"", true},
        {"\"\\ud83d\"", "\"\\uD83D\"", true},
        {"\"\\ud83d\"", "\"\\ud83e\"", false},
        {"\"\\ud83d\"", "\"\\ufffd\"", false},
        {"\"a\"", "\"a \"", false},
        {"\"\\u0000\"", "\"\"", false},
        {"[]", "[ ]", true},
        {"[1,2]", "[ 1 , 2 ]", true},
        {"[1,2]", "[2,1]", false},
        {"[1,2]", "[1,2,2]", false},
        {"[1,2,3]", "[1,2]", false},
        {"[]", "{}", false},
        {"{}", "{ }", true},
        {"{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", true},
        {"{\"a\":1,\"b\":2}", "{\"b\":1,\"a\":2}", false},
        {"{\"a\":1}", "{\"a\":1,\"b\":2}", false},
        {"{\"a\":1,\"b\":2}", "{\"a\":1,\"c\":2}", false},
        {"{\"a\":1}", "{\"\\u0061\":1}", true},
        {"{\"a\":{\"x\":[{\"y\":\"\\n\"}]}}", "{ \"a\" : {\"x\":[ {\"y\":\"\\u000a\"} ]} }",
         true},
        {"{\"a\":{\"x\":[{\"y\":\"\\n\"}]}}", "{ \"a\" : {\"x\":[ {\"y\":\"\\u000d\"} ]} }",
         false},
        {"{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}", true}, /* its own bytes */
        {"{\"a\":1,\"a\":2}", "{\"a\":1, \"a\":2}", false},
        {"{\"a\":1,\"a\":1}", "{\"a\":1, \"a\":1}", false},
        {"{\"a\":1,\"\\u0061\":1}", "{\"\\u0061\":1,\"a\":1}", false},
        {"{\"a\":1,\"b\":1}", "{\"a\":1,\"\\u0061\":1}", false},
        {"[{\"a\":1,\"a\":2},0]", "[{\"a\":1,\"a\":2}, 0]", true},
        {"1", NULL, false},
        {NULL, NULL, true},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        cr_expect_eq(same(rows[i].a, rows[i].b), rows[i].same, "%s and %s",
                     rows[i].a ? rows[i].a : "absent", rows[i].b ? rows[i].b : "absent");
        cr_expect_eq(same(rows[i].b, rows[i].a), rows[i].same, "row %zu the other way", i);
    }
}

/* `depth` brackets around a 1; `space` before it makes the bytes differ */
static char *nested(size_t depth, bool space)
{
    char *text = malloc(depth * 2 + 3);
    size_t len = depth;

    memset(text, '[', depth);
    if (space)
        text[len++] = ' ';
    text[len++] = '1';
    memset(text + len, ']', depth);
    text[len + depth] = '\0';
    return text;
}

Test(json_same, what_is_nested_too_deep_equals_only_its_own_bytes)
{
    static const struct {
        size_t depth;
        bool same;
    } rows[] = {{1, true}, {512, true}, {513, false}, {60000, false}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        char *a = nested(rows[i].depth, false), *b = nested(rows[i].depth, true);

        cr_expect_eq(same(a, b), rows[i].same, "%zu", rows[i].depth);
        cr_expect(same(a, a), "%zu", rows[i].depth);
        free(a);
        free(b);
    }
}

/* `count` members, from the first to the last or the other way */
static char *members(int count, bool backwards)
{
    struct mcpx_text out = {0};
    char member[64];

    for (int i = 0; i < count; i++) {
        int number = backwards ? count - 1 - i : i;

        snprintf(member, sizeof member, "%s\"m%d\":%d", i ? "," : "{", number, number);
        mcpx_text_puts(&out, member);
    }
    mcpx_text_puts(&out, "}");
    return out.text;
}

Test(json_same, a_hundred_thousand_members_in_another_order_are_no_trap, .timeout = 20)
{
    char *a = members(100000, false), *b = members(100000, true);

    cr_expect(same(a, b));
    b[2]++; /* m99999 becomes n99999 */
    cr_expect_not(same(a, b));
    free(a);
    free(b);
}

Test(json_same, nothing_is_the_same_when_memory_runs_out)
{
    static const char a[] = "{\"a\":{\"b\":1,\"c\":2},\"d\":[{\"e\":3,\"f\":4}]}";
    static const char b[] = "{\"d\":[{\"f\":4,\"e\":3}],\"a\":{\"c\":2,\"b\":1}}";

    FAULT_ALLOC_EACH(nth, 3) {
        bool answer = same(a, b);

        cr_expect_eq(answer, !fault_alloc_disarm(), "allocation %zu", nth);
        cr_expect_leq(nth, 4, "%zu", nth);
    }
}
