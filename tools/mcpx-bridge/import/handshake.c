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

#define SERVER_INFO "io.modelcontextprotocol/serverInfo"

bool import_handshake_ended(struct import *import)
{
    struct import_probe *probe = &import->pool->probe;

    if (probe->proven)
        return false;
    probe->plain = import->probed;
    probe->changes++;
    return true;
}

/* The process refused initialize. True when another one is to be greeted the other way. */
static bool is_refused_otherwise(struct import *import)
{
    struct import_probe *probe = &import->pool->probe;

    probe->refused[import->probed] = true;
    return !probe->refused[!import->probed] && import_handshake_ended(import);
}

static void set_version(struct import *import, const char *version)
{
    snprintf(import->version, sizeof import->version, "%s", version);
}

static void discover(struct import *import)
{
    import->handshake = IMPORT_PROBING;
    import_request(import, IMPORT_DISCOVER, "server/discover", (struct mcpx_slice){0});
}

static void initialize(struct import *import)
{
    struct mcpx_json_change roots = {"roots", MCPX_SLICE("{}")};
    mx_scoped_text params = {0};

    import->handshake = IMPORT_INITIALIZING;
    import->probe_at = INT64_MAX;
    mcpx_text_puts(&params, "\"protocolVersion\":\"" LEGACY_VERSION "\",\"capabilities\":");
    mcpx_json_add_changed(&params, mcpx_slice_of(import->config->capabilities), &roots,
                          import->config->roots ? 1 : 0);
    mx_format(&params, ",\"clientInfo\":" IMPORT_CLIENT_INFO, mcpx_version());
    import_request(import, IMPORT_INITIALIZE, "initialize", mcpx_text_view(&params));
}

void import_handshake_start(struct import *import, struct mcpx_now now)
{
    import->retried = false;
    import->unready = true;
    import->again = false;
    import->probed =
        import->config->protocol == IMPORT_PROTOCOL_MODERN ||
        (import->config->protocol == IMPORT_PROTOCOL_AUTO && !import->pool->probe.plain);
    import->handshake_at = now.mono_ms + HANDSHAKE_MS;
    if (!import->probed) {
        initialize(import);
        return;
    }
    if (import->config->protocol == IMPORT_PROTOCOL_AUTO)
        import->probe_at = now.mono_ms + PROBE_MS;
    set_version(import, MODERN_VERSION);
    discover(import);
}

void import_handshake_down(struct import *import)
{
    import->handshake = IMPORT_DOWN;
    import->probe_at = INT64_MAX;
    import->handshake_at = INT64_MAX;
    import->listen = (struct import_listen){.due_at = INT64_MAX};
}

/* After a restart the new process may offer other lists. */
static void announce_lists(struct import *import, struct mcpx_slice capabilities)
{
    static const char *const lists[] = {"tools", "resources", "prompts"};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        mx_scoped_text notice = mx_formatted(
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/%s/list_changed\"}", lists[i]);

        if (mcpx_json_get(capabilities, lists[i]).text)
            import_notify(import, text_whole(&notice));
    }
}

/* The server takes requests from now on; those that wait are written in their order. */
static void become_ready(struct import *import, struct mcpx_now now)
{
    struct mcpx_slice greeting = mcpx_text_view(&import->greeting);
    struct mcpx_slice name = mcpx_json_get(mcpx_json_get(greeting, "serverInfo"), "name");

    import->probe_at = INT64_MAX;
    import->handshake_at = INT64_MAX;
    import->unready = false;
    import->pool->probe.proven = true;
    import_say(
        import, "server %s is ready, protocol %s%s",
        name.text ? name : MCPX_SLICE("(unnamed)"), import->version,
        import->pool->probe.plain && !import->probed
            ? "; it cannot handle server/discover, and the bridge does not send it again"
            : "");
    import_subs_again(import);
    import_logs_again(import);
    if (import->starts++ > 0) {
        import_announce(import, "the server is back");
        announce_lists(import, mcpx_json_get(greeting, "capabilities"));
    }
    import_tools_ask(import, now); /* requests that need not wait go on */
    import_forward_waiting(import, now);
}

static void initialized(struct import *import, const struct mcpx_rpc *rpc, struct mcpx_now now)
{
    mx_scoped_text version = {0};
    struct mcpx_text notice = {0};

    mcpx_json_add_unescaped(&version, mcpx_json_get(rpc->result, "protocolVersion"));
    set_version(import, version.len ? version.text : LEGACY_VERSION);
    mcpx_text_reset(&import->greeting);
    mcpx_text_slice(&import->greeting, rpc->result);
    bridge_add_notice(&notice, "notifications/initialized", &(struct mcpx_text){0});
    import_write(import, notice, 0);
    import->handshake = IMPORT_LEGACY;
    become_ready(import, now);
}

/* Participants of 2025 are greeted with the same facts in their own words. */
static void add_greeting(struct mcpx_text *out, struct mcpx_slice result)
{
    struct mcpx_slice capabilities = mcpx_json_get(result, "capabilities");
    struct mcpx_slice info = mcpx_json_get(result, "serverInfo");
    struct mcpx_slice instructions = mcpx_json_get(result, "instructions");

    if (!info.text)
        info = mcpx_json_get(mcpx_json_get(result, "_meta"), SERVER_INFO);
    mx_format(out,
              "{\"protocolVersion\":\"" LEGACY_VERSION
              "\",\"capabilities\":%s,\"serverInfo\":%s%s%s}",
              capabilities.text ? capabilities : MCPX_SLICE("{}"),
              info.text ? info : MCPX_SLICE("{\"name\":\"unnamed\",\"version\":\"0\"}"),
              instructions.text ? ",\"instructions\":" : "", instructions);
}

static void discovered(struct import *import, const struct mcpx_rpc *rpc, struct mcpx_now now)
{
    import_drop_own(import, IMPORT_INITIALIZE);
    if (import->handshake == IMPORT_INITIALIZING && !import->retried)
        set_version(import, MODERN_VERSION);
    mcpx_text_reset(&import->greeting);
    add_greeting(&import->greeting, rpc->result);
    import->handshake = IMPORT_MODERN;
    import->listen.due_at = now.mono_ms;
    import_listen_tick(import, now);
    become_ready(import, now);
}

/* The newest version on the server's list; dates compare as text. */
static void newest_version(struct import *import, struct mcpx_slice error)
{
    import->version[0] = '\0';
    MCPX_JSON_EACH(walk, mcpx_json_get(mcpx_json_get(error, "data"), "supported")) {
        mx_scoped_text text = {0};

        if (mcpx_json_add_unescaped(&text, walk.value) && text.text &&
            text.len < sizeof import->version && strcmp(text.text, import->version) > 0)
            memcpy(import->version, text.text, text.len + 1);
    }
}

/* Some older servers answer any method with a result, `{}` or what they know. */
static bool is_discovery(const struct mcpx_rpc *rpc)
{
    struct mcpx_json_walk versions;

    mcpx_json_walk_start(&versions, mcpx_json_get(rpc->result, "supportedVersions"));
    return mcpx_json_walk_next(&versions);
}

/* Errors of 2026-07-28: a header or a capability is missing. Older servers have none of these. */
static bool is_modern_error(const struct mcpx_rpc *rpc)
{
    return import_is_error(rpc, "-32020") || import_is_error(rpc, "-32021");
}

/* A server of 2026 speaks another version: asks once more, in that version. */
static void other_version(struct import *import, const struct mcpx_rpc *rpc)
{
    newest_version(import, rpc->error);
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
    struct mcpx_slice said =
        import_shown(rpc->form == MCPX_RPC_RESULT ? rpc->result : rpc->error);

    if (import->config->protocol != IMPORT_PROTOCOL_AUTO || is_modern_error(rpc) ||
        !is_refused_otherwise(import)) {
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
    import->unready = false;
    import_want(import, (struct bridge_row){.action.type = BRIDGE_KILL});
}

void import_handshake_answered(struct import *import, struct bridge_call *call,
                               const struct mcpx_rpc *rpc, struct mcpx_now now)
{
    enum import_purpose purpose = call->purpose;

    bridge_calls_drop(&import->calls, call);
    if (import_is_ready(import))
        return;
    if (import_is_error(rpc, "-32022"))
        other_version(import, rpc);
    else if (purpose == IMPORT_DISCOVER && is_discovery(rpc))
        discovered(import, rpc, now);
    else if (purpose == IMPORT_DISCOVER &&
             (import->config->protocol == IMPORT_PROTOCOL_MODERN || is_modern_error(rpc)))
        refused(import, "server/discover", rpc);
    else if (purpose == IMPORT_DISCOVER && import->handshake == IMPORT_PROBING)
        initialize(import);
    else if (purpose == IMPORT_INITIALIZE && rpc->form == MCPX_RPC_RESULT)
        initialized(import, rpc, now);
    else if (purpose == IMPORT_INITIALIZE)
        refused(import, "initialize", rpc);
}

void import_handshake_tick(struct import *import, struct mcpx_now now)
{
    if (import->handshake_at <= now.mono_ms) {
        import_handshake_down(import);
        import_say(import, "%s", "the server is not ready in time; the bridge kills it");
        import_want(import, (struct bridge_row){.action.type = BRIDGE_KILL});
        return;
    }
    if (import->probe_at <= now.mono_ms && import->handshake == IMPORT_PROBING)
        initialize(import);
}
