/*
 * address.c - reads ws://HOST:PORT/PATH and HOST:PORT, strictly: a part that is not understood is
 * an error, never guessed. Rejected: a URL library, because only three fields are needed.
 */
#include "tools/mcpx-bridge/guard/guard.h"

#include "lib/base/digits.h"

#include <strings.h>

enum { PORT_WS = 80, PORT_MAX = 65535 };

static const char *skip(const char *text, const char *prefix)
{
    size_t len = strlen(prefix);

    return strncasecmp(text, prefix, len) == 0 ? text + len : NULL;
}

static bool read_port(const char *text, size_t len, int *port)
{
    uint64_t number;

    if (len > 5 || !mx_decimal_read((struct mcpx_slice){text, len}, PORT_MAX, &number))
        return false;
    *port = (int)number;
    return true;
}

/* HOST, [HOST], HOST:PORT or [HOST]:PORT in `len` bytes; without a port, out->port is kept. */
static const char *read_authority(const char *text, size_t len, struct guard_address *out)
{
    bool bracket = len && *text == '[';
    const char *end = memchr(text, bracket ? ']' : ':', len);
    const char *host = text + (bracket ? 1 : 0);
    size_t host_len, used;

    if (bracket && !end)
        return "a '[' has no ']'";
    host_len = end ? (size_t)(end - host) : len;
    used = (size_t)(host - text) + host_len + (bracket ? 1 : 0);
    if (!host_len || host_len >= sizeof out->host || memchr(host, '@', host_len))
        return "the host is missing, too long, or has a user name before it";
    memcpy(out->host, host, host_len);
    out->host[host_len] = '\0';
    if (used == len)
        return NULL;
    if (text[used] != ':' || !read_port(text + used + 1, len - used - 1, &out->port))
        return "the port is not a number from 0 to 65535";
    return NULL;
}

const char *guard_address_read_url(const char *url, struct guard_address *out)
{
    struct guard_address address = {.port = PORT_WS};
    const char *rest = skip(url, "ws://");
    const char *path, *fault;

    if (skip(url, "wss://") || skip(url, "https://"))
        return "the guard speaks ws only, not TLS; give it the ws:// address of the router, "
               "or of a TLS tunnel to it on this machine";
    if (!rest)
        rest = skip(url, "http://");
    if (!rest)
        return "the URL does not begin with ws://";
    if (strpbrk(rest, "?#"))
        return "the URL has a query or fragment; host, port and path are enough";
    path = rest + strcspn(rest, "/");
    fault = read_authority(rest, (size_t)(path - rest), &address);
    if (fault)
        return fault;
    if (!address.port)
        return "the URL's port is 0";
    if (strlen(path) >= sizeof address.path)
        return "the URL's path is too long";
    memcpy(address.path, path, strlen(path) + 1);
    *out = address;
    return NULL;
}

const char *guard_address_read_listen(const char *text, struct guard_address *out)
{
    struct guard_address address = {.port = -1};
    const char *fault = read_authority(text, strlen(text), &address);

    if (fault)
        return fault;
    if (address.port < 0)
        return "the port is missing; HOST:0 takes any free one";
    *out = address;
    return NULL;
}
