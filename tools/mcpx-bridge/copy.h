/*
 * copy.h - several texts in one piece of memory.
 */
#ifndef MCPX_BRIDGE_COPY_H
#define MCPX_BRIDGE_COPY_H

#include <mcpx/base.h>

#include <stdlib.h>

/**
 * Zeroed memory for an object of `size` bytes, with room for `len` bytes of texts behind it: *at.
 * Returns NULL when memory ran out.
 */
static inline void *bridge_room(size_t size, size_t len, char **at)
{
    char *room = calloc(1, size + len);

    *at = room ? room + size : NULL;
    return room;
}

/** Copies a slice to *at and moves *at behind it. An absent slice stays absent. */
static inline struct mcpx_slice bridge_copy(char **at, struct mcpx_slice slice)
{
    struct mcpx_slice copied = {slice.text ? *at : NULL, slice.len};

    if (slice.text)
        memcpy(*at, slice.text, slice.len);
    *at += slice.len;
    return copied;
}

#endif
