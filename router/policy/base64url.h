/*
 * base64url.h - RFC 4648 section 5 without padding: the alphabet of JWTs and tickets.
 */
#ifndef POLICY_BASE64URL_H
#define POLICY_BASE64URL_H

#include <mcpx/text.h>

/** Appends `len` bytes as base64url, without padding. */
void base64url_encode(const unsigned char *bytes, size_t len, struct mcpx_text *out);

/**
 * Appends the bytes that `text` encodes. Strict: no padding, no white space, no other byte, and
 * the unused bits of the last character are zero, so that every value has one spelling. Returns
 * false, with `out` unchanged, for any other text; `out->failed` shows when memory ran out.
 */
bool base64url_decode(struct mcpx_slice text, struct mcpx_text *out);

#endif
