/*
 * address.c - reads ws://HOST:PORT/PATH and HOST:PORT, strictly: a part that is not understood is
 * an error, never guessed.
 */
#include "tools/mcpx-bridge/guard/guard.h"

#include "lib/base/digits.h"
#include "lib/client/ws_wire.h"

#include <stdio.h>

enum { PORT_MAX = 65535 };

const char *guard_address_read_url(const char *url, struct guard_address *out)
{
    struct mx_address read;
    const char *path;

    if (mx_url_read(url, &read, NULL))
        return "the URL is not ws://HOST[:PORT][/PATH], with a port from 1 to 65535 and "
               "without user or query";
    if (read.tls)
        return "the guard speaks ws only, not TLS; give it the ws:// address of the router, "
               "or of a TLS tunnel to it on this machine";
    path = strchr(strstr(url, "://") + 3, '/');
    *out = (struct guard_address){.port = read.port};
    snprintf(out->host, sizeof out->host, "%s", read.host);
    snprintf(out->path, sizeof out->path, "%s", path ? path : "");
    return NULL;
}

const char *guard_address_read_listen(const char *text, struct guard_address *out)
{
    const char *colon = strrchr(text, ':');
    struct mcpx_slice host = {text, colon ? (size_t)(colon - text) : 0};
    bool bracket = host.len > 2 && *text == '[' && colon[-1] == ']';
    uint64_t port;

    if (!colon || !mx_decimal_read(mcpx_slice_of(colon + 1), PORT_MAX, &port))
        return "the port is not a number from 0 to 65535; HOST:0 takes any free one";
    if (bracket)
        host = (struct mcpx_slice){text + 1, host.len - 2};
    if (!host.len || host.len >= sizeof out->host || (!bracket && memchr(text, ':', host.len)))
        return "the host is missing, too long, or an IPv6 address without brackets";
    *out = (struct guard_address){.port = (int)port};
    memcpy(out->host, host.text, host.len);
    return NULL;
}
