/*
 * asked.c - copies of requests and proposals. A copy has one allocation for all its strings,
 * because ten thousand copies may wait at a time and none ever changes.
 */
#include "lib/participant/asked.h"

#include <stdlib.h>

enum { STRINGS = 8 };

static const size_t strings[STRINGS] = {
    offsetof(struct mx_asked, id),       offsetof(struct mx_asked, from),
    offsetof(struct mx_asked, proposer), offsetof(struct mx_asked, operation),
    offsetof(struct mx_asked, method),   offsetof(struct mx_asked, context),
    offsetof(struct mx_asked, rpc_id),   offsetof(struct mx_asked, params),
};

struct mx_asked mx_asked_of(const struct mcpx_envelope *envelope, const struct mcpx_rpc *rpc)
{
    const struct mcpx_kind *kind = &envelope->kind;
    size_t skip = kind->type.len < kind->text.len ? kind->type.len + 1 : kind->text.len;

    return (struct mx_asked){
        .id = envelope->id,
        .from = envelope->from,
        .operation = {kind->text.text + skip, kind->text.len - skip},
        .method = rpc->method,
        .context = rpc->context,
        .rpc_id = rpc->id,
        .to = envelope->to,
        .to_count = envelope->to_count,
    };
}

static struct mcpx_slice *string_of(const struct mx_asked *asked, size_t index)
{
    return (struct mcpx_slice *)((char *)asked + strings[index]);
}

/* Copies a slice's bytes to `*at`, and moves `*at` behind them. */
static void move_in(struct mcpx_slice *slice, char **at)
{
    if (!slice->text)
        return;
    if (slice->len)
        memcpy(*at, slice->text, slice->len);
    slice->text = *at;
    *at += slice->len;
}

size_t mx_asked_size(const struct mx_asked *asked)
{
    size_t size = sizeof *asked + asked->to_count * sizeof *asked->to + 1;

    for (size_t i = 0; i < STRINGS; i++)
        size += string_of(asked, i)->len;
    for (size_t i = 0; i < asked->to_count; i++)
        size += asked->to[i].len;
    return size;
}

struct mx_asked *mx_asked_copy(const struct mx_asked *view)
{
    struct mcpx_slice *to;
    struct mx_asked *copy = malloc(mx_asked_size(view));
    char *at;

    if (!copy)
        return NULL;
    *copy = *view;
    to = (struct mcpx_slice *)(copy + 1);
    at = (char *)(to + view->to_count);
    for (size_t i = 0; i < STRINGS; i++)
        move_in(string_of(copy, i), &at);
    for (size_t i = 0; i < view->to_count; i++) {
        to[i] = view->to[i];
        move_in(&to[i], &at);
    }
    copy->to = to;
    return copy;
}

bool mx_asked_is_operation(const struct mx_asked *asked, const struct mcpx_rpc *rpc)
{
    return mcpx_slice_equal(asked->method, rpc->method) &&
           mcpx_slice_equal(asked->context, rpc->context);
}

bool mx_asked_was_for(const struct mx_asked *asked, struct mcpx_slice participant)
{
    return asked->to_count == 0 || mx_id_is_among(participant, asked->to, asked->to_count);
}
