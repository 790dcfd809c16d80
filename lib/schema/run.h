/*
 * run.h - one evaluation of a compiled schema: applies subschemas to values, with functions for
 * checks. Checks call these functions and are independent of each other.
 */
#ifndef MX_RUN_H
#define MX_RUN_H

#include "lib/json/tree.h"
#include "lib/schema/program.h"

#include <mcpx/schema.h>

/** Bounds of one evaluation. */
enum { MX_RUN_STEPS = 1000000, MX_RUN_DEPTH = 512 };

/** Marks of the members or items of one value seen by a subschema; a bit each, in order. */
struct mx_seen {
    uint64_t *bits;
    size_t words;
};

/** An evaluation. */
struct mx_run {
    const struct mx_compiled_schema *program;
    const struct mx_tree *tree; /* the evaluated text; not ambiguous */
    struct mx_arena *scratch;   /* temporary memory */
    struct mx_regex_matcher **matcher;
    /* The list of errors; NULL for the verdict alone. */
    struct mx_findings *findings;
    const struct mx_action *lead; /* keyword that led to the current value */
    struct mx_seen *seen;         /* wanted by a subschema of the current value, or NULL */
    int64_t steps;
    uint32_t depth;
    uint32_t stop_node;
    bool stopped;   /* a bound was exceeded, at stop_node */
    bool no_memory; /* the machine's memory ran out */
    uint32_t scope_count;
    /* Entered resources, the outermost first; only for dynamic programs. */
    uint32_t *scope;
    const uint32_t *skip; /* skipped nodes, ascending; skip_count of them */
    size_t skip_count;
};

/** Applies a subschema to a value, or to a name as if it were a string. */
bool mx_run_apply(struct mx_run *run, uint32_t unit, uint32_t node);

/** The same, by a keyword with a subschema for the same value. */
bool mx_run_here(struct mx_run *run, const struct mx_action *action, uint32_t unit,
                 uint32_t node);

/** The same, but errors are not listed, and nothing is marked as seen. */
bool mx_run_quietly(struct mx_run *run, uint32_t unit, uint32_t node);

/** The same, but errors are not listed, and marks count only if the value fits. */
bool mx_run_try(struct mx_run *run, uint32_t unit, uint32_t node);

/** Applies a subschema to a member: `name` is its node, the value the one behind. */
bool mx_run_member(struct mx_run *run, const struct mx_action *action, uint32_t unit,
                   uint32_t name);

/** Applies a subschema to an item. */
bool mx_run_item(struct mx_run *run, const struct mx_action *action, uint32_t unit,
                 uint32_t node, uint32_t index);

/** Lists an error of the value. Returns false. */
bool mx_run_fail(struct mx_run *run, const struct mx_op *op);

/** Lists an error of a member. `name` is its node. Returns false. */
bool mx_run_fail_member(struct mx_run *run, const struct mx_op *op, uint32_t name);

/** Lists a missing member, or, with an absent `name`, an error of the value. Returns false. */
bool mx_run_fail_missing(struct mx_run *run, const struct mx_op *op, struct mcpx_slice name);

/** Stops the evaluation at a bound. Returns false. */
bool mx_run_stop(struct mx_run *run, uint32_t node);

/** Stops the evaluation after a loss of memory. Returns false. */
bool mx_run_starve(struct mx_run *run, uint32_t node);

/** Takes steps for work besides applying subschemas. False when a bound is exceeded. */
static inline bool mx_run_spend(struct mx_run *run, uint64_t steps, uint32_t node)
{
    run->steps -= (int64_t)steps;
    return run->steps >= 0 || mx_run_stop(run, node);
}

/** Marks a member or item as seen. */
static inline void mx_run_see(struct mx_run *run, uint32_t index)
{
    if (run->seen)
        run->seen->bits[index / 64] |= UINT64_C(1) << index % 64;
}

/** Marks all as seen. */
static inline void mx_run_see_all(struct mx_run *run)
{
    if (run->seen && run->seen->words)
        memset(run->seen->bits, 0xff, run->seen->words * sizeof *run->seen->bits);
}

/** True when the search for errors continues after an error. */
static inline bool mx_run_goes_on(const struct mx_run *run)
{
    return run->findings && !run->stopped;
}

/** Adds the result of one of several checks to `all`. False: the others are skipped. */
static inline bool mx_run_next(const struct mx_run *run, bool fits, bool *all)
{
    *all = *all && fits;
    return fits || mx_run_goes_on(run);
}

/** Is the pattern found in a string or name? A bound shows in the run. */
bool mx_run_matches(struct mx_run *run, const struct mx_regex *regex, uint32_t node);

/** An error as one text: its path, its keyword, its message. */
struct mx_finding {
    struct mcpx_text text;
    size_t path;    /* bytes of the path */
    size_t keyword; /* of path and keyword */
};

/** Ends the path of an error, and appends the keyword; the message follows. */
static inline void mx_finding_key(struct mx_finding *finding, struct mcpx_slice keyword)
{
    finding->path = finding->text.len;
    mcpx_text_slice(&finding->text, keyword);
    finding->keyword = finding->text.len;
}

/** The error, lent by the finding. */
static inline struct mcpx_schema_error mx_finding_view(const struct mx_finding *finding)
{
    const char *text = finding->text.text ? finding->text.text : "";

    return (struct mcpx_schema_error){
        {text, finding->path},
        {text + finding->path, finding->keyword - finding->path},
        {text + finding->keyword, finding->text.len - finding->keyword}};
}

/** A step down from a value: a name's node, or an item's index. */
struct mx_trail_step {
    uint32_t step;
    bool is_index;
};

/** Errors, and the position of the search. Zero-initialised is empty. */
struct mx_findings {
    const struct mx_tree *tree; /* the evaluated text */
    struct mcpx_slice base;     /* path of the search's first value */
    uint32_t depth;
    /* From its root to the current value; `depth` steps. */
    struct mx_trail_step trail[MX_TREE_DEPTH + 1];
    size_t count;
    /* The first errors, in order; `count` of them. */
    struct mx_finding first[MCPX_SCHEMA_ERRORS_MAX + 1];
};

/** Begins a search in a text; `base` is borrowed meanwhile. */
void mx_findings_start(struct mx_findings *findings, const struct mx_tree *tree,
                       struct mcpx_slice base);

/** The next error, behind the kept ones; its text is the path, made from the trail. */
struct mx_finding *mx_findings_next(struct mx_findings *findings);

/** Keeps the composed error if it is new and among the first. */
void mx_findings_keep(struct mx_findings *findings);

#endif
