/*
 * tree_same.h - are two values equal, as JSON Schema means it? Numbers by their value (1, 1.0),
 * strings unescaped, members in any order.
 */
#ifndef MX_TREE_SAME_H
#define MX_TREE_SAME_H

#include "lib/contract/tree.h"

/**
 * True when two values are equal. Neither is ambiguous.
 *
 * steps   of an evaluation: one is taken off for each few values or bytes compared. When they have
 *         run out the answer is false and means nothing.
 */
bool mx_tree_same(const struct mx_tree *a, uint32_t node_a, const struct mx_tree *b,
                  uint32_t node_b, int64_t *steps);

/** A hash of a value, the same for equal ones. Linear. */
uint32_t mx_tree_value_hash(const struct mx_tree *tree, uint32_t node);

/** The hash of a string, unescaped: mx_name_hash of what it stands for. */
uint32_t mx_tree_string_hash(const struct mx_tree *tree, uint32_t node);

#endif
