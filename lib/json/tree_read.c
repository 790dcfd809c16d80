/*
 * tree_read.c - indexing a JSON text. One pass notes where each value begins and ends, and where
 * the contents of each container end: 16 bytes a value in one flat array, in the order of the text.
 * A walk goes forward through the array and passes over a subtree by one number. Rejected: a tree
 * of allocated values costs a hundred bytes for "0," and forgets how a number was written; with the
 * spans of json.c alone every look-up is a pass over the text.
 *
 * A value is at least one byte, and a bracket, comma or colon stands before each value in a
 * container. So half as many nodes as bytes are enough, and one for each level still open: the
 * array is allocated once and never grows during the pass.
 *
 * For an invalid text mx_scan reports the error; it reads the same grammar.
 *
 * Few names of an object are compared pair by pair, by their hashes; many go into a table of
 * hashes, which is kept for the next object. A sender can choose names with equal hashes: when a
 * search visits too many slots, the names are sorted instead. Rejected: a keyed hash; this layer
 * has no random numbers.
 */
#include "lib/json/tree.h"

#include "lib/base/fault.h"
#include "lib/json/escape.h"
#include "lib/json/number.h"
#include "lib/json/scan.h"

#include <stdlib.h>

/* In objects of at most FEW members, names are compared pair by pair. */
#define FEW 16

static void mark_twice(struct mx_tree *tree, uint32_t name)
{
    tree->nodes[name].ambiguous = 1;
    tree->ambiguous = true;
}

static void compare_pairs(struct mx_tree *tree, uint32_t object)
{
    uint32_t names[FEW], count = 0;

    MX_EACH_MEMBER(at, tree, object) {
        for (uint32_t i = 0; i < count; i++) {
            if (mx_tree_same_names(tree, names[i], tree, at))
                mark_twice(tree, at);
        }
        names[count++] = at;
    }
}

/* For names whose hashes were chosen to be equal. */
static bool sort_names(struct mx_tree *tree, uint32_t object)
{
    struct mx_named *names = mx_tree_sorted(tree, object);

    if (!names)
        return false;
    for (size_t i = 1; i < tree->nodes[object].count; i++) {
        if (mx_named_compare(&names[i - 1], &names[i]) == 0)
            mark_twice(tree, names[i].node);
    }
    free(names);
    return true;
}

static bool table_ready(struct mx_tree *tree, size_t size)
{
    if (tree->table_room < size) {
        free(tree->table);
        tree->table = malloc(size * sizeof *tree->table);
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
    MX_EACH_MEMBER(at, tree, object) {
        size_t slot = tree->nodes[at].hash & (size - 1);

        for (; tree->table[slot] && !mx_tree_same_names(tree, tree->table[slot], tree, at);
             probes++)
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

struct builder {
    struct mx_reader reader;
    struct mx_tree *tree;
    const unsigned char *first; /* of the text */
    uint32_t depth;
    uint32_t open[MX_TREE_DEPTH]; /* containers, the outermost first */
};

void mx_tree_fini(struct mx_tree *tree)
{
    if (!tree)
        return;
    free(tree->nodes);
    free(tree->table);
    *tree = (struct mx_tree){0};
}

void mx_tree_trim(struct mx_tree *tree, size_t bytes)
{
    if (tree->room * sizeof *tree->nodes + tree->table_room * sizeof *tree->table > bytes)
        mx_tree_fini(tree);
}

static inline struct mx_node *push(struct builder *b, const unsigned char *at,
                                   enum mcpx_json_type type)
{
    struct mx_node *node = &b->tree->nodes[b->tree->count++];

    *node = (struct mx_node){.begin = (uint32_t)(at - b->first), .type = type};
    return node;
}

/* Passes over a member's name, the colon and white space. */
static inline const unsigned char *read_name(struct builder *b, const unsigned char *at)
{
    const unsigned char *end = b->reader.end, *begin = at;
    struct mx_node *node;

    if (at == end || *at != '"')
        return NULL;
    b->reader.escaped = false;
    at = mx_string_pass(&b->reader, at + 1);
    if (!at)
        return NULL;
    node = push(b, begin, MCPX_JSON_STRING);
    node->end = (uint32_t)(at - b->first);
    if (b->reader.escaped) {
        struct mcpx_slice name = mx_tree_inside(b->tree, b->tree->count - 1);

        node->escaped = 1;
        node->hash = mx_name_hash_escaped(name);
        node->ambiguous = mx_inside_has_half(name);
        b->tree->ambiguous |= node->ambiguous;
    } else {
        node->hash = mx_name_hash_before(begin + 1, (size_t)(at - begin) - 2, end);
    }
    at = mx_space_skip(at, end);
    return at < end && *at == ':' ? mx_space_skip(at + 1, end) : NULL;
}

/* True when a number has an exponent that mx_number_read refuses: one of nine digits or more. */
static bool has_long_exponent(const unsigned char *begin, const unsigned char *end)
{
    struct mcpx_slice text = {(const char *)begin, (size_t)(end - begin)};
    const unsigned char *at = end;
    struct mx_number number;

    while (at > begin && (unsigned char)(at[-1] - '0') < 10)
        at--;
    return end - at >= MX_NUMBER_EXPONENT_DIGITS && !mx_number_read(text, &number);
}

static const unsigned char *read_number(struct builder *b, struct mx_node *node,
                                        const unsigned char *begin)
{
    const unsigned char *end = b->reader.end, *at = *begin == '-' ? begin + 1 : begin;
    const unsigned char *digits = at;

    while (at < end && (unsigned char)(*at - '0') < 10)
        at++;
    if (at > digits && (*digits != '0' || at == digits + 1) &&
        (at == end || (*at != '.' && (*at | 0x20) != 'e'))) {
        node->whole = 1;
        return at;
    }
    at = mx_scalar_skip(&b->reader, begin);
    if (at && has_long_exponent(begin, at)) {
        node->ambiguous = 1;
        b->tree->ambiguous = true;
    }
    return at;
}

static inline const unsigned char *read_string(struct builder *b, struct mx_node *node,
                                               const unsigned char *begin)
{
    const unsigned char *at;

    b->reader.escaped = false;
    at = mx_string_pass(&b->reader, begin + 1);
    if (!at || !b->reader.escaped)
        return at;
    node->escaped = 1;
    if (!b->tree->takes_halves && mx_inside_has_half((struct mcpx_slice){
                                      (const char *)begin + 1, (size_t)(at - begin) - 2})) {
        node->ambiguous = 1;
        b->tree->ambiguous = true;
    }
    return at;
}

static inline const unsigned char *read_scalar(struct builder *b, const unsigned char *begin)
{
    struct mx_node *node;
    const unsigned char *at;

    if (begin == b->reader.end)
        return NULL;
    node = push(b, begin, mx_type_of(*begin));
    if (*begin == '"')
        at = read_string(b, node, begin);
    else if (node->type == MCPX_JSON_NUMBER)
        at = read_number(b, node, begin);
    else
        at = mx_scalar_skip(&b->reader, begin);
    if (!at)
        return NULL;
    node->end = (uint32_t)(at - b->first);
    node->next = b->tree->count;
    return at;
}

/* Ends the innermost container, and marks names that stand in it twice. False without memory. */
static inline bool close_container(struct builder *b, const unsigned char *at)
{
    uint32_t index = b->open[--b->depth];
    struct mx_node *node = &b->tree->nodes[index];

    node->end = (uint32_t)(at - b->first);
    node->next = b->tree->count;
    if (node->type == MCPX_JSON_ARRAY || node->count < 2)
        return true;
    if (node->count > FEW)
        return fill_table(b->tree, index);
    compare_pairs(b->tree, index);
    return true;
}

/* After a value: ends containers, passes over a comma (and name) if one follows. */
static inline const unsigned char *read_close(struct builder *b, const unsigned char *at,
                                              enum mcpx_err *err)
{
    const unsigned char *end = b->reader.end;

    while (b->depth > 0) {
        bool in_object = b->tree->nodes[b->open[b->depth - 1]].type == MCPX_JSON_OBJECT;

        at = mx_space_skip(at, end);
        if (at == end)
            return NULL;
        if (*at == ',') {
            b->tree->nodes[b->open[b->depth - 1]].count++;
            at = mx_space_skip(at + 1, end);
            return in_object ? read_name(b, at) : at;
        }
        if (*at != (in_object ? '}' : ']'))
            return NULL;
        at++;
        if (!close_container(b, at)) {
            *err = MCPX_ENOMEM;
            return NULL;
        }
    }
    return at;
}

/* Passes over an opening bracket, and the name of the first member. */
static inline const unsigned char *read_open(struct builder *b, const unsigned char *at,
                                             bool *empty)
{
    const unsigned char *end = b->reader.end;
    unsigned char bracket = *at;

    if (b->depth == MX_TREE_DEPTH)
        return NULL;
    b->open[b->depth++] = b->tree->count;
    push(b, at, mx_type_of(bracket));
    at = mx_space_skip(at + 1, end);
    *empty = at < end && *at == bracket + 2; /* so it is in ASCII */
    if (*empty)
        return at;
    b->tree->nodes[b->tree->count - 1].count = 1;
    return bracket == '{' ? read_name(b, at) : at;
}

/* Returns the place behind the value, or NULL with `err` or a fault that mx_scan finds too. */
static const unsigned char *read_value(struct builder *b, const unsigned char *at,
                                       enum mcpx_err *err)
{
    bool empty = false;

    do {
        if (at < b->reader.end && (*at == '{' || *at == '[')) {
            at = read_open(b, at, &empty);
            if (at && !empty)
                continue;
        } else {
            at = read_scalar(b, at);
        }
        if (at)
            at = read_close(b, at, err);
    } while (at && b->depth > 0);
    return at;
}

static bool nodes_ready(struct mx_tree *tree, size_t bytes)
{
    size_t room = bytes / 2 + MX_TREE_DEPTH + 2;

    if (room > bytes + 1)
        room = bytes + 1;
    if (tree->room >= room)
        return true;
    free(tree->nodes);
    tree->nodes = malloc(room * sizeof *tree->nodes);
    tree->room = tree->nodes ? room : 0;
    return tree->nodes;
}

static enum mcpx_err refuse(struct mcpx_slice text, struct mcpx_fault *fault)
{
    struct mx_scan scan;
    enum mcpx_err err;

    if (text.len > MX_TREE_BYTES)
        return mx_fault_set(fault, "text is too long", "", MX_TREE_BYTES);
    err = mx_scan(text, MX_TREE_DEPTH, &scan, fault);
    return err == MCPX_OK ? MCPX_EINVALID : err;
}

enum mcpx_err mx_tree_read(struct mx_tree *tree, struct mcpx_slice text,
                           struct mcpx_fault *fault)
{
    const unsigned char *first = (const unsigned char *)(text.text ? text.text : ""),
                        *at = NULL;
    struct builder b;
    enum mcpx_err err = MCPX_OK;

    b.reader = (struct mx_reader){.end = first + text.len};
    b.tree = tree;
    b.first = first;
    b.depth = 0;
    tree->text = (struct mcpx_slice){(const char *)first, text.len};
    tree->count = 0;
    tree->ambiguous = false;
    if (text.len <= MX_TREE_BYTES) {
        if (!nodes_ready(tree, text.len))
            return MCPX_ENOMEM;
        at = read_value(&b, mx_space_skip(first, b.reader.end), &err);
    }
    if (at && mx_space_skip(at, b.reader.end) == b.reader.end)
        return MCPX_OK;
    tree->count = 0;
    return err ? err : refuse(text, fault);
}
