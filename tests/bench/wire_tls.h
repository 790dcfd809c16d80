/*
 * wire_tls.h - a load generator's end of TLS. It reads and writes the socket as it does without
 * TLS, as much as there is at once, so that servers see the same client.
 */
#ifndef BENCH_WIRE_TLS_H
#define BENCH_WIRE_TLS_H

#include <mcpx/base.h>

struct ssl_st;

/** Shakes hands on a socket that blocks. Whose certificate it is does not matter. */
struct ssl_st *wire_tls_begin(int fd);

/** Forgets the session. */
void wire_tls_end(struct ssl_st *ssl);

/** Seals bytes. What it returns is lent until the next call for the session. */
struct mcpx_slice wire_tls_seal(struct ssl_st *ssl, struct mcpx_slice bytes);

/** Bytes were read; they stay where they are until wire_tls_open has returned 0. */
void wire_tls_feed(struct ssl_st *ssl, struct mcpx_slice sealed);

/** Gives what a record holds; 0 when no whole one is left. */
size_t wire_tls_open(struct ssl_st *ssl, char *out, size_t max);

#endif
