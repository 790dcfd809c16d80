/*
 * inbound.c - a hash table with a secret key, because others choose the ids, and for each sender
 * a list in order of arrival. When a sender floods us, its own oldest requests are forgotten,
 * never those of another sender. A ring was refused, because requests are answered in any order.
 * When something has to be forgotten, all senders that have anything are searched for the one
 * with most; a sorted structure was refused, because such senders are few.
 *
 * Of what came lately there is a ring of digests and a set of them. The digests are keyed, so
 * nobody can make two envelopes look like one, and 64 bits make it unlikely that two do by
 * themselves.
 */
#include "lib/session/inbound.h"

#include <stddef.h>
#include <stdlib.h>

static struct mx_heard *find(const struct mx_inbound *inbound, struct mcpx_slice id)
{
    return mx_map_find(&inbound->ids, mx_map_hash(inbound->key, id),
                       offsetof(struct mx_heard, id), id);
}

const struct mx_asked *mx_inbound_find(const struct mx_inbound *inbound, struct mcpx_slice id)
{
    struct mx_heard *heard = id.text ? find(inbound, id) : NULL;

    return heard ? heard->asked : NULL;
}

/* ---- senders ---- */

/* The sender behind an id, all its instances together; NULL when memory ran out. */
static struct mx_sender *sender_of(struct mx_inbound *inbound, struct mcpx_slice from)
{
    struct mcpx_slice id = mcpx_identity_of(from);
    uint64_t hash = mx_map_hash(inbound->key, id);
    struct mx_sender *sender =
        mx_map_find(&inbound->senders, hash, offsetof(struct mx_sender, id), id);

    if (sender)
        return sender;
    if (!mx_map_reserve(&inbound->senders))
        return NULL;
    sender = calloc(1, sizeof *sender + id.len + 1);
    if (!sender)
        return NULL;
    if (id.len)
        memcpy(sender + 1, id.text, id.len);
    sender->id = (struct mcpx_slice){(char *)(sender + 1), id.len};
    mx_map_put(&inbound->senders, hash, (uintptr_t)sender);
    return sender;
}

/* Removes a sender that has nothing any more. */
static void release_sender(struct mx_inbound *inbound, struct mx_sender *sender)
{
    if (sender->count)
        return;
    mx_map_remove(&inbound->senders, mx_map_hash(inbound->key, sender->id), (uintptr_t)sender);
    mx_map_fit(&inbound->senders);
    free(sender);
}

/* How much of both bounds a sender uses, as one number. */
static size_t weight_of(const struct mx_inbound *inbound, const struct mx_sender *sender)
{
    return sender->bytes + sender->count * (MX_INBOUND_BYTES / (inbound->max + 1));
}

/* The sender that has most; `first` when no other has more. NULL when nothing is kept. */
static struct mx_sender *first_to_go(const struct mx_inbound *inbound, struct mx_sender *first)
{
    struct mx_sender *most = first->oldest ? first : NULL;

    for (size_t at = 0; at < inbound->senders.size; at++) {
        struct mx_sender *sender =
            (struct mx_sender *)(uintptr_t)inbound->senders.slots[at].value;

        if (sender && sender->oldest &&
            (!most || weight_of(inbound, sender) > weight_of(inbound, most)))
            most = sender;
    }
    return most;
}

/* ---- what they asked ---- */

static void destroy(struct mx_inbound *inbound, struct mx_sender *sender,
                    struct mx_heard *heard)
{
    mx_map_remove(&inbound->ids, mx_map_hash(inbound->key, heard->asked->id),
                  (uintptr_t)heard);
    inbound->bytes -= heard->size;
    sender->bytes -= heard->size;
    sender->count--;
    free(heard->asked);
    free(heard);
}

/* The sender is not removed, even when it has nothing any more. */
static void forget_oldest(struct mx_inbound *inbound, struct mx_sender *sender)
{
    struct mx_heard *heard = sender->oldest;

    sender->oldest = heard->newer;
    *(heard->newer ? &heard->newer->older : &sender->newest) = NULL;
    destroy(inbound, sender, heard);
}

/* Likewise. */
static void forget(struct mx_inbound *inbound, struct mx_sender *sender,
                   struct mx_heard *heard)
{
    if (heard == sender->oldest) {
        forget_oldest(inbound, sender);
        return;
    }
    heard->older->newer = heard->newer;
    *(heard->newer ? &heard->newer->older : &sender->newest) = heard->older;
    destroy(inbound, sender, heard);
}

/* A copy, counted for its sender and not yet in its list. */
static struct mx_heard *make(struct mx_inbound *inbound, const struct mx_asked *asked)
{
    struct mx_heard *heard = calloc(1, sizeof *heard);
    struct mx_asked *copy = mx_asked_copy(asked);
    struct mx_sender *sender = heard && copy ? sender_of(inbound, asked->from) : NULL;

    if (!sender) {
        free(copy);
        free(heard);
        return NULL;
    }
    heard->size = mx_asked_size(asked);
    heard->asked = copy;
    heard->id = copy->id;
    heard->sender = sender;
    sender->count++;
    sender->bytes += heard->size;
    inbound->bytes += heard->size;
    return heard;
}

enum mcpx_err mx_inbound_add(struct mx_inbound *inbound, const struct mx_asked *asked)
{
    struct mx_heard *before = find(inbound, asked->id), *heard;
    struct mx_sender *most;

    if (before && !mcpx_slice_equal(before->asked->from, asked->from))
        return MCPX_EDUPLICATE;
    if (!mx_map_reserve(&inbound->ids))
        return MCPX_ENOMEM;
    heard = make(inbound, asked);
    if (!heard)
        return MCPX_ENOMEM;
    if (before)
        forget(inbound, heard->sender, before);
    while ((inbound->ids.count >= inbound->max || inbound->bytes > MX_INBOUND_BYTES) &&
           (most = first_to_go(inbound, heard->sender)) != NULL) {
        forget_oldest(inbound, most);
        if (most != heard->sender)
            release_sender(inbound, most);
    }
    heard->older = heard->sender->newest;
    *(heard->older ? &heard->older->newer : &heard->sender->oldest) = heard;
    heard->sender->newest = heard;
    mx_map_put(&inbound->ids, mx_map_hash(inbound->key, asked->id), (uintptr_t)heard);
    return MCPX_OK;
}

void mx_inbound_remove(struct mx_inbound *inbound, struct mcpx_slice id)
{
    struct mx_heard *heard = find(inbound, id);
    struct mx_sender *sender = heard ? heard->sender : NULL;

    if (!heard)
        return;
    forget(inbound, sender, heard);
    release_sender(inbound, sender);
}

void mx_inbound_fini(struct mx_inbound *inbound)
{
    for (size_t at = 0; at < inbound->senders.size; at++) {
        struct mx_sender *sender =
            (struct mx_sender *)(uintptr_t)inbound->senders.slots[at].value;

        while (sender && sender->oldest)
            forget_oldest(inbound, sender);
        free(sender);
    }
    mx_map_fini(&inbound->senders);
    mx_map_fini(&inbound->ids);
}

/* ---- what came lately ---- */

enum { SIZE_FIRST = 64 };

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
    size_t size = recent->size ? recent->size * 2 : SIZE_FIRST;
    uint64_t *ring;

    if (!mx_map_reserve(&recent->set))
        return false;
    if (recent->next < recent->size || recent->size == recent->max)
        return true;
    if (size > recent->max)
        size = recent->max;
    ring = realloc(recent->ring, size * sizeof *ring);
    if (!ring)
        return false;
    recent->ring = ring;
    recent->size = size;
    return true;
}

void mx_recent_note(struct mx_recent *recent, uint64_t digest)
{
    if (recent->next == recent->size)
        recent->next = 0;
    if (recent->set.count == recent->size) /* the ring is full: its oldest is forgotten */
        mx_map_remove(&recent->set, recent->ring[recent->next], 1);
    recent->ring[recent->next++] = digest;
    mx_map_put(&recent->set, digest, 1);
}
