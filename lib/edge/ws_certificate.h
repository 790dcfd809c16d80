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
 * Do the files hold another certificate than the one that connections with `context` have shown?
 * Returns as mx_certificate_fault; then `field` is "cert_file" when they do, too.
 */
const char *mx_certificate_spent(struct ssl_ctx_st *context, const char *cert_file,
                                 const char *key_file, const char **field);

#endif
