/*
 * What breaks for whom: a bridge passes a message on with its id changed, and a number in the
 * middle of it has lost digits. Protocol: section 1, byte fidelity.
 */
#include <mcpx/json.h>

#include "lib/base/scoped.h"
#include "tests/support/count.h"
#include "tests/support/fault_alloc.h"

#include <criterion/criterion.h>

#define S(literal) MCPX_SLICE(literal)
#define T(literal)                                                                            \
    {                                                                                         \
        (literal), sizeof(literal) - 1                                                        \
    } /* in static tables */

struct edit_row {
    const char *object;
    struct mcpx_json_change changes[3]; /* until a name is NULL */
    const char *expected;
};

static size_t count_changes(const struct edit_row *row)
{
    size_t count = 0;

    while (count < COUNT(row->changes) && row->changes[count].name)
        count++;
    return count;
}

#define LEFT_OUT                                                                              \
    {                                                                                         \
        NULL, 0                                                                               \
    }

static const struct edit_row rows[] = {
    /* nothing to change */
    {"{}", {{NULL, LEFT_OUT}}, "{}"},
    {"{ }", {{NULL, LEFT_OUT}}, "{ }"},
    {"{ \"a\" : 1 , \"b\":2\n}", {{NULL, LEFT_OUT}}, "{ \"a\" : 1 , \"b\":2\n}"},
    {"{\"a\":1}", {{"b", LEFT_OUT}}, "{\"a\":1}"},
    /* another value */
    {"{\"id\":1}", {{"id", T("\"x\"")}}, "{\"id\":\"x\"}"},
    {"{ \"id\" : 1 , \"n\": 1.10 }", {{"id", T("2")}}, "{ \"id\" : 2 , \"n\": 1.10 }"},
    {"{\"n\":1e400,\"id\":[1,{}],\"m\":123456789012345678901234567890}",
     {{"id", T("2")}},
     "{\"n\":1e400,\"id\":2,\"m\":123456789012345678901234567890}"},
    {"{\"\\u0069d\":1}", {{"id", T("2")}}, "{\"\\u0069d\":2}"},
    {"{\"x\":{\"id\":1},\"id\":1}", {{"id", T("2")}}, "{\"x\":{\"id\":1},\"id\":2}"},
    {"{\"id\":1,\"id\":1}", {{"id", T("2")}}, "{\"id\":2,\"id\":1}"}, /* the first one */
    {"{\"a\":1,\"b\":2}", {{"b", T("4")}, {"a", T("3")}}, "{\"a\":3,\"b\":4}"},
    /* a new member */
    {"{}", {{"id", T("2")}}, "{\"id\":2}"},
    {"{ }", {{"id", T("2")}}, "{\"id\":2 }"},
    {"{\"a\":1}", {{"id", T("2")}}, "{\"a\":1,\"id\":2}"},
    {"{ \"a\" : 1 \n}", {{"id", T("2")}}, "{ \"a\" : 1,\"id\":2 \n}"},
    {"{\"a\":1}", {{"b", T("2")}, {"c", T("{}")}}, "{\"a\":1,\"b\":2,\"c\":{}}"},
    {"{\"x\":{\"id\":1}}", {{"id", T("2")}}, "{\"x\":{\"id\":1},\"id\":2}"},
    /* of what is no object: memory that is not its own was read */
    {"5", {{"id", T("2")}}, "{\"id\":2}"},
    {"[1]", {{"id", T("2")}}, "{\"id\":2}"},
    {NULL, {{"id", T("2")}}, "{\"id\":2}"},
    /* left out */
    {"{\"a\":1}", {{"a", LEFT_OUT}}, "{}"},
    {"{ \"a\":1 }", {{"a", LEFT_OUT}}, "{}"},
    {"{\"a\":1,\"b\":2,\"c\":3}", {{"a", LEFT_OUT}}, "{\"b\":2,\"c\":3}"},
    {"{\"a\":1,\"b\":2,\"c\":3}", {{"b", LEFT_OUT}}, "{\"a\":1,\"c\":3}"},
    {"{\"a\":1,\"b\":2,\"c\":3}", {{"c", LEFT_OUT}}, "{\"a\":1,\"b\":2}"},
    {"{ \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}",
     {{"b", LEFT_OUT}},
     "{ \"a\": 1,\n  \"c\": 3\n}"},
    {"{\"a\":1,\"b\":2,\"\\u0061\":3,\"a\":[4]}", {{"a", LEFT_OUT}}, "{\"b\":2}"},
    {"{\"a\":1,\"b\":2}", {{"a", LEFT_OUT}, {"b", LEFT_OUT}}, "{}"},
    /* all of them at once */
    {"{\"a\":1,\"b\":2,\"c\":3}",
     {{"a", LEFT_OUT}, {"c", T("5")}, {"d", T("6")}},
     "{\"b\":2,\"c\":5,\"d\":6}"},
    {"{\"a\":1}", {{"a", LEFT_OUT}, {"d", T("6")}}, "{\"d\":6}"},
    {"{\"s\":\"},{\\\"\",\"t\":\"\\\\\"}", {{"s", LEFT_OUT}}, "{\"t\":\"\\\\\"}"},
};

Test(json_edit, changes_are_made_and_every_other_byte_stays)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_text out = {0};

        mcpx_text_puts(&out, ">");
        mcpx_json_add_changed(&out, mcpx_slice_of(rows[i].object), rows[i].changes,
                              count_changes(&rows[i]));
        cr_expect_str_eq(out.text + 1, rows[i].expected, "%zu", i);
        mcpx_text_fini(&out);
    }
}

Test(json_edit, eight_changes_can_be_made_at_once)
{
    static const struct mcpx_json_change changes[8] = {
        {"h", T("8")}, {"g", LEFT_OUT}, {"f", T("6")}, {"e", LEFT_OUT},
        {"d", T("4")}, {"c", T("3")},   {"b", T("2")}, {"a", T("1")},
    };
    mx_scoped_text out = {0};

    mcpx_json_add_changed(&out, S("{\"a\":0,\"e\":0,\"d\":0,\"g\":0,\"h\":0,\"z\":0}"),
                          changes, 8);
    cr_expect_str_eq(out.text, "{\"a\":1,\"d\":4,\"h\":8,\"z\":0,\"f\":6,\"c\":3,\"b\":2}");
}

Test(json_edit, lack_of_memory_shows_in_the_text)
{
    char big[2000];
    struct mcpx_json_change change = {"b", {big, sizeof big}};

    memset(big, '1', sizeof big);
    FAULT_ALLOC_EACH(nth, 1) {
        struct mcpx_text out = {0};

        cr_expect_eq(mcpx_json_add_unescaped(&out, S("\"text\"")), true);
        cr_expect_eq(out.failed, fault_alloc_disarm(), "allocation %zu", nth);
        mcpx_text_fini(&out);
    }
    FAULT_ALLOC_EACH(nth, 2) {
        struct mcpx_text out = {0};

        mcpx_json_add_changed(&out, S("{\"a\":1}"), &change, 1);
        cr_expect_eq(out.failed, fault_alloc_disarm(), "allocation %zu", nth);
        mcpx_text_fini(&out);
    }
}

Test(json_edit, strings_are_written_so_that_they_read_back)
{
    static const struct {
        struct mcpx_slice text;
        const char *expected;
    } strings[] = {
        {T(""), "\"\""},
        {T("abc"), "\"abc\""},
        {T("\"\\/"), "\"\\\"\\\\/\""},
        {T("\n\t\0\x1f\x7f"), "\"\\n\\u0009\\u0000\\u001f\\u007f\""},
        {T("\xc3\xa9\xf0\x9f\x98\x80"), "\"\xc3\xa9\xf0\x9f\x98\x80\""},
    };

    for (size_t i = 0; i < COUNT(strings); i++) {
        struct mcpx_text out = {0}, back = {0};

        mcpx_json_add_string(&out, strings[i].text);
        cr_expect_str_eq(out.text, strings[i].expected);
        cr_expect(mcpx_json_add_unescaped(&back, mcpx_text_view(&out)));
        cr_expect(mcpx_slice_equal(mcpx_text_view(&back), strings[i].text), "%s", out.text);
        mcpx_text_reset(&out);
        mcpx_json_add_member(&out, "name", strings[i].text);
        cr_expect_eq(memcmp(out.text, "\"name\":", 7), 0);
        cr_expect_str_eq(out.text + 7, strings[i].expected);
        mcpx_text_fini(&out);
        mcpx_text_fini(&back);
    }
}
