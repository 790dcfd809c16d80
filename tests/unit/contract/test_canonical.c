/*
 * What breaks for whom: two programs digest one result and get two digests; or two different
 * results have one, and a record vouches for what it never saw.
 */
#include "tests/support/fault_alloc.h"
#include "tests/support/random_json.h"
#include <mcpx/digest.h>
#include <mcpx/json.h>

#include <criterion/criterion.h>
#include <stdlib.h>

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

struct pair {
    const char *text;
    const char *form;
};

static void expect_forms(const struct pair *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct mcpx_text form = {0};
        struct mcpx_fault fault = {"", "", 0};
        enum mcpx_err err = mcpx_canonical_add(&form, mcpx_slice_of(rows[i].text), &fault);

        cr_expect_eq(err, MCPX_OK, "%s: %s", rows[i].text, fault.reason);
        cr_expect_str_eq(form.text ? form.text : "", rows[i].form, "%s", rows[i].text);
        mcpx_text_fini(&form);
    }
}

Test(canonical, R000_21_a_value_has_one_form)
{
    static const struct pair rows[] = {
        {"{\"key\":\"value\",\"number\":42,\"nested\":{\"a\":1,\"b\":2}}",
         "{\"key\":\"value\",\"nested\":{\"a\":1,\"b\":2},\"number\":42}"},
        {" null ", "null"},
        {"\ttrue\n", "true"},
        {"false", "false"},
        {"[ ]", "[]"},
        {"{ }", "{}"},
        {"[ 1 , [ ] , { } , \"\" ]", "[1,[],{},\"\"]"},
        {"{\"b\":{\"d\":1,\"c\":[{\"f\":2,\"e\":3}]},\"a\":0}",
         "{\"a\":0,\"b\":{\"c\":[{\"e\":3,\"f\":2}],\"d\":1}}"},
        {"{\"\":1,\"aa\":2,\"a\":3,\"A\":4,\"_\":5,\"1\":6,\"10\":7,\"2\":8}",
         "{\"\":1,\"1\":6,\"10\":7,\"2\":8,\"A\":4,\"_\":5,\"a\":3,\"aa\":2}"},
        {"{\"\\u0062\":1,\"a\":2}", "{\"a\":2,\"b\":1}"},
        {"{\"a\\u0000b\":1,\"a\":2,\"a\\u0000\":3}",
         "{\"a\":2,\"a\\u0000\":3,\"a\\u0000b\":1}"},
    };

    expect_forms(rows, COUNT(rows));
}

Test(canonical, strings_are_escaped_only_where_they_have_to_be)
{
    static const struct pair rows[] = {
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\""},
        {"\"\\u0022\\u005C\\u002f\\u0008\\u000C\\u000a\\u000D\\u0009\"",
         "\"\\\"\\\\/\\b\\f\\n\\r\\t\""},
        {"\"\\u0000\\u0001\\u000B\\u001F\\u0020\\u007f\"",
         "\"\\u0000\\u0001\\u000b\\u001f \x7f\""},
        {"\"\\u00e9\\u20AC\\uD83D\\ude00\\uFFFF\"",
         "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbf\""},
        {"\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
         "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"\"<>&'\\u2028\"", "\"<>&'\xe2\x80\xa8\""},
    };

    expect_forms(rows, COUNT(rows));
}

/* RFC 8785, section 3.2.2, and the numbers of its appendix B. */
Test(canonical, agrees_with_RFC_8785)
{
    static const struct pair rows[] = {
        {"{\"numbers\": [1E30, 4.50, 2e-3, 0.000000000000000000000000001],"
         " \"string\": \"\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\\"\\/\","
         " \"literals\": [null, true, false]}",
         "{\"literals\":[null,true,false],\"numbers\":[1e+30,4.5,0.002,1e-27],"
         "\"string\":\"\xe2\x82\xac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"},
        {"[0,-0,5e-324,-5e-324,1.7976931348623157e308,-1.7976931348623157E+308]",
         "[0,0,5e-324,-5e-324,1.7976931348623157e+308,-1.7976931348623157e+308]"},
        {"[9007199254740992,-9007199254740992,295147905179352830000]",
         "[9007199254740992,-9007199254740992,295147905179352830000]"},
        {"[9.999999999999997e22,1e23,1.0000000000000001e23]",
         "[9.999999999999997e+22,1e+23,1.0000000000000001e+23]"},
        {"[999999999999999700000,999999999999999900000,1000000000000000000000]",
         "[999999999999999700000,999999999999999900000,1e+21]"},
        {"[9.999999999999997e-7,0.000001,333333333.3333332,-0.0000033333333333333333]",
         "[9.999999999999997e-7,0.000001,333333333.3333332,-0.0000033333333333333333]"},
        {"[1424953923781206.2]", "[1424953923781206.2]"},
    };

    expect_forms(rows, COUNT(rows));
}

/* Where it differs: no number is rounded, and names are in the order of their UTF-8 bytes. */
Test(canonical, R000_21_differs_from_RFC_8785_where_that_would_lose_a_value)
{
    static const struct pair rows[] = {
        {"[333333333.33333329,12345678901234567890,1e400,1.10]",
         "[333333333.33333329,12345678901234567890,1e+400,1.1]"},
        {"[9007199254740993]", "[9007199254740993]"},
        {"{\"\\u20ac\":1,\"\\r\":2,\"\\ufb33\":3,\"1\":4,\"\\ud83d\\ude00\":5,\"\\u0080\":6,"
         "\"\\u00f6\":7}",
         "{\"\\r\":2,\"1\":4,\"\xc2\x80\":6,\"\xc3\xb6\":7,\"\xe2\x82\xac\":1,"
         "\"\xef\xac\xb3\":3,\"\xf0\x9f\x98\x80\":5}"},
    };

    expect_forms(rows, COUNT(rows));
}

Test(canonical, R000_23_what_two_readers_could_read_differently_has_no_form)
{
    static const struct {
        const char *text;
        size_t offset;
        const char *reason;
    } rows[] = {
        {"{\"a\":1,\"a\":1}", 7, "a name stands twice in its object"},
        {"{\"a\":1,\"b\":[{\"c\":2,\"\\u0063\":3}]}", 19, "a name stands twice in its object"},
        {"[\"x\",\"\\ud800\"]", 5, "a string holds half a surrogate pair"},
        {"{\"\\udc00\":1}", 1, "a string holds half a surrogate pair"},
        {"{\"\\udc00\":1,\"\\udc00\":1}", 1, "a string holds half a surrogate pair"},
        {"[1e9,1e1000000000]", 5, "an exponent has more than nine digits"},
        {"10e999999999", 0, "an exponent has more than nine digits"},
        {"-0.1E-999999999", 0, "an exponent has more than nine digits"},
        {"0e0000000000", 0, "an exponent has more than nine digits"},
        {"[1e400,NaN]", 7, "expected a value; JSON has no NaN or Infinity"},
        {"Infinity", 0, "expected a value; JSON has no NaN or Infinity"},
        {"", 0, "text ends where a value was expected"},
        {"{} {}", 3, "expected nothing after the JSON value"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_text form = {0};
        struct mcpx_fault fault = {"", "", 0};

        mcpx_text_puts(&form, "before");
        cr_expect_eq(mcpx_canonical_add(&form, mcpx_slice_of(rows[i].text), &fault),
                     MCPX_EINVALID, "%s", rows[i].text);
        cr_expect_str_eq(fault.reason, rows[i].reason, "%s: %s", rows[i].text, fault.reason);
        cr_expect_eq(fault.offset, rows[i].offset, "%s: %zu", rows[i].text, fault.offset);
        cr_expect_str_eq(form.text, "before", "%s", rows[i].text);
        cr_expect_eq(mcpx_canonical_add(&form, mcpx_slice_of(rows[i].text), NULL),
                     MCPX_EINVALID, "%s", rows[i].text);
        mcpx_text_fini(&form);
    }
}

Test(canonical, of_what_is_no_UTF_8_there_is_none)
{
    struct mcpx_text form = {0};

    cr_expect_eq(mcpx_canonical_add(&form, mcpx_slice_of("\"\xff\""), NULL), MCPX_EUTF8);
    cr_expect_eq(form.len, 0);
    mcpx_text_fini(&form);
}

Test(canonical, is_appended)
{
    struct mcpx_text form = {0};

    mcpx_text_puts(&form, "{\"arguments\":");
    cr_expect_eq(mcpx_canonical_add(&form, mcpx_slice_of("{ \"a\" : 1.0 }"), NULL), MCPX_OK);
    cr_expect_str_eq(form.text, "{\"arguments\":{\"a\":1}");
    mcpx_text_fini(&form);
}

/* A text of brackets as deep as may be, and one deeper. */
Test(canonical, nests_512_deep)
{
    for (size_t depth = 512; depth <= 513; depth++) {
        struct mcpx_text text = {0}, form = {0};

        for (size_t i = 0; i < depth; i++)
            mcpx_text_puts(&text, i % 2 ? "{\"b\":0,\"a\":" : "[");
        mcpx_text_puts(&text, "0");
        for (size_t i = depth; i-- > 0;)
            mcpx_text_puts(&text, i % 2 ? "}" : "]");
        cr_expect_eq(mcpx_canonical_add(&form, mcpx_text_view(&text), NULL),
                     depth == 512 ? MCPX_OK : MCPX_EINVALID);
        cr_expect_eq(form.len, depth == 512 ? text.len : 0);
        mcpx_text_fini(&form);
        mcpx_text_fini(&text);
    }
}

static void form_of(struct mcpx_slice text, struct mcpx_text *form, enum mcpx_err expected)
{
    enum mcpx_err err;

    mcpx_text_reset(form);
    err = mcpx_canonical_add(form, text, NULL);
    cr_assert_eq(err, expected, "%d: %.*s", (int)err, (int)text.len, text.text);
}

Test(canonical, is_its_own_form_and_means_what_the_text_means)
{
    uint64_t state = UINT64_C(0x63616e6f6e);
    struct mcpx_text form = {0}, again = {0};
    size_t formed = 0;

    for (int i = 0; i < 50000; i++) {
        char bytes[1024];
        struct mcpx_slice text = {bytes, random_json(&state, bytes, sizeof bytes)};

        mcpx_text_reset(&form);
        if (mcpx_canonical_add(&form, text, NULL) != MCPX_OK)
            continue;
        formed++;
        form_of(mcpx_text_view(&form), &again, MCPX_OK);
        cr_assert_str_eq(again.text, form.text, "%.*s", (int)text.len, text.text);
        cr_assert_leq(mcpx_json_length(mcpx_text_view(&form)), text.len);
    }
    cr_expect_gt(formed, 20000, "%zu", formed);
    mcpx_text_fini(&form);
    mcpx_text_fini(&again);
}

Test(canonical, says_when_memory_runs_out)
{
    static const char text[] = "{\"b\":[{\"d\":1.50,\"c\":\"\\n\"}],\"a\":{}}";
    size_t nth = 0;
    bool failed;

    do {
        struct mcpx_text form = {0};
        enum mcpx_err err;

        fault_alloc_arm(++nth);
        err = mcpx_canonical_add(&form, MCPX_SLICE(text), NULL);
        failed = fault_alloc_disarm();
        cr_expect_eq(err, failed ? MCPX_ENOMEM : MCPX_OK, "allocation %zu", nth);
        cr_expect_eq(form.len, failed ? 0 : strlen("{'a':{},'b':[{'c':'\\n','d':1.5}]}"));
        mcpx_text_fini(&form);
    } while (failed);
    cr_expect_gt(nth, 2);
}
