/*
 * base64url.h - RFC 4648 section 5 without padding: the alphabet of JWTs and tickets.
 */
#ifndef POLICY_BASE64URL_H
#define POLICY_BASE64URL_H

#include <mcpx/text.h>

/** Appends `len` bytes as base64url, without padding. */
void base64url_encode(const unsigned char *bytes, size_t len, struct mcpx_text *out);

/**
 * Appends what `text` stands for. Strict: no padding, no white space, no foreign byte, and the
 * unused bits of the last character are zero, so that every value has one spelling. Returns
 * false, with `out` as it was, when the text is not such; memory shows as `out->failed`.
 */
bool base64url_decode(struct mcpx_slice text, struct mcpx_text *out);

#endif
