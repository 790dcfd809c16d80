/*
 * What breaks for whom: a request that expires too late, too early or never, and a session that
 * becomes slow when thousands wait. The heap and the table are held against a plain array.
 */
#include "lib/session/pending.h"
#include "tests/support/dice.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

enum { OWNS = 300, STEPS = 20000, MANY = 10000 };

static struct mx_own *make(size_t number, int64_t deadline)
{
    struct mx_own *own = calloc(1, sizeof *own);
    struct mx_asked asked = {.method = MCPX_SLICE("ping")};

    cr_assert_not_null(own);
    own->refs = 1;
    snprintf(own->uuid, sizeof own->uuid, "00000000-0000-4000-8000-%012zu", number);
    own->id = mcpx_slice_of(own->uuid);
    own->asked = mx_asked_copy(&asked, sizeof asked);
    own->deadline = deadline;
    cr_assert_not_null(own->asked);
    return own;
}

/* The earliest deadline by looking at all of them. */
static int64_t earliest(struct mx_own *const owns[OWNS])
{
    int64_t deadline = INT64_MAX;

    for (size_t i = 0; i < OWNS; i++)
        if (owns[i] && owns[i]->deadline < deadline)
            deadline = owns[i]->deadline;
    return deadline;
}

static void settle(struct mx_pending *pending, struct mx_own **own)
{
    mx_pending_settle(pending, *own);
    mx_pending_release(pending, *own);
    *own = NULL;
}

Test(pending, finds_what_expires_first_and_everything_by_id)
{
    struct mx_pending pending = {.key = {{1, 2}}};
    struct mx_own *owns[OWNS] = {NULL};
    struct dice dice = dice_of_seed(7);
    size_t count = 0;

    for (size_t step = 0; step < STEPS; step++) {
        size_t at = dice_below(&dice, OWNS);
        struct mx_own **own = &owns[at];
        const struct mx_own *first;

        if (!*own) {
            cr_assert(mx_pending_reserve(&pending));
            *own = make(at, dice_hits(&dice, 10) ? INT64_MAX : (int64_t)dice_below(&dice, 99));
            mx_pending_add(&pending, *own);
            mx_own_unref(*own);
            count++;
        } else if (dice_hits(&dice, 2)) {
            cr_assert_eq(mx_pending_awaited(&pending, (*own)->id), *own);
            settle(&pending, own);
            count--;
        } else {
            mx_pending_defer(&pending, *own, (int64_t)dice_below(&dice, 99));
        }
        first = mx_pending_first(&pending);
        cr_assert_eq(first ? first->deadline : INT64_MAX, earliest(owns), "step %zu", step);
        cr_assert_eq(pending.awaited, count);
    }
    mx_pending_fini(&pending);
}

Test(pending, lets_ten_thousand_expire_one_by_one)
{
    struct mx_pending pending = {.key = {{1, 2}}};
    struct dice dice = dice_of_seed(8);
    int64_t last = 0;
    struct mx_own *own;
    size_t at = 0;

    for (size_t i = 0; i < MANY; i++) {
        cr_assert(mx_pending_reserve(&pending));
        own = make(i, (int64_t)dice_below(&dice, 65536));
        mx_pending_add(&pending, own);
        mx_own_unref(own);
    }
    for (size_t i = 0; i < MANY / 2; i++) {
        own = mx_pending_first(&pending);
        cr_assert_geq(own->deadline, last);
        last = own->deadline;
        settle(&pending, &own);
    }
    while ((own = mx_pending_any(&pending, &at)))
        settle(&pending, &own);
    cr_expect_eq(pending.awaited, 0);
    cr_expect_eq(pending.ids.count, 0);
    cr_expect_eq(pending.heap_count, 0);
    mx_pending_fini(&pending);
}

Test(pending, forgets_fulfilments_with_their_proposal)
{
    struct mx_pending pending = {.key = {{1, 2}}};
    struct mx_own *own = make(1, INT64_MAX);
    struct mx_asked request = {.id = MCPX_SLICE("f")};

    cr_assert(mx_pending_reserve(&pending));
    mx_pending_add(&pending, own);
    cr_expect(mx_pending_fulfil(&pending, own, &request));
    cr_expect_not_null(mx_pending_fulfilment(&pending, request.id));
    cr_expect_null(mx_pending_fulfilment(&pending, (struct mcpx_slice){NULL, 0}));
    mx_pending_settle(&pending, own);
    cr_expect_null(mx_pending_fulfilment(&pending, request.id));
    mx_pending_release(&pending, own);
    cr_expect_null(mx_pending_find(&pending, own->id));
    mx_own_unref(own);
    mx_pending_fini(&pending);
}

/* "f" by bob, then eve again and again: she forgets her own. Then everybody
   else: the oldest goes. */
Test(pending, forgets_the_oldest_fulfilment_of_who_makes_too_many)
{
    static const char *const ids[] = {"a", "b", "c", "d", "e", "g", "h", "i", "j", "k"};
    struct mx_pending pending = {.key = {{1, 2}}};
    struct mx_own *own = make(1, INT64_MAX);
    struct mx_asked request = {.id = MCPX_SLICE("f"), .from = MCPX_SLICE("bob")};

    cr_assert(mx_pending_reserve(&pending));
    mx_pending_add(&pending, own);
    cr_expect(mx_pending_fulfil(&pending, own, &request));
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        request = (struct mx_asked){.id = mcpx_slice_of(ids[i]), .from = MCPX_SLICE("eve")};
        cr_expect(mx_pending_fulfil(&pending, own, &request));
    }
    cr_expect_eq(own->fulfilment_count, (size_t)MX_FULFILMENTS_MAX);
    cr_expect_not_null(mx_pending_fulfilment(&pending, MCPX_SLICE("f")));
    cr_expect_null(mx_pending_fulfilment(&pending, MCPX_SLICE("c")));
    cr_expect_not_null(mx_pending_fulfilment(&pending, MCPX_SLICE("d")));
    request = (struct mx_asked){.id = MCPX_SLICE("l"), .from = MCPX_SLICE("carol")};
    cr_expect(mx_pending_fulfil(&pending, own, &request));
    cr_expect_null(mx_pending_fulfilment(&pending, MCPX_SLICE("f")));
    mx_pending_settle(&pending, own);
    mx_pending_release(&pending, own);
    mx_own_unref(own);
    mx_pending_fini(&pending);
}
