/*
 * calls.c - calls in buckets by their number. A draft's tag is the number, not the address:
 * an answer may still be on its way through the session when its call is given up, and a number
 * that is not found is harmless where an address would not be.
 */
#include "tools/mcpx-bridge/expose/calls.h"

#include <stdlib.h>

static size_t bucket_of(int64_t number)
{
    return (size_t)number % EXPOSE_CALL_BUCKETS;
}

static void call_free(struct expose_call *call)
{
    mcpx_text_fini(&call->id);
    mcpx_text_fini(&call->token);
    mcpx_text_fini(&call->method);
    mcpx_text_fini(&call->participant);
    mcpx_text_fini(&call->context);
    mcpx_text_fini(&call->params);
    mcpx_text_fini(&call->envelope);
    free(call);
}

void expose_calls_fini(struct expose_calls *calls)
{
    for (size_t i = 0; i < EXPOSE_CALL_BUCKETS; i++) {
        while (calls->buckets[i]) {
            struct expose_call *call = calls->buckets[i];

            calls->buckets[i] = call->next;
            call_free(call);
        }
    }
    *calls = (struct expose_calls){0};
}

struct expose_call *expose_calls_add(struct expose_calls *calls, enum expose_purpose purpose)
{
    struct expose_call *call = calloc(1, sizeof *call);
    struct expose_call **bucket;

    if (!call)
        return NULL;
    call->number = ++calls->last;
    call->purpose = purpose;
    call->due_ms = INT64_MAX;
    call->beat_ms = INT64_MAX;
    call->resend_ms = INT64_MAX;
    bucket = &calls->buckets[bucket_of(call->number)];
    call->next = *bucket;
    *bucket = call;
    calls->count++;
    return call;
}

struct expose_call *expose_calls_find(const struct expose_calls *calls, int64_t number)
{
    struct expose_call *call = number > 0 ? calls->buckets[bucket_of(number)] : NULL;

    while (call && call->number != number)
        call = call->next;
    return call;
}

struct expose_call *expose_calls_find_id(const struct expose_calls *calls,
                                         struct mcpx_slice id)
{
    struct expose_call *call = NULL;

    while ((call = expose_calls_next(calls, call)))
        if (call->purpose == EXPOSE_FOR_CLIENT &&
            mcpx_json_same(mcpx_text_view(&call->id), id))
            return call;
    return NULL;
}

void expose_calls_remove(struct expose_calls *calls, struct expose_call *call)
{
    struct expose_call **at = &calls->buckets[bucket_of(call->number)];

    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
    calls->count--;
    call_free(call);
}

struct expose_call *expose_calls_next(const struct expose_calls *calls,
                                      const struct expose_call *call)
{
    size_t bucket = 0;

    if (call && call->next)
        return call->next;
    if (call)
        bucket = bucket_of(call->number) + 1;
    while (bucket < EXPOSE_CALL_BUCKETS && !calls->buckets[bucket])
        bucket++;
    return bucket < EXPOSE_CALL_BUCKETS ? calls->buckets[bucket] : NULL;
}

bool expose_call_failed(const struct expose_call *call)
{
    return call->id.failed || call->token.failed || call->method.failed ||
           call->participant.failed || call->context.failed || call->params.failed ||
           call->envelope.failed;
}

bool expose_call_is_probe(const struct expose_call *call)
{
    return call->purpose == EXPOSE_FOR_HELLO || call->purpose == EXPOSE_FOR_LIST;
}
