/*
 * hello.c - the bridge introduces itself: to the client as one server that can what the topic's
 * servers can, to these as the client it stands for. Lists are always among its capabilities,
 * because who has some may join at any time and capabilities are stated only once.
 */

#include "lib/core/format.h"
#include "tools/mcpx-bridge/bridge.h"
#include "tools/mcpx-bridge/expose/probe.h"
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

static struct mcpx_text capabilities_of(const struct expose *x, bool modern)
{
    return mx_formatted(
        "{\"tools\":{\"listChanged\":true},\"resources\":{%s\"listChanged\":true},"
        "\"prompts\":{\"listChanged\":true}%s%s%s}",
        some_can(x, "resources", "subscribe") ? "\"subscribe\":true," : "",
        some_can(x, "completions", NULL) ? ",\"completions\":{}" : "",
        modern ? "" : ",\"logging\":{}",
        !modern && some_can(x, "tasks", NULL)
            ? ",\"tasks\":{\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}}"
            : "");
}

/* One server's instructions as they are; of several, under their names. */
static struct mcpx_text instructions_of(const struct expose *x)
{
    struct mcpx_text all = {0};

    for (size_t i = 0; i < x->catalog.count; i++) {
        const struct expose_seat *seat = x->catalog.seats[i];
        struct mcpx_slice own = mcpx_json_get(mcpx_text_view(&seat->hello), "instructions");

        if (mcpx_json_type(own) != MCPX_JSON_STRING)
            continue;
        if (x->catalog.count > 1)
            mx_format(&all, "%s# %s\n\n", all.len ? "\n\n" : "", &seat->id);
        mcpx_json_add_unescaped(&all, own);
    }
    return all;
}

static void keep(struct mcpx_text *out, struct mcpx_slice value)
{
    mcpx_text_reset(out);
    if (mcpx_json_type(value) == MCPX_JSON_OBJECT)
        mcpx_text_slice(out, value);
    if (out->failed)
        mcpx_text_reset(out);
}

/* From the first words of the client on, the servers can be asked in its name. */
void expose_greet(struct expose *x, const struct mcpx_rpc *rpc)
{
    bool first = !x->client.greeted;

    if (x->config.answers_only) {
        /* one of several speaks for itself alone */
    } else if (mcpx_slice_equal(rpc->method, MCPX_SLICE("initialize"))) {
        keep(&x->client.capabilities, mcpx_json_get(rpc->params, "capabilities"));
        keep(&x->client.info, mcpx_json_get(rpc->params, "clientInfo"));
    } else if (first) {
        keep(&x->client.info,
             mcpx_json_get(mcpx_json_get(rpc->params, "_meta"), META "clientInfo"));
    }
    x->client.greeted = true;
    if (first)
        expose_probe_all(x, false);
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
    if (!x->was_joined)
        expose_tell_error_text(x, request->rpc->id, BRIDGE_UNAVAILABLE,
                               mx_formatted("the topic cannot be reached%s%s",
                                            x->away.len ? ": " : "", &x->away));
    return x->was_joined;
}

/* What both greetings say: what we can, who we are, and what the servers want to be known. */
static struct mcpx_text introduce(const struct expose *x, bool modern)
{
    struct mcpx_text capabilities = capabilities_of(x, modern);
    struct mcpx_text self = expose_self(x), instructions = instructions_of(x);
    struct mcpx_text out =
        mx_formatted("\"capabilities\":%s,\"serverInfo\":%s", &capabilities, &self);

    if (instructions.len)
        mcpx_json_add_member(&out, "instructions", mcpx_text_view(&instructions));
    out.failed |= instructions.failed;
    mcpx_text_fini(&capabilities);
    mcpx_text_fini(&self);
    mcpx_text_fini(&instructions);
    return out;
}

bool expose_hello(struct expose *x, const struct expose_request *request)
{
    struct mcpx_slice asked = mcpx_json_get(request->rpc->params, "protocolVersion");
    struct mcpx_text introduction = introduce(x, false);

    expose_tell_result(
        x, request,
        mx_formatted("{\"protocolVersion\":%q,%s}", agree_on(asked), &introduction));
    mcpx_text_fini(&introduction);
    return true;
}

bool expose_discover(struct expose *x, const struct expose_request *request)
{
    struct mcpx_text introduction = introduce(x, true), self = expose_self(x);

    expose_tell_result(
        x, request,
        mx_formatted("{\"resultType\":\"complete\",\"supportedVersions\":[\"" EXPOSE_MODERN
                     "\"],%s,\"ttlMs\":0,\"cacheScope\":\"private\",\"_meta\":{\"" META
                     "serverInfo\":%s}}",
                     &introduction, &self));
    mcpx_text_fini(&introduction);
    mcpx_text_fini(&self);
    return true;
}
