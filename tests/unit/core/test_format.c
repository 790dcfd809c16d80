/*
 * What breaks for whom: answers, notices, errors and log lines are composed here. A piece that is
 * written wrong, or not, is a JSON text that no client can read.
 */
#include "lib/json/json_write.h"

#include "tests/support/count.h"
#include "tests/support/fault_alloc.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>

static char array[] = "ar\"ray";
static const struct mcpx_text grown = {.text = array, .len = 2};
static struct mcpx_text changing = {.text = array, .len = 6};

/* A row: what `%s` and what `%q` make of the argument. */
#define ROW(argument, plain, quoted)                                                          \
    {                                                                                         \
#argument, MX_PIECE(argument), plain, quoted                                          \
    }

/* An operator reads them at three in the morning. */
Test(format, writes_amounts_as_people_read_them)
{
    static const struct {
        const char *format;
        uint64_t number;
        const char *text;
    } rows[] = {
        {"%b", 0, "0 bytes"},
        {"%b", 1023, "1023 bytes"},
        {"%b", 1024, "1 KiB"},
        {"%b", 1048575, "1023.9 KiB"},
        {"%b", 64 << 20, "64 MiB"},
        {"%b", 8170000000, "7.6 GiB"},
        {"%b", UINT64_C(3) << 50, "3 PiB"},
        {"%b", UINT64_MAX, "1638.3 PiB"},
        {"%t", 0, "0 ms"},
        {"%t", 999, "999 ms"},
        {"%t", 4290, "4.2 s"},
        {"%t", 59999, "59.9 s"},
        {"%t", 303000, "5 min 3 s"},
        {"%t", 3600000, "1 h 0 min"},
        {"%t", 187200000, "2 d 4 h"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_text out = {0};

        mx_format(&out, rows[i].format, rows[i].number);
        cr_expect_str_eq(out.text, rows[i].text);
        mcpx_text_fini(&out);
    }
}

Test(format, writes_each_type_as_it_is_and_as_a_string)
{
    const struct {
        const char *what;
        struct mx_piece piece;
        const char *plain, *quoted;
    } rows[] = {
        ROW("text", "text", "\"text\""),
        ROW("", "", "\"\""),
        ROW((const char *)NULL, "", "\"\""),
        ROW((char *)NULL, "", "\"\""),
        ROW("100%s", "100%s", "\"100%s\""),
        ROW("\"\\\n\x01", "\"\\\n\x01", "\"\\\"\\\\\\n\\u0001\""),
        ROW(array, "ar\"ray", "\"ar\\\"ray\""),
        ROW(MCPX_SLICE("slice"), "slice", "\"slice\""),
        ROW(((struct mcpx_slice){array, 3}), "ar\"", "\"ar\\\"\""),
        ROW((struct mcpx_slice){0}, "", "\"\""),
        ROW(&grown, "ar", "\"ar\""),
        ROW(&changing, "ar\"ray", "\"ar\\\"ray\""),
        ROW(&(struct mcpx_text){0}, "", "\"\""),
        ROW((bool)true, "true", "\"true\""),
        ROW((bool)false, "false", "\"false\""),
        ROW(0, "0", "\"0\""),
        ROW(-17, "-17", "\"-17\""),
        ROW(INT64_MIN, "-9223372036854775808", "\"-9223372036854775808\""),
        ROW(INT64_MAX, "9223372036854775807", "\"9223372036854775807\""),
        ROW(-1LL, "-1", "\"-1\""),
        ROW((uint16_t)65535, "65535", "\"65535\""),
        ROW(4294967295U, "4294967295", "\"4294967295\""),
        ROW((size_t)7, "7", "\"7\""),
        ROW(UINT64_MAX, "18446744073709551615", "\"18446744073709551615\""),
        ROW(18446744073709551615ULL, "18446744073709551615", "\"18446744073709551615\""),
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_text out = {0};

        mx_format_pieces(&out, "<%s>", 1, &rows[i].piece);
        cr_expect_eq(out.len, strlen(rows[i].plain) + 2, "%s: %s", rows[i].what, out.text);
        cr_expect_eq(strncmp(out.text + 1, rows[i].plain, out.len - 2), 0, "%s: %s",
                     rows[i].what, out.text);
        mcpx_text_reset(&out);
        mx_format_pieces(&out, "%q", 1, &rows[i].piece);
        cr_expect_str_eq(out.text, rows[i].quoted, "%s", rows[i].what);
        cr_expect_not(out.failed, "%s", rows[i].what);
        mcpx_text_fini(&out);
    }
}

Test(format, takes_one_to_ten_arguments_in_their_order)
{
    mx_scoped_text out = {0};

    mx_format(&out, "%s|", 1);
    mx_format(&out, "%s%s|", 1, "b");
    mx_format(&out, "%s%s%s|", 1, "b", 3U);
    mx_format(&out, "%s%s%s%s|", 1, 2, 3, 4);
    mx_format(&out, "%s%s%s%s%s|", 1, 2, 3, 4, 5);
    mx_format(&out, "%s%s%s%s%s%s|", 1, 2, 3, 4, 5, 6);
    mx_format(&out, "%s%s%s%s%s%s%s|", 1, 2, 3, 4, 5, 6, 7);
    mx_format(&out, "%s%s%s%s%s%s%s%s|", 1, 2, 3, 4, 5, 6, 7, 8);
    mx_format(&out, "%s%s%s%s%s%s%s%s%s|", 1, 2, 3, 4, 5, 6, 7, 8, 9);
    mx_format(&out, "%s%s%s%s%s%s%s%s%s%s|", 1, 2, 3, 4, 5, 6, 7, 8, 9, "\xc3\xa9");
    cr_expect_str_eq(out.text, "1|1b|1b3|1234|12345|123456|1234567|12345678|123456789|"
                               "123456789\xc3\xa9|");
}

Test(format, leaves_what_is_no_sign_and_what_stood_there)
{
    mx_scoped_text out = {0};
    int calls = 0;

    mcpx_text_puts(&out, "before ");
    mx_format(&out, "%%%s%% of %q%%", ++calls, "a%b");
    cr_expect_str_eq(out.text, "before %1% of \"a%b\"%");
    cr_expect_eq(calls, 1, "the argument was evaluated %d times", calls);
}

Test(format, fails_once_and_stays_failed)
{
    FAULT_ALLOC_EACH(nth, 2) {
        struct mcpx_text out = {0};

        mx_format(&out, "%s%q", "short", array);
        for (int i = 0; i < 100; i++)
            mx_format(&out, "%s %% %s", i, "more");
        cr_expect_eq(out.failed, fault_alloc_disarm(), "allocation %zu", nth);
        mcpx_text_fini(&out);
    }
}

Test(format, gives_a_text_of_its_own)
{
    struct mcpx_text part = {.failed = true};
    mx_scoped_text whole = mx_formatted("%s and %q", 1, "two");
    mx_scoped_text broken = mx_formatted("%s", &part);

    cr_expect_str_eq(whole.text, "1 and \"two\"");
    cr_expect(!whole.failed && broken.failed);
}

Test(format, passes_on_that_a_text_is_not_whole)
{
    mx_scoped_text out = {0}, part = {.failed = true};

    mx_format(&out, "%s and %q", "one", &part);
    cr_expect(out.failed);
}

/* Ends as an assertion does: at it, or, where there are none, once the text has failed. */
static void expect_refused(const char *format, size_t count)
{
    const struct mx_piece pieces[] = {MX_PIECE("a"), MX_PIECE("b")};
    struct mcpx_text out = {0};

    mx_format_pieces(&out, format, count, pieces);
    cr_assert(out.failed, "%s", out.text);
    abort();
}

Test(format, refuses_too_few_arguments, .signal = SIGABRT)
{
    expect_refused("%s%s", 1);
}

Test(format, refuses_too_many_arguments, .signal = SIGABRT)
{
    expect_refused("%s%%", 2);
}

Test(format, refuses_another_sign, .signal = SIGABRT)
{
    expect_refused("%d", 1);
}

Test(format, refuses_half_a_sign, .signal = SIGABRT)
{
    expect_refused("%s%", 1);
}
