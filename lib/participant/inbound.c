/*
 * inbound.c - a hash table with a secret key, because others choose the ids, and for each
 * sender a list in order of arrival. When a sender floods us, its own oldest requests are
 * forgotten, never those of another sender. A ring was refused, because requests are answered
 * in any order. When something has to be forgotten, all senders that have anything are searched
 * for the one with most; a sorted structure was refused, because such senders are few.
 */
#include "lib/participant/inbound.h"

#include "lib/core/room.h"

#include <stdlib.h>

static struct mx_heard *find(const struct mx_inbound *inbound, struct mcpx_slice id)
{
    uint64_t hash = mx_map_hash(inbound->key, id);
    uint64_t value;
    size_t at = 0;

    while ((value = mx_map_next(&inbound->ids, hash, &at))) {
        struct mx_heard *heard = (struct mx_heard *)(uintptr_t)value;

        if (mcpx_slice_equal(heard->asked->id, id))
            return heard;
    }
    return NULL;
}

const struct mx_asked *mx_inbound_find(const struct mx_inbound *inbound, struct mcpx_slice id)
{
    struct mx_heard *heard = id.text ? find(inbound, id) : NULL;

    return heard ? heard->asked : NULL;
}

/* ---- senders ---- */

static struct mx_sender *find_sender(const struct mx_inbound *inbound, struct mcpx_slice id)
{
    uint64_t hash = mx_map_hash(inbound->key, id);
    uint64_t value;
    size_t at = 0;

    while ((value = mx_map_next(&inbound->names, hash, &at))) {
        struct mx_sender *sender = (struct mx_sender *)(uintptr_t)value;

        if (mcpx_slice_equal(sender->id, id))
            return sender;
    }
    return NULL;
}

static bool list_sender(struct mx_inbound *inbound, struct mx_sender *sender)
{
    struct mx_sender **senders = mx_room(inbound->senders, inbound->sender_count,
                                         &inbound->sender_size, sizeof *senders);

    if (!senders)
        return false;
    inbound->senders = senders;
    if (!mx_map_reserve(&inbound->names))
        return false;
    sender->at = inbound->sender_count;
    inbound->senders[inbound->sender_count++] = sender;
    mx_map_put(&inbound->names, mx_map_hash(inbound->key, sender->id), (uintptr_t)sender);
    return true;
}

/* The sender behind an id, all its instances together; NULL when memory ran out. */
static struct mx_sender *sender_of(struct mx_inbound *inbound, struct mcpx_slice from)
{
    struct mcpx_slice id = mcpx_identity_of(from);
    struct mx_sender *sender = find_sender(inbound, id);

    if (sender)
        return sender;
    sender = calloc(1, sizeof *sender + id.len + 1);
    if (!sender)
        return NULL;
    if (id.len)
        memcpy(sender + 1, id.text, id.len);
    sender->id = (struct mcpx_slice){(char *)(sender + 1), id.len};
    if (list_sender(inbound, sender))
        return sender;
    free(sender);
    return NULL;
}

/* Removes a sender that has nothing any more. */
static void release_sender(struct mx_inbound *inbound, struct mx_sender *sender)
{
    if (sender->count)
        return;
    mx_map_remove(&inbound->names, mx_map_hash(inbound->key, sender->id), (uintptr_t)sender);
    inbound->senders[sender->at] = inbound->senders[--inbound->sender_count];
    inbound->senders[sender->at]->at = sender->at;
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

    for (size_t i = 0; i < inbound->sender_count; i++) {
        struct mx_sender *sender = inbound->senders[i];

        if (sender->oldest && (!most || weight_of(inbound, sender) > weight_of(inbound, most)))
            most = sender;
    }
    return most;
}

/* ---- what they asked ---- */

static void count(struct mx_inbound *inbound, struct mx_heard *heard)
{
    heard->sender->count++;
    heard->sender->bytes += heard->size;
    inbound->bytes += heard->size;
}

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
    heard->sender = sender;
    count(inbound, heard);
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
    for (size_t i = 0; i < inbound->sender_count; i++) {
        struct mx_sender *sender = inbound->senders[i];

        while (sender->oldest)
            forget_oldest(inbound, sender);
        free(sender);
    }
    free(inbound->senders);
    inbound->senders = NULL;
    inbound->sender_count = inbound->sender_size = 0;
    mx_map_fini(&inbound->names);
    mx_map_fini(&inbound->ids);
}
