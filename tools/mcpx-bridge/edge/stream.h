/*
 * stream.h - a TCP connection on a loop, for those who pass on what they read: a stream is read
 * only while its owner wants that, and what waits to be written is counted.
 */
#ifndef MCPX_BRIDGE_EDGE_STREAM_H
#define MCPX_BRIDGE_EDGE_STREAM_H

#include <mcpx/text.h>

#include <uv.h>

struct stream;

/**
 * What the owner is told; once it has closed the stream, `closed` alone.
 *
 * bytes     bytes came, lent during the call; none: the other side sends nothing more
 * written   something has left, or the other side was told that nothing more comes
 * broken    it cannot go on; the owner closes it
 * closed    libuv needs its memory no more
 */
struct stream_calls {
    void (*bytes)(struct stream *stream, struct mcpx_slice bytes);
    void (*written)(struct stream *stream);
    void (*broken)(struct stream *stream);
    void (*closed)(struct stream *stream);
};

/**
 * A stream.
 *
 * owner          the owner's
 * is_connected   it can be read and written; said by stream_open
 * has_ended      the other side sends nothing more
 * is_shut        the other side will be told that nothing more comes, after what was written
 * is_down        it was told so
 */
struct stream {
    uv_tcp_t tcp;
    uv_shutdown_t shutdown;
    const struct stream_calls *calls;
    void *owner;
    bool is_connected, is_reading, has_ended, is_shut, is_down, is_closed;
};

/** Begins a stream without a connection; it is closed by stream_close in any case. */
void stream_init(struct stream *stream, uv_loop_t *loop, const struct stream_calls *calls,
                 void *owner);

/** Takes the connection that waits at the listener. Returns 0, or an error of libuv. */
int stream_accept(struct stream *stream, uv_tcp_t *listener);

/** Its `tcp` was connected. */
void stream_open(struct stream *stream);

/** Reads from here on, or not. */
void stream_read(struct stream *stream, bool wanted);

/**
 * Writes the text, which is taken and empty afterwards; one for a stream that is shut or not
 * connected stays. Returns false when the stream cannot go on.
 */
bool stream_write(struct stream *stream, struct mcpx_text *text);

/** Bytes that wait to be written. */
size_t stream_unwritten(const struct stream *stream);

/** Nothing more is written; what was written before still arrives. */
void stream_shut(struct stream *stream);

/** Breaks the connection off. Not to be called twice. */
void stream_close(struct stream *stream);

#endif
