/*
 * transport.h - between an expose and its clients: the events of a transport, and standard streams
 * as a transport. The other one is HTTP (http.h).
 */
#ifndef MCPX_BRIDGE_EXPOSE_EDGE_TRANSPORT_H
#define MCPX_BRIDGE_EXPOSE_EDGE_TRANSPORT_H

#include <mcpx/error.h>
#include <mcpx/text.h>

struct uv_loop_s;
struct expose_stdio;

/** The longest line or body, in bytes. */
enum { EXPOSE_LINE_MAX = 64 << 20 };

/** The events of a transport. HTTP has lines only. */
struct expose_transport {
    struct uv_loop_s *loop;
    void *user;
    /* One line, lent during the call. */
    void (*on_line)(void *user, struct mcpx_slice line);
    /* A line was longer than EXPOSE_LINE_MAX and is skipped; lent during the call. */
    void (*on_overlong)(void *user, struct mcpx_slice beginning);
    /* Input ended, or the reader of the output is gone. */
    void (*on_end)(void *user);
    /* Output cannot be written; `error` is an errno. Called once, perhaps from within
     * expose_stdio_write. */
    void (*on_failed)(void *user, int error);
};

/** While more bytes than this wait to be written, no input is read. */
enum { EXPOSE_STDIO_UNWRITTEN_MAX = 16 << 20 };

/**
 * Starts to read standard input of any kind: a pipe, a socket, a terminal, a file. Returns
 * MCPX_OK or MCPX_ESYSTEM; `out` is filled in either case.
 */
enum mcpx_err expose_stdio_new(const struct expose_transport *transport,
                               struct expose_stdio **out);

/**
 * Writes one line and a newline. Bytes that cannot be written at once are kept; while there are too
 * many, no input is read.
 */
void expose_stdio_write(struct expose_stdio *stdio, struct mcpx_slice line);

/** Bytes that wait to be written. */
size_t expose_stdio_unwritten(const struct expose_stdio *stdio);

/** Stops reading and closes. The caller frees it after the loop's end. NULL is allowed. */
void expose_stdio_close(struct expose_stdio *stdio);

#endif
