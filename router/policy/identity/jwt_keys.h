/*
 * jwt_keys.h - keys that tokens are verified with, each with the one algorithm of JSON Web
 * Signatures (RFC 7518 section 3, RFC 8037) it is used for; and signatures by them. To verify one
 * by a public key takes milliseconds, and strangers may ask for it: so who has others waiting lets
 * jwt_verify say what is to be verified, has that done on another thread, and asks jwt_verify
 * again.
 */
#ifndef POLICY_JWT_KEYS_H
#define POLICY_JWT_KEYS_H

#include <mcpx/error.h>
#include <mcpx/text.h>

#include <openssl/evp.h>

/** Size of an RSA key, in bits: RFC 7518 section 3.3; what takes longer to verify is refused. */
enum { JWT_RSA_BITS_MIN = 2048, JWT_RSA_BITS_MAX = 8192 };

enum jwt_family { JWT_HMAC, JWT_RSA, JWT_PSS, JWT_ECDSA, JWT_EDDSA };

/** One algorithm. */
struct jwt_alg {
    const char *name;
    enum jwt_family family;
    const char *digest;   /* NULL when it has its own */
    size_t bytes;         /* of a signature; 0 when the key decides */
    const char *key_type; /* OpenSSL's name of the keys it takes */
    /* OpenSSL's name of the curve that they are on; NULL when the type says it all. */
    const char *group;
    const char *key_name; /* the same keys in the words of people */
    bool implied;         /* a key of its sort that names no algorithm is for this one */
};

/** The algorithm of that name, static; NULL when there is none. */
const struct jwt_alg *jwt_alg_find(const char *name);

/** The algorithm of a public key that names none, static; NULL when no algorithm takes it. */
const struct jwt_alg *jwt_alg_implied(const EVP_PKEY *key);

/**
 * Is the key of the sort and size that the algorithm takes, and sound? Returns NULL, or a static
 * sentence that says what was found.
 */
const char *jwt_alg_refuses(const struct jwt_alg *alg, const EVP_PKEY *key);

/** The key of an HMAC; NULL when memory runs out. The caller frees it, which wipes it. */
EVP_PKEY *jwt_alg_secret(struct mcpx_slice secret);

/**
 * Does the signature of `text` hold? The key is one that the algorithm takes. Whatever went wrong,
 * the answer is no. Leaves nothing in OpenSSL's queue of errors, where TLS would find it.
 */
bool jwt_alg_verify(const struct jwt_alg *alg, EVP_PKEY *key, struct mcpx_slice text,
                    struct mcpx_slice signature);

/** Appends the HMAC of `text`; false for another family, or when memory runs out. */
bool jwt_alg_sign(const struct jwt_alg *alg, EVP_PKEY *key, struct mcpx_slice text,
                  struct mcpx_text *out);

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

/**
 * Public keys that a token is verified with at most, when it names none by its kid: verifying takes
 * long, and strangers may ask for it.
 */
enum { JWT_TRIES_MAX = 4 };

/** Nothing is known of it; it is to be verified; it was. */
enum jwt_signature_state { JWT_SIGNATURE_UNKNOWN, JWT_SIGNATURE_WANTED, JWT_SIGNATURE_KNOWN };

/** One signature; zeroed, nothing is known of it. */
struct jwt_signature {
    enum jwt_signature_state state;
    struct mcpx_text covered, bytes; /* what is signed, and the signature; owned */
    /* `keys`, `count`: those that may have made it, each with a reference; their `kid` is
     * NULL. */
    struct jwt_key keys[JWT_TRIES_MAX];
    size_t count;
    unsigned char signer[32]; /* the digest of the one that has; zeroed = none */
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

/** Frees what it holds and forgets it. */
void jwt_signature_fini(struct jwt_signature *signature);

#endif
