/*
 * jwt_keys.h - keys that tokens are verified with, each with the one algorithm it is used for.
 */
#ifndef POLICY_JWT_KEYS_H
#define POLICY_JWT_KEYS_H

#include "router/policy/jwt_alg.h"

#include <mcpx/error.h>

/**
 * One key. `kid` is "" when it has none. It verifies tokens without `exp` when it is optional.
 * `digest` names the key itself: the SHA-256 of a secret, or of a SubjectPublicKeyInfo.
 */
struct jwt_key {
    char *kid;
    const struct jwt_alg *alg;
    bool exp_optional;
    EVP_PKEY *key;
    unsigned char digest[32];
};

/** Zero-initialised is empty and ready. */
struct jwt_keys {
    struct jwt_key *rows;
    size_t count;
};

/** Frees the keys, wiping secrets, and leaves an empty list. */
void jwt_keys_fini(struct jwt_keys *keys);

/**
 * Adds a key. `row` is copied with its kid, and gets its digest; the key itself is taken, also on
 * failure.
 * Returns MCPX_OK, or MCPX_ENOMEM, also when `row->key` is NULL.
 */
enum mcpx_err jwt_keys_add(struct jwt_keys *keys, const struct jwt_key *row);

/** True when a key of that kid is there that is used for that algorithm. */
bool jwt_keys_have(const struct jwt_keys *keys, const char *kid, const struct jwt_alg *alg);

#endif
