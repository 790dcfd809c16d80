/*
 * sim_name.c - who may be there: six participants, two of which come in instances, and one
 * who is only ever addressed. Sorted as the router sorts, so that bits stand in its order.
 * Transcripts name them by their bit: p1 is "p0~2".
 */
#include "tests/support/sim_state.h"

static const struct {
    const char *id;
    int identity;
    unsigned number;
} names[SIM_WHO + 1] = {
    {"p0", 0, 1}, {"p0~2", 0, 2}, {"p0~3", 0, 3}, {"p1", 3, 1}, {"p1~2", 3, 2},
    {"p2", 5, 1}, {"p3", 6, 1},   {"p4", 7, 1},   {"p5", 8, 1}, {"p9", 9, 1},
};

const char *sim_id(int who)
{
    return names[who].id;
}

int sim_identity(int who)
{
    return names[who].identity;
}

int sim_who(const char *id)
{
    int who = 0;

    while (who < SIM_WHO && strcmp(names[who].id, id) != 0)
        who++;
    return who;
}

int sim_instance(int identity, unsigned number)
{
    for (int who = 0; who < SIM_WHO; who++)
        if (names[who].identity == identity && names[who].number == number)
            return who;
    return SIM_WHO;
}
