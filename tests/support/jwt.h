/*
 * jwt.h - tokens written by hand, right ones and wrong ones. Independent of the code under test:
 * OpenSSL's HMAC and its own base64url.
 */
#ifndef SUPPORT_JWT_H
#define SUPPORT_JWT_H

#include <mcpx/text.h>

/**
 * A signed token.
 *
 * header, claims   any text, JSON or not
 * digest           "SHA256", "SHA384", "SHA512": of the HMAC, whatever the header says
 * secret           a C string
 *
 * Returns text the caller frees. Aborts when something is impossible.
 */
char *jwt_make(const char *header, const char *claims, const char *digest, const char *secret);

/** base64url of `len` bytes, without padding; the caller frees it. */
char *jwt_encode(const void *bytes, size_t len);

#endif
