/*
 * requester.c - who asks, and what it can be asked. A server of 2026-07-28 may ask in its answers
 * what the request declares, so the bridge declares what this requester can do, within the
 * operator's --client-capabilities: its own words in _meta, or else those of its initialize, which
 * the bridge answered. They are kept when it leaves: after a short break it does not initialize
 * again, and a wrong declaration only costs the call.
 */
#include "tools/mcpx-bridge/import/ask.h"

enum {
    TEXTS_MAX = 16384,      /* bytes of a request's id, token and capabilities */
    CLIENTS_MAX = 4096,     /* participants of a topic whose capabilities are known */
    CAPABILITIES_MAX = 4096 /* bytes of them */
};

/* The level of log messages that a request wants, or sets; 0: none. */
static unsigned level_of(const struct mcpx_rpc *rpc)
{
    return bridge_log_level(
        bridge_is(rpc->method, "logging/setLevel")
            ? mcpx_json_get(rpc->params, "level")
            : mcpx_json_get(mcpx_json_get(rpc->params, "_meta"), IMPORT_META "logLevel"));
}

struct bridge_call import_draft_of(size_t topic, const struct mcpx_event *event)
{
    struct mcpx_slice meta = mcpx_json_get(event->rpc->params, "_meta");

    return (struct bridge_call){.purpose = IMPORT_PARTICIPANT,
                                .came_in = event->envelope->id,
                                .who = {topic, event->envelope->from},
                                .id = event->rpc->id,
                                .token = mcpx_json_get(meta, "progressToken"),
                                .method = event->rpc->method,
                                .context = event->rpc->context,
                                .level = level_of(event->rpc),
                                .fulfils = event->proposal,
                                .proposer = event->proposer,
                                .can = mcpx_json_get(meta, IMPORT_META "clientCapabilities"),
                                .modern =
                                    mcpx_json_get(meta, IMPORT_META "protocolVersion").text};
}

const char *import_fault_of(const struct mcpx_rpc *rpc, const struct bridge_call *call)
{
    enum mcpx_json_type meta = mcpx_json_type(mcpx_json_get(rpc->params, "_meta"));
    enum mcpx_json_type token = mcpx_json_type(call->token);

    if (meta != MCPX_JSON_ABSENT && meta != MCPX_JSON_NULL && meta != MCPX_JSON_OBJECT)
        return "params._meta is not an object";
    if (call->id.len + call->token.len + call->can.len > TEXTS_MAX)
        return "the id, progress token and capabilities are longer than 16 KiB";
    if (bridge_is(rpc->method, "subscriptions/listen"))
        return "the bridge listens for all; use resources/subscribe";
    return token != MCPX_JSON_ABSENT && token != MCPX_JSON_STRING && token != MCPX_JSON_NUMBER
               ? "params._meta.progressToken is neither a string nor a number"
               : NULL;
}

bool import_asks_itself(const struct import *import, const struct bridge_call *call)
{
    return import->handshake == IMPORT_MODERN && (!call->modern || call->fulfils.text) &&
           import_may_ask(call->method);
}

void import_keep(struct import *import, struct bridge_call *call, struct mcpx_slice changed)
{
    if (changed.text) {
        bridge_calls_release(&import->calls, call);
        bridge_calls_hold(&import->calls, call, changed);
    }
    if (!import_asks_itself(import, call) || !import_keeps(import, call) ||
        mcpx_json_type(mcpx_json_get(mcpx_text_view(&call->payload), "params")) !=
            MCPX_JSON_OBJECT)
        bridge_calls_release(&import->calls, call);
}

/* Participants that sent initialize are rows whose number is the hash of their id. */
void import_requester_note(struct import *import, const struct bridge_call *call)
{
    struct import_topic *topic = &import->pool->topics[call->who.topic];
    struct bridge_calls *clients = &topic->clients;
    struct mcpx_slice params = mcpx_json_get(mcpx_text_view(&call->payload), "params");
    struct bridge_call client = {.number = import_number_of(import->pool, call->who.id),
                                 .who = call->who,
                                 .params = mcpx_json_get(params, "capabilities")};
    struct bridge_call *known = bridge_calls_find(clients, client.number);

    if (known)
        bridge_calls_drop(clients, known);
    if (mcpx_json_type(client.params) != MCPX_JSON_OBJECT ||
        client.params.len > CAPABILITIES_MAX)
        return;
    known = bridge_calls_add(clients, &client);
    if (!bridge_may_have(known->holder->calls, 1, CLIENTS_MAX))
        bridge_calls_drop(clients, known);
    else if (clients->count > CLIENTS_MAX)
        bridge_calls_drop(clients, clients->first);
}

/* The bridge makes tasks for requesters that have none, so it declares them for all. */
struct mcpx_text import_requester_capabilities(const struct import *import,
                                               const struct bridge_call *call,
                                               struct mcpx_slice own)
{
    struct mcpx_slice declared = mcpx_slice_of(import->config->capabilities);
    struct mcpx_json_change changes[2], tasks = {IMPORT_TASKS, MCPX_SLICE("{}")};
    mx_scoped_text able = {0}, extensions = {0};
    const struct bridge_call *client;
    struct mcpx_text out = {0};
    struct bridge_who who;
    size_t count = 0;

    if (call->purpose == IMPORT_TASK)
        call = bridge_calls_find(&import->calls, call->about);
    who = import_asked_of(call);
    client = bridge_calls_find(&import->pool->topics[who.topic].clients,
                               import_number_of(import->pool, who.id));
    if (call->purpose != IMPORT_PARTICIPANT)
        own = declared;
    else if (!own.text && call->can.len)
        own = call->can;
    else if (!own.text && client && bridge_who_is(client->who, who))
        own = client->params;
    MCPX_JSON_EACH(walk, own) {
        mx_scoped_text name = mx_formatted("%s", walk.name);

        if (mcpx_json_get(declared, name.text).text || bridge_is(walk.name, "extensions") ||
            (bridge_is(walk.name, "roots") && !import_asks_itself(import, call)))
            mx_format(&able, "%s\"%s\":%s", able.len ? "," : "{", walk.name, walk.value);
    }
    mcpx_text_puts(&able, able.len ? "}" : "{}");
    if (import->config->roots && import_asks_itself(import, call))
        changes[count++] = (struct mcpx_json_change){"roots", MCPX_SLICE("{}")};
    if (mcpx_json_get(import_can(import, "extensions"), IMPORT_TASKS).text &&
        !import_has_extension(mcpx_text_view(&able))) {
        own = mcpx_json_get(mcpx_text_view(&able), "extensions");
        mcpx_json_add_changed(&extensions, own, &tasks, 1);
        changes[count++] =
            (struct mcpx_json_change){"extensions", mcpx_text_view(&extensions)};
    }
    mcpx_json_add_changed(&out, mcpx_text_view(&able), changes, count);
    return out;
}
