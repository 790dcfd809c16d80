/*
 * crl.h - one revocation list (RFC 5280 section 5).
 */
#ifndef EDGE_CRL_H
#define EDGE_CRL_H

#include <mcpx/base.h>

struct X509_crl_st;
struct stack_st_X509_CRL;

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
