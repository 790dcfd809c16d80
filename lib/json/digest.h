/*
 * digest.h - digests as bytes, for keys and ids; mcpx/digest.h has them as digits.
 */
#ifndef MX_DIGEST_H
#define MX_DIGEST_H

#include <mcpx/digest.h>

enum { MX_SHA256_BYTES = 32, MX_SHA1_BYTES = 20 };

/** The SHA-256 of bytes. Returns false when memory runs out. */
bool mx_sha256(struct mcpx_slice bytes, unsigned char out[MX_SHA256_BYTES]);

/** The SHA-1 of bytes, of which UUIDs of version 5 are made. Returns false when memory runs out. */
bool mx_sha1(struct mcpx_slice bytes, unsigned char out[MX_SHA1_BYTES]);

#endif
