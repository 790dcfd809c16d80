/*
 * ws_lookup.h - the addresses a host name stands for, without holding up the loop.
 */
#ifndef EDGE_WS_LOOKUP_H
#define EDGE_WS_LOOKUP_H

#include <mcpx/base.h>
#include <uv.h>

struct mx_lookup;

/**
 * Told once, from the loop, unless dropped before; the lookup is gone then.
 *
 * found   given to be freed with uv_freeaddrinfo; NULL with `why` (static) on failure
 */
typedef void (*mx_lookup_done)(void *user, struct addrinfo *found, const char *why);

/** Starts a lookup. Returns NULL when it cannot; nothing is told then. */
struct mx_lookup *mx_lookup_start(uv_loop_t *loop, const char *host, mx_lookup_done done,
                                  void *user);

/** Nothing is told any more. NULL is allowed. */
void mx_lookup_drop(struct mx_lookup *lookup);

#endif
