/*
 * tree_names.h - does a name stand twice in an object?
 */
#ifndef MX_TREE_NAMES_H
#define MX_TREE_NAMES_H

#include "lib/contract/tree.h"

/**
 * Marks as ambiguous each name of an object that stands in it before. The object's nodes are
 * complete. Returns false when memory runs out.
 */
bool mx_tree_names_check(struct mx_tree *tree, uint32_t object);

#endif
