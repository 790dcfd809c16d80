/*
 * What breaks for whom: somebody who is refused ten thousand times a second would fill the disk of
 * the audit, and with it end everybody else's service.
 */
#include "router/store/audit/audit_share.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const int64_t wall_ms = 1790000000000;

static struct mcpx_now at(int64_t mono_ms)
{
    return (struct mcpx_now){mono_ms, wall_ms + mono_ms};
}

static size_t take(struct audit_shares *shares, const char *name, size_t count,
                   int64_t mono_ms)
{
    size_t taken = 0;

    for (size_t i = 0; i < count; i++)
        taken += audit_share_take(shares, mcpx_slice_of(name), at(mono_ms));
    return taken;
}

Test(audit_share, a_share_is_a_hundred_at_once_and_six_a_minute)
{
    static struct audit_shares shares;
    struct audit_note note;

    cr_expect_eq(take(&shares, "alice", 10000, 1000), AUDIT_SHARE);
    cr_expect_eq(take(&shares, "bob", 10, 1000), 10);
    cr_expect_not(audit_share_tell(&shares, 1000, false, &note));
    cr_expect_eq(take(&shares, "alice", 50, 61000), 6);
    cr_assert(audit_share_tell(&shares, 61000, false, &note));
    cr_expect_eq(note.what, AUDIT_LOST);
    cr_expect_eq(note.count, 10000 - AUDIT_SHARE + 44);
    cr_expect_eq(note.since, wall_ms + 1000);
    cr_expect_eq(note.until, wall_ms + 61000);
    cr_expect(mcpx_slice_equal(note.from, MCPX_SLICE("alice")));
    cr_expect_not(audit_share_tell(&shares, 61000, true, &note));
    cr_expect_eq(take(&shares, "alice", 1000, 61000 + AUDIT_SHARE * AUDIT_SHARE_MS),
                 AUDIT_SHARE);
}

/* Whoever changes names gets no more than a few names' shares, in the same memory. */
Test(audit_share, ten_thousand_names_have_no_more_than_the_table)
{
    static struct audit_shares shares;
    size_t taken = 0, lost = 0;
    struct audit_note note;

    for (int i = 0; i < 10000; i++) {
        char name[20];

        snprintf(name, sizeof name, "name-%d", i);
        taken += take(&shares, name, 2, 1000);
    }
    cr_expect_eq(taken, AUDIT_SHARES * 2 + AUDIT_SHARE);
    while (audit_share_tell(&shares, 1000, true, &note)) {
        cr_expect_null(note.from.text, "the count of many is not one's");
        lost += note.count;
    }
    cr_expect_eq(taken + lost, 20000);
    cr_expect_eq(take(&shares, "later", 1, 1000 + 2 * AUDIT_SHARE_MS), 1);
}

Test(audit_share, what_could_not_be_written_is_counted_without_a_name)
{
    static struct audit_shares shares;
    struct audit_note note;

    audit_share_lose(&shares, 3, at(5));
    audit_share_lose(&shares, 4, at(6));
    cr_assert(audit_share_tell(&shares, 6, true, &note));
    cr_expect_eq(note.count, 7);
    cr_expect_null(note.from.text);
}
