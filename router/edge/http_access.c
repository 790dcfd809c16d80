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

enum mcpx_err http_claimant(const struct http_request *request, struct claimant *out)
{
    *out = (struct claimant){.named = request->named};
    if (request->caller)
        out->signature = &request->caller->signature;
    return http_bearer(request->authorization, &out->bearer);
}

int64_t http_wait_ms(const struct http_api *api, const struct http_request *request,
                     struct mcpx_slice participant, struct mcpx_now now)
{
    uint64_t looks = request->caller ? request->caller->looks : 0;
    int64_t wait_ms = gate_knows(api->gate, request->from, looks, participant, now);

    if (wait_ms > 0)
        hub_note_cap(api->hub, CAP_REQUESTS);
    else if (request->caller)
        request->caller->is_good = true;
    return wait_ms;
}

bool http_origin_is_allowed(const struct config *config, struct mcpx_slice origin)
{
    if (!origin.text)
        return true;
    if (!mx_http_is_visible(origin))
        return false;
    return mx_glob_any_matches(config->origins, config->origin_count, origin);
}
