/*
 * revocation.h - certificates of clients that their authorities have taken back (RFC 5280).
 */
#ifndef EDGE_REVOCATION_H
#define EDGE_REVOCATION_H

#include <mcpx/error.h>
#include <mcpx/text.h>

struct ssl_ctx_st;
struct stack_st_X509;
struct stack_st_X509_CRL;

/**
 * Revocation lists. Zeroed, there are none, and nothing is revoked.
 *
 * lists     owned
 * until_s   when the first of them ends, in seconds since 1970; 0 = never
 */
struct revocation {
    struct stack_st_X509_CRL *lists;
    int64_t until_s;
};

/**
 * Reads lists in PEM, one or more for each authority that `context` knows, and lets its handshakes
 * check clients and those between them and their authority by them.
 *
 * errors   what is wrong, in one line without its end
 * out      zeroed; for revocation_fini in any case
 *
 * Returns MCPX_OK, MCPX_ESYSTEM with `errors`, or MCPX_ENOMEM.
 */
enum mcpx_err revocation_read(const char *path, struct ssl_ctx_st *context,
                              struct mcpx_text *errors, struct revocation *out);

/** True when one of the certificates is revoked. `chain` may be NULL. */
bool revocation_has(const struct revocation *revocation, const struct stack_st_X509 *chain);

/** Frees them. */
void revocation_fini(struct revocation *revocation);

#endif
