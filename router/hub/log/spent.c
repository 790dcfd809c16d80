/*
 * spent.c - a ring of digests per sender. They are the keyed hashes that the log's index has
 * anyway, so nobody can choose an id that looks like another's, and 64 bits make it unlikely that
 * two do by themselves. One ring for all senders was refused: whoever talks much would empty it for
 * all.
 */
#include "router/hub/log/log.h"

#include <stdlib.h>

enum { RING_FIRST = 8 };

/*
 * One sender's ids, in a ring once there are SPENT_IDS_MAX.
 *
 * said   envelopes it has said, counted as far as the ring has to grow for them
 */
struct share {
    struct link link;
    uint32_t sender;
    uint32_t said, size, count, next;
    uint64_t *ring;
};

static void share_free(struct spent *spent, struct share *share)
{
    list_remove(&share->link);
    mx_map_remove(&spent->senders, share->sender, (uintptr_t)share);
    spent->bytes -= sizeof *share + share->size * sizeof *share->ring;
    free(share->ring);
    free(share);
}

void spent_fini(struct spent *spent)
{
    LIST_EACH(link, &spent->shares)
        share_free(spent, LIST_ELEMENT(link, struct share, link));
    mx_map_fini(&spent->senders);
}

bool spent_forget(struct spent *spent, struct mx_map *ids)
{
    struct share *share = LIST_FIRST(&spent->shares, struct share, link);

    if (!share)
        return false;
    for (uint32_t i = 0; i < share->count; i++)
        mx_map_remove(ids, share->ring[i], SPENT_VALUE);
    share_free(spent, share);
    return true;
}

static struct share *share_find(const struct spent *spent, uint32_t sender)
{
    size_t at = 0;

    return (struct share *)(uintptr_t)mx_map_next(&spent->senders, sender, &at);
}

static struct share *share_make(struct spent *spent, struct mx_map *ids, uint32_t sender)
{
    struct share *share = calloc(1, sizeof *share);

    if (!share)
        return NULL;
    if (spent->senders.count == SPENT_SENDERS_MAX)
        spent_forget(spent, ids);
    if (!mx_map_reserve(&spent->senders)) {
        free(share);
        return NULL;
    }
    share->sender = sender;
    list_init(&share->link);
    mx_map_put(&spent->senders, sender, (uintptr_t)share);
    spent->bytes += sizeof *share;
    return share;
}

/* Doubles the ring; it is not full before it has its last size, so it has not turned yet. */
static bool share_grow(struct spent *spent, struct share *share)
{
    uint32_t size = share->size ? share->size * 2 : RING_FIRST;
    uint64_t *ring = realloc(share->ring, size * sizeof *ring);

    if (!ring)
        return false;
    share->ring = ring;
    spent->bytes += (size - share->size) * sizeof *ring;
    share->size = size;
    return true;
}

bool spent_reserve(struct spent *spent, struct mx_map *ids, uint32_t sender)
{
    struct share *share = share_find(spent, sender);

    if (!share)
        share = share_make(spent, ids, sender);
    if (!share)
        return false;
    list_remove(&share->link);
    list_append(&spent->shares, &share->link);
    if (share->said == SPENT_IDS_MAX)
        return true;
    if (share->said == share->size && !share_grow(spent, share))
        return false;
    share->said++;
    return true;
}

void spent_note(struct spent *spent, struct mx_map *ids, uint32_t sender,
                struct mx_map_slot retained)
{
    struct share *share = share_find(spent, sender);

    mx_map_remove(ids, retained.hash, retained.value);
    /* A share that was forgotten and made anew has no room for what was said before that. */
    if (!share || (share->count == share->size && share->size < SPENT_IDS_MAX))
        return;
    if (share->count == SPENT_IDS_MAX)
        mx_map_remove(ids, share->ring[share->next], SPENT_VALUE);
    else
        share->count++;
    share->ring[share->next++] = retained.hash;
    share->next %= SPENT_IDS_MAX;
    mx_map_put(ids, retained.hash, SPENT_VALUE);
}
