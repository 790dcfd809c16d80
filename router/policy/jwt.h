/*
 * jwt.h - JSON Web Tokens in compact form, verified with keys whose algorithm is fixed before
 * anything in the token is believed.
 */
#ifndef POLICY_JWT_H
#define POLICY_JWT_H

#include <jansson.h>
#include <mcpx/error.h>
#include <mcpx/text.h>

/** Longest token looked at, in bytes. */
#define JWT_BYTES_MAX 8192

/** How far the clocks of an issuer and the router may differ, in milliseconds. */
#define JWT_LEEWAY_MS 60000

/** Keys and expectations. Made by jwt_ring_new. */
struct jwt_ring;

/** An empty ring: verifies nothing. Returns NULL when memory runs out. */
struct jwt_ring *jwt_ring_new(void);

/** Frees it, its secrets wiped. NULL is allowed. */
void jwt_ring_free(struct jwt_ring *ring);

/** How many keys it holds. */
size_t jwt_ring_count(const struct jwt_ring *ring);

/** A static copy for the algorithms jwt_ring_add takes: "HS256", "HS384", "HS512"; else NULL. */
const char *jwt_alg_name(const char *alg);

/** Bytes of an algorithm's signature, and so the shortest secret RFC 7518 section 3.2 allows. */
size_t jwt_alg_bytes(const char *alg);

/**
 * Adds an HMAC key. Tokens without `exp` it verifies only when it is told so.
 *
 * kid      borrowed, copied; NULL or "" = none
 * alg      one that has a jwt_alg_name
 * secret   borrowed, copied; 1.. bytes
 *
 * Returns MCPX_OK or MCPX_ENOMEM.
 */
enum mcpx_err jwt_ring_add(struct jwt_ring *ring, const char *kid, const char *alg,
                           struct mcpx_slice secret, bool exp_optional);

/**
 * Says who must have issued tokens and for whom: `iss` and `aud` of every token. Borrowed,
 * copied; NULL or "" = whoever. Returns MCPX_OK or MCPX_ENOMEM.
 */
enum mcpx_err jwt_ring_expect(struct jwt_ring *ring, const char *issuer, const char *audience);

/**
 * Verifies a token: its form, its signature, exp (which has to be there unless the key says
 * otherwise), nbf and iat with JWT_LEEWAY_MS, iss and aud where they are expected.
 *
 * A key is tried when its algorithm is the header's and its kid fits: equal, or one of the two
 * absent. `crit` and `b64` headers are refused, whatever they hold (RFC 7515 section 4.1.11).
 *
 * now      wall_ms is compared with
 * claims   filled with a new reference to the claims object; untouched on failure
 *
 * Returns MCPX_OK, MCPX_ETOKEN or MCPX_ENOMEM. Protocol: section 7.
 */
enum mcpx_err jwt_verify(const struct jwt_ring *ring, struct mcpx_slice token,
                         struct mcpx_now now, json_t **claims);

/**
 * Signs claims with the first key. `token` gets the JWT appended. `iss` and `aud` are not added.
 * Returns MCPX_OK, MCPX_ENOTFOUND when there is no key, MCPX_ENOMEM.
 */
enum mcpx_err jwt_sign(const struct jwt_ring *ring, const json_t *claims,
                       struct mcpx_text *token);

/**
 * A NumericDate claim (RFC 7519 section 2) in milliseconds, clamped to what a date can name.
 * Returns false when the value is no number.
 */
bool jwt_date(const json_t *value, int64_t *wall_ms);

/** Claims that ring expects of tokens: "" when none. Lent until the ring is freed. */
const char *jwt_ring_issuer(const struct jwt_ring *ring);

/** Likewise for `aud`. */
const char *jwt_ring_audience(const struct jwt_ring *ring);

#endif
