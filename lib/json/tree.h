/*
 * tree.h - a JSON text indexed once: the place and contents of each value. The text stays as it is;
 * no value is built from it, so big integers, 1e400 and 1.10 stay exact.
 */
#ifndef MX_TREE_H
#define MX_TREE_H

#include "lib/base/plain.h"

#include <mcpx/json.h>

/** Nesting accepted. */
#define MX_TREE_DEPTH 512

/** Bytes of text accepted. */
#define MX_TREE_BYTES (UINT32_C(1) << 27)

/**
 * A value, or the name of a member. Nodes stand in the order of the text: a container, then all it
 * holds; in an object each member is its name, a node of its own, then its value.
 *
 * next         of a value: the index behind it and all it holds
 * hash         of a name, unescaped: mx_name_hash
 */
struct mx_node {
    /* `begin`, `end`: of the bytes in the text, quotes and brackets included. */
    uint32_t begin;
    uint32_t end;
    union {
        uint32_t next;
        uint32_t hash;
    };
    uint32_t type : 3;    /* enum mcpx_json_type; MCPX_JSON_STRING for a name */
    uint32_t escaped : 1; /* a string or name holds a backslash */
    uint32_t whole : 1; /* a number is written as digits alone, with a minus sign or without */
    /* Ambiguous: half a surrogate pair, or an exponent of more than nine digits; of a name also: it
     * stands earlier in the same object. */
    uint32_t ambiguous : 1;
    uint32_t count : 26; /* items of an array, members of an object */
};

/**
 * An indexed text. Zero-initialised is empty and ready; it keeps its memory from one text to the
 * next.
 */
struct mx_tree {
    struct mcpx_slice text; /* as mx_tree_read was given it */
    struct mx_node *nodes;  /* `count` of them; the value of the whole text is node 0 */
    uint32_t count;
    bool ambiguous; /* some node is */
    /* Half a surrogate pair in a value does not make it ambiguous; set before reading. */
    bool takes_halves;
    size_t room;     /* nodes there is memory for */
    uint32_t *table; /* of names, while a large object is looked through */
    size_t table_room;
};

/** The type of a value. */
static inline enum mcpx_json_type mx_tree_type(const struct mx_tree *tree, uint32_t node)
{
    return (enum mcpx_json_type)tree->nodes[node].type;
}

/** The bytes of a value or name, quotes and brackets included. Lent until the next text. */
static inline struct mcpx_slice mx_tree_bytes(const struct mx_tree *tree, uint32_t node)
{
    const struct mx_node *at = &tree->nodes[node];
    return (struct mcpx_slice){tree->text.text + at->begin, at->end - at->begin};
}

/** The bytes between the quotes of a string or name, still escaped. */
static inline struct mcpx_slice mx_tree_inside(const struct mx_tree *tree, uint32_t node)
{
    const struct mx_node *at = &tree->nodes[node];
    return (struct mcpx_slice){tree->text.text + at->begin + 1, at->end - at->begin - 2};
}

/** The index behind a value and all it holds. */
static inline uint32_t mx_tree_next(const struct mx_tree *tree, uint32_t value)
{
    return tree->nodes[value].next;
}

/**
 * A loop over the contents of a container while a condition holds: `at` is the node of an item, or
 * of a member's name (its value is `at + 1`).
 */
#define MX_EACH_WHILE(condition, at, tree, node, is_object)                                   \
    for (uint32_t at = (node) + 1, at##_end = mx_tree_next(tree, node);                       \
         (condition) && (at) < at##_end; (at) = mx_tree_next(tree, (at) + (is_object)))

/** A loop over all items of an array, and one over all members of an object. */
#define MX_EACH_ITEM(at, tree, array) MX_EACH_WHILE(true, at, tree, array, false)
#define MX_EACH_MEMBER(at, tree, object) MX_EACH_WHILE(true, at, tree, object, true)

/** The value of an object's member of this name, unescaped; 0 when there is none. */
uint32_t mx_tree_member(const struct mx_tree *tree, uint32_t object, struct mcpx_slice name);

/** A member in a sorted list: the inside of its name, and the name's node. */
struct mx_named {
    struct mcpx_slice inside;
    uint32_t node;
};

/** Order of two of them by their unescaped names, as qsort and bsearch need it. */
int mx_named_compare(const void *a, const void *b);

/**
 * The members of an object in order of their names, those of one name in the order of the text: as
 * many as the object has. Gives the list; NULL when memory runs out.
 */
struct mx_named *mx_tree_sorted(const struct mx_tree *tree, uint32_t object);

/**
 * The value that a JSON Pointer (RFC 6901, unescaped from JSON and URI) leads to, from `from` on.
 * Returns false when there is none, or two members on the way have the name.
 */
bool mx_tree_point(const struct mx_tree *tree, uint32_t from, struct mcpx_slice pointer,
                   uint32_t *out);

/** True when a string or name, unescaped, is this text. */
bool mx_tree_is(const struct mx_tree *tree, uint32_t node, struct mcpx_slice text);

/** Order of two strings or names by their unescaped bytes: negative, 0 or positive. */
int mx_tree_compare(const struct mx_tree *a, uint32_t node_a, const struct mx_tree *b,
                    uint32_t node_b);

/** True when two names are equal, unescaped. */
static inline bool mx_tree_same_names(const struct mx_tree *a, uint32_t name_a,
                                      const struct mx_tree *b, uint32_t name_b)
{
    return a->nodes[name_a].hash == b->nodes[name_b].hash &&
           mx_tree_compare(a, name_a, b, name_b) == 0;
}

/**
 * Appends the JSON Pointer of a node; for a name, that of its member. Walks down from node 0.
 * Halves of surrogate pairs become U+FFFD.
 */
void mx_tree_path(const struct mx_tree *tree, uint32_t node, struct mcpx_text *out);

/** Appends a name to a JSON Pointer: "/", and the name with its tildes and slashes escaped. */
void mx_tree_pointer_add(struct mcpx_text *out, struct mcpx_slice name);

/** The same with the name that a node is. */
void mx_tree_pointer_name(const struct mx_tree *tree, uint32_t name, struct mcpx_text *out);

/** Appends a string or name, unescaped; halves of surrogate pairs become U+FFFD. */
void mx_tree_unescape(const struct mx_tree *tree, uint32_t node, struct mcpx_text *out);

/** Frees the memory and leaves an empty index. */
void mx_tree_fini(struct mx_tree *tree);

/** Frees the memory if it is more than `bytes`. The content is then gone. */
void mx_tree_trim(struct mx_tree *tree, size_t bytes);

/**
 * Indexes one JSON text (RFC 8259, UTF-8, nothing after the value but white space, nested at most
 * MX_TREE_DEPTH deep, at most MX_TREE_BYTES long).
 *
 * text    borrowed for as long as the tree is used
 * fault   filled on failure (reason, offset); may be NULL
 *
 * Returns MCPX_OK, also for an ambiguous text; MCPX_EUTF8, MCPX_EINVALID or MCPX_ENOMEM, and the
 * tree is then empty. Time is linear, except that objects with names chosen to collide are sorted;
 * memory is at most 8 bytes a byte, and 16 a member of the largest object.
 */
enum mcpx_err mx_tree_read(struct mx_tree *tree, struct mcpx_slice text,
                           struct mcpx_fault *fault);

/**
 * True when two values are equal. Neither is ambiguous.
 *
 * steps   of an evaluation: one is taken off for each few values or bytes compared. The answer is a
 *         meaningless false when they have run out.
 */
bool mx_tree_same(const struct mx_tree *a, uint32_t node_a, const struct mx_tree *b,
                  uint32_t node_b, int64_t *steps);

/** A hash of a value, the same for equal ones. Linear. */
uint32_t mx_tree_value_hash(const struct mx_tree *tree, uint32_t node);

/** The hash of a string: mx_name_hash of its unescaped bytes. */
uint32_t mx_tree_string_hash(const struct mx_tree *tree, uint32_t node);

/*
 * ---- the hash of a member's name, unescaped. It has no key: callers must bound the cost of names
 * chosen to collide.
 */

/** Takes up to eight bytes more, the first one lowest. The hash begins as the name's length. */
static inline uint64_t mx_name_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

/** The hash when all bytes are taken. */
static inline uint32_t mx_name_fold(uint64_t hash)
{
    return (uint32_t)(hash ^ hash >> 16);
}

/** The hash of `len` bytes. Memory can be read up to `end`, which makes it quicker. */
static inline uint32_t mx_name_hash_before(const unsigned char *at, size_t len,
                                           const unsigned char *end)
{
    uint64_t hash = len, word = 0;

    for (; len >= 8; at += 8, len -= 8)
        hash = mx_name_mix(hash, mx_plain_load(at));
    if (len == 0)
        return mx_name_fold(hash);
    if (end - at >= 8) {
        word = mx_plain_load(at) & ((UINT64_C(1) << 8 * len) - 1);
    } else {
        for (size_t i = 0; i < len; i++)
            word |= (uint64_t)at[i] << 8 * i;
    }
    return mx_name_fold(mx_name_mix(hash, word));
}

/** The hash of a name without escapes. */
static inline uint32_t mx_name_hash(struct mcpx_slice name)
{
    const unsigned char *at = (const unsigned char *)(name.text ? name.text : "");

    return mx_name_hash_before(at, name.len, at + name.len);
}

/** The hash of an escaped name's unescaped bytes; `raw` is the text between the quotes. */
uint32_t mx_name_hash_escaped(struct mcpx_slice raw);

#endif
