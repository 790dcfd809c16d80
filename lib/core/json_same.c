/*
 * json_same.c - do two JSON values mean the same? Members may stand in any order, so those of both
 * objects are listed, sorted by what their names stand for, and compared in pairs. Looking each
 * member of one object up in the other would need no memory, but a sender could make it take
 * minutes with one message.
 */
#include <mcpx/json.h>

#include "lib/core/escape.h"

#include <stdlib.h>

/* How deep values are compared by meaning; the stack is ours, the nesting is the sender's. */
enum { DEPTH_MAX = 512 };

struct listed {
    struct mcpx_slice name;
    struct mcpx_slice value;
};

static bool same(struct mcpx_slice a, struct mcpx_slice b, size_t depth);

static int by_name(const void *a, const void *b)
{
    return mx_inside_compare(((const struct listed *)a)->name,
                             ((const struct listed *)b)->name);
}

/* Lists the members in order of their names, each name once. */
static bool list_members(struct mcpx_slice object, struct listed *list, size_t count)
{
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, object);
    for (size_t i = 0; i < count && mcpx_json_walk_next(&walk); i++)
        list[i] = (struct listed){walk.name, walk.value};
    qsort(list, count, sizeof *list, by_name);
    for (size_t i = 1; i < count; i++)
        if (by_name(&list[i - 1], &list[i]) == 0)
            return false;
    return true;
}

static bool same_members(struct mcpx_slice a, struct mcpx_slice b, size_t depth)
{
    size_t count = mcpx_json_length(a);
    struct listed *in_a, *in_b;
    bool answer;

    if (count != mcpx_json_length(b))
        return false;
    if (count == 0)
        return true;
    in_a = calloc(count * 2, sizeof *in_a);
    if (!in_a)
        return false;
    in_b = in_a + count;
    answer = list_members(a, in_a, count) && list_members(b, in_b, count);
    for (size_t i = 0; answer && i < count; i++)
        answer =
            by_name(&in_a[i], &in_b[i]) == 0 && same(in_a[i].value, in_b[i].value, depth + 1);
    free(in_a);
    return answer;
}

static bool same_items(struct mcpx_slice a, struct mcpx_slice b, size_t depth)
{
    struct mcpx_json_walk in_a, in_b;

    mcpx_json_walk_start(&in_a, a);
    mcpx_json_walk_start(&in_b, b);
    for (;;) {
        bool more = mcpx_json_walk_next(&in_a);

        if (more != mcpx_json_walk_next(&in_b))
            return false;
        if (!more)
            return true;
        if (!same(in_a.value, in_b.value, depth + 1))
            return false;
    }
}

static bool same(struct mcpx_slice a, struct mcpx_slice b, size_t depth)
{
    enum mcpx_json_type type = mcpx_json_type(a);

    if (mcpx_slice_equal(a, b))
        return true;
    if (type != mcpx_json_type(b) || depth >= DEPTH_MAX)
        return false;
    if (type == MCPX_JSON_OBJECT)
        return same_members(a, b, depth);
    if (type == MCPX_JSON_ARRAY)
        return same_items(a, b, depth);
    /* the quotes are compared with the insides, which does no harm */
    return type == MCPX_JSON_STRING && mx_inside_compare(a, b) == 0;
}

bool mcpx_json_same(struct mcpx_slice a, struct mcpx_slice b)
{
    return same(a, b, 0);
}
