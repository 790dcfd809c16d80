/*
 * What breaks for whom: an amount that differs in its twentieth digit passes as the one that was
 * agreed on; 1.10 is refused as no multiple of 0.01; one long number keeps a server busy for all.
 * R000-21, R002-7: equal numbers have one canonical form.
 */
#include "lib/json/number.h"
#include "tests/support/count.h"
#include "tests/support/fault_alloc.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static const uint64_t plenty = UINT64_C(1) << 40;

static struct mx_number number_of(const char *text)
{
    struct mx_number number;

    cr_assert(mx_number_read(mcpx_slice_of(text), &number), "%s", text);
    return number;
}

static int sign_of(int order)
{
    return (order > 0) - (order < 0);
}

/* `count` times one digit; the caller frees it. */
static char *repeated(char digit, size_t count)
{
    char *text = malloc(count + 1);

    cr_assert_not_null(text);
    memset(text, digit, count);
    text[count] = '\0';
    return text;
}

Test(number, is_written_in_one_form_whatever_it_was_written_as)
{
    static const struct {
        const char *text;
        const char *form;
    } rows[] = {
        {"0", "0"},
        {"-0", "0"},
        {"0.000", "0"},
        {"-0e999999999", "0"},
        {"7", "7"},
        {"-7", "-7"},
        {"1.0", "1"},
        {"10e-1", "1"},
        {"1E3", "1000"},
        {"1e+03", "1000"},
        {"100.00e-2", "1"},
        {"0.1e1", "1"},
        {"1.10", "1.1"},
        {"-1.50e1", "-15"},
        {"0.00100", "0.001"},
        {"123.4560", "123.456"},
        {"123.456e2", "12345.6"},
        {"0.000001", "0.000001"},
        {"0.0000001", "1e-7"},
        {"0.00000012", "1.2e-7"},
        {"1e20", "100000000000000000000"},
        {"1e21", "1e+21"},
        {"-12e20", "-1.2e+21"},
        {"123456789012345678", "123456789012345678"},
        {"-123456789012345678", "-123456789012345678"},
        {"1234567890123456789", "1234567890123456789"},
        {"12345678901234567890", "12345678901234567890"},
        {"123456789012345678901", "123456789012345678901"},
        {"1234567890123456789012", "1.234567890123456789012e+21"},
        {"1e400", "1e+400"},
        {"1e-400", "1e-400"},
        {"1e999999999", "1e+999999999"},
        {"1e-999999999", "1e-999999999"},
        {"0.1e-999999998", "1e-999999999"},
        {"1.7976931348623157e308", "1.7976931348623157e+308"},
        {"5e-324", "5e-324"},
        {"333333333.33333329", "333333333.33333329"},
        {"9007199254740993", "9007199254740993"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mx_number number = number_of(rows[i].text), again;
        struct mcpx_text form = {0};

        mx_number_write(&form, &number);
        cr_expect_str_eq(form.text, rows[i].form, "%s: %s", rows[i].text, form.text);
        again = number_of(rows[i].form);
        cr_expect_eq(mx_number_compare(&number, &again), 0, "%s", rows[i].text);
        mcpx_text_fini(&form);
    }
}

Test(number, refuses_an_exponent_of_more_than_nine_digits)
{
    static const char *const rows[] = {"1e1000000000", "0e-1000000000", "1.5E+0000000001",
                                       "10e999999999", "0.1e-999999999"};
    struct mx_number untouched = number_of("5"), number = untouched;

    for (size_t i = 0; i < COUNT(rows); i++)
        cr_expect_not(mx_number_read(mcpx_slice_of(rows[i]), &number), "%s", rows[i]);
    cr_expect_eq(number.value, 5);
    cr_expect(mx_number_read(mcpx_slice_of("1e000000001"), &number));
}

Test(number, has_an_order)
{
    /* Each row is below the next. */
    static const char *const rows[] = {
        "-1e999999999",
        "-1e400",
        "-12345678901234567891",
        "-12345678901234567890",
        "-100",
        "-99.5",
        "-1.000000000000000001",
        "-1",
        "-1e-999999999",
        "0",
        "1e-999999999",
        "0.1",
        "0.10000000000000000000000001",
        "0.11",
        "1",
        "1.000000000000000001",
        "1.5",
        "15",
        "999999999999999999",
        "1000000000000000000",
        "12345678901234567890",
        "12345678901234567891",
        "1.2345678901234567892e19",
        "1e400",
        "2e400",
        "1e401",
        "1e999999999",
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t j = 0; j < COUNT(rows); j++) {
            struct mx_number a = number_of(rows[i]), b = number_of(rows[j]);

            cr_expect_eq(sign_of(mx_number_compare(&a, &b)), (i > j) - (i < j), "%s, %s",
                         rows[i], rows[j]);
        }
}

Test(number, equals_however_it_is_written)
{
    static const char *const rows[][2] = {
        {"1", "1.0"},        {"1", "10e-1"},
        {"-0", "0"},         {"0", "0.0e7"},
        {"100", "1e2"},      {"0.001", "1E-3"},
        {"-1.50", "-15e-1"}, {"12.34", "0.1234e2"},
        {"1e400", "10e399"}, {"12345678901234567890", "1234567890.123456789e10"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mx_number a = number_of(rows[i][0]), b = number_of(rows[i][1]);

        cr_expect_eq(mx_number_compare(&a, &b), 0, "%s, %s", rows[i][0], rows[i][1]);
    }
}

Test(number, knows_an_integer)
{
    static const struct {
        const char *text;
        bool is_integer;
    } rows[] = {
        {"0", true},
        {"-0.0", true},
        {"27", true},
        {"27.0", true},
        {"1e400", true},
        {"1.5e1", true},
        {"150e-1", true},
        {"1.5", false},
        {"-0.1", false},
        {"15e-1", false},
        {"1e-400", false},
        {"12345678901234567890", true},
        {"12345678901234567890.5", false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mx_number number = number_of(rows[i].text);

        cr_expect_eq(mx_number_is_integer(&number), rows[i].is_integer, "%s", rows[i].text);
    }
}

Test(number, reads_small_integers_at_once)
{
    static const struct {
        const char *text;
        bool is_small;
        int64_t value;
    } rows[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"-42", true, -42},
        {"999999999999999999", true, 999999999999999999},
        {"-999999999999999999", true, -999999999999999999},
        {"1000000000000000000", false, 77},
        {"1.0", false, 77},
        {"1e2", false, 77},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t value = 77;

        cr_expect_eq(mx_number_small(mcpx_slice_of(rows[i].text), &value), rows[i].is_small,
                     "%s", rows[i].text);
        cr_expect_eq(value, rows[i].value, "%s", rows[i].text);
    }
}

Test(number, is_a_multiple_exactly)
{
    static const struct {
        const char *number;
        const char *step;
        enum mx_multiple is_multiple;
    } rows[] = {
        {"10", "5", MX_MULTIPLE_YES},
        {"-10", "5", MX_MULTIPLE_YES},
        {"11", "5", MX_MULTIPLE_NO},
        {"0", "0.3", MX_MULTIPLE_YES},
        {"0.0", "7e300", MX_MULTIPLE_YES},
        {"1.10", "0.01", MX_MULTIPLE_YES},
        {"0.0075", "0.0001", MX_MULTIPLE_YES},
        {"0.00751", "0.0001", MX_MULTIPLE_NO},
        {"0.3", "0.1", MX_MULTIPLE_YES},
        {"4.5", "1.5", MX_MULTIPLE_YES},
        {"1", "2", MX_MULTIPLE_NO},
        {"1", "1e1", MX_MULTIPLE_NO},
        {"1", "0.125", MX_MULTIPLE_YES},
        {"1e308", "0.123456789", MX_MULTIPLE_NO},
        {"1e308", "0.5", MX_MULTIPLE_YES},
        {"1e999999999", "3", MX_MULTIPLE_NO},
        {"1e999999999", "1e-999999999", MX_MULTIPLE_YES},
        {"3e999999999", "3", MX_MULTIPLE_YES},
        {"1e18", "262144", MX_MULTIPLE_YES},
        {"1e17", "262144", MX_MULTIPLE_NO},
        {"12345678901234567890", "10", MX_MULTIPLE_YES},
        {"12345678901234567891", "10", MX_MULTIPLE_NO},
        {"12345678901234567890", "12345678901234567890", MX_MULTIPLE_YES},
        {"24691357802469135780", "12345678901234567890.0", MX_MULTIPLE_YES},
        {"24691357802469135781", "1234567890123456789", MX_MULTIPLE_NO},
        {"152415787532388367501905199875019052100", "12345678901234567890", MX_MULTIPLE_YES},
        {"152415787532388367501905199875019052101", "12345678901234567890", MX_MULTIPLE_NO},
        /* 19 digits, all of them twos: 10^63 is the least power of ten it divides. */
        {"1e63", "9223372036854775808", MX_MULTIPLE_YES},
        {"1e62", "9223372036854775808", MX_MULTIPLE_NO},
        /* A remainder that is as long as the step, and begins as it does. */
        {"999999999999000000999998000001", "999999999999000000", MX_MULTIPLE_NO},
        {"1000001000000000000000001", "1000000999999999999999999", MX_MULTIPLE_NO},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mx_number number = number_of(rows[i].number), step = number_of(rows[i].step);
        uint64_t work = plenty;

        cr_expect_eq(mx_number_is_multiple(&number, &step, &work), rows[i].is_multiple,
                     "%s, %s", rows[i].number, rows[i].step);
    }
}

/* (10^100000 - 1) / 9 is a multiple of 11 ones, of 50,000 ones, and not of 11 ones more two. */
Test(number, of_100000_digits_is_divided_with_bounded_work)
{
    char *ones = repeated('1', 100000), *half = repeated('1', 50000);
    char *sevens = repeated('7', 100000);
    const struct {
        const char *number;
        const char *step;
        uint64_t work;
        enum mx_multiple is_multiple;
    } rows[] = {
        {ones, "11", plenty, MX_MULTIPLE_YES},
        {ones, "11111111111111111111", plenty, MX_MULTIPLE_YES},
        {ones, "11111111111111111113", plenty, MX_MULTIPLE_NO},
        {sevens, ones, plenty, MX_MULTIPLE_YES},
        {ones, half, plenty, MX_MULTIPLE_YES},
        {ones, half, 1000000, MX_MULTIPLE_UNKNOWN},
        {ones, "11", 1000, MX_MULTIPLE_UNKNOWN},
        {"7e999999999", sevens, 1000000, MX_MULTIPLE_UNKNOWN},
        {"1e999999999", "11111111111111111111", 1000000, MX_MULTIPLE_NO},
        {half, ones, 0, MX_MULTIPLE_NO},
        {"10", "5", 0, MX_MULTIPLE_YES},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mx_number number = number_of(rows[i].number), step = number_of(rows[i].step);
        uint64_t work = rows[i].work;

        cr_expect_eq(mx_number_is_multiple(&number, &step, &work), rows[i].is_multiple,
                     "row %zu", i);
        cr_expect_leq(work, rows[i].work, "row %zu", i);
    }
    free(ones);
    free(half);
    free(sevens);
}

Test(number, needs_memory_only_for_a_step_of_more_than_18_digits)
{
    struct mx_number number = number_of("24691357802469135780e3"), step = number_of("0.25");
    struct mx_number long_step = number_of("1234567890123456789");
    uint64_t work = plenty;

    fault_alloc_arm(0);
    cr_expect_eq(mx_number_is_multiple(&number, &step, &work), MX_MULTIPLE_YES);
    cr_expect_gt(mx_number_compare(&number, &long_step), 0);
    cr_expect_eq(fault_alloc_count(), 0);
    fault_alloc_arm(1);
    cr_expect_eq(mx_number_is_multiple(&number, &long_step, &work), MX_MULTIPLE_UNKNOWN);
    cr_expect(fault_alloc_disarm());
}
