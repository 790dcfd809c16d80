/*
 * calls.c - an array in the order of the numbers, which only grow: found by bisection,
 * the newest is the last. A hash table was refused: there are few calls at a time, and the order
 * is wanted as well.
 */
#include "tools/mcpx-bridge/import/calls.h"

#include "lib/base/rows.h"
#include "tools/mcpx-bridge/bridge.h"

#include <mcpx/envelope.h>
#include <mcpx/json.h>

#include <stdlib.h>

struct import_holder *import_calls_holder(const struct import_calls *calls,
                                          struct import_who who)
{
    struct mcpx_slice identity = mcpx_identity_of(who.id);

    for (size_t i = 0; i < calls->holder_count; i++)
        if (calls->holders[i]->topic == who.topic &&
            mcpx_slice_equal(calls->holders[i]->identity, identity))
            return calls->holders[i];
    return NULL;
}

/* The holder of that name, or a new one. */
static struct import_holder *hold_for(struct import_calls *calls, struct import_who who)
{
    struct mcpx_slice identity = mcpx_identity_of(who.id);
    struct import_holder *holder = import_calls_holder(calls, who);

    if (holder)
        return holder;
    calls->holders = mx_room(calls->holders, calls->holder_count, &calls->holder_size,
                             sizeof(struct import_holder *));
    holder = malloc(sizeof *holder + identity.len + 1);
    memcpy(holder + 1, identity.text, identity.len);
    *holder = (struct import_holder){.topic = who.topic,
                                     .identity = {(char *)(holder + 1), identity.len}};
    calls->holders[calls->holder_count++] = holder;
    return holder;
}

/* One call less; who has none is forgotten. */
static void leave_holder(struct import_calls *calls, struct import_holder *holder)
{
    size_t at = 0;

    if (!holder || --holder->calls > 0)
        return;
    while (calls->holders[at] != holder)
        at++;
    calls->holders[at] = calls->holders[--calls->holder_count];
    free(holder);
}

static void free_call(struct import_call *call)
{
    mcpx_text_fini(&call->payload);
    free(call);
}

void import_calls_fini(struct import_calls *calls)
{
    for (size_t i = 0; i < calls->count; i++)
        free_call(calls->rows[i]);
    for (size_t i = 0; i < calls->holder_count; i++)
        free(calls->holders[i]);
    free(calls->holders);
    free(calls->rows);
    *calls = (struct import_calls){.last_id = calls->last_id};
}

struct import_call *import_calls_add(struct import_calls *calls,
                                     const struct import_call *draft)
{
    size_t len = draft->envelope.len + draft->requester.id.len + draft->rpc_id.len +
                 draft->token.len + draft->method.len + draft->context.len +
                 draft->fulfils.len;
    struct import_holder *holder =
        draft->purpose == IMPORT_PARTICIPANT ? hold_for(calls, draft->requester) : NULL;
    struct import_call *call = malloc(sizeof *call + len + 1);
    char *at = (char *)(call + 1);

    calls->rows =
        mx_room(calls->rows, calls->count, &calls->size, sizeof(struct import_call *));
    *call = (struct import_call){
        .id = ++calls->last_id,
        .purpose = draft->purpose,
        .written = draft->written,
        .envelope = bridge_copy(&at, draft->envelope),
        .requester = {draft->requester.topic, bridge_copy(&at, draft->requester.id)},
        .rpc_id = bridge_copy(&at, draft->rpc_id),
        .token = bridge_copy(&at, draft->token),
        .method = bridge_copy(&at, draft->method),
        .context = bridge_copy(&at, draft->context),
        .fulfils = bridge_copy(&at, draft->fulfils),
        .holder = holder};
    if (holder)
        holder->calls++;
    if (calls->count == 0)
        calls->deadline_ms = INT64_MAX;
    calls->rows[calls->count++] = call;
    import_calls_defer(calls, call, draft->deadline_ms);
    return call;
}

void import_calls_hold(struct import_calls *calls, struct import_call *call,
                       struct mcpx_slice payload)
{
    mcpx_text_slice(&call->payload, payload);
    calls->held += call->payload.len;
    call->holder->held += call->payload.len;
}

void import_calls_release(struct import_calls *calls, struct import_call *call)
{
    calls->held -= call->payload.len;
    if (call->holder)
        call->holder->held -= call->payload.len;
    mcpx_text_fini(&call->payload);
}

/* Index of the first call whose number is not below `id`. */
static size_t place_of(const struct import_calls *calls, int64_t id)
{
    size_t low = 0, high = calls->count, row;

    MX_SEARCH(low, high, row, calls->rows[row]->id < id);
    return low;
}

struct import_call *import_calls_after(const struct import_calls *calls, int64_t id)
{
    size_t at = place_of(calls, id + 1);

    return at < calls->count ? calls->rows[at] : NULL;
}

struct import_call *import_calls_find(const struct import_calls *calls, int64_t id)
{
    size_t at = place_of(calls, id);

    return at < calls->count && calls->rows[at]->id == id ? calls->rows[at] : NULL;
}

struct import_call *import_calls_meant(const struct import_calls *calls,
                                       struct import_who requester, struct mcpx_slice envelope,
                                       struct mcpx_slice rpc_id)
{
    if (!envelope.text && !rpc_id.text)
        return NULL;
    for (size_t i = calls->count; i-- > 0;) {
        struct import_call *call = calls->rows[i];

        if (call->purpose != IMPORT_PARTICIPANT || !import_who_is(call->requester, requester))
            continue;
        if (envelope.text && !mcpx_slice_equal(call->envelope, envelope))
            continue;
        if (rpc_id.text && !mcpx_json_same(call->rpc_id, rpc_id))
            continue;
        return call;
    }
    return NULL;
}

struct import_call *import_calls_of_topic(const struct import_calls *calls, size_t topic)
{
    for (size_t i = 0; i < calls->count; i++)
        if (calls->rows[i]->holder && calls->rows[i]->holder->topic == topic)
            return calls->rows[i];
    return NULL;
}

static bool may_ask(struct mcpx_slice method)
{
    return mcpx_slice_equal(method, MCPX_SLICE("tools/call")) ||
           mcpx_slice_equal(method, MCPX_SLICE("prompts/get")) ||
           mcpx_slice_equal(method, MCPX_SLICE("resources/read"));
}

struct import_call *import_calls_asked(const struct import_calls *calls,
                                       enum import_asked asked)
{
    struct import_call *newest = NULL;

    for (size_t i = calls->count; i-- > 0;) {
        struct import_call *call = calls->rows[i];

        if (call->purpose != IMPORT_PARTICIPANT || !call->written || !may_ask(call->method))
            continue;
        if (asked == IMPORT_ASKED_NEWEST)
            return call;
        if (newest && !import_who_is(newest->requester, call->requester))
            return NULL;
        if (!newest)
            newest = call;
    }
    return newest;
}

struct import_call *import_calls_due(struct import_calls *calls, int64_t mono_ms)
{
    int64_t first = INT64_MAX;

    if (calls->count > 0 && calls->deadline_ms > mono_ms)
        return NULL;
    for (size_t i = 0; i < calls->count; i++) {
        if (calls->rows[i]->deadline_ms <= mono_ms)
            return calls->rows[i];
        if (calls->rows[i]->deadline_ms < first)
            first = calls->rows[i]->deadline_ms;
    }
    calls->deadline_ms = first;
    return NULL;
}

void import_calls_defer(struct import_calls *calls, struct import_call *call,
                        int64_t deadline_ms)
{
    call->deadline_ms = deadline_ms;
    if (deadline_ms < calls->deadline_ms)
        calls->deadline_ms = deadline_ms;
}

void import_calls_drop(struct import_calls *calls, struct import_call *call)
{
    size_t at = place_of(calls, call->id);

    import_calls_release(calls, call);
    leave_holder(calls, call->holder);
    calls->count--;
    memmove(&calls->rows[at], &calls->rows[at + 1], (calls->count - at) * sizeof *calls->rows);
    free_call(call);
}

void import_calls_drop_purpose(struct import_calls *calls, enum import_purpose purpose)
{
    for (size_t i = calls->count; i-- > 0;)
        if (calls->rows[i]->purpose == purpose)
            import_calls_drop(calls, calls->rows[i]);
}
