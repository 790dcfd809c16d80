/*
 * jwk.h - one JSON Web Key, without the set around it.
 */
#ifndef POLICY_JWK_H
#define POLICY_JWK_H

#include "router/policy/jwt_alg.h"

#include <jansson.h>
#include <mcpx/error.h>

/**
 * What a JSON Web Key comes to.
 *
 * kid   "" when it has none; borrowed from the object
 * alg   its own, or the one that its type implies
 * key   owned by the caller
 */
struct jwk {
    const char *kid;
    const struct jwt_alg *alg;
    EVP_PKEY *key;
};

/**
 * Makes a public key of a JSON Web Key (RFC 7517 section 4, RFC 7518 section 6, RFC 8037).
 *
 * out   filled on MCPX_OK
 * why   filled with a static sentence on MCPX_ECONFIG and MCPX_ENOTFOUND
 *
 * Returns MCPX_OK; MCPX_ENOTFOUND for a key that is for something else, or of a sort that is not
 * known, which a set may have beside others; MCPX_ECONFIG for one that must not be there or that
 * is wrong; MCPX_ENOMEM.
 */
enum mcpx_err jwk_read(const json_t *object, struct jwk *out, const char **why);

#endif
