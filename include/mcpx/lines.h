/*
 * lines.h - splits a stream of bytes into lines. MCP's stdio transport sends a message per
 * line; the stream comes in pieces of any size.
 */
#ifndef MCPX_LINES_H
#define MCPX_LINES_H

#include <mcpx/error.h>
#include <mcpx/text.h>

MCPX_BEGIN_C

/** A stream being cut. Zero-initialised is ready, with no bound. */
struct mcpx_lines {
    size_t max;     /* longest line in bytes, without its end; 0 = no limit */
    size_t skipped; /* bytes of the overlong line being skipped so far; 0 when none is */
    struct mcpx_text kept; /* private: the beginning of an unfinished line */
    struct mcpx_slice fed; /* private: what was given and is not yet cut */
    size_t done;           /* private: bytes of `kept` lent by the last line */
};

/** Frees what is kept. */
MCPX_API void mcpx_lines_fini(struct mcpx_lines *lines);

/** Gives the next piece of the stream; borrowed until mcpx_lines_next has returned false. */
MCPX_API void mcpx_lines_feed(struct mcpx_lines *lines, struct mcpx_slice bytes);

/**
 * Cuts off the next line.
 *
 * line   filled without "\n" or "\r\n"; lent until the next call; may be empty. Of an overlong
 *        line, the first bytes, at most 256, so that an error can show them
 * err    MCPX_OK; MCPX_ETOOBIG for a line that is longer than `max`: returned once, as soon as
 *        the line is too long; the rest of it is skipped. MCPX_ENOMEM: the line being kept is
 *        lost
 *
 * Returns false when no whole line is left; the remaining bytes are then kept.
 */
MCPX_API bool mcpx_lines_next(struct mcpx_lines *lines, struct mcpx_slice *line,
                              enum mcpx_err *err);

MCPX_END_C

#endif
