/*
 * crowd_state.h - what the files of the crowd share.
 */
#ifndef BENCH_CROWD_STATE_H
#define BENCH_CROWD_STATE_H

#include "tests/bench/crowd.h"

/** Messages of a flow that may be under way; and how long nothing may happen. */
enum { RING = 1024, PATIENCE_MS = 15000 };

/**
 * What one publisher says.
 *
 * number     of the flow, in its ids
 * sent       messages sent, so the next one's serial
 * done       those that all have, from the first on
 * arrived    how many have message `serial % RING`
 * templates  text per group
 * burst      frames being sent
 * sent_ns    when the latest one was sent
 */
struct flow {
    unsigned number;
    struct member *publisher;
    uint64_t sent;
    uint64_t done;
    uint64_t goal;
    uint16_t arrived[RING];
    char *templates[CROWD_GROUPS];
    char *burst;
    double sent_ns;
};

/**
 * One participant.
 *
 * next      per flow of its topic: the serial it has to receive next
 * stride    1, or CROWD_GROUPS when it is spared the rest
 * seen      flow and serial of the message being received
 */
struct member {
    struct wire wire;
    struct crowd *crowd;
    struct flow *flows;
    uint64_t *next;
    unsigned stride;
    bool verify;
    struct flow *seen;
    uint64_t seen_serial;
};

/**
 * deliveries   since the run began
 * latencies    of them, in nanoseconds, when they are timed
 */
struct crowd {
    const struct child *server;
    struct crowd_plan plan;
    int epoll;
    struct member *members;
    size_t member_count;
    struct flow *flows;
    size_t flow_count;
    size_t bytes;
    uint64_t deliveries;
    bool timed;
    double *latencies;
    size_t latency_count;
    size_t latency_size;
};

/** Which of a flow's texts this message has. */
static inline unsigned crowd_group(const struct crowd *crowd, uint64_t serial)
{
    return crowd->plan.addressed ? (unsigned)(serial % CROWD_GROUPS) : 0;
}

/** Frees the texts of a flow. */
void crowd_drop_texts(struct flow *flow);

#endif
