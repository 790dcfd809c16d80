/*
 * What breaks for whom: a unit that misses a byte or turns one too many hands others a text that
 * nobody sent, and it would do so on some people's machines only. RFC 6455 section 5.3.
 */
#include "lib/core/unmask.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static const unsigned char key[4] = {0x11, 0xa2, 0x33, 0xf4};

static void check(const char *name, const unsigned char *bytes, size_t len, size_t phase)
{
    for (size_t i = 0; i < len; i++)
        cr_expect_eq(bytes[i], (unsigned char)((unsigned char)i ^ key[(phase + i) & 3]),
                     "%s: byte %zu of %zu", name, i, len);
}

/* Exact memory, so that a byte too far is seen. */
static unsigned char *make(size_t len)
{
    unsigned char *bytes = malloc(len ? len : 1);

    cr_assert_not_null(bytes);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (unsigned char)i;
    return bytes;
}

Test(unmask, every_unit_turns_every_byte_once)
{
    for (size_t i = 0; i < mx_unmask_unit_count; i++) {
        const struct mx_unmask_unit *unit = &mx_unmask_units[i];

        if (!unit->usable()) {
            cr_log_warn("%s: this machine has none", unit->name);
            continue;
        }
        for (size_t len = 0; len < 400; len++) {
            unsigned char *bytes = make(len);

            unit->unmask(bytes, len, key);
            check(unit->name, bytes, len, 0);
            free(bytes);
        }
    }
}

Test(unmask, a_piece_goes_on_where_the_one_before_ended)
{
    for (size_t phase = 0; phase < 9; phase++)
        for (size_t len = 0; len < 70; len++) {
            unsigned char *bytes = make(len);

            mx_unmask(bytes, len, key, phase);
            check("chosen", bytes, len, phase);
            free(bytes);
        }
}

Test(unmask, the_last_unit_is_usable_everywhere)
{
    cr_assert_gt(mx_unmask_unit_count, 0);
    cr_expect(mx_unmask_units[mx_unmask_unit_count - 1].usable());
    cr_expect_eq(mx_unmask_units[mx_unmask_unit_count - 1].unmask, mx_unmask_portable);
}
