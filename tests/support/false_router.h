/*
 * false_router.h - a process that answers connections with bytes of the test's choice, or passes
 * them on to a real router until it is told to break them.
 */
#ifndef SUPPORT_FALSE_ROUTER_H
#define SUPPORT_FALSE_ROUTER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** `told`: a relay says there that it has cut; -1 without a relay. */
struct false_router {
    pid_t pid;
    int port;
    int told;
};

/**
 * Starts it. Every connection's request head is read and answered.
 *
 * upgrade   answer with a proper 101 before the bytes
 * bytes     what is said then, borrowed; nothing more is said, and what comes is thrown away
 */
void false_router_start(struct false_router *router, bool upgrade, const char *bytes,
                        size_t len);

/**
 * Starts one that passes connections on to this port, one at a time.
 *
 * bytes_max   it breaks each after so many bytes to the client; 0 = it does not
 */
void false_router_relay(struct false_router *router, int port, size_t bytes_max);

/** Lets a relay break its connection, and returns when that is done; it takes a new one. */
void false_router_cut(const struct false_router *router);

/** Ends it. */
void false_router_stop(struct false_router *router);

/** A port on which nobody listens, for as long as the returned descriptor is open. */
int false_router_nobody(int *port);

#endif
