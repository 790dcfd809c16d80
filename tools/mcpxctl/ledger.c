/*
 * ledger.c - entries in order, and two sorted lists of them for lookups.
 */
#include "tools/mcpxctl/ledger.h"

#include "lib/core/room.h"

#include <stdlib.h>

void ledger_fini(struct ledger *ledger)
{
    for (size_t i = 0; i < ledger->count; i++)
        entry_free(ledger->entries[i]);
    free(ledger->entries);
    free(ledger->sorted);
    free(ledger->related);
    *ledger = (struct ledger){.count = 0};
}

enum mcpx_err ledger_add(struct ledger *ledger, struct entry *entry)
{
    struct entry **entries =
        mx_room(ledger->entries, ledger->count, &ledger->size, sizeof *entries);

    if (!entries) {
        entry_free(entry);
        return MCPX_ENOMEM;
    }
    ledger->entries = entries;
    ledger->entries[ledger->count++] = entry;
    return MCPX_OK;
}

void ledger_reverse(struct ledger *ledger)
{
    for (size_t i = 0; i < ledger->count / 2; i++) {
        struct entry *entry = ledger->entries[i];

        ledger->entries[i] = ledger->entries[ledger->count - 1 - i];
        ledger->entries[ledger->count - 1 - i] = entry;
    }
}

static int by_id(const void *a, const void *b)
{
    const struct entry *left = *(struct entry *const *)a, *right = *(struct entry *const *)b;

    return mcpx_slice_compare(left->id, right->id);
}

static int by_relation(const void *a, const void *b)
{
    const struct entry *left = *(struct entry *const *)a, *right = *(struct entry *const *)b;
    int order = mcpx_slice_compare(left->correlation_id, right->correlation_id);

    return order ? order : left->index < right->index ? -1 : left->index > right->index;
}

static struct entry **sorted_copy(const struct ledger *ledger,
                                  int (*order)(const void *, const void *))
{
    struct entry **copy = malloc((ledger->count + 1) * sizeof *copy);

    if (!copy)
        return NULL;
    if (ledger->count > 0)
        memcpy(copy, ledger->entries, ledger->count * sizeof *copy);
    qsort(copy, ledger->count, sizeof *copy, order);
    return copy;
}

enum mcpx_err ledger_seal(struct ledger *ledger)
{
    for (size_t i = 0; i < ledger->count; i++)
        ledger->entries[i]->index = i;
    ledger->sorted = sorted_copy(ledger, by_id);
    ledger->related = sorted_copy(ledger, by_relation);
    return ledger->sorted && ledger->related ? MCPX_OK : MCPX_ENOMEM;
}

/* How many of the sorted entries stand before `id`. */
static size_t place_of(const struct ledger *ledger, struct mcpx_slice id)
{
    size_t low = 0, high = ledger->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (mcpx_slice_compare(ledger->sorted[middle]->id, id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct entry *ledger_get(const struct ledger *ledger, struct mcpx_slice id)
{
    size_t place = place_of(ledger, id);

    if (place < ledger->count && mcpx_slice_equal(ledger->sorted[place]->id, id))
        return ledger->sorted[place];
    return NULL;
}

static bool begins_with(const struct entry *entry, struct mcpx_slice word)
{
    return entry->id.len >= word.len && memcmp(entry->id.text, word.text, word.len) == 0;
}

enum mcpx_err ledger_find(const struct ledger *ledger, struct mcpx_slice word,
                          const struct entry **out)
{
    size_t place = place_of(ledger, word);

    if (word.len == 0 || place == ledger->count || !begins_with(ledger->sorted[place], word))
        return MCPX_ENOTFOUND;
    if (ledger->sorted[place]->id.len > word.len && place + 1 < ledger->count &&
        begins_with(ledger->sorted[place + 1], word))
        return MCPX_EDUPLICATE;
    *out = ledger->sorted[place];
    return MCPX_OK;
}

struct entry *const *ledger_beginning(const struct ledger *ledger, struct mcpx_slice word,
                                      size_t *count)
{
    size_t place = place_of(ledger, word), end = place;

    while (end < ledger->count && begins_with(ledger->sorted[end], word))
        end++;
    *count = end - place;
    return ledger->sorted + place;
}

struct entry *const *ledger_about(const struct ledger *ledger, struct mcpx_slice id,
                                  size_t *count)
{
    size_t low = 0, high = ledger->count, end;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (mcpx_slice_compare(ledger->related[middle]->correlation_id, id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low;
         end < ledger->count && mcpx_slice_equal(ledger->related[end]->correlation_id, id);)
        end++;
    *count = end - low;
    return ledger->related + low;
}

static size_t common_length(struct mcpx_slice a, struct mcpx_slice b)
{
    size_t len = 0;

    while (len < a.len && len < b.len && a.text[len] == b.text[len])
        len++;
    return len;
}

struct mcpx_slice ledger_brief(const struct ledger *ledger, const struct entry *entry,
                               size_t least)
{
    size_t place = place_of(ledger, entry->id), len = least;

    if (place > 0) {
        size_t common = common_length(ledger->sorted[place - 1]->id, entry->id);

        len = common >= len ? common + 1 : len;
    }
    if (place + 1 < ledger->count) {
        size_t common = common_length(ledger->sorted[place + 1]->id, entry->id);

        len = common >= len ? common + 1 : len;
    }
    while (len < entry->id.len && ((unsigned char)entry->id.text[len] & 0xc0) == 0x80)
        len++;
    return (struct mcpx_slice){entry->id.text, len < entry->id.len ? len : entry->id.len};
}
