/*
 * jwt.h - JSON Web Tokens in compact form. Each key has a fixed algorithm, so a token cannot
 * choose one.
 */
#ifndef POLICY_JWT_H
#define POLICY_JWT_H

#include "router/policy/identity/jwt_keys.h"
#include "router/policy/identity/key_file.h"

#include <mcpx/error.h>
#include <mcpx/text.h>

#include <jansson.h>

/** Longest token that is read, in bytes. */
#define JWT_BYTES_MAX 8192

/** How far the clocks of an issuer and the router may differ, in milliseconds. */
#define JWT_LEEWAY_MS 60000

/** Keys, and the expected `iss` and `aud`. Made by jwt_ring_new. */
struct jwt_ring;

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

/** The file with that index, in the order they were added; NULL behind the last. Lent. */
struct key_file *jwt_ring_file(const struct jwt_ring *ring, size_t index);

/**
 * Sets the `iss` and `aud` that every token must have. Borrowed, copied; NULL or "" = any.
 * Returns MCPX_OK or MCPX_ENOMEM.
 */
enum mcpx_err jwt_ring_expect(struct jwt_ring *ring, const char *issuer, const char *audience);

/**
 * How a token was verified: what is needed to judge it again, without the token.
 *
 * claims   the object
 * header   object with `alg`, and `kid` if the token has one
 * token    SHA-256 of the token; filled by the caller of jwt_verify, which zeroes it
 * key      SHA-256 of the key that has signed it
 */
struct jwt_proof {
    json_t *claims;
    json_t *header;
    unsigned char token[32], key[32];
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
 * proof       filled, to be released with jwt_proof_fini; untouched on failure
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
 * Why jwt_verify refuses a token, as a static sentence; NULL when it does not, or memory runs out.
 * What it says of claims is of a token that one of the keys has signed. It costs as much as
 * verifying it. NULL as well when that has to be done first.
 */
const char *jwt_fault(const struct jwt_ring *ring, struct mcpx_slice token,
                      struct jwt_signature *signature, struct mcpx_now now);

/**
 * Signs claims with the first secret. `token` gets the JWT appended. `iss` and `aud` are not added.
 * Returns MCPX_OK, MCPX_ENOTFOUND when there is none, MCPX_ENOMEM.
 */
enum mcpx_err jwt_sign(const struct jwt_ring *ring, const json_t *claims,
                       struct mcpx_text *token);

/**
 * Adds the first secret of another ring, which keeps it too. Returns MCPX_OK, MCPX_ENOMEM, or
 * MCPX_ENOTFOUND when it has none.
 */
enum mcpx_err jwt_ring_share(struct jwt_ring *ring, const struct jwt_ring *other);

/**
 * A NumericDate claim (RFC 7519 section 2) in milliseconds, clamped to what a date can name.
 * Returns false when the value is no number.
 */
bool jwt_date(const json_t *value, int64_t *wall_ms);

/** The `iss` that tokens must have; "" when any is allowed. Lent until the ring is freed. */
const char *jwt_ring_issuer(const struct jwt_ring *ring);

/** Likewise for `aud`. */
const char *jwt_ring_audience(const struct jwt_ring *ring);

/*
 * The inside of a key ring and of a token, for jwt.c and jwt_check.c alone.
 */

/** `secrets` are of the configuration; `files` have their own keys. */
struct jwt_ring {
    struct jwt_keys secrets;
    struct key_file **files;
    size_t file_count;
    char *issuer;
    char *audience;
};

/**
 * A token taken apart, before anything in it is believed.
 *
 * covered     what the signature is of; borrowed from the token
 * payload, signature   decoded, owned
 * header      owned; `kid` (NULL = none) points into it
 * known       borrowed: what is known of the signature; NULL = it is verified at once
 */
struct jwt_parts {
    struct mcpx_slice covered;
    struct mcpx_text payload, signature;
    json_t *header;
    const struct jwt_alg *alg;
    const char *kid;
    struct jwt_signature *known;
};

/**
 * Reads a JSON object in which no name stands twice. Returns MCPX_OK with a new reference,
 * MCPX_ETOKEN when the text is something else, or MCPX_ENOMEM.
 */
enum mcpx_err jwt_parse(struct mcpx_slice text, json_t **out);

/**
 * Takes a token apart and checks its outer form and its header.
 *
 * parts   zeroed before; for jwt_parts_fini in every case
 * why     filled with a static sentence on MCPX_ETOKEN
 *
 * Returns MCPX_OK, MCPX_ETOKEN or MCPX_ENOMEM.
 */
enum mcpx_err jwt_parts_read(struct mcpx_slice token, struct jwt_parts *parts,
                             const char **why);

/** Frees what a token was taken apart into. */
void jwt_parts_fini(struct jwt_parts *parts);

/**
 * Checks exp, nbf, iat, and the expected iss and aud ("" = any). Returns NULL when they hold, or a
 * static sentence that says which does not.
 */
const char *jwt_claims_fault(const json_t *claims, const char *issuer, const char *audience,
                             struct mcpx_now now);

#endif
