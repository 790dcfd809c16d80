/*
 * tree_find.c - looking into an indexed text: a member by its name, a value by its JSON Pointer,
 * and back from a node to its pointer. Names are compared by hash first, so passing over a member
 * costs one comparison of numbers.
 */
#include "lib/contract/tree_find.h"
#include "lib/contract/name_hash.h"

#include "lib/core/decimal.h"
#include "lib/core/escape.h"
#include "lib/core/scan.h"

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
    for (uint32_t at = object + 1; at < mx_tree_end(tree, object);
         at = mx_tree_next(tree, at + 1)) {
        if (tree->nodes[at].hash == hash && mx_tree_is(tree, at, name))
            return at + 1;
    }
    return 0;
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

/* One step down; 0 when there is nothing. */
static uint32_t step(const struct mx_tree *tree, uint32_t from, struct mcpx_slice segment,
                     struct mcpx_text *name)
{
    if (mx_tree_type(tree, from) == MCPX_JSON_ARRAY)
        return find_item(tree, from, segment);
    if (segment.len == 0 || !memchr(segment.text, '~', segment.len))
        return mx_tree_member(tree, from, segment);
    return undo_tildes(segment, name) ? mx_tree_member(tree, from, mcpx_text_view(name)) : 0;
}

bool mx_tree_point(const struct mx_tree *tree, uint32_t from, struct mcpx_slice pointer,
                   uint32_t *out)
{
    struct mcpx_text name = {0};
    size_t at = 0;

    while (at < pointer.len && pointer.text[at] == '/') {
        size_t begin = ++at;

        while (at < pointer.len && pointer.text[at] != '/')
            at++;
        from = step(tree, from, (struct mcpx_slice){pointer.text + begin, at - begin}, &name);
        if (from == 0)
            break;
    }
    mcpx_text_fini(&name);
    if (at < pointer.len || (at > 0 && from == 0))
        return false;
    *out = from;
    return true;
}

void mx_tree_plain(const struct mx_tree *tree, uint32_t node, char *out, size_t *len)
{
    mx_unescape(mx_tree_inside(tree, node), out, len);
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
    struct mcpx_text plain = {0};

    mx_tree_unescape(tree, name, &plain);
    mx_tree_pointer_add(out, mcpx_text_view(&plain));
    out->failed = out->failed || plain.failed;
    mcpx_text_fini(&plain);
}

/* Appends the segment that leads to the child that is or holds `node`; gives the child. */
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
