/*
 * inbound.c - a keyed table (the ids are chosen by strangers) and a list in order of arrival. A
 * ring would not do: requests are answered in any order.
 * Includes inbound.h only.
 */
#include "lib/participant/inbound.h"

#include <stdlib.h>

static struct mx_heard *find(const struct mx_inbound *inbound, struct mcpx_slice id)
{
    uint64_t hash = mx_map_hash(inbound->key, id);
    uint64_t value;
    size_t at = 0;

    while ((value = mx_map_next(&inbound->ids, hash, &at))) {
        struct mx_heard *heard = (struct mx_heard *)(uintptr_t)value;

        if (mcpx_slice_equal(heard->asked->id, id))
            return heard;
    }
    return NULL;
}

const struct mx_asked *mx_inbound_find(const struct mx_inbound *inbound, struct mcpx_slice id)
{
    struct mx_heard *heard = id.text ? find(inbound, id) : NULL;

    return heard ? heard->asked : NULL;
}

static void forget(struct mx_inbound *inbound, struct mx_heard *heard)
{
    mx_map_remove(&inbound->ids, mx_map_hash(inbound->key, heard->asked->id),
                  (uintptr_t)heard);
    inbound->bytes -= heard->size;
    *(heard->older ? &heard->older->newer : &inbound->oldest) = heard->newer;
    *(heard->newer ? &heard->newer->older : &inbound->newest) = heard->older;
    free(heard->asked);
    free(heard);
}

static struct mx_heard *make(const struct mx_asked *asked)
{
    struct mx_heard *heard = malloc(sizeof *heard);

    if (!heard)
        return NULL;
    heard->size = mx_asked_size(asked);
    heard->asked = mx_asked_copy(asked);
    if (heard->asked)
        return heard;
    free(heard);
    return NULL;
}

enum mcpx_err mx_inbound_add(struct mx_inbound *inbound, const struct mx_asked *asked)
{
    struct mx_heard *before = find(inbound, asked->id), *heard;

    if (before && !mcpx_slice_equal(before->asked->from, asked->from))
        return MCPX_EDUPLICATE;
    if (!mx_map_reserve(&inbound->ids))
        return MCPX_ENOMEM;
    heard = make(asked);
    if (!heard)
        return MCPX_ENOMEM;
    if (before)
        forget(inbound, before);
    inbound->bytes += heard->size;
    while (inbound->oldest &&
           (inbound->ids.count >= inbound->max || inbound->bytes > MX_INBOUND_BYTES))
        forget(inbound, inbound->oldest);
    heard->newer = NULL;
    heard->older = inbound->newest;
    *(inbound->newest ? &inbound->newest->newer : &inbound->oldest) = heard;
    inbound->newest = heard;
    mx_map_put(&inbound->ids, mx_map_hash(inbound->key, asked->id), (uintptr_t)heard);
    return MCPX_OK;
}

void mx_inbound_remove(struct mx_inbound *inbound, struct mcpx_slice id)
{
    struct mx_heard *heard = find(inbound, id);

    if (heard)
        forget(inbound, heard);
}

void mx_inbound_fini(struct mx_inbound *inbound)
{
    while (inbound->oldest)
        forget(inbound, inbound->oldest);
    mx_map_fini(&inbound->ids);
}
