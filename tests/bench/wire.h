/*
 * wire.h - the client's end of one WebSocket, no more than a load generator needs.
 */
#ifndef BENCH_WIRE_H
#define BENCH_WIRE_H

#include <mcpx/base.h>

/** Of a frame that is cut by the end of a read, this much is waited for before it is shown. */
enum { WIRE_PREFIX = 64, WIRE_CARRY = 512 };

struct wire;

/**
 * What is done with what arrives. A frame is shown as soon as all of it, or WIRE_PREFIX bytes of
 * its payload, are there; the rest follows piece by piece. Bytes are lent for the call.
 *
 * frame    len is the payload's whole length, bytes its beginning
 * more     at is the offset of bytes in the payload
 */
struct wire_reader {
    void (*frame)(struct wire *wire, int opcode, size_t len, struct mcpx_slice bytes);
    void (*more)(struct wire *wire, size_t at, struct mcpx_slice bytes);
};

/**
 * One connection. Zero-initialised is closed.
 *
 * tls       to be set before wire_connect: it speaks TLS
 * ssl       its session then
 * open      the server has answered the upgrade with 101
 * ended     the server has closed
 * left, at  bytes of the current payload still to come, and already shown
 */
struct wire {
    int fd;
    int epoll;
    const struct wire_reader *reader;
    void *owner;
    bool tls;
    struct ssl_st *ssl;
    bool open;
    bool ended;
    size_t left;
    size_t at;
    size_t carried;
    const char *unsent;
    size_t unsent_len;
    char carry[WIRE_CARRY];
};

/**
 * Connects to 127.0.0.1:port, sends the upgrade and returns before it is answered.
 *
 * epoll     the set whose wire_turn reads it
 * target    of the request, as "/ws?topic=t"
 * token     sent as bearer; "" = none
 *
 * Ends the program when that is impossible.
 */
void wire_connect(struct wire *wire, int epoll, int port, const char *target,
                  const char *token);

/** Closes without ceremony. A closed one is allowed. */
void wire_shut(struct wire *wire);

/** Waits at most `timeout_ms` (-1 = for ever) and reads all wires of a set that have something. */
void wire_turn(int epoll, int timeout_ms);

/** Sends bytes that stay where they are until wire_is_sending is false. */
void wire_send(struct wire *wire, struct mcpx_slice bytes);

/** True while the socket has not taken all of it. */
static inline bool wire_is_sending(const struct wire *wire)
{
    return wire->unsent_len > 0;
}

/**
 * Writes a client's frame head for a text of `len` bytes; the mask is zero, so that the payload
 * stands as it is. `out` has room for 14 bytes. Returns its length.
 */
size_t wire_frame_head(char *out, size_t len);

/** Prints a message and ends the program: a benchmark that miscounts is worth nothing. */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2), noreturn))
#endif
void wire_die(const char *format, ...);

#endif
