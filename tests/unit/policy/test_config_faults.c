/*
 * What breaks for whom: an operator who reads "invalid configuration" and has to guess. Each row
 * is a file with one fault and the beginning of the one line it earns: where, what was found,
 * what is allowed. docs/configuration.md (faults).
 */
#include "tests/support/rows.h"
#include "tests/support/settled.h"

#include <criterion/criterion.h>

static void expect_line(char *const row[])
{
    struct settled s = settled_load(row[0], NULL, false);
    const char *lines = s.errors.text;
    const char *end = strchr(lines, '\n');

    cr_expect_eq(s.err, MCPX_ECONFIG, "%s", row[0]);
    cr_expect(strncmp(lines, row[1], strlen(row[1])) == 0, "%s\n  gives    %s  expected %s\n",
              row[0], lines, row[1]);
    cr_expect(end && end[1] == '\0', "%s gives more than one line: %s", row[0], lines);
    settled_fini(&s);
}

Test(config_faults, say_what_where_and_what_would_be_right)
{
    static char text[] = "{\n \"log\": {\"level\" \"info\"}}";
    static char line[] = "FILE: line 2, column 23: ':' expected";

    rows_each("policy/rows/config_faults", "faults", expect_line);
    expect_line((char *[]){text, line});
}
