/*
 * inbound.c - texts have a reference count and no single owner: an event may live longer than the
 * message's place in the outbox, or shorter. A copy of what was asked has one allocation for all
 * its strings, because ten thousand copies may wait at a time and none ever changes.
 *
 * Events keep texts, because a struct mcpx_envelope is large. Most events are told right after
 * their message came, and then nothing is read twice. The reader holds a reference to the text,
 * so that no other text can get the same address.
 *
 * Others' requests and proposals have a hash table with a secret key, because others choose the
 * ids, and a list in order of arrival. When a sender floods us, only its own oldest requests are
 * forgotten. Rejected: a ring; requests are answered in any order.
 *
 * Recent envelopes have a ring of digests and a set of them. The digests are keyed, so an attacker
 * cannot make two envelopes look like one; 64 bits make a chance collision unlikely.
 */
#include "lib/session/inbound.h"

#include "lib/base/fault.h"
#include "lib/base/rows.h"

#include <stddef.h>
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

/* The bytes of memory that a copy takes in a struct of `size` bytes. */
static size_t asked_size(const struct mx_asked *asked, size_t size)
{
    size += asked->to_count * sizeof *asked->to;

    for (size_t i = 0; i < STRINGS; i++)
        size += string_of(asked, i)->len;
    for (size_t i = 0; i < asked->to_count; i++)
        size += asked->to[i].len;
    return size;
}

void *mx_asked_copy(const struct mx_asked *view, size_t size)
{
    struct mx_asked *copy = calloc(1, asked_size(view, size));
    struct mcpx_slice *to;
    char *at;

    if (!copy)
        return NULL;
    *copy = *view;
    to = (struct mcpx_slice *)(void *)((char *)copy + size);
    at = (char *)(to + view->to_count);
    for (size_t i = 0; i < STRINGS; i++)
        *string_of(copy, i) = mx_keep(&at, *string_of(view, i));
    for (size_t i = 0; i < view->to_count; i++)
        to[i] = mx_keep(&at, view->to[i]);
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

static void release_block(struct mx_reader *reader)
{
    mx_block_unref(reader->block);
    reader->block = NULL;
    reader->has_rpc = false;
}

void mx_reader_fini(struct mx_reader *reader)
{
    release_block(reader);
    mcpx_envelope_fini(&reader->envelope);
}

enum mcpx_err mx_reader_read(struct mx_reader *reader, struct mx_block *block,
                             struct mcpx_slice span, struct mcpx_fault *fault)
{
    enum mcpx_err err;

    if (reader->block == block && reader->envelope.text.text == span.text)
        return MCPX_OK;
    release_block(reader);
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

enum mcpx_err mx_reader_open(struct mx_reader *reader, struct mx_incoming *in)
{
    enum mcpx_err err = mx_reader_read(reader, in->block, in->span, &in->fault);

    in->envelope = NULL;
    in->rpc = NULL;
    if (!err && !reader->envelope.from.text)
        err = mx_fault_set(&in->fault, "expected to be told who sent it", "from", 0);
    if (!err)
        in->envelope = &reader->envelope;
    return err;
}

/* The router guarantees `from` and that its grants cover the kind, but never reads a payload; here
 * kind and payload are compared. */
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

enum mcpx_violation mx_reader_judge(struct mx_reader *reader, struct mx_incoming *in)
{
    enum mcpx_violation violation = compare(in->envelope, &reader->rpc, &in->fault);

    reader->has_rpc = !violation;
    in->rpc = reader->has_rpc ? &reader->rpc : NULL;
    return violation;
}

/* ---- what others asked ---- */

static struct mx_heard *find(const struct mx_inbound *inbound, struct mcpx_slice id)
{
    return id.text ? mx_map_find(&inbound->ids, mx_map_hash(inbound->senders.key, id),
                                 offsetof(struct mx_asked, id), id)
                   : NULL;
}

const struct mx_asked *mx_inbound_find(const struct mx_inbound *inbound, struct mcpx_slice id)
{
    struct mx_heard *heard = find(inbound, id);

    return heard ? &heard->asked : NULL;
}

/* The weight of a message of `size` bytes, for the bounds of bytes and of number together. */
static uint64_t weight_of(const struct mx_inbound *inbound, size_t size)
{
    return size + MX_INBOUND_BYTES / (inbound->max + 1);
}

/* The oldest of the sender that has most: `from`, when no other has more than it will have. */
static struct mx_heard *first_to_go(const struct mx_inbound *inbound, struct mcpx_slice from,
                                    uint64_t weight)
{
    struct mcpx_slice most = mx_holders_largest(&inbound->senders);
    uint64_t mine = mx_holders_held(&inbound->senders, from);
    struct mx_heard *heard = inbound->oldest;

    if (mine && mine + weight >= mx_holders_held(&inbound->senders, most))
        most = from;
    while (heard && !mcpx_slice_equal(mcpx_identity_of(heard->asked.from), most))
        heard = heard->newer;
    return heard;
}

static void forget(struct mx_inbound *inbound, struct mx_heard *heard)
{
    size_t size = asked_size(&heard->asked, sizeof *heard);

    *(heard->older ? &heard->older->newer : &inbound->oldest) = heard->newer;
    *(heard->newer ? &heard->newer->older : &inbound->newest) = heard->older;
    mx_map_remove(&inbound->ids, mx_map_hash(inbound->senders.key, heard->asked.id),
                  (uintptr_t)heard);
    mx_holders_remove(&inbound->senders, mcpx_identity_of(heard->asked.from),
                      weight_of(inbound, size));
    inbound->bytes -= size;
    free(heard);
}

static void keep(struct mx_inbound *inbound, struct mx_heard *heard)
{
    heard->older = inbound->newest;
    *(heard->older ? &heard->older->newer : &inbound->oldest) = heard;
    inbound->newest = heard;
    inbound->bytes += asked_size(&heard->asked, sizeof *heard);
    mx_map_put(&inbound->ids, mx_map_hash(inbound->senders.key, heard->asked.id),
               (uintptr_t)heard);
}

enum mcpx_err mx_inbound_add(struct mx_inbound *inbound, const struct mx_asked *asked)
{
    struct mx_heard *before = find(inbound, asked->id), *heard, *gone;
    struct mcpx_slice from = mcpx_identity_of(asked->from);
    size_t size = asked_size(asked, sizeof *heard);
    uint64_t weight = weight_of(inbound, size);

    if (before && !mcpx_slice_equal(before->asked.from, asked->from))
        return MCPX_EDUPLICATE;
    if (!mx_map_reserve(&inbound->ids) || !(heard = mx_asked_copy(asked, sizeof *heard)))
        return MCPX_ENOMEM;
    if (before)
        forget(inbound, before);
    while ((inbound->ids.count >= inbound->max || inbound->bytes + size > MX_INBOUND_BYTES) &&
           (gone = first_to_go(inbound, from, weight)) != NULL)
        forget(inbound, gone);
    if (!mx_holders_add(&inbound->senders, from, weight)) {
        free(heard);
        return MCPX_ENOMEM;
    }
    keep(inbound, heard);
    return MCPX_OK;
}

bool mx_inbound_remove(struct mx_inbound *inbound, struct mcpx_slice id)
{
    struct mx_heard *heard = find(inbound, id);

    if (heard)
        forget(inbound, heard);
    return heard;
}

void mx_inbound_fini(struct mx_inbound *inbound)
{
    while (inbound->oldest)
        forget(inbound, inbound->oldest);
    mx_holders_fini(&inbound->senders);
    mx_map_fini(&inbound->ids);
}

/* ---- what came lately ---- */

void mx_recent_fini(struct mx_recent *recent)
{
    mx_map_fini(&recent->set);
    free(recent->ring);
}

uint64_t mx_recent_digest(const struct mx_recent *recent, const struct mcpx_envelope *envelope)
{
    uint64_t parts[3] = {
        mx_map_hash(recent->key, envelope->from),
        mx_map_hash(recent->key, envelope->id),
        mx_map_hash(recent->key, envelope->payload),
    };

    return mx_map_hash(recent->key, (struct mcpx_slice){(const char *)parts, sizeof parts});
}

bool mx_recent_has(const struct mx_recent *recent, uint64_t digest)
{
    size_t at = 0;

    return mx_map_next(&recent->set, digest, &at) != 0;
}

bool mx_recent_reserve(struct mx_recent *recent)
{
    return mx_map_reserve(&recent->set) &&
           mx_make_room(&recent->ring, recent->next, &recent->size, sizeof *recent->ring);
}

void mx_recent_note(struct mx_recent *recent, uint64_t digest)
{
    if (recent->set.count == recent->max) /* the ring is full: its oldest is forgotten */
        mx_map_remove(&recent->set, recent->ring[recent->next], 1);
    recent->ring[recent->next] = digest;
    recent->next = (recent->next + 1) % recent->max;
    mx_map_put(&recent->set, digest, 1);
}
