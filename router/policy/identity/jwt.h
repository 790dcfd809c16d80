/*
 * jwt.h - JSON Web Tokens in compact form: keys, signatures by them, files of public keys, and how
 * a token is verified. Each key has a fixed algorithm, so a token cannot choose one.
 */
#ifndef POLICY_JWT_H
#define POLICY_JWT_H

#include "lib/edge/file.h"
#include <mcpx/error.h>
#include <mcpx/text.h>

#include <jansson.h>
#include <openssl/evp.h>

/*
 * ---- keys that tokens are verified with, each with the one algorithm of JSON Web Signatures
 * (RFC 7518 section 3, RFC 8037) it is used for; and signatures by them. To verify one by a public
 * key takes milliseconds, and strangers may ask for it: so who has others waiting lets jwt_verify
 * say what is to be verified, has that done on another thread, and asks jwt_verify again.
 */

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

/**
 * Does the signature of `text` hold? The key is one that the algorithm takes. Whatever went wrong,
 * the answer is no. Leaves nothing in OpenSSL's queue of errors, where TLS would find it.
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

/** Verifies one that is wanted, on any thread: it is known then. */
void jwt_signature_verify(struct jwt_signature *signature);

/** Frees what it holds and forgets it. */
void jwt_signature_fini(struct jwt_signature *signature);

/* ---- a file with public keys, which is read again when it changes ---- */

/** One reading of a file; made by key_file_read, which may run on a thread of its own. */
struct key_reading {
    enum mcpx_err err;
    struct mx_file_stamp stamp;
    struct jwt_keys keys; /* empty when `err` is not MCPX_OK */
    size_t passed_over;   /* keys of a set that are for something else */
    struct mcpx_text why; /* what is wrong, when `err` is MCPX_ECONFIG */
};

/**
 * A file and the keys of it that are in force. Counted. What stands above `keys` never changes.
 */
struct key_file {
    unsigned refs;
    char *path;    /* as it can be opened */
    char *setting; /* JSON pointer of the setting that named it */
    bool is_set;   /* it is a JSON Web Key Set; else `model` says what its keys are for */
    struct jwt_key model;
    struct jwt_keys keys;       /* in force; empty before the first reading */
    struct mx_file_stamp stamp; /* of the content that they are of */
    struct mx_file_stamp tried; /* of the content that was read last, whatever came of it */
    uint64_t reads; /* readings; of them, `failures` had another result than keys */
    uint64_t failures;
    bool is_faulty; /* the last one had */
};

/**
 * A file that was not read yet, with one reference. Everything is copied; `model` is NULL for a
 * set. Returns NULL when memory runs out.
 */
struct key_file *key_file_new(const char *path, const char *setting,
                              const struct jwt_key *model);

/** Takes one more reference and returns the file. */
struct key_file *key_file_ref(struct key_file *file);

/** Gives one reference back; the last frees it. NULL is allowed. */
void key_file_unref(struct key_file *file);

/** True when the content is another one than was read last, or could not be read. */
bool key_file_has_changed(const struct key_file *file);

/**
 * Reads the file. Looks only at what never changes in `file`, so another thread may do it.
 * `reading` is filled, for key_reading_fini.
 */
void key_file_read(const struct key_file *file, struct key_reading *reading);

/**
 * Puts a reading into force: all of its keys, or none. After a failure those of before stay. What
 * was read moves into the file.
 *
 * Returns false for another failure like the one before, which is not told again.
 */
bool key_file_take(struct key_file *file, struct key_reading *reading);

/** Frees what a reading holds. */
void key_reading_fini(struct key_reading *reading);

/** Since when the content that is in force is there, in milliseconds; never negative. */
int64_t key_file_age_ms(const struct key_file *file, int64_t wall_ms);

/* Public keys from text: PEM, a JSON Web Key, a set of them (RFC 7517). */

/** Bounds of a file: bytes, keys in a set, keys in a PEM file, bytes of a kid. */
enum { KEY_FILE_BYTES = 262144, JWKS_KEYS_MAX = 64, PEM_KEYS_MAX = 4, KID_BYTES_MAX = 256 };

/**
 * Reads public keys: of a PEM file, old and new side by side, or one JSON Web Key; without a model
 * of a JSON Web Key Set. Of a set, keys for encryption, and those of a type, curve or algorithm
 * that is not known, are passed over. A set with a secret or a private key is refused as a whole;
 * so is one with a key that is too short or not sound, or whose algorithm does not fit its type,
 * with the same kid and algorithm twice, or without one key to verify with. A key that names no
 * algorithm has the one that its type implies: RS256, that of its curve, EdDSA.
 *
 * model         kid, algorithm and exp_optional of all keys; its `key` is not looked at. What a
 *               JSON Web Key says of algorithm and use must agree; its kid counts for nothing.
 *               NULL = a set is read, whose keys all want `exp`
 * passed_over   filled: how many were
 * why           a sentence is appended on failure: what was found, what would be right
 *
 * Returns MCPX_OK with keys in `out`, which was empty; MCPX_ECONFIG with `why`; MCPX_ENOMEM.
 */
enum mcpx_err public_keys_read(struct mcpx_slice text, const struct jwt_key *model,
                               struct jwt_keys *out, size_t *passed_over,
                               struct mcpx_text *why);

/* All keys that tokens are verified with. */

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

/** Frees what it holds, wiping secrets, and leaves an empty ring. */
void jwt_ring_fini(struct jwt_ring *ring);

/** How many keys it holds, those of files counted. */
size_t jwt_ring_count(const struct jwt_ring *ring);

/**
 * Adds a secret. It verifies tokens without `exp` only when `exp_optional` is set.
 *
 * kid      borrowed, copied; NULL or "" = none
 * alg      one for secrets, which jwt_alg_find knows
 * secret   borrowed, copied; 1.. bytes
 *
 * Returns MCPX_OK or MCPX_ENOMEM.
 */
enum mcpx_err jwt_ring_add(struct jwt_ring *ring, const char *kid, const char *alg,
                           struct mcpx_slice secret, bool exp_optional);

/** Adds a file with public keys; whatever it holds then and later. Keeps a reference. Returns
 * MCPX_OK or MCPX_ENOMEM. */
enum mcpx_err jwt_ring_add_file(struct jwt_ring *ring, struct key_file *file);

/* ---- tokens ---- */

/** Longest token that is read, in bytes. */
#define JWT_BYTES_MAX 8192

/** How far the clocks of an issuer and the router may differ, in milliseconds. */
#define JWT_LEEWAY_MS 60000

/** How a token was verified: what is needed to judge it again, without the token. */
struct jwt_proof {
    json_t *claims; /* the object */
    json_t *header; /* object with `alg`, and `kid` if the token has one */
    /* SHA-256 of the token; filled by the caller of jwt_verify, which zeroes it. */
    unsigned char token[32];
    unsigned char key[32]; /* the digest of the key that has signed it */
    /* Why jwt_verify refuses the token, a static sentence; NULL unless it returns MCPX_ETOKEN.
     * What it says of claims is of a token that one of the keys has signed. */
    const char *why;
};

/** Releases what a proof holds. A zeroed proof is allowed. */
void jwt_proof_fini(struct jwt_proof *proof);

/**
 * Verifies a token: its form, its signature, exp (which has to be there unless the key says
 * otherwise), nbf and iat with JWT_LEEWAY_MS, iss and aud where they are expected.
 *
 * A key is tried when its algorithm is the header's and its kid fits: equal, or one of the two
 * absent. Tokens with a `crit` or `b64` header are refused (RFC 7515 section 4.1.11), and those of
 * another type than JWT and at+jwt.
 *
 * signature   what is known of its signature; NULL = it is verified here and now
 * now         wall_ms is compared with
 * proof       zeroed; filled, to be released with jwt_proof_fini; on failure only `why` is
 *
 * Returns MCPX_OK, MCPX_ETOKEN or MCPX_ENOMEM; MCPX_EOPENING when a public key may have signed it
 * and nothing is known of its signature, which is wanted now. Protocol: section 7.
 */
enum mcpx_err jwt_verify(const struct jwt_ring *ring, struct mcpx_slice token,
                         struct jwt_signature *signature, struct mcpx_now now,
                         struct jwt_proof *proof);

/**
 * Would a token with this proof be verified by the ring now? So it would when the ring has the key
 * that has signed it, under a name and with an algorithm that fit, and dates, issuer and audience
 * hold.
 */
bool jwt_holds(const struct jwt_ring *ring, const struct jwt_proof *proof,
               struct mcpx_now now);

/**
 * Signs claims with the first secret. `token` gets the JWT appended. `iss` and `aud` are not added.
 * Returns MCPX_OK, MCPX_ENOTFOUND when there is none, MCPX_ENOMEM.
 */
enum mcpx_err jwt_sign(const struct jwt_ring *ring, const json_t *claims,
                       struct mcpx_text *token);

/**
 * A NumericDate claim (RFC 7519 section 2) in milliseconds, clamped to what a date can name.
 * Returns false when the value is no number.
 */
bool jwt_date(const json_t *value, int64_t *wall_ms);

/**
 * Is a name the value of a claim or, when that is an array, in it (RFC 7519 section 4.1.3)? Returns
 * false when the claim is neither a string nor an array of strings.
 *
 * claim   NULL = it has no names
 * name    absent = any
 * has     filled
 */
bool jwt_claim_has(const json_t *claim, struct mcpx_slice name, bool *has);

#endif
