/*
 * What breaks for whom: a unit that passes over a quote or a control character lets in a text
 * that others refuse, one that reads beyond the end dies on the last page of a buffer; one that
 * takes a bracket in a string for one shows a wrong value; and it would do so on some people's
 * machines only. Protocol: section 1.
 */
#include "lib/base/plain.h"
#include "lib/base/scoped.h"

#include <mcpx/text.h>

#include <criterion/criterion.h>
#include <stdlib.h>

static bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

static void expect_stop(const struct mx_plain_unit *unit, const unsigned char *text,
                        size_t from, size_t len, size_t stop)
{
    const unsigned char *found = unit->skip(text + from, text + len);

    cr_expect_eq((size_t)(found - text), stop,
                 "%s: %zu..%zu of one 0x%02x at %zu stopped at %zu", unit->name, from, len,
                 stop < len ? text[stop] : 0, stop, (size_t)(found - text));
}

/* One byte that is not plain, or nearly so, at every place of runs of every length. */
static void check_unit(const struct mx_plain_unit *unit, unsigned char byte)
{
    for (size_t len = 0; len <= 200; len += len < 70 ? 1 : 13) {
        unsigned char *text =
            malloc(len ? len : 1); /* exact, so that a read too far is seen */

        cr_assert_not_null(text);
        memset(text, 'a', len);
        expect_stop(unit, text, 0, len, len);
        for (size_t at = 0; at < len; at++) {
            text[at] = byte;
            for (size_t from = 0; from <= at && from < 5; from++)
                expect_stop(unit, text, from, len, is_plain(byte) ? len : at);
            text[at] = '~';
        }
        free(text);
    }
}

Test(plain, every_unit_stops_where_it_must)
{
    static const unsigned char bytes[] = {0,   1,    0x1f, ' ',  '!',  '"',  '#',  '[', '\\',
                                          ']', 0x7e, 0x7f, 0x80, 0x81, 0xa2, 0xdc, 0xff};

    for (size_t i = 0; i < mx_plain_unit_count; i++) {
        if (!mx_plain_units[i].usable()) {
            cr_log_warn("%s: this machine has none", mx_plain_units[i].name);
            continue;
        }
        for (size_t b = 0; b < sizeof bytes; b++)
            check_unit(&mx_plain_units[i], bytes[b]);
    }
}

Test(plain, the_first_of_several_counts)
{
    unsigned char text[160];

    for (size_t i = 0; i < mx_plain_unit_count; i++)
        for (size_t at = 0; mx_plain_units[i].usable() && at < sizeof text; at++) {
            memset(text, 'a', at);
            for (size_t rest = at; rest < sizeof text; rest++)
                text[rest] = (unsigned char)("\"\\\x01\xc3"[rest % 4]);
            expect_stop(&mx_plain_units[i], text, 0, sizeof text, at);
        }
}

Test(plain, every_byte_is_classed)
{
    for (unsigned byte = 0; byte < 256; byte++)
        cr_expect_eq(mx_is_plain[byte], is_plain((unsigned char)byte), "0x%02x", byte);
}

Test(plain, the_last_unit_is_usable_everywhere)
{
    cr_assert_gt(mx_plain_unit_count, 0);
    cr_expect(mx_plain_units[mx_plain_unit_count - 1].usable());
    cr_expect_eq(mx_plain_units[mx_plain_unit_count - 1].skip, mx_plain_portable);
}

/* Values whose strings look like brackets, with escapes in every place. */
static void add_nested(struct mcpx_text *out, unsigned *seed, int depth)
{
    static const char *const values[] = {
        "7",
        "\"\"",
        "\"]}\"",
        "\"\\\\\"",
        "\"\\\"]\"",
        "\"\\\\\\\"[\\\\\"",
        "\"{\xc3\xa9[\"",
        "\"a run that is longer than any of the vectors, so that it begins in one block \""};
    bool is_object = rand_r(seed) & 1;
    int count = rand_r(seed) % 5;

    mcpx_text_puts(out, is_object ? "{" : "[");
    for (int i = 0; i < count; i++) {
        mcpx_text_puts(out, i > 0 ? "," : "");
        mcpx_text_puts(out, is_object ? "\"}\\\"\":" : "");
        if (depth > 0 && rand_r(seed) % 2)
            add_nested(out, seed, depth - 1);
        else
            mcpx_text_puts(out,
                           values[(unsigned)rand_r(seed) % (sizeof values / sizeof *values)]);
    }
    mcpx_text_puts(out, is_object ? "}" : "]");
}

static void expect_end(const struct mx_plain_unit *unit, struct mcpx_slice text, size_t end)
{
    unsigned char *bytes = malloc(text.len); /* exact, as above */
    const unsigned char *found;

    cr_assert_not_null(bytes);
    memcpy(bytes, text.text, text.len);
    found = unit->nested(bytes, bytes + text.len);
    cr_expect_eq(found ? (size_t)(found - bytes) : 0, end, "%s: %.*s", unit->name,
                 (int)text.len, text.text);
    free(bytes);
}

Test(plain, every_unit_finds_where_a_value_ends)
{
    mx_scoped_text text = {0};
    unsigned seed = 1;

    for (int round = 0; round < 3000; round++) {
        size_t len;

        mcpx_text_reset(&text);
        add_nested(&text, &seed, 4);
        len = text.len;
        mcpx_text_puts(&text, ",\"]}\"]}");
        for (size_t i = 0; i < mx_plain_unit_count; i++) {
            if (!mx_plain_units[i].usable())
                continue;
            expect_end(&mx_plain_units[i], mcpx_text_view(&text), len);
            expect_end(&mx_plain_units[i], (struct mcpx_slice){text.text, len}, len);
            expect_end(&mx_plain_units[i], (struct mcpx_slice){text.text, len - 1}, 0);
        }
    }
}
