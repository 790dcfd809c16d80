/*
 * reader.c - texts have a reference count and no single owner: an event may live longer than the
 * message's place in the outbox, or shorter. A copy of what was asked has one allocation for all
 * its strings, because ten thousand copies may wait at a time and none ever changes.
 *
 * Events keep texts, because a struct mcpx_envelope is large. Most events are told right after
 * their message came, and then nothing is read twice. The reader holds a reference to the text,
 * so that no other text can get the same address.
 */
#include "lib/session/reader.h"

#include <stdlib.h>

struct mx_block *mx_block_new(struct mcpx_slice text)
{
    struct mx_block *block = malloc(sizeof *block + text.len + 1);

    if (!block)
        return NULL;
    block->refs = 1;
    block->len = text.len;
    if (text.len)
        memcpy(block->text, text.text, text.len);
    block->text[text.len] = '\0';
    return block;
}

struct mx_block *mx_block_ref(struct mx_block *block)
{
    if (block)
        block->refs++;
    return block;
}

void mx_block_unref(struct mx_block *block)
{
    if (block && --block->refs == 0)
        free(block);
}

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

/* ---- reading ---- */

static void forget(struct mx_reader *reader)
{
    mx_block_unref(reader->block);
    reader->block = NULL;
    reader->has_rpc = false;
}

void mx_reader_fini(struct mx_reader *reader)
{
    forget(reader);
    mcpx_envelope_fini(&reader->envelope);
}

enum mcpx_err mx_reader_read(struct mx_reader *reader, struct mx_block *block,
                             struct mcpx_slice span, struct mcpx_fault *fault)
{
    enum mcpx_err err;

    if (reader->block == block && reader->envelope.text.text == span.text)
        return MCPX_OK;
    forget(reader);
    err = mcpx_envelope_parse(span, MX_DEPTH_MAX, &reader->envelope, fault);
    if (!err)
        reader->block = mx_block_ref(block);
    return err;
}

const struct mcpx_rpc *mx_reader_rpc(struct mx_reader *reader)
{
    if (!reader->has_rpc)
        reader->has_rpc = !mcpx_rpc_read(reader->envelope.payload, &reader->rpc, NULL);
    return reader->has_rpc ? &reader->rpc : NULL;
}

enum mcpx_err mx_reader_open(struct mx_reader *reader, struct mx_incoming *in,
                             struct mcpx_fault *fault)
{
    enum mcpx_err err = mx_reader_read(reader, in->block, in->span, fault);

    in->envelope = NULL;
    in->rpc = NULL;
    if (!err && !reader->envelope.from.text) {
        *fault = (struct mcpx_fault){"expected to be told who sent it", "from", 0};
        err = MCPX_EINVALID;
    }
    if (!err)
        in->envelope = &reader->envelope;
    return err;
}

/*
 * The router guarantees `from` and that its grants cover the kind, but never reads a payload;
 * here kind and payload are compared.
 */
static enum mcpx_violation compare(const struct mcpx_envelope *envelope, struct mcpx_rpc *rpc,
                                   struct mcpx_fault *fault)
{
    if (mcpx_rpc_read(envelope->payload, rpc, fault))
        return MCPX_VIOLATION_RPC;
    if (rpc->form == MCPX_RPC_REQUEST && rpc->id.len > MX_RPC_ID_MAX) {
        *fault = (struct mcpx_fault){"expected a JSON-RPC id of at most 1024 bytes", "id", 0};
        return MCPX_VIOLATION_RPC;
    }
    if (mcpx_rpc_agrees(rpc, &envelope->kind, fault))
        return MCPX_VIOLATION_KIND;
    return MCPX_VIOLATION_NONE;
}

enum mcpx_violation mx_reader_judge(struct mx_reader *reader, struct mx_incoming *in,
                                    struct mcpx_fault *fault)
{
    enum mcpx_violation violation = compare(in->envelope, &reader->rpc, fault);

    reader->has_rpc = !violation;
    in->rpc = reader->has_rpc ? &reader->rpc : NULL;
    return violation;
}
