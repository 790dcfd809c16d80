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
struct stack_st_X509_CRL;
struct asn1_string_st;
struct X509_crl_st;

/**
 * Revocation lists. Zeroed, there are none, and nothing is revoked.
 *
 * lists     owned
 * from_s    since when, in seconds since 1970, each of their authorities has a list that has begun
 * until_s   when all lists of the first of the authorities have ended; 0 = never
 * next_s    when the next of them begins
 */
struct revocation {
    struct stack_st_X509_CRL *lists;
    int64_t from_s, until_s, next_s;
};

/**
 * Reads lists in PEM, one or more for each authority that `context` knows. For a thread, as
 * crl_read.
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
 * that `revocation` has at that time.
 *
 * revocation   borrowed until the last connection of `context` has ended
 */
void revocation_check(const struct revocation *revocation, struct ssl_ctx_st *context);

/**
 * True when one of the certificates is revoked, by a list that has begun. `chain` may be NULL.
 */
bool revocation_has(const struct revocation *revocation, const struct stack_st_X509 *chain,
                    int64_t wall_s);

/** True when a list has begun since this was asked last. */
bool revocation_has_begun(struct revocation *revocation, int64_t wall_s);

/** Frees them, which takes long where they are large. */
void revocation_fini(struct revocation *revocation);

/** An instant of a certificate, in seconds since 1970. */
int64_t tls_time_seconds(const struct asn1_string_st *time);

/** Most lists of a file: a handshake looks at each. */
enum { CRL_LISTS_MAX = 256 };

/**
 * Reads lists in PEM. It may take seconds, so a thread does it; one at a time.
 *
 * lists   what was read is added, also on failure
 *
 * Returns NULL, or what is wrong, until the next call.
 */
const char *crl_read(const char *path, struct stack_st_X509_CRL *lists);

/** When it begins, and when it ends, in seconds since 1970; an end of 0 = never. */
int64_t crl_from_s(const struct X509_crl_st *list);
int64_t crl_until_s(const struct X509_crl_st *list);

/** True when both are of one authority, with one key as far as they say. */
bool crl_is_of_one(const struct X509_crl_st *one, const struct X509_crl_st *other);

#endif
