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

/** How a token was verified: what is needed to judge it again, without the token. */
struct jwt_proof {
    json_t *claims; /* the object */
    json_t *header; /* object with `alg`, and `kid` if the token has one */
    /* SHA-256 of the token; filled by the caller of jwt_verify, which zeroes it. */
    unsigned char token[32];
    unsigned char key[32]; /* SHA-256 of the key that has signed it */
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
 * proof       filled, to be released with jwt_proof_fini; untouched on failure but for `why`
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

#endif
