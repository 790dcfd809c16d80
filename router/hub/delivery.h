/*
 * delivery.h - how long envelopes take, from when they are accepted until each reader has had a
 * turn to be written to. Readers whose sockets are full are not waited for, nor is what a reader
 * could not be handed in its turn, because that ends after so many bytes: hub_lag tells of it.
 */
#ifndef HUB_DELIVERY_H
#define HUB_DELIVERY_H

#include "router/hub/list.h"

#include <stdint.h>

struct topic;

/**
 * How far the envelopes of a topic have come. All are counts of envelopes, from the first one on.
 *
 * in_written   link among the topics with envelopes that were written and not timed
 * round        accepted before the first peer had its turn last: once it has it again, everybody
 *              has had a turn since, though the round may go on for ever
 * written      accepted before a turn that everybody has had
 * timed        counted in the statistics
 */
struct delivery {
    struct link in_written;
    uint64_t round;
    uint64_t written;
    uint64_t timed;
};

/** Prepares that of an empty log. */
void delivery_init(struct delivery *delivery);

/** The round of turns has come back to the first peer. */
void delivery_came_round(struct topic *topic);

/** Everybody has had a turn since the last envelope was accepted. */
void delivery_done(struct topic *topic);

#endif
