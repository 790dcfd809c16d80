/*
 * What breaks for whom: a body is read with a wrong length, a blank or a sign passes as a number,
 * or a sender that was asked for a very long pause makes a very short one.
 */
#include "lib/base/digits.h"

#include <criterion/criterion.h>
#include <inttypes.h>

/* What stays in a result that nothing was read into. */
enum { UNTOUCHED = 77 };

Test(decimal, reads_digits_and_nothing_else)
{
    static const struct {
        const char *text;
        uint64_t max;
        bool is_read;
        uint64_t number;
        bool is_clamped;
        uint64_t clamped;
    } rows[] = {
        {"", 10, false, 0, false, 0},
        {"0", 10, true, 0, true, 0},
        {"0", 0, true, 0, true, 0},
        {"007", 10, true, 7, true, 7},
        {"10", 10, true, 10, true, 10},
        {"11", 10, false, 0, true, 10},
        {"999999999999999999", UINT64_MAX, true, 999999999999999999U, true,
         999999999999999999U},
        {"0000000000000000001", 10, false, 0, true, 1},
        {"1000000000000000000", 10, false, 0, true, 10},
        {"9223372036854775807", UINT64_MAX, false, 0, true, 9223372036854775807U},
        {"18446744073709551614", UINT64_MAX, false, 0, true, UINT64_MAX - 1},
        {"18446744073709551616", UINT64_MAX, false, 0, true, UINT64_MAX},
        {"18446744073709551616", 10, false, 0, true, 10},
        {"100000000000000000000000000000000", 10, false, 0, true, 10},
        {"10000000000000000000000000000000x", 10, false, 0, false, 0},
        {" 1", 10, false, 0, false, 0},
        {"1 ", 10, false, 0, false, 0},
        {"+1", 10, false, 0, false, 0},
        {"-1", 10, false, 0, false, 0},
        {"1.0", 10, false, 0, false, 0},
        {"1e3", 10000, false, 0, false, 0},
        {"0x1", 10, false, 0, false, 0},
        {"\"1\"", 10, false, 0, false, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mcpx_slice text = mcpx_slice_of(rows[i].text);
        uint64_t number = UNTOUCHED, clamped = UNTOUCHED;

        cr_expect_eq(mx_decimal_read(text, rows[i].max, &number), rows[i].is_read, "read '%s'",
                     rows[i].text);
        cr_expect_eq(number, rows[i].is_read ? rows[i].number : UNTOUCHED,
                     "read '%s': %" PRIu64, rows[i].text, number);
        cr_expect_eq(mx_decimal_clamp(text, rows[i].max, &clamped), rows[i].is_clamped,
                     "clamped '%s'", rows[i].text);
        cr_expect_eq(clamped, rows[i].is_clamped ? rows[i].clamped : UNTOUCHED,
                     "clamped '%s': %" PRIu64, rows[i].text, clamped);
    }
}
