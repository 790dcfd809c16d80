/*
 * revocation.h - certificates of clients that their authorities have taken back (RFC 5280).
 */
#ifndef EDGE_REVOCATION_H
#define EDGE_REVOCATION_H

#include <mcpx/base.h>
#include <mcpx/error.h>
#include <mcpx/text.h>

#include <stdint.h>

struct ssl_ctx_st;
struct stack_st_X509;
struct asn1_string_st;

/** One list. */
struct crl;

/** Revocation lists. Zeroed, there are none, and nothing is revoked. */
struct revocation {
    struct crl *lists; /* `count` of them, owned; NULL = none were read */
    size_t count;
    /* Since when, in seconds since 1970, each of their authorities has a list that has begun. */
    int64_t from_s;
    int64_t until_s; /* when all lists of the first of the authorities have ended; 0 = never */
    int64_t next_s;  /* when the next of them begins */
};

/**
 * Reads whole lists in PEM, one or more for each authority that `context` knows; at most 256 lists
 * with 1,000,000 entries in all. It may take seconds, so a thread does it, one at a time.
 *
 * errors   what is wrong, in one line without its end
 * out      zeroed; for revocation_fini in any case
 *
 * Returns MCPX_OK, MCPX_ESYSTEM with `errors`, or MCPX_ENOMEM.
 */
enum mcpx_err revocation_read(const char *path, const struct ssl_ctx_st *context,
                              struct mcpx_text *errors, struct revocation *out);

/**
 * Handshakes of `context` check clients, and those between them and their authority, by the lists
 * that `revocation` has at that time. It remembers which key has signed each list.
 *
 * revocation   borrowed until the last connection of `context` has ended
 */
void revocation_check(struct revocation *revocation, struct ssl_ctx_st *context);

/**
 * True when one of the certificates is revoked, by the newest list that has begun. `chain` may be
 * NULL, and was verified.
 */
bool revocation_has(struct revocation *revocation, const struct stack_st_X509 *chain,
                    int64_t wall_s);

/** True when a list has begun since this was asked last. */
bool revocation_has_begun(struct revocation *revocation, int64_t wall_s);

/** Frees them, which takes long where they are large. */
void revocation_fini(struct revocation *revocation);

/** An instant of a certificate, in seconds since 1970. */
int64_t tls_time_seconds(const struct asn1_string_st *time);

#endif
