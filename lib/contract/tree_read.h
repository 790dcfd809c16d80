/*
 * tree_read.h - a JSON text becomes a tree.
 */
#ifndef MX_TREE_READ_H
#define MX_TREE_READ_H

#include "lib/contract/tree.h"

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
 * tree is then empty. Time is linear but for objects whose names were chosen to be slow, which are
 * sorted; memory is at most 8 bytes a byte, and 16 a member of the largest object.
 */
enum mcpx_err mx_tree_read(struct mx_tree *tree, struct mcpx_slice text,
                           struct mcpx_fault *fault);

#endif
