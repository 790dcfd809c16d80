/*
 * What breaks for whom: a loop that misses a byte or turns one too many hands others a text that
 * nobody sent. RFC 6455 section 5.3.
 */
#include "lib/wire/frame_head.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static const unsigned char key[4] = {0x11, 0xa2, 0x33, 0xf4};

static void check(const unsigned char *bytes, size_t len, size_t phase)
{
    for (size_t i = 0; i < len; i++)
        cr_expect_eq(bytes[i], (unsigned char)((unsigned char)i ^ key[(phase + i) & 3]),
                     "byte %zu of %zu from %zu", i, len, phase);
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

Test(unmask, every_byte_is_turned_once)
{
    for (size_t len = 0; len < 400; len++) {
        unsigned char *bytes = make(len);

        mx_unmask(bytes, len, key, 0);
        check(bytes, len, 0);
        free(bytes);
    }
}

Test(unmask, a_piece_goes_on_where_the_one_before_ended)
{
    for (size_t phase = 0; phase < 9; phase++)
        for (size_t len = 0; len < 70; len++) {
            unsigned char *bytes = make(len);

            mx_unmask(bytes, len, key, phase);
            check(bytes, len, phase);
            free(bytes);
        }
}
