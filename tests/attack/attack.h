/*
 * attack.h - the two sides of an attack on one router: those who only want to talk, and what
 * somebody with one machine does to them. Both run in processes of their own and tell their
 * figures through shared memory.
 */
#ifndef ATTACK_ATTACK_H
#define ATTACK_ATTACK_H

#include "tests/support/daemon.h"

#include <limits.h>

enum { BYSTANDERS = 4, ECHOES_MAX = 65536 };

/**
 * What the bystanders saw.
 *
 * echo_us          how long each echo of one of them took, in microseconds
 * echoes           how many there were
 * lost             connections of bystanders that ended
 * joins, refused   attempts of a newcomer to join, and how many did not end in a welcome
 * slowest_join_us  the longest that a join took
 * stop             the bystanders end when this is set
 */
struct sight {
    unsigned echo_us[BYSTANDERS][ECHOES_MAX];
    volatile unsigned echoes[BYSTANDERS];
    volatile unsigned lost;
    volatile unsigned joins, refused;
    volatile unsigned slowest_join_us;
    volatile bool stop;
};

/** Memory that is zeroed and shared with processes forked later. Never NULL. */
void *attack_share(size_t size);

/**
 * Four participants who speak every ten milliseconds, each in its own room and waiting for its
 * echo, and a newcomer who joins a room and leaves it again all the time. Returns when each has
 * had an echo. `children` gets the processes; they end after `sight->stop` was set.
 */
void bystanders_begin(const struct daemon *router, struct sight *sight,
                      pid_t children[BYSTANDERS + 1]);

/** Nobody has heard an echo: all have waited all the time. Longer than any time. */
#define NO_ECHO UINT_MAX

/** The echo time that 99 of 100 stay under since the last call, in microseconds; or NO_ECHO. */
unsigned bystanders_p99_us(struct sight *sight);

/** Who attacks: rows of the same number are one attacker's, and run at the same time. */
enum attacker { WITHOUT_TOKEN, SILENCED, CHATTER, NOT_READING, FLOODER, ATTACKERS };

/** What the attacker is called in messages. */
extern const char *const attacker_names[ATTACKERS];

/** How many things this attacker does at a time. */
size_t attacker_moves(enum attacker attacker);

/**
 * Starts all moves of an attacker, a process each, at the lowest priority the system has: the
 * attacker's machine is not the others'. They come from an address of their own. `children` has
 * room for attacker_moves.
 */
void attacker_begin(const struct daemon *router, enum attacker attacker, pid_t *children);

/** Ends processes without a word and waits for them. */
void attack_end(pid_t *children, size_t count);

#endif
