/*
 * close_cause.h - why a connection ended, as the log tells it.
 */
#ifndef EDGE_CLOSE_CAUSE_H
#define EDGE_CLOSE_CAUSE_H

#include <mcpx/error.h>

/** The code of an end without a close frame: RFC 6455 section 7.1.5. */
enum { CLOSE_LOST = 1006 };

/**
 * How it ended.
 *
 * code     of the close frame of whoever closed first; CLOSE_LOST when none came
 * reason   static: the name of an error on the wire, "closed" by the participant, or "lost"
 * says     the text of the participant's close frame; absent when there is none
 */
struct close_cause {
    int code;
    const char *reason;
    struct mcpx_slice says;
};

/** The connection was gone, and nobody said why. */
struct close_cause close_cause_lost(void);

/** The participant has closed it. `payload` is its close frame's, and borrowed. */
struct close_cause close_cause_of_client(int code, struct mcpx_slice payload);

/** The router has closed it, because of `err`. */
struct close_cause close_cause_of_router(enum mcpx_err err);

#endif
