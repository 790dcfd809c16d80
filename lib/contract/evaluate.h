/*
 * evaluate.h - judging a value with a program, and what is said of it.
 */
#ifndef MX_EVALUATE_H
#define MX_EVALUATE_H

#include "lib/contract/program.h"

#include <mcpx/schema.h>

/**
 * Part of an indexed text that is to be judged.
 *
 * tree         not ambiguous
 * node         the value
 * base         its path, for errors
 * skip         nodes in it, ascending, that are judged by others; skip_count of them
 */
struct mx_subject {
    const struct mx_tree *tree;
    uint32_t node;
    struct mcpx_slice base;
    const uint32_t *skip;
    size_t skip_count;
};

/** Judges a part of a text and fills the report. Returns as mcpx_schema_validate. */
enum mcpx_err mx_evaluate(const struct mx_program *program, const struct mx_subject *subject,
                          struct mcpx_schema_report *report);

/** Indexes a text, judges it, and fills the report. Returns as mcpx_schema_validate. */
enum mcpx_err mx_evaluate_text(const struct mx_program *program, struct mcpx_slice text,
                               struct mcpx_schema_report *report);

/** Fills the report with one error. Returns MCPX_EINVALID or MCPX_ENOMEM. */
enum mcpx_err mx_report_error(struct mcpx_schema_report *report, struct mcpx_slice path,
                              struct mcpx_slice keyword, struct mcpx_slice message);

/**
 * Fills the report when a text is no JSON or ambiguous. Returns MCPX_OK when it is neither,
 * MCPX_EINVALID, or MCPX_ENOMEM.
 */
enum mcpx_err mx_report_unreadable(struct mcpx_schema_report *report, struct mcpx_slice text);

#endif
