/*
 * What breaks for whom: objects with optional members are written by functions that know nothing
 * of each other. A comma too many or too few, and no client can read an answer of the HTTP API.
 */
#include "lib/json/json_write.h"

#include "tests/support/count.h"
#include "tests/support/fault_alloc.h"

#include <criterion/criterion.h>
#include <mcpx/json.h>

Test(json_write, puts_a_comma_behind_a_value_and_nowhere_else)
{
    static const struct {
        const char *before, *expected;
    } rows[] = {
        {"", "\"name\":\"v\""},
        {"{", "{\"name\":\"v\""},
        {"[", "[\"name\":\"v\""},
        {"{\"a\":", "{\"a\":\"name\":\"v\""},
        {"{\"a\":1,", "{\"a\":1,\"name\":\"v\""},
        {"{\"a\":1", "{\"a\":1,\"name\":\"v\""},
        {"{\"a\":\"\"", "{\"a\":\"\",\"name\":\"v\""},
        {"{\"a\":\"{\"", "{\"a\":\"{\",\"name\":\"v\""},
        {"{\"a\":null", "{\"a\":null,\"name\":\"v\""},
        {"{\"a\":{}", "{\"a\":{},\"name\":\"v\""},
        {"{\"a\":[]", "{\"a\":[],\"name\":\"v\""},
        {"{ ", "{ \"name\":\"v\""},
        {"{\"a\":1, ", "{\"a\":1, \"name\":\"v\""},
        {"{\"a\":1\r\n\t ", "{\"a\":1\r\n\t ,\"name\":\"v\""},
        {" ", " \"name\":\"v\""},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_text out = {0};

        mcpx_text_puts(&out, rows[i].before);
        mcpx_json_add_member(&out, "name", MCPX_SLICE("v"));
        cr_expect_str_eq(out.text, rows[i].expected);
        mcpx_text_fini(&out);
    }
}

/* Writes an object with everything in it, each kind of value first and later. */
static void write_all(struct mcpx_text *out)
{
    mx_json_begin_object(out, NULL);
    mx_json_add_raw(out, "raw", MCPX_SLICE("1e400"));
    mcpx_json_add_member(out, "text", MCPX_SLICE("\"{"));
    mx_json_add_optional(out, "absent", (struct mcpx_slice){0});
    mx_json_add_optional(out, "present", MCPX_SLICE(""));
    mx_json_add_number(out, "number", INT64_MIN);
    mx_json_add_bool(out, "yes", true);
    mx_json_add_bool(out, "no", false);
    mx_json_begin_array(out, "array");
    mx_json_add_item(out, MCPX_SLICE("\n["));
    mx_json_add_item(out, (struct mcpx_slice){0});
    mx_json_add_number(out, NULL, 7);
    mx_json_add_bool(out, NULL, true);
    mx_json_add_raw(out, NULL, MCPX_SLICE("null"));
    mx_json_begin_array(out, NULL);
    mx_json_end_array(out);
    mx_json_begin_object(out, NULL);
    mx_json_end_object(out);
    mx_json_end_array(out);
    mx_json_add_strings(out, "none", NULL, 0);
    mx_json_add_strings(out, "two", (struct mcpx_slice[]){MCPX_SLICE("a"), MCPX_SLICE("\"")},
                        2);
    mx_json_begin_object(out, "object");
    mx_json_add_number(out, "first", 0);
    mx_json_end_object(out);
    mx_json_begin_object(out, "empty");
    mx_json_end_object(out);
    mx_json_end_object(out);
}

static const char all[] =
    "{\"raw\":1e400,\"text\":\"\\\"{\",\"present\":\"\",\"number\":-9223372036854775808,"
    "\"yes\":true,\"no\":false,"
    "\"array\":[\"\\n[\",\"\",7,true,null,[],{}],\"none\":[],\"two\":[\"a\",\"\\\"\"],"
    "\"object\":{\"first\":0},\"empty\":{}}";

Test(json_write, writes_what_reads_back)
{
    mx_scoped_text out = {0};
    struct mcpx_slice value;

    write_all(&out);
    cr_expect_str_eq(out.text, all);
    cr_expect_eq(mcpx_json_check(mcpx_text_view(&out), 0, &value, NULL), MCPX_OK);
}

Test(json_write, is_whole_or_says_that_it_failed)
{
    FAULT_ALLOC_EACH(nth, 2) {
        struct mcpx_text out = {0};
        bool failed;

        for (int i = 0; i < 5; i++) /* more than one allocation holds */
            write_all(&out);
        failed = fault_alloc_disarm();
        cr_expect_eq(out.failed, failed, "allocation %zu", nth);
        cr_expect_eq(out.len == 5 * strlen(all) + 4, !failed, "allocation %zu", nth);
        mcpx_text_fini(&out);
    }
}
