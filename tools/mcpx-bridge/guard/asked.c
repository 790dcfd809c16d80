/*
 * asked.c - an array of slots, each with one allocation that holds a request's texts. A lookup
 * compares a 32-bit hash per slot, and then the texts. A few thousand comparisons of adjacent
 * numbers take less time than parsing one message. The search for the oldest is also such a
 * walk. A ring was refused: it would forget the oldest slot even when others are free.
 */
#include "tools/mcpx-bridge/guard/asked.h"

#include "tools/mcpx-bridge/copy.h"

#include <stdlib.h>

/* Texts of a request, in one allocation behind the addressees. */
struct entry {
    struct mcpx_slice self, id, method, context;
    size_t to_count;
    struct mcpx_slice to[];
};

struct guard_asked {
    size_t max;
    uint64_t last_serial;
    uint32_t *hashes;  /* of self and id; 0 = the slot is free */
    uint64_t *serials; /* the order of the requests; 0 = the slot is free */
    struct entry **entries;
};

enum mcpx_err guard_asked_new(size_t max, struct guard_asked **out)
{
    struct guard_asked *asked = calloc(1, sizeof *asked);

    if (asked) {
        asked->max = max;
        asked->hashes = calloc(max, sizeof *asked->hashes);
        asked->serials = calloc(max, sizeof *asked->serials);
        asked->entries = calloc(max, sizeof *asked->entries);
    }
    if (!asked || !asked->hashes || !asked->serials || !asked->entries) {
        guard_asked_free(asked);
        return MCPX_ENOMEM;
    }
    *out = asked;
    return MCPX_OK;
}

void guard_asked_free(struct guard_asked *asked)
{
    if (!asked)
        return;
    for (size_t i = 0; asked->entries && i < asked->max; i++)
        free(asked->entries[i]);
    free(asked->entries);
    free(asked->hashes);
    free(asked->serials);
    free(asked);
}

/* FNV-1a. An attacker gains nothing from collisions: the texts are compared too. */
static uint32_t hash_more(uint32_t hash, struct mcpx_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (unsigned char)text.text[i]) * 16777619u;
    return (hash ^ 0xff) * 16777619u;
}

static uint32_t hash_of(struct mcpx_slice self, struct mcpx_slice id)
{
    uint32_t hash = hash_more(hash_more(2166136261u, self), id);

    return hash ? hash : 1;
}

/* Returns asked->max when there is none. */
static size_t slot_of(const struct guard_asked *asked, struct mcpx_slice self,
                      struct mcpx_slice id)
{
    uint32_t hash = hash_of(self, id);

    for (size_t i = 0; i < asked->max; i++)
        if (asked->hashes[i] == hash && mcpx_slice_equal(asked->entries[i]->id, id) &&
            mcpx_slice_equal(asked->entries[i]->self, self))
            return i;
    return asked->max;
}

static void clear(struct guard_asked *asked, size_t slot)
{
    free(asked->entries[slot]);
    asked->entries[slot] = NULL;
    asked->hashes[slot] = 0;
    asked->serials[slot] = 0;
}

/* A free slot comes before the oldest, because its serial is 0. */
static size_t oldest_slot(const struct guard_asked *asked)
{
    size_t oldest = 0;

    for (size_t i = 0; i < asked->max && asked->serials[oldest]; i++)
        if (asked->serials[i] < asked->serials[oldest])
            oldest = i;
    return oldest;
}

static struct entry *entry_new(struct mcpx_slice self, const struct mcpx_envelope *envelope,
                               struct mcpx_slice context)
{
    size_t texts = self.len + envelope->id.len + envelope->kind.method.len + context.len;
    struct entry *entry;
    char *at;

    for (size_t i = 0; i < envelope->to_count; i++)
        texts += envelope->to[i].len;
    entry = malloc(sizeof *entry + envelope->to_count * sizeof *entry->to + texts);
    if (!entry)
        return NULL;
    at = (char *)(entry->to + envelope->to_count);
    entry->self = bridge_copy(&at, self);
    entry->id = bridge_copy(&at, envelope->id);
    entry->method = bridge_copy(&at, envelope->kind.method);
    entry->context = bridge_copy(&at, context);
    entry->to_count = envelope->to_count;
    for (size_t i = 0; i < envelope->to_count; i++)
        entry->to[i] = bridge_copy(&at, envelope->to[i]);
    return entry;
}

enum mcpx_err guard_asked_add(struct guard_asked *asked, struct mcpx_slice self,
                              const struct mcpx_envelope *envelope, const struct mcpx_rpc *rpc)
{
    struct mcpx_slice context =
        envelope->kind.context.text ? envelope->kind.context : rpc->context;
    struct entry *entry = entry_new(self, envelope, context);
    size_t slot = slot_of(asked, self, envelope->id);

    if (!entry)
        return MCPX_ENOMEM;
    if (slot == asked->max)
        slot = oldest_slot(asked);
    clear(asked, slot);
    asked->entries[slot] = entry;
    asked->serials[slot] = ++asked->last_serial;
    asked->hashes[slot] = hash_of(self, envelope->id);
    return MCPX_OK;
}

bool guard_asked_find(const struct guard_asked *asked, struct mcpx_slice self,
                      struct mcpx_slice id, struct guard_question *out)
{
    size_t slot = slot_of(asked, self, id);
    const struct entry *entry;

    if (slot == asked->max)
        return false;
    entry = asked->entries[slot];
    *out = (struct guard_question){entry->to, entry->to_count, entry->method, entry->context};
    return true;
}

void guard_asked_remove(struct guard_asked *asked, struct mcpx_slice self,
                        struct mcpx_slice id)
{
    size_t slot = slot_of(asked, self, id);

    if (slot != asked->max)
        clear(asked, slot);
}
