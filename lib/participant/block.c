/*
 * block.c - texts with a reference count. They have no single owner: an event may live longer
 * than the message's place in the outbox, or shorter.
 */
#include "lib/participant/block.h"

#include <stdlib.h>

struct mx_block *mx_block_new(struct mcpx_slice text)
{
    struct mx_block *block = malloc(sizeof *block + text.len + 1);

    if (!block)
        return NULL;
    block->refs = 1;
    block->len = text.len;
    if (text.len)
        memcpy(block->text, text.text, text.len);
    block->text[text.len] = '\0';
    return block;
}

struct mx_block *mx_block_ref(struct mx_block *block)
{
    if (block)
        block->refs++;
    return block;
}

void mx_block_unref(struct mx_block *block)
{
    if (block && --block->refs == 0)
        free(block);
}
