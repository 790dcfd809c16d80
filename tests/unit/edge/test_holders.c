/*
 * What breaks for whom: a crowd of silent connections pushes out people who have just arrived, or
 * keeps them out. Protocol: section 7 (connections that have not been upgraded).
 */
#include "router/http/gate.h"
#include "tests/support/fault_alloc.h"

#include <criterion/criterion.h>

enum { MANY = 64 };

struct room {
    struct holders holders;
    struct holding holdings[MANY];
};

static struct address v4(unsigned char last)
{
    return (struct address){{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, last}};
}

static struct address v6(unsigned char network, unsigned char house)
{
    return (struct address){{0x20, 0x01, 0x0d, 0xb8, 0, network, 0, house}};
}

static void enter(struct room *room, size_t number, struct address address)
{
    cr_assert(holders_add(&room->holders, address, &room->holdings[number]));
}

/* The number of who has to go next; it goes. */
static int next(struct room *room)
{
    struct holding *holding = holders_excess(&room->holders);
    int number = holding ? (int)(holding - room->holdings) : -1;

    if (holding)
        holders_remove(&room->holders, holding);
    return number;
}

static void clear(struct room *room)
{
    while (next(room) >= 0)
        ;
    cr_expect_eq(room->holders.count, 0);
    holders_fini(&room->holders);
}

Test(holders, the_address_that_holds_most_gives_up_its_oldest)
{
    struct room room = {0};

    holders_init(&room.holders, (struct mx_map_key){{1, 2}});
    enter(&room, 0, v4(1)); /* the oldest of all, alone */
    enter(&room, 1, v4(2));
    enter(&room, 2, v4(2));
    enter(&room, 3, v4(3));
    enter(&room, 4, v4(2));
    cr_expect_eq(next(&room), 1);
    cr_expect_eq(next(&room), 2);
    cr_expect_eq(next(&room), 0, "equals: the oldest of all");
    cr_expect_eq(next(&room), 3);
    cr_expect_eq(next(&room), 4);
    cr_expect_eq(next(&room), -1);
    holders_remove(&room.holders, &room.holdings[4]); /* twice is harmless */
    clear(&room);
}

Test(holders, many_addresses_of_one_network_are_one_crowd)
{
    struct room room = {0};

    holders_init(&room.holders, (struct mx_map_key){{1, 2}});
    enter(&room, 0, v4(1));
    enter(&room, 1, v4(1));
    enter(&room, 2, v6(7, 200)); /* a neighbour of the crowd */
    for (unsigned char i = 0; i < 20; i++)
        enter(&room, 10u + i, v6(7, i));
    enter(&room, 30, v6(7, 5)); /* and one that has two of its places */
    cr_expect_eq(next(&room), 15, "the largest of the largest");
    for (size_t i = 0; i < 18; i++) {
        int gone = next(&room);

        cr_expect(gone >= 2 && gone != 200, "%d", gone);
    }
    cr_expect_neq(room.holdings[0].holder, NULL, "nobody else's");
    clear(&room);
}

Test(holders, without_memory_nobody_gets_a_place_and_nothing_is_lost)
{
    struct room room = {0};

    size_t nth = 0;
    bool added;

    holders_init(&room.holders, (struct mx_map_key){{1, 2}});
    do {
        fault_alloc_arm(++nth);
        added = holders_add(&room.holders, v6(1, 1), &room.holdings[0]);
        cr_expect_eq(room.holders.count, added);
        cr_expect_eq(room.holdings[0].holder != NULL, added);
    } while (fault_alloc_disarm());
    cr_expect(added);
    cr_expect_eq(next(&room), 0);
    clear(&room);
}
