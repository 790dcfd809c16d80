/*
 * tree_find.c - looking into an indexed text: a member by its name, a value by its JSON Pointer,
 * and back from a node to its pointer. Names are compared by hash first, so passing over a member
 * costs one comparison of numbers; names with escapes (rare) are hashed without writing them
 * anywhere. Members of equal objects mostly stand in the same order, so they are compared side by
 * side while their names agree, and looked up after that.
 */
#include "lib/json/tree.h"

#include "lib/base/digits.h"
#include "lib/base/scoped.h"
#include "lib/json/escape.h"
#include "lib/json/number.h"

#include <stdlib.h>

bool mx_tree_is(const struct mx_tree *tree, uint32_t node, struct mcpx_slice text)
{
    struct mcpx_slice raw = mx_tree_inside(tree, node);

    return tree->nodes[node].escaped ? mx_inside_is(raw, text) : mcpx_slice_equal(raw, text);
}

int mx_tree_compare(const struct mx_tree *a, uint32_t node_a, const struct mx_tree *b,
                    uint32_t node_b)
{
    struct mcpx_slice raw_a = mx_tree_inside(a, node_a), raw_b = mx_tree_inside(b, node_b);

    if (a->nodes[node_a].escaped || b->nodes[node_b].escaped)
        return mx_inside_compare(raw_a, raw_b);
    return mcpx_slice_compare(raw_a, raw_b);
}

uint32_t mx_tree_member(const struct mx_tree *tree, uint32_t object, struct mcpx_slice name)
{
    uint32_t hash = mx_name_hash(name);

    if (mx_tree_type(tree, object) != MCPX_JSON_OBJECT)
        return 0;
    MX_EACH_MEMBER(at, tree, object) {
        if (tree->nodes[at].hash == hash && mx_tree_is(tree, at, name))
            return at + 1;
    }
    return 0;
}

int mx_named_compare(const void *a, const void *b)
{
    return mx_inside_compare(((const struct mx_named *)a)->inside,
                             ((const struct mx_named *)b)->inside);
}

static int compare_places(const void *a, const void *b)
{
    const struct mx_named *left = (const struct mx_named *)a,
                          *right = (const struct mx_named *)b;
    int order = mx_named_compare(a, b);

    return order ? order : (left->node > right->node) - (left->node < right->node);
}

struct mx_named *mx_tree_sorted(const struct mx_tree *tree, uint32_t object)
{
    size_t count = 0;
    struct mx_named *list = calloc(tree->nodes[object].count + 1, sizeof *list);

    if (!list)
        return NULL;
    MX_EACH_MEMBER(at, tree, object)
        list[count++] = (struct mx_named){mx_tree_inside(tree, at), at};
    qsort(list, count, sizeof *list, compare_places);
    return list;
}

/* The item that a pointer's segment names; 0 when there is none. */
static uint32_t find_item(const struct mx_tree *tree, uint32_t array,
                          struct mcpx_slice segment)
{
    uint32_t at = array + 1;
    uint64_t index;

    if (!mx_decimal_read(segment, tree->nodes[array].count, &index) ||
        index == tree->nodes[array].count || (segment.len > 1 && segment.text[0] == '0'))
        return 0;
    while (index-- > 0)
        at = mx_tree_next(tree, at);
    return at;
}

/* Undoes ~0 and ~1 of a segment. Returns false when another sign follows a tilde. */
static bool undo_tildes(struct mcpx_slice segment, struct mcpx_text *out)
{
    mcpx_text_reset(out);
    for (size_t i = 0; i < segment.len; i++) {
        char byte = segment.text[i];

        if (byte == '~') {
            i++;
            if (i == segment.len || (segment.text[i] != '0' && segment.text[i] != '1'))
                return false;
            byte = segment.text[i] == '0' ? '~' : '/';
        }
        mcpx_text_add(out, &byte, 1);
    }
    return !out->failed;
}

/* One step down; 0 when there is nothing, or two members have the name. */
static uint32_t step(const struct mx_tree *tree, uint32_t from, struct mcpx_slice segment,
                     struct mcpx_text *name)
{
    uint32_t value, at;

    if (mx_tree_type(tree, from) == MCPX_JSON_ARRAY)
        return find_item(tree, from, segment);
    if (segment.len == 0 || !memchr(segment.text, '~', segment.len))
        value = mx_tree_member(tree, from, segment);
    else
        value =
            undo_tildes(segment, name) ? mx_tree_member(tree, from, mcpx_text_view(name)) : 0;
    at = value && tree->ambiguous ? mx_tree_next(tree, value) : mx_tree_next(tree, from);
    for (; at < mx_tree_next(tree, from); at = mx_tree_next(tree, at + 1))
        if (mx_tree_compare(tree, at, tree, value - 1) == 0)
            return 0;
    return value;
}

bool mx_tree_point(const struct mx_tree *tree, uint32_t from, struct mcpx_slice pointer,
                   uint32_t *out)
{
    mx_scoped_text name = {0};

    if (mx_cut_at(&pointer, '/').len > 0)
        return false;
    while (pointer.text) {
        from = step(tree, from, mx_cut_at(&pointer, '/'), &name);
        if (from == 0)
            return false;
    }
    *out = from;
    return true;
}

void mx_tree_unescape(const struct mx_tree *tree, uint32_t node, struct mcpx_text *out)
{
    struct mcpx_slice raw = mx_tree_inside(tree, node);
    size_t len;

    if (!mcpx_text_reserve(out, raw.len))
        return;
    mx_unescape(raw, out->text + out->len, &len);
    out->len += len;
    out->text[out->len] = 0;
}

void mx_tree_pointer_add(struct mcpx_text *out, struct mcpx_slice name)
{
    mcpx_text_puts(out, "/");
    for (size_t i = 0; i < name.len; i++) {
        if (name.text[i] == '~')
            mcpx_text_puts(out, "~0");
        else if (name.text[i] == '/')
            mcpx_text_puts(out, "~1");
        else
            mcpx_text_add(out, &name.text[i], 1);
    }
}

void mx_tree_pointer_name(const struct mx_tree *tree, uint32_t name, struct mcpx_text *out)
{
    mx_scoped_text plain = {0};

    mx_tree_unescape(tree, name, &plain);
    mx_tree_pointer_add(out, mcpx_text_view(&plain));
    out->failed = out->failed || plain.failed;
}

/* Appends the segment of the child that is or holds `node`; returns the child. */
static uint32_t path_step(const struct mx_tree *tree, uint32_t at, uint32_t node,
                          struct mcpx_text *out)
{
    uint32_t index = 0, child = at + 1;

    if (mx_tree_type(tree, at) == MCPX_JSON_ARRAY) {
        for (; mx_tree_next(tree, child) <= node; index++)
            child = mx_tree_next(tree, child);
        mcpx_text_puts(out, "/");
        mcpx_text_number(out, index);
        return child;
    }
    while (mx_tree_next(tree, child + 1) <= node)
        child = mx_tree_next(tree, child + 1);
    mx_tree_pointer_name(tree, child, out);
    return child == node ? node : child + 1;
}

void mx_tree_path(const struct mx_tree *tree, uint32_t node, struct mcpx_text *out)
{
    for (uint32_t at = 0; at != node;)
        at = path_step(tree, at, node, out);
}

/* Members or items that a step is worth, and bytes of a string. */
enum { VALUES_PER_STEP = 4, NAMES_PER_STEP = 64, BYTES_PER_STEP = 256 };

uint32_t mx_tree_string_hash(const struct mx_tree *tree, uint32_t node)
{
    struct mcpx_slice raw = mx_tree_inside(tree, node);

    return tree->nodes[node].escaped ? mx_name_hash_escaped(raw) : mx_name_hash(raw);
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
    uint64_t hash = tree->nodes[node].type;

    if (mx_tree_type(tree, node) == MCPX_JSON_ARRAY) {
        MX_EACH_ITEM(at, tree, node)
            hash = mx_name_mix(hash, mx_tree_value_hash(tree, at));
    } else {
        MX_EACH_MEMBER(at, tree, node)
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
    uint32_t at_b = node_b + 1;

    MX_EACH_ITEM(at, a, node_a) {
        if (!mx_tree_same(a, at, b, at_b, steps))
            return false;
        at_b = mx_tree_next(b, at_b);
    }
    return true;
}

/* The value in `b` of the member with this name of `a`; 0 when there is none. */
static uint32_t find_member(const struct mx_tree *a, uint32_t name, const struct mx_tree *b,
                            uint32_t object, int64_t *steps)
{
    *steps -= (int64_t)b->nodes[object].count / NAMES_PER_STEP;
    MX_EACH_MEMBER(at, b, object) {
        if (mx_tree_same_names(a, name, b, at))
            return at + 1;
    }
    return 0;
}

static bool same_members(const struct mx_tree *a, uint32_t node_a, const struct mx_tree *b,
                         uint32_t node_b, int64_t *steps)
{
    uint32_t at_b = node_b + 1;

    MX_EACH_MEMBER(at, a, node_a) {
        uint32_t value = at_b + 1;

        if (!mx_tree_same_names(a, at, b, at_b))
            value = find_member(a, at, b, node_b, steps);
        if (value == 0 || !mx_tree_same(a, at + 1, b, value, steps))
            return false;
        at_b = mx_tree_next(b, value);
        if (at_b >= mx_tree_next(b, node_b))
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

uint32_t mx_name_hash_escaped(struct mcpx_slice raw)
{
    struct mx_inside walk = mx_inside_start(raw);
    uint64_t hash = 0, word = 0;
    size_t len = 0;

    while (mx_inside_next(&walk) >= 0)
        len++;
    hash = len;
    walk = mx_inside_start(raw);
    for (size_t i = 0; i < len; i++) {
        word |= (uint64_t)mx_inside_next(&walk) << 8 * (i % 8);
        if (i % 8 == 7 || i + 1 == len) {
            hash = mx_name_mix(hash, word);
            word = 0;
        }
    }
    return mx_name_fold(hash);
}
