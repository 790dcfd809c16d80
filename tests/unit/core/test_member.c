/*
 * What breaks for whom: of two members called `kind` the router would check one and a receiver
 * would read the other, and a grant would be worth nothing. Protocol: section 1.
 */
#include "lib/json/scan.h"
#include "tests/support/count.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct mx_scan scan_of(const char *text)
{
    struct mx_scan scan;
    struct mcpx_fault fault = {"", "", 0};

    cr_assert_eq(mx_scan(mcpx_slice_of(text), 0, &scan, &fault), MCPX_OK, "%s: %s", text,
                 fault.reason);
    return scan;
}

Test(member, compares_names_as_what_they_stand_for)
{
    static const struct {
        const char *text;
        const char *name;
        bool same;
    } rows[] = {
        {"{\"kind\":1}", "kind", true},
        {"{\"k\\u0069nd\":1}", "kind", true},
        {"{\"\\u006b\\u0069\\u006E\\u0064\":1}", "kind", true},
        {"{\"kind\":1}", "kin", false},
        {"{\"kin\":1}", "kind", false},
        {"{\"Kind\":1}", "kind", false},
        {"{\"k\\u0049nd\":1}", "kind", false},
        {"{\"kind\\u0000\":1}", "kind", false},
        {"{\"kind \":1}", "kind", false},
        {"{\"k\\\\u0069nd\":1}", "kind", false},
        {"{\"\":1}", "", true},
        {"{\"\":1}", "id", false},
        {"{\"\\u0069\":1}", "id", false},
        {"{\"\\u0069d\":1}", "i", false},
        {"{\"a\\/b\":1}", "a/b", true},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mx_scan scan = scan_of(rows[i].text);

        cr_expect_eq(mx_member_is(&scan.members[0], rows[i].name), rows[i].same, "%s, %s",
                     rows[i].text, rows[i].name);
    }
}

Test(member, finds_the_first_name_that_stands_earlier_too)
{
    static const struct {
        const char *text;
        int duplicate; /* which member, -1 = none */
    } rows[] = {
        {"{}", -1},
        {"{\"a\":1}", -1},
        {"{\"a\":1,\"b\":2}", -1},
        {"{\"a\":1,\"a\":2}", 1},
        {"{\"a\":1,\"b\":{\"a\":1,\"a\":2}}", -1},
        {"{\"a\":1,\"b\":2,\"b\":3,\"a\":4}", 2},
        {"{\"\":1,\"\":2}", 1},
        {"{\"\":1,\"a\":2}", -1},
        {"{\"kind\":1,\"k\\u0069nd\":2}", 1},
        {"{\"k\\u0069nd\":1,\"kind\":2}", 1},
        {"{\"k\\u0069nd\":1,\"\\u006bind\":2}", 1},
        {"{\"k\\u0069nd\":1,\"k\\\\u0069nd\":2}", -1},
        {"{\"a\\/b\":1,\"a/b\":2}", 1},
        {"{\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":2}", 1},
        {"{\"\\ud800\":1,\"\\ud801\":2}", -1},
        {"{\"\\ud800\":1,\"\\uD800\":2}", 1},
        {"{\"\\ud800\":1,\"\\ufffd\":2}", -1},
        {"{\"a\\u0000\":1,\"a\":2}", -1},
        {"{\"a\\u0000b\":1,\"a\\u0000c\":2}", -1},
        {"{\"abc\":1,\"axc\":2}", -1}, /* alike in length, first and last byte */
        {"{\"abc\":1,\"axc\":2,\"abc\":3}", 2},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mx_scan scan = scan_of(rows[i].text);
        const struct mx_member *duplicate = mx_scan_duplicate(&scan);
        int found = duplicate ? (int)(duplicate - scan.members) : -1;

        cr_expect_eq(found, rows[i].duplicate, "%s: %d", rows[i].text, found);
    }
}

Test(member, finds_a_double_among_64_wherever_the_two_stand)
{
    for (size_t a = 0; a < MCPX_MEMBERS_MAX; a++)
        for (size_t b = a + 1; b < MCPX_MEMBERS_MAX; b++) {
            char text[2048] = "{";
            size_t len = 1;
            struct mx_scan scan;

            for (size_t n = 0; n < MCPX_MEMBERS_MAX; n++)
                len += (size_t)snprintf(text + len, sizeof text - len, "%s\"name%zu\":0",
                                        n ? "," : "", n == b ? a : n);
            text[len] = '}';
            scan = scan_of(text);
            cr_expect_eq(mx_scan_duplicate(&scan), &scan.members[b], "%zu and %zu", a, b);
        }
}
