/*
 * What breaks for whom: a participant that may join "room-*" gets into "lobby", a web page of an
 * unknown origin may connect, or a client is shown tools that were left out. docs/configuration.md
 * (patterns), docs/bridge-expose.md (--only).
 */
#include "lib/base/match.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(glob, takes_stars_for_any_bytes_and_the_rest_for_itself)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } rows[] = {
        {"", "", true},
        {"", "a", false},
        {"a", "", false},
        {"*", "", true},
        {"*", "anything at all", true},
        {"**", "a", true},
        {"room-*", "room-", true},
        {"room-*", "room-1", true},
        {"room-*", "room", false},
        {"room-*", "Room-1", false},
        {"room-*", "xroom-1", false},
        {"*-room", "a-room", true},
        {"*-room", "a-rooms", false},
        {"a*b*c", "abc", true},
        {"a*b*c", "axxbyybzzc", true},
        {"a*b*c", "axxbyybzz", false},
        {"a*a", "a", false},
        {"a*a", "aa", true},
        {"*ab", "aab", true},
        {"*aab", "aaab", true},
        {"a?c", "abc", false},
        {"a.c", "abc", false},
        {"[ab]", "a", false},
        {"\\*", "*", false},
        {"http://localhost:*", "http://localhost:3000", true},
        {"http://localhost:*", "http://localhost.example:3000", false},
        {"http://localhost:*", "https://localhost:3000", false},
        {"https://*.example.org", "https://a.example.org", true},
        {"https://*.example.org", "https://a.example.org.evil", false},
        {"files", "files", true},
        {"files", "file", false},
        {"files", "filesx", false},
        {"f*s", "files", true},
        {"f*s", "fs", true},
        {"f*s", "filesx", false},
        {"**a", "ba", true},
        {"*a*a", "aba", true},
        {"*a*a", "a", false},
        {"s__read_*", "s__read_", true},
        {"s__read_*", "s__rea", false},
        {"*b*c*d", "abcbcd", true},
        {"a*b", "aXbX", false},
        {"**", "", true},
        {"a*", "a*b", true},
        {"ab", "a*", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_eq(
            mx_glob_matches(mcpx_slice_of(rows[i].pattern), mcpx_slice_of(rows[i].text)),
            rows[i].matches, "'%s' and '%s'", rows[i].pattern, rows[i].text);
}

Test(glob, takes_no_longer_for_many_stars)
{
    char pattern[256], text[4096];

    for (size_t i = 0; i + 1 < sizeof pattern; i += 2)
        memcpy(pattern + i, "a*", 2);
    pattern[254] = 'b';
    memset(text, 'a', sizeof text);
    cr_expect_not(mx_glob_matches((struct mcpx_slice){pattern, 255},
                                  (struct mcpx_slice){text, sizeof text}));
}

Test(glob, matches_when_one_of_several_does)
{
    char *patterns[] = {"a", "b*"};

    cr_expect(mx_glob_any_matches(patterns, 2, MCPX_SLICE("bc")));
    cr_expect_not(mx_glob_any_matches(patterns, 2, MCPX_SLICE("c")));
    cr_expect_not(mx_glob_any_matches(NULL, 0, MCPX_SLICE("c")));
}

/* Looking for it anew at each byte would take a day. */
Test(glob, long_texts_do_not_take_the_product_of_their_lengths)
{
    enum { TEXT = 4000000, PART = 2000000 };
    char *text = malloc(TEXT), *pattern = malloc(PART + 2);

    cr_assert(text && pattern);
    memset(text, 'a', TEXT);
    memset(pattern, 'a', PART + 2);
    pattern[0] = '*';
    pattern[PART] = 'b';
    cr_expect_not(mx_glob_matches((struct mcpx_slice){pattern, PART + 1},
                                  (struct mcpx_slice){text, TEXT}));
    pattern[PART + 1] = '*';
    cr_expect_not(mx_glob_matches((struct mcpx_slice){pattern, PART + 2},
                                  (struct mcpx_slice){text, TEXT}));
    text[TEXT - 1] = 'b';
    cr_expect(mx_glob_matches((struct mcpx_slice){pattern, PART + 2},
                              (struct mcpx_slice){text, TEXT}));
    free(text);
    free(pattern);
}
