/*
 * calls.c - calls in a list, and found by their number. A draft's tag is the number, not the
 * address: an answer may still be on its way through the session when its call is given up, and a
 * number that is not found is harmless where an address would not be.
 */
#include "tools/mcpx-bridge/expose/calls.h"

#include "tools/mcpx-bridge/bridge.h"

#include <stdlib.h>

void expose_calls_fini(struct expose_calls *calls)
{
    while (calls->first)
        expose_calls_remove(calls, calls->first);
    mx_map_fini(&calls->by_number);
}

struct expose_call *expose_calls_add(struct expose_calls *calls,
                                     const struct expose_call *from)
{
    size_t len = from->id.len + from->token.len + from->method.len + from->participant.len +
                 from->context.len + from->params.len;
    char *at;
    struct expose_call *call = bridge_room(sizeof *call, len, &at);

    mx_map_reserve(&calls->by_number);
    *call = *from;
    call->id = bridge_copy(&at, from->id);
    call->token = bridge_copy(&at, from->token);
    call->method = bridge_copy(&at, from->method);
    call->participant = bridge_copy(&at, from->participant);
    call->context = bridge_copy(&at, from->context);
    call->params = bridge_copy(&at, from->params);
    call->number = ++calls->last_number;
    call->due_ms = call->heartbeat_ms = call->resend_ms = INT64_MAX;
    call->previous = calls->last;
    *(calls->last ? &calls->last->next : &calls->first) = call;
    calls->last = call;
    mx_map_put(&calls->by_number, (uint64_t)call->number, (uintptr_t)call);
    return call;
}

struct expose_call *expose_calls_find(const struct expose_calls *calls, int64_t number)
{
    size_t at = 0;

    return (struct expose_call *)(uintptr_t)mx_map_next(&calls->by_number, (uint64_t)number,
                                                        &at);
}

struct expose_call *expose_calls_of_tag(const struct expose_calls *calls, const void *tag)
{
    return expose_calls_find(calls, (int64_t)(uintptr_t)tag);
}

struct expose_call *expose_calls_find_id(const struct expose_calls *calls,
                                         struct mcpx_slice id)
{
    for (struct expose_call *call = calls->first; call; call = call->next)
        if (call->purpose == EXPOSE_FOR_CLIENT && mcpx_json_same(call->id, id))
            return call;
    return NULL;
}

void expose_calls_remove(struct expose_calls *calls, struct expose_call *call)
{
    *(call->previous ? &call->previous->next : &calls->first) = call->next;
    *(call->next ? &call->next->previous : &calls->last) = call->previous;
    mx_map_remove(&calls->by_number, (uint64_t)call->number, (uintptr_t)call);
    mcpx_text_fini(&call->envelope);
    free(call);
}

bool expose_call_is_probe(const struct expose_call *call)
{
    return call->purpose == EXPOSE_FOR_HELLO || call->purpose == EXPOSE_FOR_LIST;
}
