/*
 * What breaks for whom: a duplicate id let in or a fresh one refused, a topic that cannot be found
 * any more, names chosen so that they collide. Protocol: section 1 (unique ids), section 4.
 */
#include "lib/base/map.h"
#include "tests/support/dice.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>

/* From the appendix of the SipHash paper: the key is 00..0f, the text of length n is 00..n-1. */
Test(map, hashes_as_the_reference_vectors_say)
{
    static const struct {
        size_t len;
        uint64_t hash;
    } rows[] = {
        {0, 0x726fdb47dd0e0e31}, {1, 0x74f839c593dc67fd},  {2, 0x0d6c8009d9a94f5a},
        {3, 0x85676696d7fb7e2d}, {7, 0xab0200f58b01d137},  {8, 0x93f5f5799a932462},
        {9, 0x9e0082df0ba9e4b0}, {15, 0xa129ca6149be45e5}, {63, 0x958a324ceb064572},
    };
    struct mx_map_key key = {{0x0706050403020100, 0x0f0e0d0c0b0a0908}};
    char text[64];

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)i;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t hash = mx_map_hash(key, (struct mcpx_slice){text, rows[i].len});

        cr_expect_eq(hash, rows[i].hash, "%zu bytes: %016" PRIx64, rows[i].len, hash);
    }
}

enum { VALUES = 2000, OPERATIONS = 200000 };

/* Few distinct hashes, many of them next to each other: clusters grow, wrap round and close. */
static uint64_t hash_of(uint64_t value)
{
    switch (value % 4) {
    case 0:
        return value % 7;
    case 1:
        return UINT64_MAX - value % 5;
    case 2:
        return value << 32;
    default:
        return value * 0x9e3779b97f4a7c15;
    }
}

static bool holds(const struct mx_map *map, uint64_t hash, uint64_t value)
{
    size_t at = 0, found = 0;
    uint64_t each;

    while ((each = mx_map_next(map, hash, &at)))
        found += each == value;
    cr_assert_leq(found, 1, "%" PRIu64 " stands there twice", value);
    return found == 1;
}

Test(map, agrees_with_a_plain_array_over_many_operations)
{
    static bool there[VALUES + 1];
    struct dice dice = dice_of_seed(4711);
    struct mx_map map = {0};
    size_t count = 0;

    for (size_t i = 0; i < OPERATIONS; i++) {
        size_t most = 1 + (i / 1000 * 37) % VALUES; /* phases of growing and shrinking */
        uint64_t value = 1 + dice_below(&dice, most);

        if (!there[value] && dice_below(&dice, 3)) {
            cr_assert(mx_map_reserve(&map));
            mx_map_put(&map, hash_of(value), value);
            there[value] = true;
            count++;
        } else {
            mx_map_remove(&map, hash_of(value), value); /* harmless when it is not there */
            count -= there[value];
            there[value] = false;
        }
        value = 1 + dice_below(&dice, VALUES);
        cr_assert_eq(holds(&map, hash_of(value), value), there[value], "operation %zu", i);
        cr_assert_eq(map.count, count);
        cr_assert_leq(map.count * 2, map.size);
    }
    for (uint64_t value = 1; value <= VALUES; value++)
        cr_expect_eq(holds(&map, hash_of(value), value), there[value], "%" PRIu64, value);
    mx_map_fini(&map);
}

Test(map, is_empty_when_zero_and_after_its_end)
{
    struct mx_map map = {0};
    size_t at = 0;

    cr_expect_eq(mx_map_next(&map, 1, &at), 0);
    mx_map_remove(&map, 1, 1);
    cr_assert(mx_map_reserve(&map));
    mx_map_put(&map, 1, 1);
    mx_map_fini(&map);
    at = 0;
    cr_expect_eq(mx_map_next(&map, 1, &at), 0);
    cr_expect_eq(map.count, 0);
}
