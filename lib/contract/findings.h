/*
 * findings.h - the errors that come first by path and keyword, in whatever order they are found.
 */
#ifndef MX_FINDINGS_H
#define MX_FINDINGS_H

#include "lib/contract/tree.h"

#include <mcpx/schema.h>

/** One error. The texts keep their memory. */
struct mx_finding {
    struct mcpx_text path;
    struct mcpx_text keyword;
    struct mcpx_text message;
};

/** A step down from a value: a name's node, or an item's index. */
struct mx_trail_step {
    uint32_t step;
    bool is_index;
};

/**
 * Errors, and where the search for them is. Zero-initialised is empty.
 *
 * tree     the text that is judged
 * base     path of the value with which the search began
 * trail    from its root to the value at hand; `depth` steps
 * first    the errors that come first, in order; `count` of them
 */
struct mx_findings {
    const struct mx_tree *tree;
    struct mcpx_slice base;
    uint32_t depth;
    struct mx_trail_step trail[MX_TREE_DEPTH + 1];
    size_t count;
    struct mx_finding first[MCPX_SCHEMA_ERRORS_MAX + 1];
};

/** Frees the texts. */
void mx_findings_fini(struct mx_findings *findings);

/** Begins a search in a text; `base` is borrowed meanwhile. */
void mx_findings_start(struct mx_findings *findings, const struct mx_tree *tree,
                       struct mcpx_slice base);

/** The error that is being composed: empty, behind those that were kept. */
struct mx_finding *mx_findings_next(struct mx_findings *findings);

/** Appends the JSON Pointer that the trail stands for. */
void mx_findings_path(const struct mx_findings *findings, struct mcpx_text *out);

/**
 * True when the error being composed, of which path and keyword are there, would be kept. Saves
 * composing messages that nobody reads.
 */
bool mx_findings_wants(const struct mx_findings *findings);

/** Keeps the error that was composed if it is among the first and was not found before. */
void mx_findings_keep(struct mx_findings *findings);

#endif
