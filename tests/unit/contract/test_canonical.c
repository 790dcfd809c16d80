/*
 * What breaks for whom: two programs digest one result and get two digests; or two different
 * results have one, and a record vouches for what it never saw.
 */
#include "lib/base/scoped.h"
#include "tests/support/count.h"
#include "tests/support/fault_alloc.h"
#include "tests/support/random_json.h"
#include "tests/support/rows.h"
#include <mcpx/digest.h>
#include <mcpx/json.h>

#include <criterion/criterion.h>
#include <stdlib.h>

static void expect_form(char *const row[])
{
    mx_scoped_text form = {0};
    struct mcpx_fault fault = {"", "", 0};

    cr_expect_eq(mcpx_canonical_add(&form, mcpx_slice_of(row[0]), &fault), MCPX_OK, "%s: %s",
                 row[0], fault.reason);
    cr_expect_str_eq(form.text ? form.text : "", row[1], "%s", row[0]);
}

Test(canonical, R000_21_a_value_has_one_form)
{
    rows_each("contract/rows/canonical", "R000_21_a_value_has_one_form", expect_form);
}

Test(canonical, strings_are_escaped_only_where_they_have_to_be)
{
    rows_each("contract/rows/canonical", "strings_are_escaped_only_where_they_have_to_be",
              expect_form);
}

/* RFC 8785, section 3.2.2, and the numbers of its appendix B. */
Test(canonical, agrees_with_RFC_8785)
{
    rows_each("contract/rows/canonical", "agrees_with_RFC_8785", expect_form);
}

/* Where it differs: no number is rounded, and names are in the order of their UTF-8 bytes. */
Test(canonical, R000_21_differs_from_RFC_8785_where_that_would_lose_a_value)
{
    rows_each("contract/rows/canonical",
              "R000_21_differs_from_RFC_8785_where_that_would_lose_a_value", expect_form);
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
    mx_scoped_text form = {0};

    cr_expect_eq(mcpx_canonical_add(&form, mcpx_slice_of("\"\xff\""), NULL), MCPX_EUTF8);
    cr_expect_eq(form.len, 0);
}

Test(canonical, is_appended)
{
    mx_scoped_text form = {0};

    mcpx_text_puts(&form, "{\"arguments\":");
    cr_expect_eq(mcpx_canonical_add(&form, mcpx_slice_of("\t{ \"a\" : 1.0 }\n"), NULL),
                 MCPX_OK);
    cr_expect_str_eq(form.text, "{\"arguments\":{\"a\":1}");
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
    mx_scoped_text form = {0}, again = {0};
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
}

Test(canonical, says_when_memory_runs_out)
{
    static const char text[] = "{\"b\":[{\"d\":1.50,\"c\":\"\\n\"}],\"a\":{}}";

    FAULT_ALLOC_EACH(nth, 2) {
        struct mcpx_text form = {0};
        enum mcpx_err err = mcpx_canonical_add(&form, MCPX_SLICE(text), NULL);
        bool failed = fault_alloc_disarm();

        cr_expect_eq(err, failed ? MCPX_ENOMEM : MCPX_OK, "allocation %zu", nth);
        cr_expect_eq(form.len, failed ? 0 : strlen("{'a':{},'b':[{'c':'\\n','d':1.5}]}"));
        mcpx_text_fini(&form);
    }
}
