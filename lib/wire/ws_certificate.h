/*
 * ws_certificate.h - the certificate that a client shows to its router.
 */
#ifndef EDGE_WS_CERTIFICATE_H
#define EDGE_WS_CERTIFICATE_H

struct ssl_ctx_st;

/**
 * Can these files be shown?
 *
 * cert_file, key_file   as mcpx_client_config has them
 * field                 the name of the file that is at fault, "cert_file" or "key_file"
 *
 * Returns NULL when they can, else the reason, until the next call.
 */
const char *mx_certificate_fault(const char *cert_file, const char *key_file,
                                 const char **field);

/**
 * Connections that begin with `context` show what the files hold now. Returns as
 * mx_certificate_fault; then they show what they did before.
 */
const char *mx_certificate_use(struct ssl_ctx_st *context, const char *cert_file,
                               const char *key_file);

/**
 * Can these files be shown, and is their certificate another one than connections with `context`
 * have shown? Returns as mx_certificate_fault; `field` is "cert_file" as well when both are so.
 */
const char *mx_certificate_renewal_fault(struct ssl_ctx_st *context, const char *cert_file,
                                         const char *key_file, const char **field);

#endif
