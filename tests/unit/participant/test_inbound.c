/*
 * What breaks for whom: a participant whose memory others fill, or whose answers they get by using
 * an id again. Contract: inbound.h.
 */
#include "lib/session/inbound.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static struct mx_asked asked_by(const char *from, const char *id)
{
    return (struct mx_asked){.id = mcpx_slice_of(id), .from = mcpx_slice_of(from)};
}

Test(inbound, keeps_an_id_for_who_used_it_first)
{
    struct mx_inbound inbound = {.senders.key = {{1, 2}}, .max = 10};
    struct mx_asked first = asked_by("bob", "q"), again = asked_by("bob", "q");
    struct mx_asked other = asked_by("eve", "q");

    again.method = MCPX_SLICE("ping");
    cr_expect_eq(mx_inbound_add(&inbound, &first), MCPX_OK);
    cr_expect_eq(mx_inbound_add(&inbound, &other), MCPX_EDUPLICATE);
    cr_expect_eq(mx_inbound_add(&inbound, &again), MCPX_OK);
    cr_assert_not_null(mx_inbound_find(&inbound, first.id));
    cr_expect(mcpx_slice_equal(mx_inbound_find(&inbound, first.id)->method, again.method));
    mx_inbound_remove(&inbound, first.id);
    cr_expect_eq(inbound.bytes, 0);
    cr_expect_eq(mx_inbound_add(&inbound, &other), MCPX_OK);
    mx_inbound_fini(&inbound);
}

Test(inbound, is_bounded_in_memory_as_well)
{
    enum { LARGE = 900000 };
    struct mx_inbound inbound = {.senders.key = {{1, 2}}, .max = 10000};
    struct mx_asked asked = asked_by("eve", "");
    char *large = calloc(1, LARGE);
    char id[8];

    cr_assert_not_null(large);
    asked.context = (struct mcpx_slice){large, LARGE};
    for (int i = 0; i < 100; i++) {
        snprintf(id, sizeof id, "%d", i);
        asked.id = mcpx_slice_of(id);
        cr_assert_eq(mx_inbound_add(&inbound, &asked), MCPX_OK);
        cr_expect_leq(inbound.bytes, (size_t)MX_INBOUND_BYTES);
        cr_expect_not_null(mx_inbound_find(&inbound, asked.id));
    }
    cr_expect_eq(inbound.ids.count, (size_t)MX_INBOUND_BYTES / LARGE);
    cr_expect_null(mx_inbound_find(&inbound, MCPX_SLICE("0")));
    mx_inbound_fini(&inbound);
    free(large);
}

Test(inbound, a_flood_forgets_its_own_and_no_other)
{
    enum { MAX = 100 };
    struct mx_inbound inbound = {.senders.key = {{1, 2}}, .max = MAX};
    struct mx_asked ann = asked_by("ann", "a1"), bob = asked_by("bob", "b1"), eve = ann;
    char id[16];

    cr_assert_eq(mx_inbound_add(&inbound, &ann), MCPX_OK);
    for (int i = 0; i < 10 * MAX; i++) {
        snprintf(id, sizeof id, "%d", i);
        eve = asked_by(i % 2 ? "eve" : "eve~2", id);
        cr_assert_eq(mx_inbound_add(&inbound, &eve), MCPX_OK);
        cr_expect_leq(inbound.ids.count, (size_t)MAX);
        cr_expect_not_null(mx_inbound_find(&inbound, eve.id));
    }
    cr_expect_eq(mx_inbound_add(&inbound, &bob), MCPX_OK);
    cr_expect_not_null(mx_inbound_find(&inbound, ann.id), "the first one's");
    cr_expect_not_null(mx_inbound_find(&inbound, bob.id), "the newcomer's");
    cr_expect_null(mx_inbound_find(&inbound, MCPX_SLICE("901")), "her own oldest");
    cr_expect_eq(inbound.senders.count, 3);
    mx_inbound_fini(&inbound);
    cr_expect_eq(inbound.bytes, 0);
}

/* A few large ones weigh as much as many small ones. */
Test(inbound, the_bytes_of_one_push_out_no_other)
{
    enum { LARGE = 900000 };
    struct mx_inbound inbound = {.senders.key = {{1, 2}}, .max = 10000};
    struct mx_asked ann = asked_by("ann", "a1"), eve = asked_by("eve", "");
    char *large = calloc(1, LARGE);
    char id[16];

    cr_assert_not_null(large);
    for (int i = 0; i < 100; i++) {
        snprintf(id, sizeof id, "a%d", i);
        ann.id = mcpx_slice_of(id);
        cr_assert_eq(mx_inbound_add(&inbound, &ann), MCPX_OK);
    }
    eve.context = (struct mcpx_slice){large, LARGE};
    for (int i = 0; i < 100; i++) {
        snprintf(id, sizeof id, "e%d", i);
        eve.id = mcpx_slice_of(id);
        cr_assert_eq(mx_inbound_add(&inbound, &eve), MCPX_OK);
    }
    cr_expect_leq(inbound.bytes, (size_t)MX_INBOUND_BYTES);
    cr_expect_not_null(mx_inbound_find(&inbound, MCPX_SLICE("a0")));
    cr_expect_null(mx_inbound_find(&inbound, MCPX_SLICE("e0")));
    mx_inbound_fini(&inbound);
    free(large);
}
