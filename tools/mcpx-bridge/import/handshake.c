/*
 * handshake.c - first contact. Servers of 2026-07-28 answer server/discover and want a version
 * with every request; older ones refuse or ignore it and want initialize. Asking the new way
 * first costs an old server one error, or its life. The other way round would pin a server that
 * speaks both to the old protocol.
 *
 * Some servers take any first message but initialize for the end of the conversation and exit, or
 * answer it and never recover. The cause of an end is unknown, so the next process is greeted the
 * other way, in turns, until one becomes ready; then it stays so. Rejected: a list of known
 * servers, because it would be out of date at once.
 */
#include "tools/mcpx-bridge/import/state.h"

#include <stdio.h>

#define MODERN_VERSION "2026-07-28"
#define LEGACY_VERSION "2025-11-25"
enum {
    PROBE_MS = 2000,      /* how long the answer to server/discover is waited for */
    HANDSHAKE_MS = 120000 /* how long a server may take until it is initialised */
};

static void greet(struct import *import, const char *method, struct mcpx_slice params,
                  int64_t wait_ms)
{
    struct bridge_call *call = import_request(import, IMPORT_GREETING, method, params);

    bridge_calls_defer(&import->calls, call, import->pool->now_ms + wait_ms);
}

/* True while initialize follows when the server does not answer. */
static bool is_only_probed(const struct import *import)
{
    return import->handshake == IMPORT_PROBING && !import->retried &&
           import->config->protocol == IMPORT_PROTOCOL_AUTO;
}

static void discover(struct import *import)
{
    import->handshake = IMPORT_PROBING;
    greet(import, "server/discover", (struct mcpx_slice){0},
          is_only_probed(import) ? PROBE_MS : HANDSHAKE_MS);
}

static void initialize(struct import *import)
{
    struct mcpx_json_change roots = {"roots", MCPX_SLICE("{}")};
    mx_scoped_text params = {0};

    import->handshake = IMPORT_INITIALIZING;
    mcpx_text_puts(&params, "\"protocolVersion\":\"" LEGACY_VERSION "\",\"capabilities\":");
    mcpx_json_add_changed(&params, mcpx_slice_of(import->config->capabilities), &roots,
                          import->config->roots ? 1 : 0);
    mx_format(&params, ",\"clientInfo\":" IMPORT_CLIENT_INFO, mcpx_version());
    greet(import, "initialize", mcpx_text_view(&params),
          import->probed ? HANDSHAKE_MS - PROBE_MS : HANDSHAKE_MS);
}

void import_handshake_start(struct import *import)
{
    import->retried = false;
    import->again = false;
    import->probed =
        import->config->protocol == IMPORT_PROTOCOL_MODERN ||
        (import->config->protocol == IMPORT_PROTOCOL_AUTO && !import->pool->probe.plain);
    if (!import->probed) {
        initialize(import);
        return;
    }
    snprintf(import->version, sizeof import->version, "%s", MODERN_VERSION);
    discover(import);
}

/* Drops all requests of our own with that purpose. */
static void drop_own(struct import *import, enum import_purpose purpose)
{
    BRIDGE_EACH_CALL(call, &import->calls) {
        if (call->purpose == purpose)
            bridge_calls_drop(&import->calls, call);
    }
}

void import_handshake_down(struct import *import)
{
    struct import_probe *probe = &import->pool->probe;

    /* It may have ended because of how it was greeted. */
    if (import->handshake != IMPORT_DOWN && !import_is_ready(import) && !probe->proven &&
        import->config->protocol == IMPORT_PROTOCOL_AUTO) {
        probe->plain = import->probed;
        import->again = probe->changes++ == 0 || !import->config->once;
    }
    import->handshake = IMPORT_DOWN;
    drop_own(import, IMPORT_GREETING);
    drop_own(import, IMPORT_LISTEN);
    mx_map_fini(&import->listen.by_uri);
    import->log_level = 0;
}

/* After a restart the new process may offer other lists. */
static void announce_lists(struct import *import)
{
    static const char *const lists[] = {"tools", "resources", "prompts"};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        mx_scoped_text notice = mx_formatted(
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/%s/list_changed\"}", lists[i]);

        if (import_can(import, lists[i]).text)
            import_notify(import, text_whole(&notice));
    }
}

/* The server takes requests from now on; those that wait are written in their order. */
static void become_ready(struct import *import, struct mcpx_now now)
{
    struct mcpx_slice info = mcpx_json_get(mcpx_text_view(&import->greeting), "serverInfo");
    struct mcpx_slice name = mcpx_json_get(info, "name");

    drop_own(import, IMPORT_GREETING);
    import->pool->probe.proven = true;
    import_say(
        import, "server %s is ready, protocol %s%s",
        name.text ? name : MCPX_SLICE("(unnamed)"), import->version,
        import->pool->probe.plain && !import->probed
            ? "; it cannot handle server/discover, and the bridge does not send it again"
            : "");
    import_listen(import);
    import_tell_level(import, 0);
    if (import->starts++ > 0) {
        import_announce(import, "the server is back");
        announce_lists(import);
    }
    import_tools_ask(import, now); /* requests that need not wait go on */
    import_forward_waiting(import, now);
}

static void initialized(struct import *import, const struct mcpx_rpc *rpc, struct mcpx_now now)
{
    mx_scoped_text version = {0};
    struct mcpx_text notice = {0};

    mcpx_json_add_unescaped(&version, mcpx_json_get(rpc->result, "protocolVersion"));
    snprintf(import->version, sizeof import->version, "%s",
             version.len ? version.text : LEGACY_VERSION);
    mcpx_text_reset(&import->greeting);
    mcpx_text_slice(&import->greeting, rpc->result);
    bridge_add_notice(&notice, "notifications/initialized", &(struct mcpx_text){0});
    import_write(import, notice, 0);
    import->handshake = IMPORT_LEGACY;
    become_ready(import, now);
}

/* Participants of 2025 are greeted with the same facts in their own words. */
static void discovered(struct import *import, const struct mcpx_rpc *rpc, struct mcpx_now now)
{
    struct mcpx_slice capabilities = mcpx_json_get(rpc->result, "capabilities");
    struct mcpx_slice info = mcpx_json_get(rpc->result, "serverInfo");
    struct mcpx_slice instructions = mcpx_json_get(rpc->result, "instructions");

    if (!info.text)
        info = mcpx_json_get(mcpx_json_get(rpc->result, "_meta"), IMPORT_META "serverInfo");
    mcpx_text_reset(&import->greeting);
    mx_format(&import->greeting,
              "{\"protocolVersion\":\"" LEGACY_VERSION
              "\",\"capabilities\":%s,\"serverInfo\":%s%s%s}",
              capabilities.text ? capabilities : MCPX_SLICE("{}"),
              info.text ? info : MCPX_SLICE("{\"name\":\"unnamed\",\"version\":\"0\"}"),
              instructions.text ? ",\"instructions\":" : "", instructions);
    import->handshake = IMPORT_MODERN;
    become_ready(import, now);
}

/* Errors of 2026-07-28: a header or a capability is missing. Older servers have none of these. */
static bool is_modern_error(const struct mcpx_rpc *rpc)
{
    return import_is_error(rpc, "-32020") || import_is_error(rpc, "-32021");
}

/* A server of 2026 speaks other versions: asks once more, in the newest; dates compare as text. */
static void other_version(struct import *import, const struct mcpx_rpc *rpc)
{
    import->version[0] = '\0';
    MCPX_JSON_EACH(walk, mcpx_json_get(mcpx_json_get(rpc->error, "data"), "supported")) {
        mx_scoped_text text = {0};

        if (mcpx_json_add_unescaped(&text, walk.value) && text.text &&
            text.len < sizeof import->version && strcmp(text.text, import->version) > 0)
            memcpy(import->version, text.text, text.len + 1);
    }
    if (import->retried || strcmp(import->version, MODERN_VERSION) < 0) {
        import_give_up(import,
                       "the server and the bridge have no protocol version in common: %s",
                       import_shown(rpc->error));
        return;
    }
    import->retried = true;
    discover(import);
}

static void refused(struct import *import, const char *what, const struct mcpx_rpc *rpc)
{
    struct import_probe *probe = &import->pool->probe;
    struct mcpx_slice said =
        import_shown(rpc->form == MCPX_RPC_RESULT ? rpc->result : rpc->error);

    probe->refused[import->probed] = true;
    if (import->config->protocol != IMPORT_PROTOCOL_AUTO || is_modern_error(rpc) ||
        probe->refused[!import->probed] || probe->proven) {
        import_give_up(import, "the server refuses %s: %s", what, said);
        return;
    }
    import_say(import,
               "the server refuses %s %s server/discover (%s); the bridge restarts the server "
               "and sends %s first",
               what, import->probed ? "after" : "without", said,
               import->probed ? "initialize" : "server/discover");
    import_handshake_down(import);
    import->again = true;
    import_want(import, (struct bridge_row){.action.type = BRIDGE_KILL});
}

void import_handshake_answered(struct import *import, struct bridge_call *call,
                               const struct mcpx_rpc *rpc, struct mcpx_now now)
{
    bool is_probe = bridge_is(call->method, "server/discover");
    /* Some older servers answer any method with a result, `{}` or what they know. */
    bool is_new = mcpx_json_length(mcpx_json_get(rpc->result, "supportedVersions")) > 0;
    struct bridge_call *other;

    bridge_calls_drop(&import->calls, call);
    other = import->calls.first;
    while (other && other->purpose != IMPORT_GREETING)
        other = other->next;
    if (import_is_error(rpc, "-32022"))
        other_version(import, rpc);
    else if (is_probe && is_new)
        discovered(import, rpc, now);
    else if (is_probe &&
             (import->config->protocol == IMPORT_PROTOCOL_MODERN || is_modern_error(rpc)))
        refused(import, "server/discover", rpc);
    else if (is_probe && import->handshake == IMPORT_PROBING)
        initialize(import);
    else if (!is_probe && rpc->form == MCPX_RPC_RESULT)
        initialized(import, rpc, now);
    else if (!other)
        refused(import, "initialize", rpc);
    else if (!is_probe) { /* a new server that started slowly may still answer the probe */
        import->pool->probe.refused[import->probed] = true;
        bridge_calls_defer(&import->calls, other, import->pool->now_ms + PROBE_MS);
    }
}

void import_handshake_late(struct import *import, struct bridge_call *call)
{
    if (is_only_probed(import)) {
        bridge_calls_defer(&import->calls, call, INT64_MAX); /* a late answer is an answer */
        initialize(import);
        return;
    }
    import_handshake_down(import);
    import_say(import, "%s", "the server is not ready in time; the bridge kills it");
    import_want(import, (struct bridge_row){.action.type = BRIDGE_KILL});
}
