/*
 * What breaks for whom: a participant with much keeps what a newcomer needs, or one with little has
 * to give way for it; a rate that nobody has used up refuses somebody.
 */
#include "lib/base/bucket.h"
#include "lib/base/holders.h"
#include "tests/support/dice.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const struct mcpx_slice alice = {"alice", 5}, bob = {"bob", 3};

Test(holders, a_cap_is_the_owners_own_and_the_total_is_everybodys)
{
    static const struct {
        uint64_t alice_has, bob_has, alice_asks;
        enum mx_sharing meets;
    } rows[] = {
        {0, 0, 60, MX_SHARING_FITS},        {0, 0, 61, MX_SHARING_OVER_CAP},
        {60, 0, 1, MX_SHARING_OVER_CAP},    {59, 40, 1, MX_SHARING_FITS},
        {59, 41, 1, MX_SHARING_OVER_TOTAL}, {0, 60, 40, MX_SHARING_FITS},
        {0, 60, 41, MX_SHARING_OVER_TOTAL}, {1, 0, UINT64_MAX, MX_SHARING_OVER_CAP},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mx_holders holders = {.cap = 60, .total = 100};

        cr_assert(mx_holders_add(&holders, alice, rows[i].alice_has));
        cr_assert(mx_holders_add(&holders, bob, rows[i].bob_has));
        cr_expect_eq(mx_holders_ask(&holders, alice, rows[i].alice_asks), rows[i].meets,
                     "row %zu", i);
        mx_holders_fini(&holders);
    }
}

Test(holders, what_has_no_bound_always_fits)
{
    struct mx_holders holders = {0};

    cr_assert(mx_holders_add(&holders, alice, 1000));
    cr_expect_eq(mx_holders_ask(&holders, alice, UINT64_MAX), MX_SHARING_FITS);
    cr_expect_eq(mx_holders_largest(&holders).len, 5);
    mx_holders_remove(&holders, bob, 7);
    mx_holders_remove(&holders, alice, 2000);
    cr_expect_eq(holders.held, 0);
    cr_expect_eq(mx_holders_largest(&holders).len, 0);
    mx_holders_fini(&holders);
}

enum { OWNERS = 97, STEPS = 50000 };

/* By chance, beside a plain array: the amounts agree, and nobody holds more than the largest. */
Test(holders, agree_with_an_array_that_is_searched)
{
    struct mx_holders holders = {.key = {{3, 5}}};
    uint64_t held[OWNERS] = {0}, sum = 0;
    struct dice dice = dice_of_seed(20261126);

    for (size_t step = 0; step < STEPS; step++) {
        size_t who = dice_below(&dice, OWNERS), largest = 0;
        uint64_t amount = dice_below(&dice, 1000);
        char name[16];
        struct mcpx_slice owner = {name, (size_t)snprintf(name, sizeof name, "p%zu", who)};
        struct mcpx_slice most;

        if (dice_below(&dice, 2)) {
            cr_assert(mx_holders_add(&holders, owner, amount));
            held[who] += amount;
            sum += amount;
        } else {
            uint64_t less = amount < held[who] ? amount : held[who];

            mx_holders_remove(&holders, owner, amount);
            held[who] -= less;
            sum -= less;
        }
        for (size_t i = 0; i < OWNERS; i++)
            if (held[i] > held[largest])
                largest = i;
        most = mx_holders_largest(&holders);
        cr_assert_eq(holders.held, sum, "step %zu: %" PRIu64, step, holders.held);
        cr_assert_eq(mx_holders_held(&holders, owner), held[who], "step %zu", step);
        cr_assert_eq(mx_holders_held(&holders, most), held[largest], "step %zu: %.*s", step,
                     (int)most.len, most.text);
    }
    mx_holders_fini(&holders);
}

Test(buckets, one_who_spends_all_leaves_others_what_they_have)
{
    struct mx_buckets *buckets = calloc(1, sizeof *buckets);

    cr_assert_not_null(buckets);
    *buckets = (struct mx_buckets){.key = {{7, 11}}, .rate = {60, 10}};
    for (int i = 0; i < 10; i++) {
        cr_expect_eq(mx_buckets_wait_ms(buckets, alice, 1, 0), 0, "%d", i);
        mx_buckets_spend(buckets, alice, 1, 0);
    }
    cr_expect_eq(mx_buckets_wait_ms(buckets, alice, 1, 0), 1000);
    cr_expect_eq(mx_buckets_wait_ms(buckets, alice, 1, 999), 1);
    cr_expect_eq(mx_buckets_wait_ms(buckets, bob, 10, 0), 0);
    mx_buckets_return(buckets, alice, 1, 0);
    cr_expect_eq(mx_buckets_wait_ms(buckets, alice, 1, 0), 0);
    free(buckets);
}
