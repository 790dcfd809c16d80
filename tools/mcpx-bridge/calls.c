/*
 * calls.c - a list in the order of coming, and a table by number. A draft's tag is the number, not
 * the address: an answer may still be on its way through the session when its call is given up, and
 * an unknown number is harmless where an address would not be.
 */
#include "tools/mcpx-bridge/calls.h"

#include "tools/mcpx-bridge/bridge.h"

#include <mcpx/envelope.h>

/* The slices of a call that it has copies of. */
enum { SLICES = 8 };

static void slices_of(struct bridge_call *call, struct mcpx_slice *slices[SLICES])
{
    slices[0] = &call->who.id;
    slices[1] = &call->id;
    slices[2] = &call->token;
    slices[3] = &call->method;
    slices[4] = &call->context;
    slices[5] = &call->params;
    slices[6] = &call->came_in;
    slices[7] = &call->fulfils;
}

/* Hashes the number: consecutive numbers would form one run, and a lookup would scan all of it. */
static uint64_t hash_of(int64_t number)
{
    return (uint64_t)number * UINT64_C(0x9e3779b97f4a7c15);
}

struct bridge_holder *bridge_calls_holder(const struct bridge_calls *calls,
                                          struct bridge_who who)
{
    struct mcpx_slice identity = mcpx_identity_of(who.id);

    for (size_t i = 0; i < calls->holder_count; i++)
        if (calls->holders[i]->topic == who.topic &&
            mcpx_slice_equal(calls->holders[i]->identity, identity))
            return calls->holders[i];
    return NULL;
}

/* The holder of that name, or a new one. */
static struct bridge_holder *hold_for(struct bridge_calls *calls, struct bridge_who who)
{
    struct mcpx_slice identity = mcpx_identity_of(who.id);
    struct bridge_holder *holder = bridge_calls_holder(calls, who);
    char *at;

    if (holder)
        return holder;
    mx_make_room(&calls->holders, calls->holder_count, &calls->holder_size,
                 sizeof(struct bridge_holder *));
    holder = bridge_room(sizeof *holder, identity.len, &at);
    holder->topic = who.topic;
    holder->identity = mx_keep(&at, identity);
    calls->holders[calls->holder_count++] = holder;
    return holder;
}

/* Counts one call less; frees a holder without calls. */
static void leave_holder(struct bridge_calls *calls, struct bridge_holder *holder)
{
    size_t at = 0;

    if (!holder || --holder->calls > 0)
        return;
    while (calls->holders[at] != holder)
        at++;
    calls->holders[at] = calls->holders[--calls->holder_count];
    free(holder);
}

void bridge_calls_fini(struct bridge_calls *calls)
{
    while (calls->first)
        bridge_calls_drop(calls, calls->first);
    free(calls->holders);
    mx_map_fini(&calls->by_number);
    *calls = (struct bridge_calls){.last_number = calls->last_number};
}

struct bridge_call *bridge_calls_add(struct bridge_calls *calls,
                                     const struct bridge_call *from)
{
    struct bridge_call copy = *from, *call;
    struct mcpx_slice *slices[SLICES];
    size_t len = 0;
    char *at;

    slices_of(&copy, slices);
    for (size_t i = 0; i < SLICES; i++)
        len += slices[i]->len;
    call = bridge_room(sizeof *call, len, &at);
    for (size_t i = 0; i < SLICES; i++)
        *slices[i] = mx_keep(&at, *slices[i]);
    mx_map_reserve(&calls->by_number);
    *call = copy;
    call->number = from->number ? from->number : ++calls->last_number;
    call->holder = call->who.id.text ? hold_for(calls, call->who) : NULL;
    if (call->holder)
        call->holder->calls++;
    call->heartbeat_ms = call->resend_ms = INT64_MAX;
    if (calls->count++ == 0)
        calls->due_ms = INT64_MAX;
    bridge_calls_defer(calls, call, from->due_ms ? from->due_ms : INT64_MAX);
    call->previous = calls->last;
    *(calls->last ? &calls->last->next : &calls->first) = call;
    calls->last = call;
    mx_map_put(&calls->by_number, hash_of(call->number), (uintptr_t)call);
    return call;
}

void bridge_calls_hold(struct bridge_calls *calls, struct bridge_call *call,
                       struct mcpx_slice payload)
{
    mcpx_text_slice(&call->payload, payload);
    calls->held += call->payload.len;
    if (call->holder)
        call->holder->held += call->payload.len;
}

void bridge_calls_release(struct bridge_calls *calls, struct bridge_call *call)
{
    calls->held -= call->payload.len;
    if (call->holder)
        call->holder->held -= call->payload.len;
    mcpx_text_fini(&call->payload);
}

struct bridge_call *bridge_calls_find(const struct bridge_calls *calls, int64_t number)
{
    size_t at = 0;

    return (struct bridge_call *)(uintptr_t)mx_map_next(&calls->by_number, hash_of(number),
                                                        &at);
}

struct bridge_call *bridge_calls_due(struct bridge_calls *calls, int64_t mono_ms)
{
    int64_t first = INT64_MAX;

    if (calls->count > 0 && calls->due_ms > mono_ms)
        return NULL;
    for (struct bridge_call *call = calls->first; call; call = call->next) {
        if (call->due_ms <= mono_ms)
            return call;
        if (call->due_ms < first)
            first = call->due_ms;
    }
    calls->due_ms = first;
    return NULL;
}

void bridge_calls_defer(struct bridge_calls *calls, struct bridge_call *call, int64_t due_ms)
{
    call->due_ms = due_ms;
    if (due_ms < calls->due_ms)
        calls->due_ms = due_ms;
}

void bridge_calls_drop(struct bridge_calls *calls, struct bridge_call *call)
{
    bridge_calls_release(calls, call);
    leave_holder(calls, call->holder);
    *(call->previous ? &call->previous->next : &calls->first) = call->next;
    *(call->next ? &call->next->previous : &calls->last) = call->previous;
    mx_map_remove(&calls->by_number, hash_of(call->number), (uintptr_t)call);
    calls->count--;
    mcpx_text_fini(&call->sent_in);
    free(call);
}
