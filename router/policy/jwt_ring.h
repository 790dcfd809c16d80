/*
 * jwt_ring.h - the inside of a key ring and of a token, for jwt.c and jwt_check.c alone.
 */
#ifndef POLICY_JWT_RING_H
#define POLICY_JWT_RING_H

#include "router/policy/jwt.h"

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
