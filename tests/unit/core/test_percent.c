/*
 * What breaks for whom: a topic whose name is escaped wrongly cannot be asked for, and a path that
 * is read in another way than its server reads it passes a grant that should have stopped it.
 */
#include "lib/base/digits.h"
#include "lib/base/scoped.h"

#include <criterion/criterion.h>

Test(percent, escapes_whatever_is_not_unreserved)
{
    mx_scoped_text out = {0};

    mx_percent_add(&out, MCPX_SLICE("Az9-._~ /%\xc3\xa9\0?"));
    cr_expect_str_eq(out.text, "Az9-._~%20%2F%25%C3%A9%00%3F");
}

Test(percent, reads_an_escape_or_the_byte_itself)
{
    static const struct {
        const char *text;
        char byte;
        size_t taken;
    } rows[] = {
        {"a%41", 'a', 1}, {"%41b", 'A', 3}, {"%2f", '/', 3}, {"%2F", '/', 3}, {"%00", '\0', 3},
        {"%25", '%', 3},  {"%4", '%', 1},   {"%", '%', 1},   {"%g1", '%', 1}, {"%1g", '%', 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char byte = 'x';

        cr_expect_eq(mx_percent_read(mcpx_slice_of(rows[i].text), &byte), rows[i].taken, "%s",
                     rows[i].text);
        cr_expect_eq(byte, rows[i].byte, "%s", rows[i].text);
    }
}
