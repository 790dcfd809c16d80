/*
 * What breaks for whom: one sender's verdict taken for another's, or one kind's for another that
 * falls on the same place, is a hole in every grant. Protocol: section 3.
 */
#include "lib/protocol/capset.h"

#include <criterion/criterion.h>
#include <stdio.h>

/* What the memo says: 0 or 1, or -1 when it knows nothing. */
static int recall(uint64_t owner, struct mcpx_slice text)
{
    const struct mx_decisions_slot *slot = mx_decisions_slot(owner, text);

    return slot && mx_decisions_holds(slot, owner, text) ? slot->verdict : -1;
}

static void keep(uint64_t owner, struct mcpx_slice text, bool verdict)
{
    struct mx_decisions_slot *slot = mx_decisions_slot(owner, text);

    cr_assert_not_null(slot);
    mx_decisions_keep(slot, owner, text, verdict);
}

Test(decisions, knows_what_it_was_told_and_nothing_else)
{
    char bytes[MX_DECISIONS_TEXT_MAX];
    uint64_t owner = mx_decisions_owner();

    memset(bytes, 'k', sizeof bytes);
    for (size_t len = 1; len <= sizeof bytes; len++) {
        struct mcpx_slice text = {bytes, len};

        cr_expect_eq(recall(owner, text), -1, "%zu bytes", len);
        keep(owner, text, len % 2);
        cr_expect_eq(recall(owner, text), (int)(len % 2), "%zu bytes", len);
        for (size_t i = 0; i < len; i++) { /* not one byte may be overlooked */
            bytes[i] ^= 1;
            cr_expect_eq(recall(owner, text), -1, "%zu bytes, byte %zu", len, i);
            bytes[i] ^= 1;
        }
        cr_expect_eq(recall(owner + 1, text), -1, "%zu bytes", len);
        keep(owner, text, len % 2 == 0);
        cr_expect_eq(recall(owner, text), (int)(len % 2 == 0), "%zu bytes", len);
    }
}

Test(decisions, forgets_but_never_confuses)
{
    uint64_t owners[3] = {mx_decisions_owner(), mx_decisions_owner(), mx_decisions_owner()};
    size_t known = 0;

    for (int round = 0; round < 2; round++)
        for (unsigned i = 0; i < 30000; i++) {
            char bytes[32];
            int len = snprintf(bytes, sizeof bytes, "mcp/request:tools/call:%u", i / 3);
            struct mcpx_slice text = {bytes, (size_t)len};
            bool verdict = i * 2654435761U >> 31;
            int recalled = recall(owners[i % 3], text);

            cr_expect(recalled == -1 || recalled == verdict, "%u: %d", i, recalled);
            keep(owners[i % 3], text, verdict);
            known += recall(owners[i % 3], text) == verdict;
        }
    cr_expect_eq(known, 60000);
}

Test(decisions, has_no_place_for_long_texts)
{
    char bytes[MX_DECISIONS_TEXT_MAX + 1];

    memset(bytes, 'k', sizeof bytes);
    cr_expect_null(mx_decisions_slot(1, (struct mcpx_slice){bytes, sizeof bytes}));
    cr_expect_not_null(mx_decisions_slot(1, (struct mcpx_slice){bytes, sizeof bytes - 1}));
}

Test(decisions, gives_every_owner_a_number_of_its_own)
{
    uint64_t last = mx_decisions_owner();

    cr_expect_neq(last, 0);
    for (int i = 0; i < 1000; i++) {
        uint64_t owner = mx_decisions_owner();

        cr_expect_gt(owner, last);
        last = owner;
    }
}
