/*
 * What breaks for whom: an honest sender refused, a flooder let through, a `retry_after_ms` that
 * is refused again when it is followed. Protocol: section 8 (rates), section 6 (rate_limited).
 */
#include "router/hub/topic/account.h"
#include "tests/support/dice.h"

#include <criterion/criterion.h>
#include <inttypes.h>

static struct mcpx_now at(int64_t mono_ms)
{
    return (struct mcpx_now){mono_ms, 0};
}

Test(ratelimit, a_full_bucket_holds_a_minutes_worth_and_no_more)
{
    struct bucket bucket = {.per_minute = 60};

    for (int i = 0; i < 60; i++)
        cr_expect(bucket_take(&bucket, 1, at(5)), "token %d", i);
    cr_expect_not(bucket_take(&bucket, 1, at(5)));
    cr_expect_eq(bucket_left(&bucket, at(5)), 0);
    cr_expect_eq(bucket_wait_ms(&bucket, 1, at(5)), 1000);
    cr_expect_not(bucket_take(&bucket, 1, at(1004)));
    cr_expect(bucket_take(&bucket, 1, at(1005)));
    cr_expect_eq(bucket_left(&bucket, at(61005)), 60, "a minute fills it");
    cr_expect_eq(bucket_left(&bucket, at(INT64_MAX)), 60, "and no more than that");
}

Test(ratelimit, a_refusal_costs_nothing_and_a_clock_that_stands_still_gives_nothing)
{
    struct bucket bucket = {.per_minute = 10};

    cr_assert(bucket_take(&bucket, 8, at(1000)));
    for (int i = 0; i < 100; i++)
        cr_expect_not(bucket_take(&bucket, 3, at(1000)));
    cr_expect_eq(bucket_left(&bucket, at(1000)), 2);
    cr_expect_eq(bucket_left(&bucket, at(10)), 2, "a clock that goes back");
    cr_expect(bucket_take(&bucket, 2, at(1000)));
}

Test(ratelimit, no_limit_is_no_limit)
{
    struct bucket bucket = {.per_minute = 0};

    cr_expect(bucket_take(&bucket, UINT64_MAX, at(0)));
    cr_expect_eq(bucket_left(&bucket, at(0)), UINT64_MAX);
    cr_expect_eq(bucket_wait_ms(&bucket, UINT64_MAX, at(0)), 0);
}

Test(ratelimit, more_than_the_bucket_holds_costs_a_full_bucket)
{
    struct bucket bucket = {.per_minute = 100};

    cr_expect(bucket_take(&bucket, 1000, at(0)));
    cr_expect_eq(bucket_left(&bucket, at(0)), 0);
    cr_expect_eq(bucket_wait_ms(&bucket, 1000, at(0)), 60000);
    cr_expect_not(bucket_take(&bucket, 1000, at(59999)));
    cr_expect(bucket_take(&bucket, 1000, at(60000)));
}

Test(ratelimit, who_waits_as_long_as_told_is_served_and_not_a_millisecond_earlier)
{
    static const uint64_t rates[] = {1, 7, 60, 6000, 67108864, UINT64_C(1) << 40};
    struct dice dice = dice_of_seed(1);

    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct bucket bucket = {.per_minute = rates[i]};
        int64_t now = 0;

        for (int round = 0; round < 5000; round++) {
            uint64_t tokens = 1 + dice_bits(&dice) % rates[i];
            int64_t wait_ms;

            now += (int64_t)dice_below(&dice, 20000);
            wait_ms = bucket_wait_ms(&bucket, tokens, at(now));
            if (wait_ms > 0)
                cr_assert_not(bucket_take(&bucket, tokens, at(now + wait_ms - 1)),
                              "%" PRIu64 " too early", rates[i]);
            cr_assert(bucket_take(&bucket, tokens, at(now + wait_ms)),
                      "%" PRIu64 " of %" PRIu64 " after %" PRId64 " ms", tokens, rates[i],
                      wait_ms);
            now += wait_ms;
        }
    }
}

/* The largest rates that the configuration takes, and a few others. */
static const uint64_t rates[] = {1, 7, 6000, 1000000000, 67108864, (UINT64_C(1) << 44) - 1};

Test(ratelimit, an_empty_bucket_fills_in_a_minute_and_evenly)
{
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct bucket bucket = {.per_minute = rates[i]};
        unsigned long long rate = rates[i];

        cr_expect(bucket_take(&bucket, rates[i], at(1000)), "%llu", rate);
        cr_expect_eq(bucket_left(&bucket, at(1000)), 0, "%llu", rate);
        for (int64_t ms = 1; ms <= 60000; ms++) {
            uint64_t left = bucket_left(&bucket, at(1000 + ms));
            uint64_t wanted = (uint64_t)((long double)rates[i] * ms / 60000);

            cr_expect(left <= wanted && wanted - left <= 1 + rates[i] / 1000000,
                      "%llu per minute: %llu left after %d ms", rate, (unsigned long long)left,
                      (int)ms);
            if (left > wanted || wanted - left > 1 + rates[i] / 1000000)
                break;
        }
        cr_expect_eq(bucket_left(&bucket, at(61000)), rates[i], "%llu", rate);
    }
}
