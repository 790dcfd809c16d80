/*
 * certificate.h - the certificate that a program shows to its router.
 */
#ifndef TOOLS_CERTIFICATE_H
#define TOOLS_CERTIFICATE_H

#include <mcpx/client.h>

struct stat;

/**
 * Checks cert_file and key_file, which are filled in where they were given, and fills in key_file
 * where the key stands beside the certificate. Warns when others may read it.
 *
 * api   address of the HTTP API
 *
 * Returns STATUS_OK, or STATUS_USAGE, having complained with the file and the reason.
 */
int certificate_check(const char *verb, const char *api, struct mcpx_client_config *client);

/** Warns when a file with a secret is one that others may read. A pipe is not. */
void certificate_warn_of_readers(const char *verb, const char *file, const struct stat *about);

#endif
