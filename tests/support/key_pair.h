/*
 * key_pair.h - key pairs of all sorts, their public halves as files have them, and tokens signed
 * with them. Made by OpenSSL alone; nothing here is the router's.
 */
#ifndef SUPPORT_KEY_PAIR_H
#define SUPPORT_KEY_PAIR_H

#include <openssl/evp.h>

/**
 * A new key pair.
 *
 * sort   "RSA-2048", "RSA-1024", ..., "P-256", "P-384", "P-521", "secp256k1", "ED25519", "ED448"
 *
 * Returns what the caller frees with EVP_PKEY_free. Aborts when something is impossible.
 */
EVP_PKEY *key_pair_new(const char *sort);

/** PEM of its public half, or of all of it; the caller frees it. */
char *key_pair_pem(EVP_PKEY *pair, int with_private);

/**
 * Its public half as a JSON Web Key; the caller frees it.
 *
 * more   members that are put behind the others, such as ",\"kid\":\"a\""; "" for none
 */
char *key_pair_jwk(EVP_PKEY *pair, const char *more);

/**
 * A token signed with it.
 *
 * header, claims   any text
 * alg     how it is signed, whatever the header says: "RS256", ..., "EdDSA"; "DER256" is ES256 with
 *         the signature in DER; "PS256-0" is PS256 without salt
 *
 * Returns text the caller frees.
 */
char *key_pair_sign(EVP_PKEY *pair, const char *header, const char *claims, const char *alg);

#endif
