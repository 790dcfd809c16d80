/*
 * walk.h - a loop over the members of an object or the items of an array.
 */
#ifndef MX_WALK_H
#define MX_WALK_H

#include <mcpx/json.h>

/** mcpx_json_walk_start, as a value. */
static inline struct mcpx_json_walk mx_json_walk(struct mcpx_slice value)
{
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, value);
    return walk;
}

/** Runs the statement behind it for each of them; `walk` is a name for a struct mcpx_json_walk. */
#define MX_JSON_EACH(walk, value)                                                             \
    for (struct mcpx_json_walk walk = mx_json_walk(value); mcpx_json_walk_next(&walk);)

#endif
