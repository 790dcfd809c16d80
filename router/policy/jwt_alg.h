/*
 * jwt_alg.h - the algorithms of JSON Web Signatures (RFC 7518 section 3, RFC 8037), each with the
 * only sort of key that it takes.
 */
#ifndef POLICY_JWT_ALG_H
#define POLICY_JWT_ALG_H

#include <mcpx/text.h>
#include <openssl/evp.h>

/** Size of an RSA key, in bits: RFC 7518 section 3.3; what takes longer to verify is refused. */
enum { JWT_RSA_BITS_MIN = 2048, JWT_RSA_BITS_MAX = 8192 };

enum jwt_family { JWT_HMAC, JWT_RSA, JWT_PSS, JWT_ECDSA, JWT_EDDSA };

/**
 * One algorithm.
 *
 * digest      NULL when it has its own
 * bytes       of a signature; 0 when the key decides
 * key_type    OpenSSL's name of the keys it takes
 * group       OpenSSL's name of the curve that they are on; NULL when the type says it all
 * key_name    the same keys in the words of people
 * implied     a key of its sort that names no algorithm is for this one
 */
struct jwt_alg {
    const char *name;
    enum jwt_family family;
    const char *digest;
    size_t bytes;
    const char *key_type;
    const char *group;
    const char *key_name;
    bool implied;
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

#endif
