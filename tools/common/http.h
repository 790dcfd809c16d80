/* http.h - a call of the router's HTTP API, and a download from any other server. */
#ifndef TOOLS_HTTP_H
#define TOOLS_HTTP_H

#include <mcpx/text.h>

struct http_call {
    const char *base;    /* "http://host:port", as url_api makes it */
    const char *from;    /* source of the address, for complaints: "--url"; NULL = not said */
    const char *path;    /* begins with "/"; already percent-encoded */
    const char *method;  /* NULL = POST with a body, else GET */
    const char *body;    /* JSON; NULL = none */
    const char *token;   /* bearer token; NULL = none */
    const char *ca_file; /* PEM file for https; NULL = the system's */
    /* PEM file with a certificate to show under https, and key_file with its key; NULL = none. */
    const char *cert_file;
    const char *key_file;
    int64_t timeout_ms; /* for each attempt; 0 = 30000 */
    /* End of all attempts and pauses, on the clock of mx_clock_now; 0 = a minute for pauses and
     * further attempts. */
    int64_t deadline_ms;
    bool quiet; /* prints nothing about a failure */
};

/**
 * Calls and waits for the answer. When the router answers 429, asks again at the time that it
 * names, for up to a minute and not beyond the deadline. A quiet call does not ask again.
 *
 * answer   zero-initialised; filled with the answer's body, also of a problem document; the caller
 *          finishes it in every case
 *
 * Returns STATUS_OK; else an exit code, having complained with the detail of the problem document
 * (RFC 9457), if there is one. STATUS_UNREACHABLE for no connection, 401, 403, and a router that is
 * shutting down; STATUS_REFUSED for a capability violation; STATUS_ABSENT for 404; STATUS_USAGE for
 * other 4xx but 429; STATUS_TIMEOUT; STATUS_FAILED for everything else.
 */
int http_do(const struct http_call *call, struct mcpx_text *answer);

/** The exit code for an HTTP status and the `code` of its problem document. */
int http_status_of(long status, const char *code);

/**
 * Appends the address of the HTTP API that belongs to a WebSocket address. ws becomes http, and wss
 * becomes https. A final slash, "/ws" or "/v0.1/ws" is left out. Returns false when the scheme of
 * `url` is not ws, wss, http or https, when it has no host or a port outside of 1..65535, and when
 * it has a query, a fragment or user information.
 */
bool url_api(const char *url, struct mcpx_text *out);

struct download {
    const char *url; /* https://..., or with `loopback_http` also http:// to this machine */
    const char *ca_file; /* PEM file; NULL = the system's */
    bool loopback_http;
    size_t bytes_max;   /* of the document */
    int64_t timeout_ms; /* for all of it; 0 = none */
};

/**
 * Fetches a document. Redirects are not followed: only the server of `url` may answer.
 *
 * out   the document is appended; the caller finishes it in every case
 *
 * Returns STATUS_OK; else, having complained: STATUS_USAGE for an invalid or forbidden address,
 * STATUS_UNREACHABLE, STATUS_TIMEOUT, STATUS_FAILED for a too long answer or one other than 200.
 */
int download_do(const struct download *download, struct mcpx_text *out);

#endif
