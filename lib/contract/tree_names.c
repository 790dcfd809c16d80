/*
 * tree_names.c - finding names that stand twice. Few names are compared pair by pair, by their
 * hashes; many go into a table of hashes, which is kept for the next object. Whoever chooses names
 * can choose equal hashes: a table in which too many places are looked at is given up, and the
 * names are sorted. A hash with a key would need chance, which this layer does not have.
 */
#include "lib/contract/tree_names.h"
#include "lib/contract/tree_find.h"

#include "lib/core/escape.h"

#include <stdlib.h>

/* Objects of so many members have their names compared pair by pair. */
#define FEW 16

static void mark_twice(struct mx_tree *tree, uint32_t name)
{
    tree->nodes[name].ambiguous = 1;
    tree->ambiguous = true;
}

static bool are_equal(const struct mx_tree *tree, uint32_t a, uint32_t b)
{
    return tree->nodes[a].hash == tree->nodes[b].hash &&
           mx_tree_compare(tree, a, tree, b) == 0;
}

static void compare_pairs(struct mx_tree *tree, uint32_t object)
{
    uint32_t names[FEW], count = 0, end = mx_tree_end(tree, object);

    for (uint32_t at = object + 1; at < end; at = mx_tree_next(tree, at + 1)) {
        for (uint32_t i = 0; i < count; i++) {
            if (are_equal(tree, names[i], at))
                mark_twice(tree, at);
        }
        names[count++] = at;
    }
}

struct named {
    struct mcpx_slice inside;
    uint32_t node;
};

static int compare_named(const void *a, const void *b)
{
    const struct named *left = (const struct named *)a, *right = (const struct named *)b;
    int order = mx_inside_compare(left->inside, right->inside);

    return order ? order : (left->node > right->node) - (left->node < right->node);
}

/* For names whose hashes were chosen to be equal. */
static bool sort_names(struct mx_tree *tree, uint32_t object)
{
    size_t count = 0;
    struct named *names = (struct named *)calloc(tree->nodes[object].count, sizeof *names);

    if (!names)
        return false;
    for (uint32_t at = object + 1; at < mx_tree_end(tree, object);
         at = mx_tree_next(tree, at + 1))
        names[count++] = (struct named){mx_tree_inside(tree, at), at};
    qsort(names, count, sizeof *names, compare_named);
    for (size_t i = 1; i < count; i++) {
        if (mx_inside_compare(names[i - 1].inside, names[i].inside) == 0)
            mark_twice(tree, names[i].node);
    }
    free(names);
    return true;
}

static bool table_ready(struct mx_tree *tree, size_t size)
{
    if (tree->table_room < size) {
        free(tree->table);
        tree->table = (uint32_t *)malloc(size * sizeof *tree->table);
        tree->table_room = tree->table ? size : 0;
    }
    if (tree->table)
        memset(tree->table, 0, size * sizeof *tree->table);
    return tree->table;
}

static bool fill_table(struct mx_tree *tree, uint32_t object)
{
    size_t size = FEW * 2, probes = 0, count = tree->nodes[object].count;

    while (size < count * 2)
        size *= 2;
    if (!table_ready(tree, size))
        return false;
    for (uint32_t at = object + 1; at < mx_tree_end(tree, object);
         at = mx_tree_next(tree, at + 1)) {
        size_t slot = tree->nodes[at].hash & (size - 1);

        for (; tree->table[slot] && !are_equal(tree, tree->table[slot], at); probes++)
            slot = (slot + 1) & (size - 1);
        if (tree->table[slot])
            mark_twice(tree, at);
        else
            tree->table[slot] = at;
        if (probes > count * 8)
            return sort_names(tree, object);
    }
    return true;
}

bool mx_tree_names_check(struct mx_tree *tree, uint32_t object)
{
    if (tree->nodes[object].count > FEW)
        return fill_table(tree, object);
    compare_pairs(tree, object);
    return true;
}
