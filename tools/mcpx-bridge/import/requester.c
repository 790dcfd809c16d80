/*
 * requester.c - who asks, and what it can be asked. A server of 2026-07-28 may ask in its answers
 * what the request declares, so the bridge declares what this requester can do, within the
 * operator's --client-capabilities: its own words in _meta, or else those of its initialize, which
 * the bridge answered. They are kept when it leaves: after a short break it does not initialize
 * again, and a wrong declaration only costs the call.
 */
#include "tools/mcpx-bridge/import/ask.h"

enum {
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
                                .modern =
                                    mcpx_json_get(meta, IMPORT_META "protocolVersion").text};
}

const char *import_fault_of(const struct mcpx_rpc *rpc, const struct bridge_call *call)
{
    enum mcpx_json_type meta = mcpx_json_type(mcpx_json_get(rpc->params, "_meta"));
    enum mcpx_json_type token = mcpx_json_type(call->token);

    if (meta != MCPX_JSON_ABSENT && meta != MCPX_JSON_NULL && meta != MCPX_JSON_OBJECT)
        return "params._meta is not an object";
    return token != MCPX_JSON_ABSENT && token != MCPX_JSON_STRING && token != MCPX_JSON_NUMBER
               ? "params._meta.progressToken is neither a string nor a number"
               : NULL;
}

bool import_may_ask(struct mcpx_slice method)
{
    return bridge_is_any(method, "tools/call", "prompts/get", "resources/read");
}

struct bridge_who import_asked_of(const struct bridge_call *call)
{
    return call->proposer.text ? (struct bridge_who){call->who.topic, call->proposer}
                               : call->who;
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
    const struct bridge_holder *holder;

    if (known)
        bridge_calls_drop(clients, known);
    holder = bridge_calls_holder(clients, client.who);
    if (mcpx_json_type(client.params) != MCPX_JSON_OBJECT ||
        client.params.len > CAPABILITIES_MAX ||
        !bridge_may_have(holder ? holder->calls + 1 : 1, 1, CLIENTS_MAX))
        return;
    if (clients->count == CLIENTS_MAX)
        bridge_calls_drop(clients, clients->first);
    bridge_calls_add(clients, &client);
}

/* True when a capability of the requester is declared to the server. */
static bool is_declared(const struct import *import, struct mcpx_slice name, bool asks_itself)
{
    bool found = bridge_is(name, "extensions") || (bridge_is(name, "roots") && !asks_itself);

    MCPX_JSON_EACH_WHILE(!found, walk, mcpx_slice_of(import->config->capabilities))
        found = mcpx_slice_equal(walk.name, name);
    return found;
}

/* Appends what a requester can do, as far as it is declared. */
static void add_declared(const struct import *import, const struct bridge_call *call,
                         struct mcpx_slice own, struct mcpx_text *out)
{
    struct bridge_who who = import_asked_of(call);
    const struct bridge_call *client = bridge_calls_find(
        &import->pool->topics[who.topic].clients, import_number_of(import->pool, who.id));
    bool asks_itself = import_asks_itself(import, call);

    if (!own.text && client && bridge_who_is(client->who, who))
        own = client->params;
    mcpx_text_puts(out, "{");
    MCPX_JSON_EACH(walk, own)
        if (is_declared(import, walk.name, asks_itself))
            mx_format(out, "%s\"%s\":%s", out->len > 1 ? "," : "", walk.name, walk.value);
    mcpx_text_puts(out, "}");
}

/* The bridge makes tasks for requesters that have none, so it declares them for all. */
void import_requester_add_capabilities(const struct import *import,
                                       const struct bridge_call *call, struct mcpx_slice own,
                                       struct mcpx_text *out)
{
    struct mcpx_slice greeting = mcpx_text_view(&import->greeting);
    mx_scoped_text declared = {0}, extensions = {0}, none = mx_formatted("%s", "{}");
    struct mcpx_json_change changes[2];
    size_t count = 0;

    if (call->purpose == IMPORT_TASK)
        call = bridge_calls_find(&import->calls, call->about);
    if (call->purpose == IMPORT_PARTICIPANT)
        add_declared(import, call, own, &declared);
    else
        mcpx_text_puts(&declared, import->config->capabilities);
    if (import->config->roots && import_asks_itself(import, call))
        changes[count++] = (struct mcpx_json_change){"roots", MCPX_SLICE("{}")};
    if (import_has_extension(mcpx_json_get(greeting, "capabilities")) &&
        !import_has_extension(mcpx_text_view(&declared))) {
        own = mcpx_json_get(mcpx_text_view(&declared), "extensions");
        bridge_add_with(&extensions,
                        mcpx_json_type(own) == MCPX_JSON_OBJECT ? own : MCPX_SLICE("{}"),
                        IMPORT_TASKS, &none);
        changes[count++] =
            (struct mcpx_json_change){"extensions", mcpx_text_view(&extensions)};
    }
    mcpx_json_add_changed(out, mcpx_text_view(&declared), changes, count);
}
