/*
 * stream.h - a TCP connection on a loop, with or without TLS. Bytes come in while its owner wants
 * them; bytes that the socket does not take wait, and are counted. The client and the bridge use
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
 * Callbacks to the owner, always from the loop, until it closes the stream. It may close and free
 * the stream in a callback.
 */
struct mx_stream_calls {
    /* It is connected; under TLS the handshake is done. */
    void (*opened)(struct mx_stream *stream);
    /* Bytes came, lent during the call. Empty: the other side sends nothing more. */
    void (*bytes)(struct mx_stream *stream, struct mcpx_slice bytes);
    /* Nothing waits to be written any more; the answer to mx_stream_yield. */
    void (*written)(struct mx_stream *stream);
    /* It broke, or could not be made; `why` is lent during the call. */
    void (*broken)(struct mx_stream *stream, const char *why);
};

/** A stream. It may lie in its owner. */
struct mx_stream {
    uv_loop_t *loop;
    const struct mx_stream_calls *calls;
    void *owner;     /* for the owner's use */
    bool is_reading; /* set by mx_stream_read, at first true */
    bool is_open;    /* it can be read and written */
    bool has_ended;  /* the other side sends nothing more */
    /* Nothing written arrives any more. Bytes of the other side are still read. */
    bool is_cut;
    /* Nothing more is written. The bytes before are sent, then our end of writing. */
    bool is_shut;
    bool is_down;            /* our end of writing was sent */
    bool is_closed;          /* by its owner */
    enum mx_tls_fault fault; /* the TLS error of `broken` */

    /* private */
    bool is_connected, is_yielding;
    struct mx_socket *socket;
    struct mx_lookup *lookup;
    struct addrinfo *found, *next; /* addresses of the name; the next to try */
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
 * Connects to a name or address. Names are looked up without blocking the loop; each address found
 * is tried in turn.
 *
 * tls   the TLS session, taken; NULL = none
 *
 * Returns 0, or an error of libuv; then no callback follows.
 */
int mx_stream_connect(struct mx_stream *stream, const char *host, int port,
                      struct mx_tls *tls);

/** Reads from now on when `wanted`, else pauses. */
void mx_stream_read(struct mx_stream *stream, bool wanted);

/**
 * Writes the text and empties it. A stream that is not open, or is shut, leaves it as it is.
 * Returns false when the stream is cut, or memory has run out.
 */
bool mx_stream_write(struct mx_stream *stream, struct mcpx_text *text);

/** Bytes that wait to be written. */
size_t mx_stream_unwritten(const struct mx_stream *stream);

/** Asks for `written`, called when nothing waits and the loop has served the other handles. */
void mx_stream_yield(struct mx_stream *stream);

/** Ends writing; bytes written before still arrive. */
void mx_stream_shut(struct mx_stream *stream);

/** Ends the connection, or the attempt. A closed stream may be begun again. */
void mx_stream_close(struct mx_stream *stream);

#endif
