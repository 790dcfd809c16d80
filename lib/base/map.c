/*
 * map.c - the one hash table. Keys stay with their owners: the map knows hashes and
 * numbers, so it serves message ids and topic names alike and never frees anything but itself.
 */
#include "lib/base/map.h"

#include "lib/base/plain.h"

#include <assert.h>
#include <stdlib.h>

enum { SIZE_FIRST = 16 };

static inline uint64_t rotate(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

/* By value: with its state in memory a round is stores and loads, at three times the cost. */
struct sip {
    uint64_t a, b, c, d;
};

static inline struct sip sip_round(struct sip v)
{
    v.a += v.b, v.b = rotate(v.b, 13) ^ v.a, v.a = rotate(v.a, 32);
    v.c += v.d, v.d = rotate(v.d, 16) ^ v.c;
    v.a += v.d, v.d = rotate(v.d, 21) ^ v.a;
    v.c += v.b, v.b = rotate(v.b, 17) ^ v.c, v.c = rotate(v.c, 32);
    return v;
}

static inline struct sip sip_absorb(struct sip v, uint64_t word)
{
    v.d ^= word;
    v = sip_round(sip_round(v));
    v.a ^= word;
    return v;
}

/* The last, fewer than eight bytes, the first one lowest, and the length on top. */
static uint64_t last_word(const unsigned char *bytes, size_t len)
{
    uint64_t word = (uint64_t)len << 56;

    for (size_t i = 0; i < len % 8; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

uint64_t mx_map_hash(struct mx_map_key key, struct mcpx_slice text)
{
    struct sip v = {key.words[0] ^ 0x736f6d6570736575, key.words[1] ^ 0x646f72616e646f6d,
                    key.words[0] ^ 0x6c7967656e657261, key.words[1] ^ 0x7465646279746573};
    const unsigned char *bytes = (const unsigned char *)(text.len ? text.text : "");
    size_t whole = text.len - text.len % 8;

    for (size_t at = 0; at < whole; at += 8)
        v = sip_absorb(v, mx_plain_load(bytes + at));
    v = sip_absorb(v, last_word(bytes + whole, text.len));
    v.c ^= 0xff;
    v = sip_round(sip_round(sip_round(sip_round(v))));
    return v.a ^ v.b ^ v.c ^ v.d;
}

void mx_map_fini(struct mx_map *map)
{
    free(map->slots);
    *map = (struct mx_map){0};
}

static void place(struct mx_map *map, uint64_t hash, uint64_t value)
{
    size_t mask = map->size - 1;
    size_t at = (size_t)hash & mask;

    while (map->slots[at].value)
        at = (at + 1) & mask;
    map->slots[at] = (struct mx_map_slot){hash, value};
}

static bool resize(struct mx_map *map, size_t size)
{
    struct mx_map other = {.size = size, .count = map->count};

    other.slots = calloc(size, sizeof *other.slots);
    if (!other.slots)
        return false;
    for (size_t at = 0; at < map->size; at++)
        if (map->slots[at].value)
            place(&other, map->slots[at].hash, map->slots[at].value);
    free(map->slots);
    *map = other;
    return true;
}

bool mx_map_reserve(struct mx_map *map)
{
    if ((map->count + 1) * 2 <= map->size)
        return true;
    return resize(map, map->size ? map->size * 2 : SIZE_FIRST);
}

void mx_map_fit(struct mx_map *map)
{
    size_t size = map->size;

    while (size > SIZE_FIRST && map->count * 8 <= size)
        size /= 2;
    if (map->count == 0)
        mx_map_fini(map);
    else if (size < map->size)
        (void)resize(map, size);
}

size_t mx_map_growth(const struct mx_map *map)
{
    if ((map->count + 1) * 2 <= map->size)
        return 0;
    return (map->size ? map->size : SIZE_FIRST) * sizeof *map->slots;
}

void mx_map_put(struct mx_map *map, uint64_t hash, uint64_t value)
{
    assert(value != 0 && map->count < map->size);
    place(map, hash, value);
    map->count++;
}

uint64_t mx_map_next(const struct mx_map *map, uint64_t hash, size_t *at)
{
    if (map->size == 0)
        return 0;
    for (;;) {
        const struct mx_map_slot *slot =
            &map->slots[((size_t)hash + (*at)++) & (map->size - 1)];

        if (slot->value == 0 || slot->hash == hash)
            return slot->value;
    }
}

/* Closes the gap at `gap`: moves back every later slot of the same cluster that may stand there, so
 * a search never meets removed slots. */
static void close_gap(struct mx_map *map, size_t gap)
{
    size_t mask = map->size - 1;

    for (size_t at = (gap + 1) & mask; map->slots[at].value; at = (at + 1) & mask) {
        size_t home = (size_t)map->slots[at].hash & mask;

        if (((at - home) & mask) < ((at - gap) & mask))
            continue;
        map->slots[gap] = map->slots[at];
        gap = at;
    }
    map->slots[gap] = (struct mx_map_slot){0};
}

void *mx_map_find(const struct mx_map *map, uint64_t hash, size_t offset,
                  struct mcpx_slice name)
{
    size_t at = 0;
    uint64_t value;

    while ((value = mx_map_next(map, hash, &at))) {
        char *object = (char *)(uintptr_t)value;

        if (mcpx_slice_equal(*(struct mcpx_slice *)(void *)(object + offset), name))
            return object;
    }
    return NULL;
}

void mx_map_remove(struct mx_map *map, uint64_t hash, uint64_t value)
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
