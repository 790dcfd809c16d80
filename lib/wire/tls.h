/*
 * tls.h - one end of a TLS connection, without a socket: received bytes go in, bytes to be sent
 * come out.
 */
#ifndef MX_TLS_H
#define MX_TLS_H

#include <mcpx/text.h>

struct ssl_ctx_st;
struct stack_st_X509;
struct x509_st;

/** Buffers that all sessions of a thread share. */
struct mx_tls_room;

/**
 * Half of the limit of RFC 8446 section 5.5 for AES-GCM: the write that reaches it is sent whole,
 * and may hold many records.
 */
enum { MX_TLS_KEY_RECORDS = 1 << 23 };

/**
 * Makes one. Returns NULL when memory runs out.
 *
 * key_records   a session of TLS 1.3 changes its key once this many records were sent with it;
 *               MX_TLS_KEY_RECORDS but for tests
 */
struct mx_tls_room *mx_tls_room_new(uint64_t key_records);

/** Frees it, after all sessions. NULL is allowed. */
void mx_tls_room_free(struct mx_tls_room *room);

/** One connection's. */
struct mx_tls;

/** To open a record of a single byte takes as long as to read hundreds of bytes. */
enum { MX_TLS_RECORDS = 64 };

/**
 * Makes a session.
 *
 * room      borrowed until mx_tls_free
 * context   kept
 * host      NULL: it waits for its client. Else it connects to this name or address, which the
 *           server's certificate must have; the first mx_tls_open, of no bytes, begins
 *
 * Returns NULL when memory runs out.
 */
struct mx_tls *mx_tls_new(struct mx_tls_room *room, struct ssl_ctx_st *context,
                          const char *host);

/** Frees it. NULL is allowed. */
void mx_tls_free(struct mx_tls *tls);

/** Is the handshake done? */
bool mx_tls_is_open(const struct mx_tls *tls);

/**
 * Appends the names of a certificate: "dns:a.example", "uri:...", "email:..." and "cn:..." of its
 * subject, a NUL behind each.
 */
void mx_tls_add_names(const struct x509_st *certificate, struct mcpx_text *out);

/**
 * Appends those of the client's verified certificate. False when the client has shown none, or
 * memory runs out.
 */
bool mx_tls_names(const struct mx_tls *tls, struct mcpx_text *out);

/** The client's certificate and its chain, lent; NULL when the client has shown none. */
const struct stack_st_X509 *mx_tls_chain(const struct mx_tls *tls);

/**
 * The sort of failure: none in TLS; the connection was cut, or the bytes are not TLS; they are a
 * plain HTTP request; the other side's certificate is not trusted; an alert refuses ours.
 */
enum mx_tls_fault { MX_TLS_SOUND, MX_TLS_CUT, MX_TLS_PLAIN, MX_TLS_DOUBT, MX_TLS_ALERT };

/**
 * The result of reading. Both texts are lent until the next call with the same room.
 *
 * plain_len 0 when there is none yet
 */
struct mx_tls_opened {
    char *plain; /* decrypted bytes; may be changed in place */
    size_t plain_len;
    struct mcpx_slice sealed; /* to be written, before anything else */
    /* Read bytes beyond MX_TLS_RECORDS records; to be given again before any others. */
    struct mcpx_slice left;
    size_t records;          /* number of records begun, empty ones included */
    size_t renewals;         /* how often the other side has changed its keys */
    bool ended;              /* the other side has ended the stream */
    enum mx_tls_fault fault; /* the sort of failure */
    /* The error, or NULL. After it nothing can be written except `sealed`, and nothing more is
     * opened: later calls repeat the error. */
    const char *failed;
};

/** Decrypts bytes that were read: at most MX_TLS_RECORDS records, whatever they hold. */
void mx_tls_open(struct mx_tls *tls, const char *bytes, size_t len, struct mx_tls_opened *out);

/**
 * Encrypts bytes that follow those of earlier calls. Lends the records to write until the next call
 * with the same room; absent when memory has run out, before the handshake is done, after
 * mx_tls_end, and when the connection has failed.
 */
struct mcpx_slice mx_tls_seal(struct mx_tls *tls, const char *bytes, size_t len);

/** Ends our side: lends its last record, as above; empty when it can no longer be sent. */
struct mcpx_slice mx_tls_end(struct mx_tls *tls);

#endif
