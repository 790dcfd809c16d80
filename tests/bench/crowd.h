/*
 * crowd.h - participants at one server, what they say, and proof that everybody heard it once
 * and in order.
 */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include "tests/bench/child.h"
#include "tests/bench/wire.h"

/** In a crowd that is addressed, a message is for every tenth reader. */
enum { CROWD_GROUPS = 10 };

/** What signs the tokens of all crowds; servers that care find it in their environment. */
#define CROWD_SECRET "a secret that only benchmarks use, 48 bytes long."

/**
 * Who is there.
 *
 * name         begins the topics' names
 * topics       each with its own publishers and readers
 * publishers   of a topic; they hear themselves
 * readers      of a topic, publishers not counted
 * addressed    messages name their readers in `to`: 1/CROWD_GROUPS of them
 * directed     readers ask to be spared what is not for them
 * query        appended to each target ("&history=0")
 */
struct crowd_plan {
    const char *name;
    size_t topics;
    size_t publishers;
    size_t readers;
    bool addressed;
    bool directed;
    const char *query;
};

struct crowd;

/** Connects everybody. Ends the program when that is impossible. */
struct crowd *crowd_open(const struct child *server, const struct crowd_plan *plan);

/** Disconnects everybody. NULL is allowed. */
void crowd_free(struct crowd *crowd);

/** Reads what has come without anybody speaking: answers pings. */
void crowd_turn(struct crowd *crowd);

/**
 * What is said.
 *
 * bytes        of a message
 * window       messages each publisher sends at once, again when all have them
 * per_second   each publisher sends so many, evenly, whatever is under way; 0 = as the window
 *              permits
 * seconds      how long
 * messages     of each publisher instead of `seconds`; 0 = by time
 */
struct crowd_load {
    size_t bytes;
    unsigned window;
    double per_second;
    double seconds;
    uint64_t messages;
};

/**
 * What it cost. Everything sent has been delivered when this is taken.
 *
 * cpu_ns           of the server
 * messages         sent
 * deliveries       received
 * p50_us, p99_us   from before the send to each delivery; only with `per_second`
 */
struct crowd_sample {
    double cpu_ns;
    double seconds;
    double messages;
    double deliveries;
    double p50_us;
    double p99_us;
};

/** Speaks. Ends the program when a delivery is missing, doubled, out of order or altered. */
void crowd_run(struct crowd *crowd, const struct crowd_load *load,
               struct crowd_sample *sample);

#endif
