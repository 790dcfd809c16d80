/*
 * door.h - the door for clients of an expose: what it tells, and standard streams as one. The other
 * is HTTP (http.h).
 */
#ifndef MCPX_BRIDGE_EXPOSE_EDGE_DOOR_H
#define MCPX_BRIDGE_EXPOSE_EDGE_DOOR_H

#include <mcpx/error.h>
#include <mcpx/text.h>

struct uv_loop_s;
struct expose_stdio;

/** Bytes of the longest line that is read, or body. */
enum { EXPOSE_LINE_MAX = 64 << 20 };

/** What is told by a door. HTTP has lines only. */
struct expose_door {
    struct uv_loop_s *loop;
    void *user;
    /* One line, lent during the call. */
    void (*on_line)(void *user, struct mcpx_slice line);
    /* A line was longer than EXPOSE_LINE_MAX and is skipped; lent during the call. */
    void (*on_overlong)(void *user, struct mcpx_slice beginning);
    /* Input ended, or nobody reads the output any more. */
    void (*on_end)(void *user);
    /* Output cannot be written, with an error of the system (errno); told once. May come from
     * within expose_stdio_write. */
    void (*on_failed)(void *user, int error);
};

/** While more bytes than this wait to be written, no input is read. */
enum { EXPOSE_STDIO_UNWRITTEN_MAX = 16 << 20 };

/**
 * Starts to read standard input, whatever it is: a pipe, a socket, a terminal, a file. Returns
 * MCPX_OK or MCPX_ESYSTEM; `out` is filled in either case.
 */
enum mcpx_err expose_stdio_new(const struct expose_door *door, struct expose_stdio **out);

/**
 * Writes one line; a newline is added. What cannot be written at once is kept until it can; while
 * much is kept, no input is read.
 */
void expose_stdio_write(struct expose_stdio *stdio, struct mcpx_slice line);

/** Bytes that wait to be written. */
size_t expose_stdio_unwritten(const struct expose_stdio *stdio);

/** Stops reading and closes; to be freed when the loop has run to its end. NULL is allowed. */
void expose_stdio_close(struct expose_stdio *stdio);

#endif
