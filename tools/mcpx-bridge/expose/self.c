/*
 * self.c - what the bridge says of itself. To a server it is the client that it stands for, under
 * that client's name when this has given one.
 */
#include "tools/mcpx-bridge/expose/self.h"

#include "tools/mcpx-bridge/expose/state.h"

void expose_self_write(const struct expose *x, struct mcpx_text *out)
{
    mcpx_text_puts(out, "{\"name\":\"mcpx-bridge\",");
    mcpx_json_add_member(out, "title", mcpx_text_view(&x->topic));
    mcpx_text_puts(out, ",");
    mcpx_json_add_member(out, "version", mcpx_slice_of(mcpx_version()));
    mcpx_text_puts(out, "}");
}

void expose_self_introduce(const struct expose *x, struct mcpx_text *out)
{
    const struct expose_client *client = &x->client;

    mcpx_text_puts(out, "{\"protocolVersion\":\"" EXPOSE_LEGACY "\",\"capabilities\":");
    mcpx_text_slice(out, client->capabilities.len ? mcpx_text_view(&client->capabilities)
                                                  : MCPX_SLICE("{}"));
    mcpx_text_puts(out, ",\"clientInfo\":");
    if (client->info.len)
        mcpx_text_slice(out, mcpx_text_view(&client->info));
    else
        expose_self_write(x, out);
    mcpx_text_puts(out, "}");
}
