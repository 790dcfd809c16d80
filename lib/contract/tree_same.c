/*
 * tree_same.c - equality of values. Members stand in the same order most of the time, so they are
 * compared side by side for as long as their names agree, and looked up only then.
 */
#include "lib/contract/tree_same.h"

#include "lib/contract/name_hash.h"
#include "lib/contract/number.h"
#include "lib/contract/tree_find.h"

/* Members or items that a step is worth, and bytes of a string. */
enum { VALUES_PER_STEP = 4, NAMES_PER_STEP = 64, BYTES_PER_STEP = 256 };

uint32_t mx_tree_string_hash(const struct mx_tree *tree, uint32_t node)
{
    bool has_half;

    if (tree->nodes[node].escaped)
        return mx_name_hash_escaped(mx_tree_inside(tree, node), &has_half);
    return mx_name_hash(mx_tree_inside(tree, node));
}

static uint32_t number_hash(const struct mx_tree *tree, uint32_t node)
{
    struct mx_number number = {0};
    uint64_t hash;

    mx_number_read(mx_tree_bytes(tree, node), &number);
    hash = mx_name_mix((uint64_t)number.exponent, number.count + number.negative);
    for (size_t i = 0; number.digits.text && i < number.digits.len; i++) {
        if (number.digits.text[i] != '.')
            hash = (hash ^ (unsigned char)number.digits.text[i]) * UINT64_C(0x100000001b3);
    }
    return mx_name_fold(hash ^ hash >> 32);
}

static uint32_t container_hash(const struct mx_tree *tree, uint32_t node)
{
    uint32_t end = mx_tree_end(tree, node);
    uint64_t hash = tree->nodes[node].type;

    if (mx_tree_type(tree, node) == MCPX_JSON_ARRAY) {
        for (uint32_t at = node + 1; at < end; at = mx_tree_next(tree, at))
            hash = mx_name_mix(hash, mx_tree_value_hash(tree, at));
    } else {
        for (uint32_t at = node + 1; at < end; at = mx_tree_next(tree, at + 1))
            hash += mx_name_mix(tree->nodes[at].hash, mx_tree_value_hash(tree, at + 1));
    }
    return mx_name_fold(hash ^ hash >> 32);
}

uint32_t mx_tree_value_hash(const struct mx_tree *tree, uint32_t node)
{
    const struct mx_node *value = &tree->nodes[node];

    switch ((enum mcpx_json_type)value->type) {
    case MCPX_JSON_STRING:
        return mx_tree_string_hash(tree, node);
    case MCPX_JSON_NUMBER:
        return number_hash(tree, node);
    case MCPX_JSON_OBJECT:
    case MCPX_JSON_ARRAY:
        return container_hash(tree, node);
    default: /* true, false and null differ in type or length */
        return value->type * 8U + (value->end - value->begin);
    }
}

static bool same_numbers(const struct mx_tree *a, uint32_t node_a, const struct mx_tree *b,
                         uint32_t node_b)
{
    struct mx_number left = {0}, right = {0};

    return mx_number_read(mx_tree_bytes(a, node_a), &left) &&
           mx_number_read(mx_tree_bytes(b, node_b), &right) &&
           mx_number_compare(&left, &right) == 0;
}

static bool same_items(const struct mx_tree *a, uint32_t node_a, const struct mx_tree *b,
                       uint32_t node_b, int64_t *steps)
{
    uint32_t end = mx_tree_end(a, node_a), at_b = node_b + 1;

    for (uint32_t at = node_a + 1; at < end; at = mx_tree_next(a, at)) {
        if (!mx_tree_same(a, at, b, at_b, steps))
            return false;
        at_b = mx_tree_next(b, at_b);
    }
    return true;
}

static bool same_names(const struct mx_tree *a, uint32_t name_a, const struct mx_tree *b,
                       uint32_t name_b)
{
    return a->nodes[name_a].hash == b->nodes[name_b].hash &&
           mx_tree_compare(a, name_a, b, name_b) == 0;
}

/* The value in `b` of the member with this name of `a`; 0 when there is none. */
static uint32_t find_member(const struct mx_tree *a, uint32_t name, const struct mx_tree *b,
                            uint32_t object, int64_t *steps)
{
    uint32_t end = mx_tree_end(b, object);

    *steps -= (int64_t)b->nodes[object].count / NAMES_PER_STEP;
    for (uint32_t at = object + 1; at < end; at = mx_tree_next(b, at + 1)) {
        if (same_names(a, name, b, at))
            return at + 1;
    }
    return 0;
}

static bool same_members(const struct mx_tree *a, uint32_t node_a, const struct mx_tree *b,
                         uint32_t node_b, int64_t *steps)
{
    uint32_t end = mx_tree_end(a, node_a), at_b = node_b + 1;

    for (uint32_t at = node_a + 1; at < end; at = mx_tree_next(a, at + 1)) {
        uint32_t value = at_b + 1;

        if (!same_names(a, at, b, at_b))
            value = find_member(a, at, b, node_b, steps);
        if (value == 0 || !mx_tree_same(a, at + 1, b, value, steps))
            return false;
        at_b = mx_tree_next(b, value);
        if (at_b >= mx_tree_end(b, node_b))
            at_b = node_b + 1;
    }
    return true;
}

bool mx_tree_same(const struct mx_tree *a, uint32_t node_a, const struct mx_tree *b,
                  uint32_t node_b, int64_t *steps)
{
    const struct mx_node *left = &a->nodes[node_a], *right = &b->nodes[node_b];

    if (left->type != right->type || left->count != right->count || *steps < 0)
        return false;
    switch ((enum mcpx_json_type)left->type) {
    case MCPX_JSON_STRING:
        *steps -= (left->end - left->begin) / BYTES_PER_STEP;
        return mx_tree_compare(a, node_a, b, node_b) == 0;
    case MCPX_JSON_NUMBER:
        *steps -= (left->end - left->begin) / BYTES_PER_STEP;
        return same_numbers(a, node_a, b, node_b);
    case MCPX_JSON_ARRAY:
        *steps -= (int64_t)left->count / VALUES_PER_STEP;
        return same_items(a, node_a, b, node_b, steps);
    case MCPX_JSON_OBJECT:
        *steps -= (int64_t)left->count / VALUES_PER_STEP;
        return same_members(a, node_a, b, node_b, steps);
    default:
        return a->text.text[left->begin] == b->text.text[right->begin];
    }
}
