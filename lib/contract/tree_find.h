/*
 * tree_find.h - looking into a tree: by name, by JSON Pointer, and from a node to its pointer.
 */
#ifndef MX_TREE_FIND_H
#define MX_TREE_FIND_H

#include "lib/contract/tree.h"

/** The value of an object's member of this name, unescaped; 0 when there is none. */
uint32_t mx_tree_member(const struct mx_tree *tree, uint32_t object, struct mcpx_slice name);

/**
 * The value that a JSON Pointer (RFC 6901, unescaped from JSON and URI) leads to, from `from` on.
 * Returns false when there is none.
 */
bool mx_tree_point(const struct mx_tree *tree, uint32_t from, struct mcpx_slice pointer,
                   uint32_t *out);

/** True when a string or name, unescaped, is this text. */
bool mx_tree_is(const struct mx_tree *tree, uint32_t node, struct mcpx_slice text);

/** Order of two strings or names by their unescaped bytes: negative, 0 or positive. */
int mx_tree_compare(const struct mx_tree *a, uint32_t node_a, const struct mx_tree *b,
                    uint32_t node_b);

/**
 * Appends the JSON Pointer of a node; for a name, that of its member. Walks down from node 0.
 * Halves of surrogate pairs become U+FFFD.
 */
void mx_tree_path(const struct mx_tree *tree, uint32_t node, struct mcpx_text *out);

/** Appends a name to a JSON Pointer: "/", and the name with its tildes and slashes escaped. */
void mx_tree_pointer_add(struct mcpx_text *out, struct mcpx_slice name);

/** The same with the name that a node is. */
void mx_tree_pointer_name(const struct mx_tree *tree, uint32_t name, struct mcpx_text *out);

/** Appends what a string or name stands for; halves of surrogate pairs become U+FFFD. */
void mx_tree_unescape(const struct mx_tree *tree, uint32_t node, struct mcpx_text *out);

/** Writes what a string or name stands for to `out`, which has room for its bytes. */
void mx_tree_plain(const struct mx_tree *tree, uint32_t node, char *out, size_t *len);

#endif
