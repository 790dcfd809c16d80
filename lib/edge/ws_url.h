/*
 * ws_url.h - where a router is, taken from a URL, and the request target for one topic.
 */
#ifndef EDGE_WS_URL_H
#define EDGE_WS_URL_H

#include <mcpx/session.h>
#include <mcpx/text.h>

/* libwebsockets writes a Host header of at most 127 bytes and a request line of 2047. */
enum { MX_HOST_MAX = 100, MX_PATH_MAX = 255 };

/**
 * host   name or address, without the brackets of an IPv6 address
 * path   begins with a slash
 * v6     the host is an IPv6 address
 */
struct mx_address {
    bool tls;
    bool v6;
    int port;
    char host[MX_HOST_MAX + 1];
    char path[MX_PATH_MAX + 1];
};

/**
 * Reads ws://HOST[:PORT][/PATH]; wss, http and https too. The port follows from the scheme when it
 * is not named, the path is /ws when it is absent or a lone slash.
 *
 * out     untouched on failure
 * fault   filled on failure (reason, field "url", offset); may be NULL
 *
 * Returns MCPX_OK or MCPX_EINVALID: another scheme, user or token before the host, a query or
 * fragment, a host that is empty or too long, a port out of range, a path with blanks or controls.
 */
enum mcpx_err mx_url_read(const char *url, struct mx_address *out, struct mcpx_fault *fault);

/** Appends HOST:PORT as a Host header has it. */
void mx_url_add_host(struct mcpx_text *out, const struct mx_address *address);

/**
 * What is asked of the router. Protocol: sections 5 and 7.
 *
 * topic     not percent-encoded
 * routing   NULL = not asked
 * history   -1 = not asked
 * place     where to go on; epoch absent = not asked
 * instance, instance_key
 *           absent = not asked
 */
struct mx_join {
    struct mcpx_slice topic;
    const char *routing;
    int history;
    struct mcpx_place place;
    struct mcpx_slice instance;
    struct mcpx_slice instance_key;
};

/** Appends the request target: path and query, percent-encoded. Failure shows in `out`. */
void mx_url_add_target(struct mcpx_text *out, const struct mx_address *address,
                       const struct mx_join *join);

#endif
