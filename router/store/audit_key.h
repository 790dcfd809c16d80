/*
 * audit_key.h - an Ed25519 key (RFC 8032): its private half signs checkpoints, its public half
 * checks them.
 */
#ifndef STORE_AUDIT_KEY_H
#define STORE_AUDIT_KEY_H

#include <mcpx/error.h>
#include <mcpx/text.h>

enum {
    AUDIT_KEY_ID_LEN = 16,    /* digits */
    AUDIT_SIGNATURE_LEN = 88, /* base64 of 64 bytes */
    AUDIT_KEY_FILE_MAX = 4096 /* bytes of a private key's file that are read */
};

struct audit_key;

/** Which half of a key a text has to hold. */
enum audit_half { AUDIT_PRIVATE, AUDIT_PUBLIC };

/**
 * Reads a key from PEM: "PRIVATE KEY" without a passphrase, or "PUBLIC KEY".
 *
 * out   filled with a key that the caller frees; untouched on failure
 *
 * Returns MCPX_OK; MCPX_EINVALID with `fault` (may be NULL) when it is no such key; MCPX_ENOMEM.
 */
enum mcpx_err audit_key_read(struct mcpx_slice pem, enum audit_half half,
                             struct mcpx_fault *fault, struct audit_key **out);

/** Frees it. NULL is allowed. */
void audit_key_free(struct audit_key *key);

/**
 * What names the key: the first 8 bytes of the SHA-256 of the 32 bytes of its public half, as
 * digits. Lent for as long as the key lives.
 */
const char *audit_key_id(const struct audit_key *key);

/** Writes the signature of `text` and a NUL; false when libcrypto fails, which is for memory. */
bool audit_key_sign(const struct audit_key *key, struct mcpx_slice text,
                    char out[AUDIT_SIGNATURE_LEN + 1]);

/** True when `signature` is base64 of a signature of `text` by this key. */
bool audit_key_verify(const struct audit_key *key, struct mcpx_slice text,
                      struct mcpx_slice signature);

#endif
