/*
 * difference.c - in canonical form equal values have equal bytes, and members stand in one order.
 * So the first value with other bytes is found level by level, without going back.
 */
#include "tools/mcpxctl/gate/difference.h"

#include "lib/contract/tree_find.h"
#include "lib/core/format.h"
#include <mcpx/digest.h>

/* Appends a part of a JSON Pointer. */
static void add_part(struct mcpx_text *path, struct mcpx_slice name)
{
    struct mcpx_text quoted = {0}, plain = {0};

    mx_format(&quoted, "\"%s\"", name);
    mcpx_json_add_unescaped(&plain, mcpx_text_view(&quoted));
    mx_tree_pointer_add(path, mcpx_text_view(&plain));
    path->failed |= plain.failed || quoted.failed;
    mcpx_text_fini(&quoted);
    mcpx_text_fini(&plain);
}

/*
 * Goes from two values that differ to the first two in them that do. Returns false when they are
 * what differs: they are no containers of one kind.
 */
static bool descend(struct mcpx_text *path, struct mcpx_slice *was, struct mcpx_slice *is)
{
    enum mcpx_json_type type = mcpx_json_type(*was);
    struct mcpx_json_walk left, right;
    size_t index = 0;
    bool more, same = true;

    if (type != mcpx_json_type(*is) || (type != MCPX_JSON_OBJECT && type != MCPX_JSON_ARRAY))
        return false;
    mcpx_json_walk_start(&left, *was);
    mcpx_json_walk_start(&right, *is);
    for (;; index++) {
        more = mcpx_json_walk_next(&left);
        if (!mcpx_json_walk_next(&right)) {
            *is = (struct mcpx_slice){NULL, 0};
            break;
        }
        *is = right.value;
        same = more && mcpx_slice_equal(left.name, right.name);
        if (!same || !mcpx_slice_equal(left.value, right.value))
            break;
    }
    *was = more && same ? left.value : (struct mcpx_slice){NULL, 0};
    if (type == MCPX_JSON_OBJECT)
        add_part(path, is->text ? right.name : left.name);
    else
        mx_format(path, "/%s", index);
    return true;
}

enum difference gate_difference_find(struct mcpx_text *path, struct mcpx_slice was,
                                     struct mcpx_slice is)
{
    struct mcpx_text old = {0}, new = {0};
    enum difference found = DIFFERENCE_UNKNOWN;

    if (!mcpx_canonical_add(&old, was, NULL) && !mcpx_canonical_add(&new, is, NULL)) {
        was = mcpx_text_view(&old);
        is = mcpx_text_view(&new);
        found = mcpx_slice_equal(was, is) ? DIFFERENCE_NONE : DIFFERENCE_FOUND;
        while (found == DIFFERENCE_FOUND && descend(path, &was, &is)) {}
    }
    mcpx_text_fini(&old);
    mcpx_text_fini(&new);
    return path->failed ? DIFFERENCE_UNKNOWN : found;
}
