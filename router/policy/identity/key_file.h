/*
 * key_file.h - a file with public keys, which is read again when it changes.
 */
#ifndef POLICY_KEY_FILE_H
#define POLICY_KEY_FILE_H

#include "lib/edge/file.h"
#include "router/policy/identity/jwt_keys.h"

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
 * Keys, and the expected `iss` and `aud`. Made by jwt_ring_new. `secrets` are of the configuration;
 * `files` have their own keys.
 */
struct jwt_ring {
    struct jwt_keys secrets;
    struct key_file **files;
    size_t file_count;
    char *issuer;
    char *audience;
};

/** An empty ring: verifies nothing. Returns NULL when memory runs out. */
struct jwt_ring *jwt_ring_new(void);

/** Wipes its secrets and frees it. NULL is allowed. */
void jwt_ring_free(struct jwt_ring *ring);

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

/**
 * Sets the `iss` and `aud` that every token must have. Borrowed, copied; "" = any.
 * Returns MCPX_OK or MCPX_ENOMEM.
 */
enum mcpx_err jwt_ring_expect(struct jwt_ring *ring, const char *issuer, const char *audience);

/**
 * Adds the first secret of another ring, which keeps it too. Returns MCPX_OK, MCPX_ENOMEM, or
 * MCPX_ENOTFOUND when it has none.
 */
enum mcpx_err jwt_ring_share(struct jwt_ring *ring, const struct jwt_ring *other);

#endif
