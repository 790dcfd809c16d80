/*
 * held.h - lines of the client that wait until the topic's servers are known.
 */
#ifndef MCPX_BRIDGE_EXPOSE_HELD_H
#define MCPX_BRIDGE_EXPOSE_HELD_H

#include <mcpx/text.h>

struct expose;

/** The longest time that the client waits for the topic's servers. */
enum { EXPOSE_HOLD_MS = 3000 };

/** A line of the client that waits until the topic's servers are known. */
struct expose_held {
    struct expose_held *next;
    int64_t until_ms;
    struct mcpx_text line;
};

/** Keeps a line. */
void expose_hold(struct expose *x, struct mcpx_slice line);

/** Takes out the first line, which it gives. Returns false when there is none. */
bool expose_held_take(struct expose *x, struct mcpx_text *line);

/** Takes out the kept request with that id, which it gives. Returns false when there is none. */
bool expose_unhold(struct expose *x, struct mcpx_slice id, struct mcpx_text *line);

/** Frees all. */
void expose_held_fini(struct expose *x);

#endif
