/*
 * ask.c - a server's question is put to whoever's call it works on. A pipe does not say
 * which call that is, so while several participants have one under way nobody is asked: guessing
 * was refused, because the newest caller could consent to what another has asked for. The question goes out as the server wrote it and the answer comes
 * back as the participant wrote it; the session has made sure that it carries the same id. What
 * files a server may touch (roots) is never asked in the room: anybody could widen it.
 */
#include "tools/mcpx-bridge/import/ask.h"

#include "tools/mcpx-bridge/bridge.h"
#include "tools/mcpx-bridge/import/input.h"
#include "tools/mcpx-bridge/import/rewrite.h"
#include "tools/mcpx-bridge/import/state.h"
#include "tools/mcpx-bridge/import/tell.h"

#include <stdlib.h>

void import_asks_fini(struct import_asks *asks)
{
    for (size_t i = 0; i < asks->count; i++)
        free(asks->rows[i].memory);
    asks->count = 0;
}

static void drop(struct import_asks *asks, struct import_question *row)
{
    size_t at = (size_t)(row - asks->rows);

    free(row->memory);
    asks->count--;
    memmove(row, row + 1, (asks->count - at) * sizeof *row);
}

static struct import_question *find(struct import_asks *asks, const void *tag)
{
    for (size_t i = 0; i < asks->count; i++)
        if (asks->rows[i].serial == (uintptr_t)tag)
            return &asks->rows[i];
    return NULL;
}

static void tell_server(struct import *import, struct mcpx_slice rpc_id, int code,
                        const char *message)
{
    mcpx_text_reset(&import->line);
    bridge_add_error(&import->line, rpc_id, code, mcpx_slice_of(message),
                     (struct mcpx_slice){0});
    import_write(import);
}

/* Remembers a question that went out under the latest serial. */
static void note(struct import *import, struct mcpx_slice envelope,
                 const struct import_call *call, struct mcpx_slice rpc_id)
{
    struct mcpx_slice who = call->requester.id;
    char *memory = malloc(envelope.len + who.len + rpc_id.len + 1);
    struct import_question *row;

    if (!memory)
        return;
    memcpy(memory, envelope.text, envelope.len);
    memcpy(memory + envelope.len, who.text, who.len);
    memcpy(memory + envelope.len + who.len, rpc_id.text, rpc_id.len);
    row = &import->asks.rows[import->asks.count++];
    *row = (struct import_question){
        .serial = import->setup.facts->serial,
        .envelope = {memory, envelope.len},
        .participant = {call->requester.topic, {memory + envelope.len, who.len}},
        .rpc_id = {memory + envelope.len + who.len, rpc_id.len},
        .memory = memory};
}

/* One who never answers must not keep the others from being asked. */
static bool has_room(const struct import_asks *asks, struct import_who who)
{
    struct mcpx_slice identity = mcpx_identity_of(who.id);
    size_t own = 0;

    for (size_t i = 0; i < asks->count; i++)
        if (asks->rows[i].participant.topic == who.topic &&
            mcpx_slice_equal(mcpx_identity_of(asks->rows[i].participant.id), identity))
            own++;
    return import_who_may_have(own + 1, asks->count + 1, IMPORT_ASKS_MAX);
}

static void tell_roots(struct import *import, struct mcpx_slice rpc_id)
{
    if (!import->config.roots) {
        tell_server(import, rpc_id, BRIDGE_NO_METHOD,
                    "there are no roots here; the bridge's operator may state some (--root)");
        return;
    }
    mcpx_text_reset(&import->text);
    mcpx_text_puts(&import->text, "{\"roots\":");
    mcpx_text_puts(&import->text, import->config.roots);
    mcpx_text_puts(&import->text, "}");
    mcpx_text_reset(&import->line);
    if (import->text.failed)
        bridge_add_error(&import->line, rpc_id, BRIDGE_UNAVAILABLE,
                         MCPX_SLICE("the bridge is out of memory"), (struct mcpx_slice){0});
    else
        bridge_add_result(&import->line, rpc_id, mcpx_text_view(&import->text));
    import_write(import);
}

void import_ask(struct import *import, struct mcpx_slice line, const struct mcpx_rpc *rpc)
{
    const struct import_call *call = import_calls_asked(
        &import->calls, import->config.ask_newest ? IMPORT_ASKED_NEWEST : IMPORT_ASKED_SOLE);
    struct mcpx_draft draft = {.type = "mcp/request",
                               .to_count = 1,
                               .payload = line,
                               .timeout_ms = import->config.request_ms};
    struct mcpx_slice id = {0};
    size_t before = import->asks.count;
    enum mcpx_err err;

    if (mcpx_slice_equal(rpc->method, MCPX_SLICE("roots/list"))) {
        tell_roots(import, rpc->id);
        return;
    }
    if (!call) {
        tell_server(
            import, rpc->id, BRIDGE_NO_METHOD,
            import_calls_asked(&import->calls, IMPORT_ASKED_NEWEST)
                ? "several participants have calls under way, and whose this is about "
                  "cannot be known; the bridge's operator can give each a server of its "
                  "own (--isolate)"
                : "no participant has a call under way that this could be about");
        return;
    }
    if (!has_room(&import->asks, call->requester)) {
        tell_server(import, rpc->id, BRIDGE_UNAVAILABLE,
                    "the participant has too many questions under way");
        return;
    }
    draft.to = &call->requester.id;
    draft.correlation_id = call->envelope;
    draft.tag = (void *)++import->setup.facts->serial;
    err = import->port.send(import->port.user, call->requester.topic, &draft, &id);
    if (err == MCPX_OK)
        note(import, id, call, rpc->id);
    if (import->asks.count > before)
        return;
    import_say(import, "%.*s cannot be passed to %.*s: %s", (int)rpc->method.len,
               rpc->method.text, (int)call->requester.id.len, call->requester.id.text,
               mcpx_strerror(err ? err : MCPX_ENOMEM));
    tell_server(import, rpc->id, BRIDGE_NO_METHOD, mcpx_strerror(err ? err : MCPX_ENOMEM));
}

bool import_has_asked(const struct import *import, const void *tag)
{
    return find((struct import_asks *)&import->asks, tag) != NULL;
}

void import_ask_answered(struct import *import, void *tag, struct mcpx_slice payload)
{
    struct import_question *row = find(&import->asks, tag);

    if (!row)
        return;
    mcpx_text_reset(&import->line);
    import_add_with_jsonrpc(&import->line, payload);
    import_write(import);
    drop(&import->asks, row);
}

void import_ask_failed(struct import *import, void *tag, int code, const char *message)
{
    struct import_question *row = find(&import->asks, tag);

    if (!row)
        return;
    tell_server(import, row->rpc_id, code, message);
    drop(&import->asks, row);
}

/*
 * The participant may be an event's and gone with the first call of the port, so the questions
 * are collected before anything is forgotten.
 */
void import_ask_left(struct import *import, struct import_who who)
{
    uintptr_t gone[IMPORT_ASKS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < import->asks.count; i++)
        if (import->asks.rows[i].participant.topic == who.topic &&
            (!who.id.text || mcpx_slice_equal(import->asks.rows[i].participant.id, who.id)))
            gone[count++] = import->asks.rows[i].serial;
    for (size_t i = 0; i < count; i++) {
        const struct import_question *row = find(&import->asks, (void *)gone[i]);

        import->port.forget(import->port.user, row->participant.topic, row->envelope);
        import_ask_failed(import, (void *)gone[i], BRIDGE_TIMED_OUT,
                          "the participant that was asked has left");
    }
}

bool import_ask_cancelled(struct import *import, struct mcpx_slice line,
                          struct mcpx_slice params)
{
    struct mcpx_slice id = mcpx_json_get(params, "requestId");
    struct mcpx_draft draft = {.type = "mcp/request", .to_count = 1, .payload = line};
    struct import_question *row = import->asks.rows;
    struct import_question *end = row + import->asks.count;

    while (row < end && !(id.text && mcpx_json_same(row->rpc_id, id)))
        row++;
    if (row == end)
        return false;
    draft.to = &row->participant.id;
    draft.correlation_id = row->envelope;
    import->port.send(import->port.user, row->participant.topic, &draft, NULL);
    import->port.forget(import->port.user, row->participant.topic, row->envelope);
    drop(&import->asks, row);
    return true;
}

void import_ask_down(struct import *import)
{
    for (size_t i = 0; i < import->asks.count; i++)
        import->port.forget(import->port.user, import->asks.rows[i].participant.topic,
                            import->asks.rows[i].envelope);
    import_asks_fini(&import->asks);
}
