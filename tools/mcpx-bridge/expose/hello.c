/*
 * hello.c - the bridge introduces itself: to the client as one server that can what the
 * topic's servers can, to these as the client it stands for. Lists are always among its
 * capabilities, because who has some may join at any time and capabilities are stated only once.
 */
#include "tools/mcpx-bridge/expose/hello.h"

#include "tools/mcpx-bridge/bridge.h"
#include "tools/mcpx-bridge/expose/probe.h"
#include "tools/mcpx-bridge/expose/self.h"
#include "tools/mcpx-bridge/expose/settle.h"
#include "tools/mcpx-bridge/expose/state.h"
#include "tools/mcpx-bridge/expose/tell.h"

#define META "io.modelcontextprotocol/"

static const char *const versions[] = {EXPOSE_LEGACY, "2025-06-18", "2025-03-26",
                                       "2024-11-05"};

/* Some server of the topic has the capability, or the member of it. */
static bool some_can(const struct expose *x, const char *capability, const char *member)
{
    for (size_t i = 0; i < x->catalog.count; i++) {
        struct mcpx_slice value = expose_seat_capability(x->catalog.seats[i], capability);

        if (member)
            value = mcpx_json_get(value, member);
        if (value.text && !mcpx_slice_equal(value, MCPX_SLICE("false")))
            return true;
    }
    return false;
}

static void write_capabilities(const struct expose *x, bool modern, struct mcpx_text *out)
{
    mcpx_text_puts(out, "{\"tools\":{\"listChanged\":true},\"resources\":{");
    if (some_can(x, "resources", "subscribe"))
        mcpx_text_puts(out, "\"subscribe\":true,");
    mcpx_text_puts(out, "\"listChanged\":true},\"prompts\":{\"listChanged\":true}");
    if (some_can(x, "completions", NULL))
        mcpx_text_puts(out, ",\"completions\":{}");
    if (!modern)
        mcpx_text_puts(out, ",\"logging\":{}");
    if (!modern && some_can(x, "tasks", NULL))
        mcpx_text_puts(out,
                       ",\"tasks\":{\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}}");
    mcpx_text_puts(out, "}");
}

/* One server's instructions as they are; of several, under their names. */
static void write_instructions(const struct expose *x, struct mcpx_text *out)
{
    struct mcpx_text all = {0};

    for (size_t i = 0; i < x->catalog.count; i++) {
        const struct expose_seat *seat = x->catalog.seats[i];
        struct mcpx_slice own = mcpx_json_get(mcpx_text_view(&seat->hello), "instructions");

        if (mcpx_json_type(own) != MCPX_JSON_STRING)
            continue;
        if (x->catalog.count > 1) {
            mcpx_text_puts(&all, all.len ? "\n\n# " : "# ");
            mcpx_text_slice(&all, mcpx_text_view(&seat->id));
            mcpx_text_puts(&all, "\n\n");
        }
        mcpx_json_add_unescaped(&all, own);
    }
    if (all.len) {
        mcpx_text_puts(out, ",");
        mcpx_json_add_member(out, "instructions", mcpx_text_view(&all));
    }
    out->failed |= all.failed;
    mcpx_text_fini(&all);
}

static void keep(struct mcpx_text *out, struct mcpx_slice value)
{
    mcpx_text_reset(out);
    if (mcpx_json_type(value) == MCPX_JSON_OBJECT)
        mcpx_text_slice(out, value);
    if (out->failed)
        mcpx_text_reset(out);
}

/* The first words of the client: now the servers can be asked in its name. */
static void greet(struct expose *x)
{
    bool first = !x->client.greeted;

    x->client.greeted = true;
    if (first)
        expose_probe_all(x, false);
}

void expose_hello_modern(struct expose *x, const struct mcpx_rpc *rpc)
{
    if (!x->client.greeted)
        keep(&x->client.info,
             mcpx_json_get(mcpx_json_get(rpc->params, "_meta"), META "clientInfo"));
    greet(x);
}

static const char *agree_on(struct mcpx_slice asked)
{
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++)
        if (mcpx_json_equals(asked, mcpx_slice_of(versions[i])))
            return versions[i];
    return versions[0];
}

bool expose_has_topic(struct expose *x, const struct expose_request *request)
{
    struct mcpx_text message = {0};

    if (x->was_joined)
        return true;
    mcpx_text_puts(&message, "the topic cannot be reached");
    if (x->away.len) {
        mcpx_text_puts(&message, ": ");
        mcpx_text_slice(&message, mcpx_text_view(&x->away));
    }
    expose_tell_error(x, request->rpc->id, BRIDGE_UNAVAILABLE, mcpx_text_view(&message));
    mcpx_text_fini(&message);
    return false;
}

bool expose_hello(struct expose *x, const struct expose_request *request)
{
    struct mcpx_slice params = request->rpc->params;
    struct mcpx_text out = {0};

    keep(&x->client.capabilities, mcpx_json_get(params, "capabilities"));
    keep(&x->client.info, mcpx_json_get(params, "clientInfo"));
    greet(x);
    if (request->may_wait && !expose_is_settled(x, -1))
        return false;
    if (!expose_has_topic(x, request))
        return true;
    mcpx_text_puts(&out, "{");
    mcpx_json_add_member(&out, "protocolVersion",
                         mcpx_slice_of(agree_on(mcpx_json_get(params, "protocolVersion"))));
    mcpx_text_puts(&out, ",\"capabilities\":");
    write_capabilities(x, false, &out);
    mcpx_text_puts(&out, ",\"serverInfo\":");
    expose_self_write(x, &out);
    write_instructions(x, &out);
    mcpx_text_puts(&out, "}");
    expose_tell_made(x, request, &out);
    mcpx_text_fini(&out);
    return true;
}

bool expose_discover(struct expose *x, const struct expose_request *request)
{
    struct mcpx_text out = {0};

    expose_hello_modern(x, request->rpc);
    if (request->may_wait && !expose_is_settled(x, -1))
        return false;
    if (!expose_has_topic(x, request))
        return true;
    mcpx_text_puts(&out, "{\"resultType\":\"complete\",\"supportedVersions\":[\"" EXPOSE_MODERN
                         "\"],\"capabilities\":");
    write_capabilities(x, true, &out);
    mcpx_text_puts(&out, ",\"serverInfo\":");
    expose_self_write(x, &out);
    write_instructions(x, &out);
    mcpx_text_puts(&out, ",\"ttlMs\":0,\"cacheScope\":\"private\",\"_meta\":{\"" META
                         "serverInfo\":");
    expose_self_write(x, &out);
    mcpx_text_puts(&out, "}}");
    expose_tell_made(x, request, &out);
    mcpx_text_fini(&out);
    return true;
}
