/*
 * download.h - a document from any address, by somebody else's server.
 */
#ifndef TOOLS_DOWNLOAD_H
#define TOOLS_DOWNLOAD_H

#include <mcpx/text.h>

/**
 * What to fetch.
 *
 * verb         for complaints
 * url          https://..., or with `loopback_http` also http:// to this machine
 * ca_file      PEM file; NULL = the system's
 * bytes_max    of the document
 * timeout_ms   for all of it; 0 = none
 */
struct download {
    const char *verb;
    const char *url;
    const char *ca_file;
    bool loopback_http;
    size_t bytes_max;
    int64_t timeout_ms;
};

/**
 * Fetches a document. Redirects are not followed: who may answer is what the caller has said.
 *
 * out   the document is appended; the caller finishes it in every case
 *
 * Returns STATUS_OK; else, having complained: STATUS_USAGE for an address that is none or not
 * allowed, STATUS_UNREACHABLE, STATUS_TIMEOUT, STATUS_FAILED for an answer that is too long or is
 * not 200.
 */
int download_do(const struct download *download, struct mcpx_text *out);

#endif
