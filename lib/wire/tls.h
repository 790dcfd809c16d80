/*
 * tls.h - one end of a TLS connection, without a socket: what was read goes in, what is to be
 * written comes out.
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
 * Half of what RFC 8446 section 5.5 allows for AES-GCM: the write that reaches it may hold many
 * records, and goes out whole.
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
 * host      NULL: it waits for its client. Else it goes to the server of this name or address,
 *           which the server's certificate has to name; the first mx_tls_open, of no bytes, begins
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
 * The same for that of the client, which was verified. False when it has shown none, or memory runs
 * out.
 */
bool mx_tls_names(const struct mx_tls *tls, struct mcpx_text *out);

/** The client's certificate and those that speak for it, lent; NULL when it has shown none. */
const struct stack_st_X509 *mx_tls_chain(const struct mx_tls *tls);

/**
 * What has failed: nothing of TLS; the connection was cut, or what came is no TLS; what came is a
 * request in plain HTTP; the other side's certificate is not trusted; it refuses us with an alert.
 */
enum mx_tls_fault { MX_TLS_SOUND, MX_TLS_CUT, MX_TLS_PLAIN, MX_TLS_DOUBT, MX_TLS_ALERT };

/**
 * What came of bytes that were read. Both texts are lent until the next call with the same room.
 *
 * plain_len 0 when there is none yet
 */
struct mx_tls_opened {
    char *plain; /* what the other side has said; may be changed where it lies */
    size_t plain_len;
    struct mcpx_slice sealed; /* to be written, before anything else */
    /* Of what was read, when it is many records; to be given again, first of all. */
    struct mcpx_slice left;
    size_t records;          /* how many were begun, also such as hold nothing */
    size_t renewals;         /* how often it has changed its keys */
    bool ended;              /* the other side says nothing more */
    enum mx_tls_fault fault; /* of what has failed: its sort */
    /* What is wrong with it; NULL when nothing is. Nothing can be written any more but
     * `sealed`, and of what is read later nothing is opened: this is said again. */
    const char *failed;
};

/** Bytes were read. Opens no more than MX_TLS_RECORDS records, whatever they hold. */
void mx_tls_open(struct mx_tls *tls, const char *bytes, size_t len, struct mx_tls_opened *out);

/**
 * Bytes are to be written, behind all that was sealed before. Lends what goes out in their place,
 * until the next call with the same room; absent when memory has run out, before the handshake is
 * done, after mx_tls_end, and when it has failed.
 */
struct mcpx_slice mx_tls_seal(struct mx_tls *tls, const char *bytes, size_t len);

/** Likewise, nothing more will be written; empty when that cannot be said any more. */
struct mcpx_slice mx_tls_end(struct mx_tls *tls);

#endif
