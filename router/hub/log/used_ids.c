/*
 * used_ids.c - a ring of digests per sender. They are the keyed hashes of the log's index, so a
 * sender cannot choose an id with the digest of another. With 64 bits an accidental match is
 * unlikely. Rejected: one ring for all senders; one busy sender would evict the ids of the others.
 */
#include "router/hub/log/log.h"

#include <stdlib.h>

enum { RING_FIRST = 8 };

/*
 * One sender's ids, in a ring once there are USED_IDS_MAX.
 *
 * said   envelopes it has sent, counted as far as the ring must grow for them
 */
struct share {
    struct link link;
    uint32_t sender;
    uint32_t said, size, count, next;
    uint64_t *ring;
};

static void share_free(struct used_ids *used_ids, struct share *share)
{
    list_remove(&share->link);
    mx_map_remove(&used_ids->senders, share->sender, (uintptr_t)share);
    used_ids->bytes -= sizeof *share + share->size * sizeof *share->ring;
    free(share->ring);
    free(share);
}

void used_ids_fini(struct used_ids *used_ids)
{
    LIST_EACH(link, &used_ids->shares)
        share_free(used_ids, LIST_ELEMENT(link, struct share, link));
    mx_map_fini(&used_ids->senders);
}

bool used_ids_forget(struct used_ids *used_ids, struct mx_map *ids)
{
    struct share *share = LIST_FIRST(&used_ids->shares, struct share, link);

    if (!share)
        return false;
    for (uint32_t i = 0; i < share->count; i++)
        mx_map_remove(ids, share->ring[i], USED_VALUE);
    share_free(used_ids, share);
    return true;
}

static struct share *share_find(const struct used_ids *used_ids, uint32_t sender)
{
    size_t at = 0;

    return (struct share *)(uintptr_t)mx_map_next(&used_ids->senders, sender, &at);
}

static struct share *share_make(struct used_ids *used_ids, struct mx_map *ids, uint32_t sender)
{
    struct share *share = calloc(1, sizeof *share);

    if (!share)
        return NULL;
    if (used_ids->senders.count == USED_SENDERS_MAX)
        used_ids_forget(used_ids, ids);
    if (!mx_map_reserve(&used_ids->senders)) {
        free(share);
        return NULL;
    }
    share->sender = sender;
    list_init(&share->link);
    mx_map_put(&used_ids->senders, sender, (uintptr_t)share);
    used_ids->bytes += sizeof *share;
    return share;
}

/* Doubles the ring; it is not full before it has its last size, so it has not turned yet. */
static bool share_grow(struct used_ids *used_ids, struct share *share)
{
    uint32_t size = share->size ? share->size * 2 : RING_FIRST;
    uint64_t *ring = realloc(share->ring, size * sizeof *ring);

    if (!ring)
        return false;
    share->ring = ring;
    used_ids->bytes += (size - share->size) * sizeof *ring;
    share->size = size;
    return true;
}

bool used_ids_reserve(struct used_ids *used_ids, struct mx_map *ids, uint32_t sender)
{
    struct share *share = share_find(used_ids, sender);

    if (!share)
        share = share_make(used_ids, ids, sender);
    if (!share)
        return false;
    list_remove(&share->link);
    list_append(&used_ids->shares, &share->link);
    if (share->said == USED_IDS_MAX)
        return true;
    if (share->said == share->size && !share_grow(used_ids, share))
        return false;
    share->said++;
    return true;
}

void used_ids_note(struct used_ids *used_ids, struct mx_map *ids, uint32_t sender,
                   struct mx_map_slot retained)
{
    struct share *share = share_find(used_ids, sender);

    mx_map_remove(ids, retained.hash, retained.value);
    /* A share that was forgotten and made anew has no room for earlier ids. */
    if (!share || (share->count == share->size && share->size < USED_IDS_MAX))
        return;
    if (share->count == USED_IDS_MAX)
        mx_map_remove(ids, share->ring[share->next], USED_VALUE);
    else
        share->count++;
    share->ring[share->next++] = retained.hash;
    share->next %= USED_IDS_MAX;
    mx_map_put(ids, retained.hash, USED_VALUE);
}
