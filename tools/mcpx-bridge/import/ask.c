/*
 * ask.c - a server's question is put to whoever's call it works on. A pipe does not say
 * which call that is, so while several participants have one under way nobody is asked: guessing
 * was refused, because the newest caller could consent to what another has asked for. The question
 * goes out as the server wrote it and the answer comes back as the participant wrote it; the
 * session has made sure that it carries the same id. What files a server may touch (roots) is never
 * asked in the room: anybody could widen it.
 */

#include "lib/json/json_write.h"
#include "tools/mcpx-bridge/bridge.h"
#include "tools/mcpx-bridge/import/input.h"
#include "tools/mcpx-bridge/import/state.h"

#include <stdlib.h>

static void drop(struct import_asks *asks, struct import_question *row)
{
    size_t at = (size_t)(row - asks->rows);

    mcpx_text_fini(&row->envelope);
    free(row->memory);
    asks->count--;
    memmove(row, row + 1, (asks->count - at) * sizeof *row);
}

void import_asks_fini(struct import_asks *asks)
{
    while (asks->count > 0)
        drop(asks, &asks->rows[asks->count - 1]);
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
    import_write(import, 0);
}

/* Nobody answers that question. */
static void give_up(struct import *import, struct import_question *row, int code,
                    const char *message)
{
    tell_server(import, row->rpc_id, code, message);
    drop(&import->asks, row);
}

/* Remembers a question under the next serial. */
static struct import_question *note(struct import *import, const struct import_call *call,
                                    const struct mcpx_rpc *rpc)
{
    struct mcpx_slice who = call->requester.id;
    char *memory = malloc(who.len + rpc->method.len + rpc->id.len + 1), *at = memory;
    struct import_question *row = &import->asks.rows[import->asks.count];

    *row =
        (struct import_question){.serial = ++import->setup.shared->serial,
                                 .call = call->id,
                                 .participant = {call->requester.topic, bridge_copy(&at, who)},
                                 .method = bridge_copy(&at, rpc->method),
                                 .rpc_id = bridge_copy(&at, rpc->id),
                                 .memory = memory};
    import->asks.count++;
    return row;
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
    return bridge_may_have(own + 1, asks->count + 1, IMPORT_ASKS_MAX);
}

static void tell_roots(struct import *import, struct mcpx_slice rpc_id)
{
    if (!import->config.roots) {
        tell_server(import, rpc_id, BRIDGE_NO_METHOD,
                    "there are no roots here; the bridge's operator may state some (--root)");
        return;
    }
    mcpx_text_reset(&import->line);
    mx_format(&import->line, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"roots\":%s}}",
              rpc_id, import->config.roots);
    import_write(import, 0);
}

/* Puts the question to whoever's call that is. */
static void put(struct import *import, struct import_call *call, struct mcpx_slice line,
                const struct mcpx_rpc *rpc)
{
    struct import_question *row = note(import, call, rpc);
    struct mcpx_draft draft = {.type = "mcp/request",
                               .to = &call->requester.id,
                               .to_count = 1,
                               .correlation_id = call->envelope,
                               .payload = line,
                               .timeout_ms = import->config.question_ms};

    call->was_asked = true;
    draft.tag = (void *)row->serial;
    import_want_send(import, call->requester.topic, &draft);
}

void import_ask(struct import *import, struct mcpx_slice line, const struct mcpx_rpc *rpc)
{
    struct import_call *call = import_calls_asked(
        &import->calls, import->config.ask_newest ? IMPORT_ASKED_NEWEST : IMPORT_ASKED_SOLE);

    if (mcpx_slice_equal(rpc->method, MCPX_SLICE("roots/list")))
        tell_roots(import, rpc->id);
    else if (!call)
        tell_server(
            import, rpc->id, BRIDGE_NO_METHOD,
            import_calls_asked(&import->calls, IMPORT_ASKED_NEWEST)
                ? "several participants have calls under way, and whose this is about "
                  "cannot be known; the bridge's operator can give each a server of its "
                  "own (--isolate)"
                : "no participant has a call under way that this could be about");
    else if (!has_room(&import->asks, call->requester))
        tell_server(import, rpc->id, BRIDGE_UNAVAILABLE,
                    "the participant has too many questions under way");
    else
        put(import, call, line, rpc);
}

void import_asked(struct import *import, const void *tag, const struct bridge_outcome *outcome)
{
    struct import_question *row = find(&import->asks, tag);
    enum mcpx_err err = outcome->err;

    if (row && !err)
        mcpx_text_slice(&row->envelope, outcome->id);
    if (!row || !err)
        return;
    import_say(import, "%.*s cannot be passed to %.*s: %s", (int)row->method.len,
               row->method.text, (int)row->participant.id.len, row->participant.id.text,
               mcpx_strerror(err));
    give_up(import, row, BRIDGE_NO_METHOD, mcpx_strerror(err));
}

/* The participant need not answer any more. */
static void forget(struct import *import, const struct import_question *row)
{
    struct bridge_action action = {.type = BRIDGE_FORGET,
                                   .topic = row->participant.topic,
                                   .about = mcpx_text_view(&row->envelope)};

    import_want(import, (struct bridge_row){.action = action});
}

bool import_has_asked(const struct import *import, const void *tag)
{
    return find((struct import_asks *)&import->asks, tag) != NULL;
}

bool import_is_asking(const struct import *import, const struct import_call *call)
{
    size_t at = 0;

    while (at < import->asks.count && import->asks.rows[at].call != call->id)
        at++;
    return at < import->asks.count;
}

/* Whoever was asked need not answer any more. */
static void take_back(struct import *import, const struct import_question *row)
{
    struct mcpx_draft draft = {.type = "mcp/request",
                               .to = &row->participant.id,
                               .to_count = 1,
                               .correlation_id = mcpx_text_view(&row->envelope)};

    mcpx_text_reset(&import->text);
    mx_format(&import->text,
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
              "{\"requestId\":%s,\"reason\":\"not answered in time\"}}",
              row->rpc_id);
    draft.payload = text_whole(&import->text);
    import_want_send(import, row->participant.topic, &draft);
}

void import_ask_answered(struct import *import, void *tag, struct mcpx_slice payload)
{
    struct import_question *row = find(&import->asks, tag);

    if (!row)
        return;
    mcpx_text_reset(&import->line);
    import_add_with_jsonrpc(&import->line, payload);
    import_write(import, 0);
    drop(&import->asks, row);
}

void import_ask_failed(struct import *import, void *tag, int code, const char *message)
{
    struct import_question *row = find(&import->asks, tag);

    if (row && code == BRIDGE_TIMED_OUT)
        take_back(import, row);
    if (row)
        give_up(import, row, code, message);
}

void import_ask_left(struct import *import, struct import_who who)
{
    size_t kept = 0;

    while (kept < import->asks.count) {
        struct import_question *row = &import->asks.rows[kept];

        if (row->participant.topic != who.topic ||
            (who.id.text && !mcpx_slice_equal(row->participant.id, who.id))) {
            kept++;
            continue;
        }
        forget(import, row);
        give_up(import, row, BRIDGE_TIMED_OUT, "the participant that was asked has left");
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
    draft.correlation_id = mcpx_text_view(&row->envelope);
    import_want_send(import, row->participant.topic, &draft);
    forget(import, row);
    drop(&import->asks, row);
    return true;
}

void import_ask_down(struct import *import)
{
    for (size_t i = 0; i < import->asks.count; i++)
        forget(import, &import->asks.rows[i]);
    import_asks_fini(&import->asks);
}
