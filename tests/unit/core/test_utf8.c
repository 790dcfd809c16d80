/*
 * What breaks for whom: bytes that one client's decoder refuses close that client's connection,
 * though somebody else sent them. RFC 3629. Protocol: section 1.
 */
#include "lib/json/escape.h"
#include "tests/support/count.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static bool is_valid(const unsigned char *bytes, size_t len)
{
    return mx_utf8_is_valid((struct mcpx_slice){(const char *)bytes, len}, NULL);
}

/* The definition, straight from the table of RFC 3629 section 4, for comparison. */
static size_t sequence_by_the_book(const unsigned char *s)
{
    static const struct {
        unsigned char low[4], high[4];
        size_t len;
    } rows[] = {
        {{0x00}, {0x7f}, 1},
        {{0xc2, 0x80}, {0xdf, 0xbf}, 2},
        {{0xe0, 0xa0, 0x80}, {0xe0, 0xbf, 0xbf}, 3},
        {{0xe1, 0x80, 0x80}, {0xec, 0xbf, 0xbf}, 3},
        {{0xed, 0x80, 0x80}, {0xed, 0x9f, 0xbf}, 3},
        {{0xee, 0x80, 0x80}, {0xef, 0xbf, 0xbf}, 3},
        {{0xf0, 0x90, 0x80, 0x80}, {0xf0, 0xbf, 0xbf, 0xbf}, 4},
        {{0xf1, 0x80, 0x80, 0x80}, {0xf3, 0xbf, 0xbf, 0xbf}, 4},
        {{0xf4, 0x80, 0x80, 0x80}, {0xf4, 0x8f, 0xbf, 0xbf}, 4},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t at = 0;

        while (at < rows[i].len && s[at] >= rows[i].low[at] && s[at] <= rows[i].high[at])
            at++;
        if (at == rows[i].len)
            return rows[i].len;
    }
    return 0;
}

Test(utf8, agrees_with_the_rfc_on_every_class_of_sequence)
{
    /* every first and second byte; third and fourth from the edges of all ranges */
    static const unsigned char edges[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f,
                                          0xa0, 0xbf, 0xc0, 0xc2, 0xe0, 0xff};
    size_t wrong = 0;

    for (unsigned first = 0; first < 256; first++)
        for (unsigned second = 0; second < 256; second++)
            for (size_t i = 0; i < COUNT(edges) * COUNT(edges); i++) {
                unsigned char s[4] = {(unsigned char)first, (unsigned char)second,
                                      edges[i / COUNT(edges)], edges[i % COUNT(edges)]};

                wrong += mx_utf8_sequence(s, s + 4) != sequence_by_the_book(s);
            }
    cr_expect_eq(wrong, 0, "%zu sequences judged differently", wrong);
}

Test(utf8, refuses_cut_sequences)
{
    static const char *const rows[] = {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};

    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t cut = 1; cut <= strlen(rows[i]); cut++) {
            unsigned char *copy = malloc(cut); /* its own block: a read too far is seen */

            memcpy(copy, rows[i], cut);
            cr_expect_eq(is_valid(copy, cut), cut == strlen(rows[i]), "row %zu cut %zu", i,
                         cut);
            free(copy);
        }
}

Test(utf8, names_the_first_bad_byte_wherever_it_stands)
{
    for (size_t before = 0; before < 40; before++) {
        char text[64];
        size_t offset = 99;

        memset(text, 'a', sizeof text);
        text[before] = '\xff';
        cr_expect_not(mx_utf8_is_valid((struct mcpx_slice){text, sizeof text}, &offset));
        cr_expect_eq(offset, before, "%zu instead of %zu", offset, before);
        memcpy(text + before, "\xc3\xa9\xe2\x82\x28", 5);
        cr_expect_not(mx_utf8_is_valid((struct mcpx_slice){text, sizeof text}, &offset));
        cr_expect_eq(offset, before + 2, "%zu instead of %zu", offset, before + 2);
    }
}

Test(utf8, takes_nothing_for_text_and_nul_for_a_character)
{
    size_t offset = 7;

    cr_expect(mx_utf8_is_valid((struct mcpx_slice){NULL, 0}, &offset));
    cr_expect(mx_utf8_is_valid(MCPX_SLICE("a\0b"), &offset));
    cr_expect_eq(offset, 7, "touched on success");
}
