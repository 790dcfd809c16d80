/*
 * What breaks for whom: an order executed twice, or one that is not executed because another looked
 * like it. Contract: inbound.h.
 */
#include "lib/session/inbound.h"
#include "tests/support/fault_alloc.h"

#include <criterion/criterion.h>

static uint64_t digest(const struct mx_recent *recent, const char *from, const char *id,
                       const char *payload)
{
    static struct mcpx_envelope envelope;

    envelope.from = mcpx_slice_of(from);
    envelope.id = mcpx_slice_of(id);
    envelope.payload = mcpx_slice_of(payload);
    return mx_recent_digest(recent, &envelope);
}

Test(recent, tells_apart_what_differs_in_sender_id_or_payload)
{
    struct mx_recent recent = {.key = {{1, 2}}, .max = 10};
    uint64_t one = digest(&recent, "a", "bc", "{}");

    cr_expect_eq(digest(&recent, "a", "bc", "{}"), one);
    cr_expect_neq(digest(&recent, "ab", "c", "{}"), one);
    cr_expect_neq(digest(&recent, "a", "bd", "{}"), one);
    cr_expect_neq(digest(&recent, "a", "bc", "{ }"), one);
}

Test(recent, remembers_as_many_as_it_may)
{
    static const size_t maxima[] = {1, 2, 63, 64, 65, 1000};

    for (size_t row = 0; row < sizeof maxima / sizeof *maxima; row++) {
        struct mx_recent recent = {.key = {{1, 2}}, .max = maxima[row]};

        for (uint64_t number = 1; number <= 3000; number++) {
            cr_assert(mx_recent_reserve(&recent));
            mx_recent_note(&recent, number);
            cr_assert(mx_recent_has(&recent, number));
            if (number > recent.max)
                cr_assert_not(mx_recent_has(&recent, number - recent.max));
            if (number >= recent.max)
                cr_assert(mx_recent_has(&recent, number - recent.max + 1));
        }
        cr_expect_eq(recent.set.count, recent.max);
        mx_recent_fini(&recent);
    }
}

Test(recent, survives_shortage)
{
    struct mx_recent recent = {.key = {{1, 2}}, .max = 200};
    size_t failures = 0;

    for (uint64_t number = 1; number <= 200; number++) {
        bool failed = false;

        for (size_t nth = 1; nth == 1 || failed; nth++) {
            fault_alloc_arm(nth);
            cr_expect_neq(mx_recent_reserve(&recent), fault_alloc_count() >= nth);
            failed = fault_alloc_disarm();
            failures += failed;
        }
        mx_recent_note(&recent, number);
        cr_assert(mx_recent_has(&recent, 1));
    }
    cr_expect_gt(failures, 3);
    mx_recent_fini(&recent);
}
