/* arena.h - memory taken piece by piece and freed all at once, or back to a mark. */
#ifndef MX_ARENA_H
#define MX_ARENA_H

#include <mcpx/base.h>

struct mx_arena_block;

/** An arena. Zero-initialised is empty and without a bound. */
struct mx_arena {
    struct mx_arena_block *block; /* the newest */
    size_t used;                  /* bytes in use */
    size_t bytes;                 /* bytes of memory that it holds */
    size_t limit;                 /* maximum of `used`; 0 = no bound */
};

/** A point in an arena's life. */
struct mx_arena_mark {
    struct mx_arena_block *block;
    size_t block_used;
    size_t used;
};

/** Gives all memory back. */
void mx_arena_fini(struct mx_arena *arena);

/**
 * Takes zeroed memory, aligned for anything; NULL when memory runs out or the limit is reached.
 * `bytes` may be 0.
 */
void *mx_arena_take(struct mx_arena *arena, size_t bytes);

/** Takes a copy of a slice; its text is NULL when memory runs out. */
struct mcpx_slice mx_arena_copy(struct mx_arena *arena, struct mcpx_slice text);

/** Marks a point to go back to. */
struct mx_arena_mark mx_arena_mark(const struct mx_arena *arena);

/** Frees all pieces taken since. Keeps the first block for later ones. */
void mx_arena_release(struct mx_arena *arena, struct mx_arena_mark mark);

#endif
