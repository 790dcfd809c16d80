/*
 * tls.h - one end of a TLS connection, without a socket: what was read goes in, what is to be
 * written comes out.
 */
#ifndef EDGE_TLS_H
#define EDGE_TLS_H

#include <mcpx/text.h>

struct ssl_ctx_st;
struct stack_st_X509;
struct x509_st;

/** Buffers that all sessions of a thread share. */
struct tls_room;

/**
 * Half of what RFC 8446 section 5.5 allows for AES-GCM: the write that reaches it may hold many
 * records, and goes out whole.
 */
enum { TLS_KEY_RECORDS = 1 << 23 };

/**
 * Makes one. Returns NULL when memory runs out.
 *
 * key_records   a session of TLS 1.3 changes its key once this many records were sent with it;
 *               TLS_KEY_RECORDS but for tests
 */
struct tls_room *tls_room_new(uint64_t key_records);

/** Frees it, after all sessions. NULL is allowed. */
void tls_room_free(struct tls_room *room);

/** One connection's. */
struct tls;

/** To open a record of a single byte takes as long as to read hundreds of bytes. */
enum { TLS_RECORDS = 64 };

/**
 * Makes a session that waits for its client.
 *
 * room      borrowed until tls_free
 * context   kept
 *
 * Returns NULL when memory runs out.
 */
struct tls *tls_new(struct tls_room *room, struct ssl_ctx_st *context);

/** Frees it. NULL is allowed. */
void tls_free(struct tls *tls);

/** Is the handshake done? */
bool tls_is_open(const struct tls *tls);

/**
 * Appends the names of a certificate: "dns:a.example", "uri:...", "email:..." and "cn:..." of its
 * subject, a NUL behind each.
 */
void tls_add_names(const struct x509_st *certificate, struct mcpx_text *out);

/**
 * The same for that of the client, which was verified. False when it has shown none, or memory runs
 * out.
 */
bool tls_names(const struct tls *tls, struct mcpx_text *out);

/** The client's certificate and those that speak for it, lent; NULL when it has shown none. */
const struct stack_st_X509 *tls_chain(const struct tls *tls);

/**
 * What came of bytes that were read. Both texts are lent until the next call with the same room.
 *
 * plain     what the client has said; may be changed where it lies
 * plain_len 0 when there is none yet
 * sealed    to be written, before anything else
 * left      of what was read, when it is many records; to be given again, first of all
 * records   how many were begun, also such as hold nothing
 * renewals  how often the client has changed its keys
 * ended     the client says nothing more
 * is_http   what failed is no TLS but a request in plain HTTP
 * failed    what is wrong with it; NULL when nothing is. Nothing can be written any more but
 *           `sealed`, and of what is read later nothing is opened: this is said again
 */
struct tls_opened {
    char *plain;
    size_t plain_len;
    struct mcpx_slice sealed;
    struct mcpx_slice left;
    size_t records;
    size_t renewals;
    bool ended;
    bool is_http;
    const char *failed;
};

/** Bytes were read. Opens no more than TLS_RECORDS records, whatever they hold. */
void tls_open(struct tls *tls, const char *bytes, size_t len, struct tls_opened *out);

/**
 * Bytes are to be written, behind all that was sealed before. Lends what goes out in their place,
 * until the next call with the same room; absent when memory has run out, before the handshake is
 * done, after tls_end, and when it has failed.
 */
struct mcpx_slice tls_seal(struct tls *tls, const char *bytes, size_t len);

/** Likewise, nothing more will be written; empty when that cannot be said any more. */
struct mcpx_slice tls_end(struct tls *tls);

#endif
