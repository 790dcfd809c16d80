/*
 * canonical.h - the canonical form of a value in an indexed text, and why a text has none.
 */
#ifndef MX_CANONICAL_H
#define MX_CANONICAL_H

#include "lib/json/tree.h"

/**
 * Appends the canonical form (mcpx/digest.h) of a value in which nothing is ambiguous. Memory
 * failure shows in `out`.
 */
void mx_canonical_value(struct mcpx_text *out, const struct mx_tree *tree, uint32_t node);

/** Appends a text as a string in canonical form. `text` is UTF-8, not escaped. */
void mx_canonical_string(struct mcpx_text *out, struct mcpx_slice text);

/**
 * The first of a tree's nodes that is ambiguous, and why.
 *
 * tree   ambiguous
 */
struct mcpx_fault mx_canonical_fault(const struct mx_tree *tree);

#endif
