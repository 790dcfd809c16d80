/*
 * arena.c - blocks that double in size, each used from its beginning. A compiled schema is some
 * hundred pieces freed together, an evaluation a few freed in reverse order; an allocation for each
 * would cost more than all the rest.
 */
#include "lib/base/arena.h"

#include <stdlib.h>

enum { BLOCK_MIN = 1024, ALIGNMENT = 16 };

struct mx_arena_block {
    struct mx_arena_block *older;
    size_t size;
    size_t used;
    size_t pad; /* keeps the memory behind it aligned */
};

_Static_assert(sizeof(struct mx_arena_block) % ALIGNMENT == 0, "memory is aligned");

void mx_arena_fini(struct mx_arena *arena)
{
    while (arena->block) {
        struct mx_arena_block *older = arena->block->older;

        free(arena->block);
        arena->block = older;
    }
    arena->used = 0;
    arena->bytes = 0;
}

static bool add_block(struct mx_arena *arena, size_t bytes)
{
    size_t size = arena->block ? arena->block->size * 2 : BLOCK_MIN;
    struct mx_arena_block *block;

    while (size < bytes)
        size *= 2;
    block = malloc(sizeof *block + size);
    if (!block)
        return false;
    *block = (struct mx_arena_block){arena->block, size, 0, 0};
    arena->block = block;
    arena->bytes += sizeof *block + size;
    return true;
}

void *mx_arena_take(struct mx_arena *arena, size_t bytes)
{
    void *taken;

    if (bytes > SIZE_MAX / 4)
        return NULL;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (arena->limit && arena->limit - arena->used < bytes)
        return NULL;
    if ((!arena->block || arena->block->size - arena->block->used < bytes) &&
        !add_block(arena, bytes))
        return NULL;
    taken = (char *)(arena->block + 1) + arena->block->used;
    arena->block->used += bytes;
    arena->used += bytes;
    memset(taken, 0, bytes);
    return taken;
}

struct mcpx_slice mx_arena_copy(struct mx_arena *arena, struct mcpx_slice text)
{
    char *copy = mx_arena_take(arena, text.len);

    if (copy && text.len)
        memcpy(copy, text.text, text.len);
    return (struct mcpx_slice){copy, copy ? text.len : 0};
}

struct mx_arena_mark mx_arena_mark(const struct mx_arena *arena)
{
    return (struct mx_arena_mark){arena->block, arena->block ? arena->block->used : 0,
                                  arena->used};
}

void mx_arena_release(struct mx_arena *arena, struct mx_arena_mark mark)
{
    while (arena->block != mark.block && arena->block->older) {
        struct mx_arena_block *older = arena->block->older;

        arena->bytes -= sizeof *arena->block + arena->block->size;
        free(arena->block);
        arena->block = older;
    }
    if (arena->block)
        arena->block->used = arena->block == mark.block ? mark.block_used : 0;
    arena->used = mark.used;
}
