/*
 * http_access.c - two header values read strictly. An Origin that is not plain visible ASCII is
 * nobody's, whatever the patterns say: it is written back into a header. A header that came twice
 * arrives joined by ", ", and so holds a space that no token has.
 */
#include "router/edge/http_access.h"

#include "lib/core/glob.h"
#include "lib/core/http_line.h"

#include <strings.h>

enum mcpx_err http_bearer(struct mcpx_slice authorization, struct mcpx_slice *bearer)
{
    const struct mcpx_slice scheme = MCPX_SLICE("Bearer");
    struct mcpx_slice token = authorization;

    if (token.len < scheme.len || strncasecmp(token.text, scheme.text, scheme.len) != 0 ||
        (token.len > scheme.len && token.text[scheme.len] != ' ')) {
        *bearer = (struct mcpx_slice){0};
        return MCPX_OK;
    }
    token.text += scheme.len;
    token.len -= scheme.len;
    for (; token.len > 0 && *token.text == ' '; token.len--)
        token.text++;
    while (token.len > 0 && token.text[token.len - 1] == ' ')
        token.len--;
    if (!mx_http_is_visible(token))
        return MCPX_ETOKEN;
    *bearer = token;
    return MCPX_OK;
}

bool http_origin_is_allowed(const struct config *config, struct mcpx_slice origin)
{
    if (!origin.text)
        return true;
    if (!mx_http_is_visible(origin))
        return false;
    return mx_glob_any_matches(config->origins, config->origin_count, origin);
}
