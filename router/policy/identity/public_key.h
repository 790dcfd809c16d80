/*
 * public_key.h - public keys from text: PEM, a JSON Web Key, a set of them (RFC 7517).
 */
#ifndef POLICY_PUBLIC_KEY_H
#define POLICY_PUBLIC_KEY_H

#include "router/policy/identity/jwt_keys.h"

/** Bounds of a file: bytes, keys in a set, keys in a PEM file, bytes of a kid. */
enum { KEY_FILE_BYTES = 262144, JWKS_KEYS_MAX = 64, PEM_KEYS_MAX = 4, KID_BYTES_MAX = 256 };

/**
 * Reads the public keys of a PEM file, old and new side by side, or one JSON Web Key.
 *
 * model   kid, algorithm and exp_optional of all keys; its `key` is not looked at. What a JSON Web
 *         Key says of algorithm and use must agree; its kid counts for nothing
 * why     a sentence is appended on failure: what was found, what would be right
 *
 * Returns MCPX_OK with keys in `out`, which was empty; MCPX_ECONFIG with `why`; MCPX_ENOMEM.
 */
enum mcpx_err public_keys_read(struct mcpx_slice text, const struct jwt_key *model,
                               struct jwt_keys *out, struct mcpx_text *why);

/**
 * Reads a JSON Web Key Set. Keys for encryption, and those of a type, curve or algorithm that is
 * not known, are passed over. A set with a secret or a private key is refused as a whole; so is one
 * with a key that is too short or not sound, or whose algorithm does not fit its type, with the
 * same kid and algorithm twice, or without one key to verify with. A key that names no algorithm
 * has the one that its type implies: RS256, that of its curve, EdDSA.
 *
 * out           keys, all of which want `exp`
 * passed_over   filled: how many were
 *
 * Returns and `why` as public_keys_read.
 */
enum mcpx_err jwks_read(struct mcpx_slice text, struct jwt_keys *out, size_t *passed_over,
                        struct mcpx_text *why);

#endif
