/*
 * self.c - what the bridge says of itself. To a server it is the client that it stands for, under
 * that client's name when this has given one.
 */
#include "tools/mcpx-bridge/expose/self.h"

#include "lib/core/format.h"
#include "tools/mcpx-bridge/expose/state.h"

struct mcpx_text expose_self(const struct expose *x)
{
    return mx_formatted("{\"name\":\"mcpx-bridge\",\"title\":%q,\"version\":%q}", &x->topic,
                        mcpx_version());
}

struct mcpx_text expose_self_introduce(const struct expose *x)
{
    const struct expose_client *client = &x->client;
    struct mcpx_text self = expose_self(x);
    struct mcpx_text out = mx_formatted(
        "{\"protocolVersion\":\"" EXPOSE_LEGACY "\",\"capabilities\":%s,\"clientInfo\":%s}",
        client->capabilities.len ? mcpx_text_view(&client->capabilities) : MCPX_SLICE("{}"),
        client->info.len ? &client->info : &self);

    mcpx_text_fini(&self);
    return out;
}
