/* digest.h - digests as bytes, for keys and ids; mcpx/digest.h has them as digits. */
#ifndef MX_DIGEST_H
#define MX_DIGEST_H

#include "lib/json/tree.h"
#include <mcpx/digest.h>

enum { MX_SHA256_BYTES = 32, MX_SHA1_BYTES = 20, MX_KEY_LEN = 24, MX_ACCEPT_LEN = 28 };

/** The SHA-256 of bytes. Returns false when memory runs out. */
bool mx_sha256(struct mcpx_slice bytes, unsigned char out[MX_SHA256_BYTES]);

/** The SHA-1 of bytes, for UUIDs of version 5. Returns false when memory runs out. */
bool mx_sha1(struct mcpx_slice bytes, unsigned char out[MX_SHA1_BYTES]);

/**
 * The Sec-WebSocket-Accept that answers a Sec-WebSocket-Key of MX_KEY_LEN bytes, and a NUL (RFC
 * 6455 section 4.2.2). Returns false when memory runs out.
 */
bool mx_websocket_accept(struct mcpx_slice key, char out[MX_ACCEPT_LEN + 1]);

/** Appends a text as a string in canonical form. `text` is UTF-8, not escaped. */
void mx_canonical_string(struct mcpx_text *out, struct mcpx_slice text);

/** As mx_tree_read, but returns MCPX_EINVALID for an ambiguous text, too. */
enum mcpx_err mx_canonical_read(struct mx_tree *tree, struct mcpx_slice json,
                                struct mcpx_fault *fault);

#endif
