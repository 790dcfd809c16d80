/*
 * traffic.h - two clients on one loop that write numbered messages to each other as fast as they
 * are taken, and look whether each of the other's comes once and in order.
 */
#ifndef SUPPORT_TRAFFIC_H
#define SUPPORT_TRAFFIC_H

#include "tests/support/party.h"
#include <uv.h>

/**
 * One side; its client's `user`.
 *
 * each             how many messages each side writes
 * wrong            messages out of order, twice, or not believed
 * joins, resumed   how often it joined, and was resumed
 */
struct side {
    struct mcpx_client *client;
    struct side *other;
    int each;
    int sent, delivered, heard, wrong;
    int joins, resumed;
};

/** The clients' on_event. Says goodbye when all was delivered and heard. */
void traffic_event(void *user, struct mcpx_client *client, const struct mcpx_event *event);

/** Makes both clients with these settings, runs until both have left, checks, frees. */
void traffic_run(struct side sides[2], struct mcpx_client_config configs[2]);

#endif
