/*
 * jwt_signature.h - the signature of a token by a public key. To verify one takes milliseconds, and
 * strangers may ask for it: so who has others waiting lets jwt_verify say what is to be verified,
 * has that done on another thread, and asks jwt_verify again.
 */
#ifndef POLICY_JWT_SIGNATURE_H
#define POLICY_JWT_SIGNATURE_H

#include "router/policy/jwt_keys.h"

/**
 * Public keys that a token is verified with at most, when it names none by its kid: verifying takes
 * long, and strangers may ask for it.
 */
enum { JWT_TRIES_MAX = 4 };

/** Nothing is known of it; it is to be verified; it was. */
enum jwt_signature_state { JWT_SIGNATURE_UNKNOWN, JWT_SIGNATURE_WANTED, JWT_SIGNATURE_KNOWN };

/**
 * One signature; zeroed, nothing is known of it.
 *
 * covered, bytes   what is signed, and the signature; owned
 * keys, count      those that may have made it, each with a reference; their `kid` is NULL
 * signer           the digest of the one that has; zeroed = none
 */
struct jwt_signature {
    enum jwt_signature_state state;
    struct mcpx_text covered, bytes;
    struct jwt_key keys[JWT_TRIES_MAX];
    size_t count;
    unsigned char signer[32];
};

/**
 * Is it known that the key has made this signature? While nothing is known, the key is added to
 * those that may have: JWT_TRIES_MAX at most.
 */
bool jwt_signature_is_by(struct jwt_signature *signature, const struct jwt_key *key,
                         struct mcpx_slice covered, struct mcpx_slice bytes);

/** Keys were added: it is to be verified. Returns MCPX_EOPENING, or MCPX_ENOMEM. */
enum mcpx_err jwt_signature_want(struct jwt_signature *signature, struct mcpx_slice covered,
                                 struct mcpx_slice bytes);

/** Verifies one that is wanted, on any thread: it is known then. */
void jwt_signature_verify(struct jwt_signature *signature);

/** Was it verified? */
static inline bool jwt_signature_is_known(const struct jwt_signature *signature)
{
    return signature->state == JWT_SIGNATURE_KNOWN;
}

/** Frees what it holds and forgets it. */
void jwt_signature_fini(struct jwt_signature *signature);

#endif
