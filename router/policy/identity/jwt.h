/*
 * jwt.h - JSON Web Tokens in compact form: keys, their signatures, files of public keys, and the
 * verification of tokens. Each key has a fixed algorithm, so a token cannot choose one.
 */
#ifndef POLICY_JWT_H
#define POLICY_JWT_H

#include "lib/edge/file.h"
#include <mcpx/error.h>
#include <mcpx/text.h>

#include <jansson.h>
#include <openssl/evp.h>

/*
 * ---- keys to verify tokens with, each with its one algorithm of JSON Web Signatures (RFC 7518
 * section 3, RFC 8037); and signatures. Verifying by a public key takes milliseconds, and
 * unauthenticated connections cause it. So the event loop calls jwt_verify to learn the work, has
 * another thread verify the signature, and calls jwt_verify again.
 */

/** Size of an RSA key, in bits: RFC 7518 section 3.3; longer keys, slow to verify, are refused. */
enum { JWT_RSA_BITS_MIN = 2048, JWT_RSA_BITS_MAX = 8192 };

enum jwt_family { JWT_HMAC, JWT_RSA, JWT_PSS, JWT_ECDSA, JWT_EDDSA };

/** One algorithm. */
struct jwt_alg {
    const char *name;
    enum jwt_family family;
    const char *digest;   /* NULL when it is part of the algorithm */
    size_t bytes;         /* of a signature; 0 when the key decides */
    const char *key_type; /* OpenSSL's name of its keys */
    /* OpenSSL's name of their curve; NULL when the type implies it. */
    const char *group;
    const char *key_name; /* the same keys in words for errors */
    bool implied;         /* keys of its sort without an algorithm have this one */
};

/** The algorithm of that name, static; NULL when there is none. */
const struct jwt_alg *jwt_alg_find(const char *name);

/** The algorithm of a public key that names none, static; NULL when no algorithm takes it. */
const struct jwt_alg *jwt_alg_implied(const EVP_PKEY *key);

/**
 * Does the key have the sort and size of the algorithm, and is it sound? Returns NULL, or a static
 * sentence about the key.
 */
const char *jwt_alg_refuses(const struct jwt_alg *alg, const EVP_PKEY *key);

/**
 * Does the signature of `text` hold? The key fits the algorithm. Returns false for errors of any
 * sort, too. Leaves nothing in OpenSSL's queue of errors, where TLS would find it.
 */
bool jwt_alg_verify(const struct jwt_alg *alg, EVP_PKEY *key, struct mcpx_slice text,
                    struct mcpx_slice signature);

/** Makes the HMAC of `text` by a secret. Returns its length, 0 when memory runs out. */
size_t jwt_alg_sign(const struct jwt_alg *alg, EVP_PKEY *key, struct mcpx_slice text,
                    unsigned char mac[EVP_MAX_MD_SIZE]);

/**
 * One key. `kid` is "" when it has none. It verifies tokens without `exp` when it is optional.
 * `digest` names the key itself: a MAC by a secret, or the SHA-256 of a SubjectPublicKeyInfo.
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
 * failure. Returns MCPX_OK, or MCPX_ENOMEM, also when `row->key` is NULL.
 */
enum mcpx_err jwt_keys_add(struct jwt_keys *keys, const struct jwt_key *row);

/**
 * Limit of the public keys tried for a token without a kid: verifying takes long, and
 * unauthenticated connections cause it.
 */
enum { JWT_TRIES_MAX = 4 };

/** Not examined yet; to be verified; verified. */
enum jwt_signature_state { JWT_SIGNATURE_UNKNOWN, JWT_SIGNATURE_WANTED, JWT_SIGNATURE_KNOWN };

/** One signature; zeroed, it is JWT_SIGNATURE_UNKNOWN. */
struct jwt_signature {
    enum jwt_signature_state state;
    struct mcpx_text covered, bytes; /* the signed text, and the signature; owned */
    /* `keys`, `count`: its possible signers, each with a reference; their `kid` is NULL. */
    struct jwt_key keys[JWT_TRIES_MAX];
    size_t count;
    unsigned char signer[32]; /* the digest of its signer's key; zeroed = none */
};

/** Verifies a signature in JWT_SIGNATURE_WANTED, on any thread: it is known then. */
void jwt_signature_verify(struct jwt_signature *signature);

/** Frees its members and zeroes it. */
void jwt_signature_fini(struct jwt_signature *signature);

/* ---- a file with public keys; it is read again when it changes ---- */

/** One reading of a file; made by key_file_read, which may run on a thread of its own. */
struct key_reading {
    enum mcpx_err err;
    struct mx_file_stamp stamp;
    struct jwt_keys keys; /* empty when `err` is not MCPX_OK */
    size_t passed_over;   /* skipped keys of a set: they have another purpose */
    struct mcpx_text why; /* the error, when `err` is MCPX_ECONFIG */
};

/** A file and its active keys. Counted. The members above `keys` never change. */
struct key_file {
    unsigned refs;
    char *path;    /* resolved */
    char *setting; /* JSON pointer of its setting */
    bool is_set;   /* it is a JSON Web Key Set; else `model` describes its keys */
    struct jwt_key model;
    struct jwt_keys keys;       /* active; empty before the first reading */
    struct mx_file_stamp stamp; /* of their content */
    struct mx_file_stamp tried; /* of the content read last, also after a failure */
    uint64_t reads;             /* readings; `failures` of them gave no keys */
    uint64_t failures;
    bool is_faulty; /* the last reading failed */
};

/**
 * Makes an unread file, with one reference. Everything is copied; `model` is NULL for a set.
 * Returns NULL when memory runs out.
 */
struct key_file *key_file_new(const char *path, const char *setting,
                              const struct jwt_key *model);

/** Takes one more reference and returns the file. */
struct key_file *key_file_ref(struct key_file *file);

/** Gives one reference back; the last frees it. NULL is allowed. */
void key_file_unref(struct key_file *file);

/** True when the content differs from the last one read, or could not be read. */
bool key_file_has_changed(const struct key_file *file);

/**
 * Reads the file. Uses only constant members of `file`, so another thread may do it. `reading` is
 * filled, for key_reading_fini.
 */
void key_file_read(const struct key_file *file, struct key_reading *reading);

/**
 * Makes a reading active: all of its keys, or none. After a failure the earlier keys stay. The keys
 * move into the file.
 *
 * Returns false for a repeated failure, not to be reported again.
 */
bool key_file_take(struct key_file *file, struct key_reading *reading);

/** Frees the members of a reading. */
void key_reading_fini(struct key_reading *reading);

/** The age of the active content in milliseconds; never negative. */
int64_t key_file_age_ms(const struct key_file *file, int64_t wall_ms);

/* Public keys from text: PEM, a JSON Web Key, a set of them (RFC 7517). */

/** Bounds of a file: bytes, keys in a set, keys in a PEM file, bytes of a kid. */
enum { KEY_FILE_BYTES = 262144, JWKS_KEYS_MAX = 64, PEM_KEYS_MAX = 4, KID_BYTES_MAX = 256 };

/**
 * Reads public keys: of a PEM file, old and new side by side, or one JSON Web Key; without a model,
 * of a JSON Web Key Set. In a set, keys for encryption, and keys of unknown type, curve or
 * algorithm, are skipped. The whole set is refused for a secret or private key, a short or unsound
 * key, a wrong algorithm for a key's type, one kid and algorithm twice, or no key to verify with. A
 * key without an algorithm has the one of its type: RS256, that of its curve, EdDSA.
 *
 * model         kid, algorithm and exp_optional of all keys; its `key` is ignored. The algorithm
 *               and use of a JSON Web Key must agree with it; the kid in the JSON Web Key is
 *               ignored. NULL = a set is read; all its keys require `exp`
 * passed_over   filled: the number of skipped keys
 * why           on failure a sentence is appended: found value, allowed values
 *
 * Returns MCPX_OK with keys in `out`, which was empty; MCPX_ECONFIG with `why`; MCPX_ENOMEM.
 */
enum mcpx_err public_keys_read(struct mcpx_slice text, const struct jwt_key *model,
                               struct jwt_keys *out, size_t *passed_over,
                               struct mcpx_text *why);

/* All keys to verify tokens with. */

/**
 * Keys, and the `iss` and `aud` that every token must have; NULL or "" = any. Zero-initialised it
 * verifies nothing. `secrets` are of the configuration; `files` have their own keys.
 */
struct jwt_ring {
    struct jwt_keys secrets;
    struct key_file **files;
    size_t file_count;
    char *issuer;
    char *audience;
};

/** Frees its members, wiping secrets, and leaves an empty ring. */
void jwt_ring_fini(struct jwt_ring *ring);

/** The number of its keys, with those of files. */
size_t jwt_ring_count(const struct jwt_ring *ring);

/**
 * Adds a secret of 1.. bytes, with the kid (NULL = none), the algorithm (one for secrets) and the
 * `exp_optional` of `model`. Both are borrowed and copied. Returns MCPX_OK or MCPX_ENOMEM.
 */
enum mcpx_err jwt_ring_add(struct jwt_ring *ring, const struct jwt_key *model,
                           struct mcpx_slice secret);

/** Adds a file with its present and later public keys. Keeps a reference. Returns MCPX_OK or
 * MCPX_ENOMEM. */
enum mcpx_err jwt_ring_add_file(struct jwt_ring *ring, struct key_file *file);

/* ---- tokens ---- */

/** Longest token that is read, in bytes. */
#define JWT_BYTES_MAX 8192

/** How far the clocks of an issuer and the router may differ, in milliseconds. */
#define JWT_LEEWAY_MS 60000

/** How a token was verified: enough to judge it again, without the token. */
struct jwt_proof {
    json_t *claims; /* the object */
    json_t *header; /* object with `alg`, and `kid` if the token has one */
    /* SHA-256 of the token; filled by the caller of jwt_verify, which zeroes it. */
    unsigned char token[32];
    unsigned char key[32]; /* the digest of its signer's key */
    /* Why jwt_verify refuses the token, a static sentence; NULL unless it returns MCPX_ETOKEN. A
     * sentence about claims implies a good signature. */
    const char *why;
};

/** Releases the members of a proof. A zeroed proof is allowed. */
void jwt_proof_fini(struct jwt_proof *proof);

/**
 * Verifies a token: its form, its signature, exp (required unless optional for the key), nbf and
 * iat with JWT_LEEWAY_MS, iss and aud when they are configured.
 *
 * A key is tried when its algorithm is the header's and its kid fits: equal, or one of the two
 * absent. Tokens with a `crit` or `b64` header are refused (RFC 7515 section 4.1.11), and tokens of
 * other types than JWT and at+jwt.
 *
 * signature   state of its signature; NULL = it is verified here and now
 * now         wall_ms is compared with
 * proof       zeroed; filled, to be released with jwt_proof_fini; on failure only `why` is
 *
 * Returns MCPX_OK, MCPX_ETOKEN or MCPX_ENOMEM; MCPX_EOPENING when a public key may have signed it
 * and its signature is not verified yet; it is now wanted. Protocol: section 7.
 */
enum mcpx_err jwt_verify(const struct jwt_ring *ring, struct mcpx_slice token,
                         struct jwt_signature *signature, struct mcpx_now now,
                         struct jwt_proof *proof);

/**
 * Would the ring accept a token with this proof now? True when the ring has its signer's key with a
 * fitting kid and algorithm, and dates, issuer and audience hold.
 */
bool jwt_holds(const struct jwt_ring *ring, const struct jwt_proof *proof,
               struct mcpx_now now);

/**
 * Signs claims with the first secret. `token` gets the JWT appended. `iss` and `aud` are not added.
 * Returns MCPX_OK, MCPX_ENOTFOUND without a secret, MCPX_ENOMEM.
 */
enum mcpx_err jwt_sign(const struct jwt_ring *ring, const json_t *claims,
                       struct mcpx_text *token);

/**
 * A NumericDate claim (RFC 7519 section 2) in milliseconds, clamped to the range of a date. Returns
 * false when the value is not a number.
 */
bool jwt_date(const json_t *value, int64_t *wall_ms);

/**
 * Is a name the value of a claim, or one of its array (RFC 7519 section 4.1.3)? Returns false when
 * the claim is neither a string nor an array of strings.
 *
 * claim   NULL = it has no names
 * name    absent = any
 * has     filled
 */
bool jwt_claim_has(const json_t *claim, struct mcpx_slice name, bool *has);

#endif
