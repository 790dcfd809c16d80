/*
 * url.c - makes the address of the HTTP API from that of the WebSocket on the same port.
 */
#include "tools/common/http.h"

#include "lib/core/decimal.h"
#include "lib/core/format.h"

#include <string.h>

enum { PORT_MAX = 65535 };

static const struct {
    const char *scheme, *api;
} schemes[] = {
    {"ws://", "http://"},
    {"wss://", "https://"},
    {"http://", "http://"},
    {"https://", "https://"},
};

static bool cut_end(const char *text, size_t *len, const char *end)
{
    size_t end_len = strlen(end);

    if (*len < end_len || memcmp(text + *len - end_len, end, end_len) != 0)
        return false;
    *len -= end_len;
    return true;
}

/* HOST[:PORT], where HOST may be [IPv6]. */
static bool is_authority(const char *text, size_t len)
{
    size_t host = 0;
    uint64_t port = 0;

    if (len > 0 && text[0] == '[')
        while (host < len && text[host] != ']')
            host++;
    if (host == len)
        return false;
    while (host < len && text[host] != ':')
        host++;
    if (host < len && !mx_decimal_read((struct mcpx_slice){text + host + 1, len - host - 1},
                                       PORT_MAX, &port))
        return false;
    return host > 0 && (host == len || port > 0);
}

bool url_api(const char *url, struct mcpx_text *out)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t scheme = strlen(schemes[i].scheme), len;
        const char *rest = url + scheme;

        if (strncmp(url, schemes[i].scheme, scheme) != 0)
            continue;
        len = strlen(rest);
        if (rest[strcspn(rest, "?#@ ")] != '\0' || !is_authority(rest, strcspn(rest, "/")))
            return false;
        cut_end(rest, &len, "/");
        if (cut_end(rest, &len, "/ws"))
            cut_end(rest, &len, "/v0.1");
        mx_format(out, "%s%s", schemes[i].api, ((struct mcpx_slice){rest, len}));
        return true;
    }
    return false;
}
