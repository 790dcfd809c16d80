/*
 * stream.h - a TCP connection on a loop, under TLS or not: bytes come in while its owner wants
 * them, and what the socket does not take waits and is counted. The client and the bridge stand on
 * it.
 */
#ifndef EDGE_STREAM_H
#define EDGE_STREAM_H

#include "lib/wire/tls.h"

#include <uv.h>

struct mx_lookup;
struct mx_socket;
struct mx_stream;

/**
 * What the owner is told, always from the loop, until it closes the stream: it may do that, and
 * free it, from within.
 */
struct mx_stream_calls {
    /* It goes to an address, and is there; under TLS hands were shaken. */
    void (*opened)(struct mx_stream *stream);
    /* Bytes came, lent during the call; none: the other side sends nothing more. */
    void (*bytes)(struct mx_stream *stream, struct mcpx_slice bytes);
    /* Nothing waits to be written any more; the answer to mx_stream_yield. */
    void (*written)(struct mx_stream *stream);
    /* It cannot go on, or was not made: why, lent during the call. */
    void (*broken)(struct mx_stream *stream, const char *why);
};

/** A stream. It may lie in its owner. */
struct mx_stream {
    uv_loop_t *loop;
    const struct mx_stream_calls *calls;
    void *owner;     /* the owner's */
    bool is_reading; /* said by mx_stream_read, at first true */
    bool is_open;    /* it can be read and written */
    bool has_ended;  /* the other side sends nothing more */
    /* Nothing written arrives any more. What the other side had said before is still read. */
    bool is_cut;
    /* The other side will be told that nothing more comes, after what was written. */
    bool is_shut;
    bool is_down;            /* it was told so */
    bool is_closed;          /* by its owner */
    enum mx_tls_fault fault; /* `broken` tells of TLS: what sort of it */

    /* private */
    bool is_connected, is_yielding;
    struct mx_socket *socket;
    struct mx_lookup *lookup;
    struct addrinfo *found, *next; /* what a name stands for; which of it is tried next */
    struct mx_tls *tls;
    struct mcpx_text rest;
    size_t rest_at;
};

/** Begins a stream without a connection. */
void mx_stream_init(struct mx_stream *stream, uv_loop_t *loop,
                    const struct mx_stream_calls *calls, void *owner);

/** Takes the connection that waits at the listener. Returns 0, or an error of libuv. */
int mx_stream_accept(struct mx_stream *stream, uv_tcp_t *listener,
                     struct sockaddr_storage *from);

/**
 * Goes to a name or address. Names are looked up without holding up the loop; each address found is
 * tried in turn.
 *
 * tls   the session by which all is said, taken; NULL = none
 *
 * Returns 0, or an error of libuv when nobody can be asked; nothing is told then.
 */
int mx_stream_connect(struct mx_stream *stream, const char *host, int port,
                      struct mx_tls *tls);

/** Reads from here on, or not. */
void mx_stream_read(struct mx_stream *stream, bool wanted);

/**
 * Writes the text, which is empty afterwards; one for a stream that is not open, or shut, stays.
 * Returns false when the stream is cut, or memory has run out.
 */
bool mx_stream_write(struct mx_stream *stream, struct mcpx_text *text);

/** Bytes that wait to be written. */
size_t mx_stream_unwritten(const struct mx_stream *stream);

/** Asks for `written`, told when nothing waits and the loop has looked at everybody else. */
void mx_stream_yield(struct mx_stream *stream);

/** Nothing more is written; what was written before still arrives. */
void mx_stream_shut(struct mx_stream *stream);

/** Breaks the connection off, or the attempt. One that is closed may be begun again. */
void mx_stream_close(struct mx_stream *stream);

#endif
