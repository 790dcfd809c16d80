/*
 * What breaks for whom: a topic is loaded out of turn, or never; or ten thousand who wait make each
 * that comes walk past them. The line is compared with the plainest one there is.
 */
#include "router/hub/order.h"

#include "tests/support/dice.h"

#include <criterion/criterion.h>

enum { MANY = 300, STEPS = 20000 };

/* The next one, by looking at all. */
static struct waiting *first_of(struct waiting *all)
{
    struct waiting *first = NULL;

    for (size_t i = 0; i < MANY; i++)
        if (all[i].place && (!first || all[i].turn < first->turn ||
                             (all[i].turn == first->turn && all[i].number < first->number)))
            first = &all[i];
    return first;
}

Test(line, hands_out_by_turn_whoever_comes_and_leaves)
{
    static struct waiting all[MANY];
    struct line line = {.count = 0};
    struct dice dice = dice_of_seed(7);
    size_t waiting = 0;

    for (size_t step = 0; step < STEPS; step++) {
        struct waiting *one = &all[dice_below(&dice, MANY)];

        if (one->place) {
            line_remove(&line, one);
            waiting--;
        } else {
            cr_assert(line_reserve(&line));
            line_add(&line, one, dice_below(&dice, 20));
            waiting++;
        }
        line_remove(&line, &(struct waiting){.place = 0});
        cr_assert_eq(line.count, waiting);
        cr_assert_eq(line_first(&line), first_of(all), "step %zu", step);
    }
    while (line_first(&line)) {
        cr_assert_eq(line_first(&line), first_of(all));
        line_remove(&line, line_first(&line));
    }
    cr_expect_null(first_of(all));
    line_fini(&line);
}

Test(line, of_one_turn_who_came_first_is_first)
{
    static struct waiting all[MANY];
    struct line line = {.count = 0};

    for (size_t i = 0; i < MANY; i++) {
        cr_assert(line_reserve(&line));
        line_add(&line, &all[i], 5);
    }
    for (size_t i = 0; i < MANY; i++) {
        cr_assert_eq(line_first(&line), &all[i]);
        line_remove(&line, &all[i]);
    }
    line_fini(&line);
}
