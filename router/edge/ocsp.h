/*
 * ocsp.h - what the certificate's issuer says of it (RFC 6960), from a file, shown to clients that
 * ask for it in the handshake (RFC 6066 section 8: stapling).
 */
#ifndef EDGE_OCSP_H
#define EDGE_OCSP_H

#include <mcpx/text.h>

struct ssl_ctx_st;
struct x509_st;

/**
 * A response. Zeroed, there is none.
 *
 * bytes     in DER
 * about     the certificate that it is about
 * until_s   when it ends, in seconds since 1970
 */
struct ocsp {
    struct mcpx_text bytes;
    struct x509_st *about;
    int64_t until_s;
};

/**
 * Reads a response, and judges it for the certificate of `context`: its issuer, or whom that has
 * appointed, has signed it and calls the certificate good, now.
 *
 * out   zeroed; filled on success, for ocsp_fini
 *
 * Returns NULL, or what is wrong, until the next call.
 */
const char *ocsp_read(const char *path, struct ssl_ctx_st *context, int64_t wall_ms,
                      struct ocsp *out);

/** True when there is one, and it is about the certificate of `context`. */
bool ocsp_is_about(const struct ocsp *ocsp, const struct ssl_ctx_st *context);

/**
 * Handshakes of `context` that have its certificate get what `ocsp` has at that time.
 *
 * ocsp   borrowed until the last connection of `context` has ended
 */
void ocsp_staple(struct ocsp *ocsp, struct ssl_ctx_st *context);

/** Frees it: there is none then. */
void ocsp_fini(struct ocsp *ocsp);

#endif
