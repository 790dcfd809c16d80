/*
 * map.c - the one hash table of the hub. Keys stay with their owners: the map knows hashes and
 * numbers, so it serves message ids and topic names alike and never frees anything but itself.
 * Includes map.h only.
 */
#include "router/hub/map.h"

#include <assert.h>
#include <stdlib.h>

enum { SIZE_FIRST = 16 };

static uint64_t rotate(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1], v[1] = rotate(v[1], 13) ^ v[0], v[0] = rotate(v[0], 32);
    v[2] += v[3], v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3], v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1], v[1] = rotate(v[1], 17) ^ v[2], v[2] = rotate(v[2], 32);
}

/* Up to eight bytes, the first one lowest, whatever the machine's own order. */
static uint64_t load_word(const char *bytes, size_t count)
{
    uint64_t word = 0;

    for (size_t i = 0; i < count; i++)
        word |= (uint64_t)(unsigned char)bytes[i] << (8 * i);
    return word;
}

static void sip_absorb(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    sip_round(v);
    v[0] ^= word;
}

uint64_t map_hash(struct map_key key, struct mcpx_slice text)
{
    uint64_t v[4] = {key.words[0] ^ 0x736f6d6570736575, key.words[1] ^ 0x646f72616e646f6d,
                     key.words[0] ^ 0x6c7967656e657261, key.words[1] ^ 0x7465646279746573};
    size_t whole = text.len - text.len % 8;

    for (size_t at = 0; at < whole; at += 8)
        sip_absorb(v, load_word(text.text + at, 8));
    sip_absorb(v, (uint64_t)text.len << 56 |
                      (whole < text.len ? load_word(text.text + whole, text.len - whole) : 0));
    v[2] ^= 0xff;
    for (int i = 0; i < 4; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void map_fini(struct map *map)
{
    free(map->slots);
    *map = (struct map){0};
}

static void place(struct map *map, uint64_t hash, uint64_t value)
{
    size_t mask = map->size - 1;
    size_t at = (size_t)hash & mask;

    while (map->slots[at].value)
        at = (at + 1) & mask;
    map->slots[at] = (struct map_slot){hash, value};
}

bool map_reserve(struct map *map)
{
    struct map bigger = {.size = map->size ? map->size * 2 : SIZE_FIRST};

    if ((map->count + 1) * 2 <= map->size)
        return true;
    bigger.slots = calloc(bigger.size, sizeof *bigger.slots);
    if (!bigger.slots)
        return false;
    for (size_t at = 0; at < map->size; at++)
        if (map->slots[at].value)
            place(&bigger, map->slots[at].hash, map->slots[at].value);
    bigger.count = map->count;
    free(map->slots);
    *map = bigger;
    return true;
}

void map_put(struct map *map, uint64_t hash, uint64_t value)
{
    assert(value != 0 && map->count < map->size);
    place(map, hash, value);
    map->count++;
}

uint64_t map_next(const struct map *map, uint64_t hash, size_t *at)
{
    if (map->size == 0)
        return 0;
    for (;;) {
        const struct map_slot *slot = &map->slots[((size_t)hash + (*at)++) & (map->size - 1)];

        if (slot->value == 0 || slot->hash == hash)
            return slot->value;
    }
}

/*
 * Closes the gap at `gap` by moving back every later slot of the same cluster that may stand
 * there, so that a search never needs to step over the dead.
 */
static void close_gap(struct map *map, size_t gap)
{
    size_t mask = map->size - 1;

    for (size_t at = (gap + 1) & mask; map->slots[at].value; at = (at + 1) & mask) {
        size_t home = (size_t)map->slots[at].hash & mask;

        if (((at - home) & mask) < ((at - gap) & mask))
            continue;
        map->slots[gap] = map->slots[at];
        gap = at;
    }
    map->slots[gap] = (struct map_slot){0};
}

void map_remove(struct map *map, uint64_t hash, uint64_t value)
{
    size_t mask = map->size - 1;

    if (map->size == 0)
        return;
    for (size_t at = (size_t)hash & mask; map->slots[at].value; at = (at + 1) & mask) {
        if (map->slots[at].hash != hash || map->slots[at].value != value)
            continue;
        close_gap(map, at);
        map->count--;
        return;
    }
}
