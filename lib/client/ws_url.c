/*
 * ws_url.c - a URL is cut by hand at its first "://", "/" and last ":". The general parsers at
 * hand accept what has no meaning here (user names, queries, fragments) and would silently drop
 * it; a token pasted into a URL must be refused aloud, not sent to a log.
 */
#include "lib/client/ws_wire.h"

#include "lib/base/digits.h"
#include "lib/base/fault.h"
#include "lib/json/json_write.h"
#include <strings.h>

static const struct {
    const char *scheme;
    bool tls;
    int port;
} schemes[] = {
    {"ws", false, 80}, {"wss", true, 443}, {"http", false, 80}, {"https", true, 443}};

/* Returns what follows "://", or NULL. */
static const char *read_scheme(const char *url, struct mx_address *out)
{
    const char *end = strstr(url, "://");

    for (size_t i = 0; end && i < sizeof schemes / sizeof *schemes; i++)
        if (strlen(schemes[i].scheme) == (size_t)(end - url) &&
            strncasecmp(url, schemes[i].scheme, (size_t)(end - url)) == 0) {
            out->tls = schemes[i].tls;
            out->port = schemes[i].port;
            return end + 3;
        }
    return NULL;
}

static bool is_v6_byte(char byte)
{
    return byte && strchr("0123456789abcdefABCDEF:.", byte);
}

static bool read_host(const char *at, size_t len, struct mx_address *out)
{
    if (len == 0 || len > MX_HOST_MAX)
        return false;
    for (size_t i = 0; i < len; i++)
        if (out->v6 ? !is_v6_byte(at[i]) : !mx_percent_is_unreserved(at[i]))
            return false;
    memcpy(out->host, at, len);
    out->host[len] = '\0';
    return true;
}

/* Reads the digits in [at, end). */
static bool read_port(const char *at, const char *end, int *port)
{
    struct mcpx_slice digits = {at, (size_t)(end - at)};
    uint64_t value;

    if (digits.len > 5 || !mx_decimal_read(digits, 65535, &value) || value == 0)
        return false;
    *port = (int)value;
    return true;
}

/* Fills `fault` with a reason and the offset of `at` in the URL. */
static enum mcpx_err refuse(struct mcpx_fault *fault, const char *url, const char *at,
                            const char *reason)
{
    return mx_fault_set(fault, reason, "url", (size_t)(at - url));
}

static enum mcpx_err read_path(const char *url, const char *at, struct mx_address *out,
                               struct mcpx_fault *fault)
{
    size_t len = strlen(at);

    if (len > MX_PATH_MAX)
        return refuse(fault, url, at, "the path is longer than 255 bytes");
    for (size_t i = 0; i < len; i++) {
        if (at[i] == '?' || at[i] == '#')
            return refuse(fault, url, at + i,
                          "no query or fragment belongs here: topic and token have their"
                          " own settings");
        if (at[i] <= ' ' || at[i] > '~')
            return refuse(fault, url, at + i,
                          "the path holds a blank, a control or a byte outside ASCII");
    }
    while (len > 0 && at[len - 1] == '/')
        len--;
    if (len >= 3 && memcmp(at + len - 3, "/ws", 3) == 0)
        len -= 3;
    memcpy(out->path, at, len);
    memcpy(out->path + len, "/ws", sizeof "/ws");
    return MCPX_OK;
}

enum mcpx_err mx_url_read(const char *url, struct mx_address *out, struct mcpx_fault *fault)
{
    struct mx_address found = {0};
    const char *host = read_scheme(url, &found), *end, *colon;
    enum mcpx_err err;

    if (!host)
        return refuse(fault, url, url, "a URL begins with ws://, wss://, http:// or https://");
    end = host + strcspn(host, "/?#");
    if (memchr(host, '@', (size_t)(end - host)))
        return refuse(fault, url, host, "no user, password or token belongs in a URL");
    found.v6 = *host == '[';
    colon = found.v6 ? memchr(host, ']', (size_t)(end - host)) : host;
    colon = colon ? memchr(colon, ':', (size_t)(end - colon)) : NULL;
    if (colon && !read_port(colon + 1, end, &found.port))
        return refuse(fault, url, colon + 1, "a port is a number from 1 to 65535");
    if (!colon)
        colon = end;
    if (found.v6 && (colon == host + 1 || colon[-1] != ']'))
        return refuse(fault, url, host, "an IPv6 address stands in brackets");
    if (!read_host(host + found.v6, (size_t)(colon - host) - 2 * (size_t)found.v6, &found))
        return refuse(fault, url, host, "a host is a name or an address of 1 to 100 bytes");
    err = read_path(url, end, &found, fault);
    if (!err)
        *out = found;
    return err;
}

void mx_url_add_host(struct mcpx_text *out, const struct mx_address *address)
{
    mx_format(out, address->v6 ? "[%s]:%s" : "%s:%s", address->host, address->port);
}

static void add_parameter(struct mcpx_text *out, const char *name, struct mcpx_slice value)
{
    if (!value.text)
        return;
    mcpx_text_puts(out, name);
    mx_percent_add(out, value);
}

void mx_url_add_target(struct mcpx_text *out, const struct mx_address *address,
                       const struct mx_join *join)
{
    mx_format(out, "%s?topic=", address->path);
    mx_percent_add(out, join->topic);
    if (join->routing)
        add_parameter(out, "&routing=", mcpx_slice_of(join->routing));
    if (join->history >= 0)
        mx_format(out, "&history=%s", join->history);
    add_parameter(out, "&instance=", join->instance);
    add_parameter(out, "&instance_key=", join->instance_key);
    if (!join->place.epoch.text)
        return;
    add_parameter(out, "&epoch=", join->place.epoch);
    mx_format(out, "&serial=%s", join->place.serial);
    add_parameter(out, "&after=", join->place.after);
}
