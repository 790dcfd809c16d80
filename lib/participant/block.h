/*
 * block.h - a text with several holders: a message from its arrival until the last event about
 * it, an envelope of ours from its composition until its echo.
 */
#ifndef MX_BLOCK_H
#define MX_BLOCK_H

#include <mcpx/base.h>

/** Immutable once made. */
struct mx_block {
    size_t refs;
    size_t len;
    char text[];
};

/** Copies a text. Returns a block with one reference, or NULL when memory runs out. */
struct mx_block *mx_block_new(struct mcpx_slice text);

/** Takes one more reference and returns the block; NULL is allowed. */
struct mx_block *mx_block_ref(struct mx_block *block);

/** Gives one reference back; the last one frees the block. NULL is allowed. */
void mx_block_unref(struct mx_block *block);

/** The text, lent as long as the block is held. */
static inline struct mcpx_slice mx_block_text(const struct mx_block *block)
{
    return (struct mcpx_slice){block->text, block->len};
}

#endif
