/*
 * jwt_ring.h - the inside of a key ring, for jwt.c and jwt_check.c alone.
 */
#ifndef POLICY_JWT_RING_H
#define POLICY_JWT_RING_H

#include "router/policy/jwt.h"

#include <cjose/jwk.h>

/** One key. `alg` is a static string; `kid` is "" when it has none; `digest` names the key itself. */
struct jwt_key {
    char *kid;
    const char *alg;
    bool exp_optional;
    cjose_jwk_t *jwk;
    unsigned char digest[32];
};

struct jwt_ring {
    struct jwt_key *keys;
    size_t count;
    char *issuer;
    char *audience;
};

/**
 * A token's header that has passed the checks.
 *
 * json   the header, owned; `alg` and `kid` (NULL = none) point into it
 */
struct jwt_header {
    json_t *json;
    const char *alg;
    const char *kid;
};

/**
 * Reads a JSON object in which no name stands twice. Returns MCPX_OK with a new reference,
 * MCPX_ETOKEN when the text is something else, or MCPX_ENOMEM.
 */
enum mcpx_err jwt_parse(struct mcpx_slice text, json_t **out);

/**
 * Reads and checks a token's header and the outer form of its three parts.
 * Returns MCPX_OK with `out->json` to be released, MCPX_ETOKEN or MCPX_ENOMEM.
 */
enum mcpx_err jwt_header_read(struct mcpx_slice token, struct jwt_header *out);

/** Checks exp, nbf, iat, and the expected iss and aud ("" = any). */
bool jwt_claims_hold(const json_t *claims, const char *issuer, const char *audience,
                     struct mcpx_now now);

#endif
