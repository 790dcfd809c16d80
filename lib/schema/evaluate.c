/*
 * evaluate.c - evaluates a document at most twice: for the verdict, and, if it is invalid, for the
 * errors. Memory of both is kept with the report.
 */
#include "lib/schema/run.h"

#include "lib/json/json_write.h"
#include "lib/json/tree.h"
#include "lib/schema/program.h"

#include <stdlib.h>

/* Memory of one evaluation: for each byte of the text, besides its index, and in any case. */
enum { SCRATCH_PER_BYTE = 12, SCRATCH_MIN = 64 * 1024 };

/* A larger index is not kept for the next text. */
enum { KEPT_MAX = 1024 * 1024 };

struct mx_workspace {
    struct mx_tree tree;
    struct mx_arena scratch;
    struct mx_regex_matcher *matcher;
    struct mx_findings findings;
};

static struct mx_workspace *workspace_of(struct mcpx_schema_report *report)
{
    report->count = 0;
    report->verdict = MCPX_VERDICT_UNKNOWN;
    if (!report->workspace)
        report->workspace = calloc(1, sizeof *report->workspace);
    return report->workspace;
}

void mcpx_schema_report_fini(struct mcpx_schema_report *report)
{
    struct mx_workspace *workspace = report->workspace;

    if (workspace) {
        mx_tree_fini(&workspace->tree);
        mx_arena_fini(&workspace->scratch);
        mx_regex_matcher_free(workspace->matcher);
        for (size_t i = 0; i <= MCPX_SCHEMA_ERRORS_MAX; i++)
            mcpx_text_fini(&workspace->findings.first[i].text);
    }
    free(workspace);
    *report = (struct mcpx_schema_report){.count = 0};
}

/* Lends the findings to the report. */
static enum mcpx_err fill(struct mcpx_schema_report *report, enum mcpx_verdict verdict)
{
    const struct mx_findings *findings = &report->workspace->findings;

    report->verdict = verdict;
    for (size_t i = 0; i < findings->count; i++) {
        if (findings->first[i].text.failed)
            return MCPX_ENOMEM;
        report->errors[i] = mx_finding_view(&findings->first[i]);
    }
    report->count = findings->count;
    return verdict == MCPX_VERDICT_UNKNOWN ? MCPX_ELIMIT : MCPX_EINVALID;
}

enum mcpx_err mx_report_parts(struct mcpx_schema_report *report,
                              const struct mcpx_schema_report *parts, const char *const *paths,
                              size_t count)
{
    struct mx_workspace *workspace = workspace_of(report);

    if (!workspace)
        return MCPX_ENOMEM;
    mx_findings_start(&workspace->findings, NULL, (struct mcpx_slice){NULL, 0});
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < parts[i].count; j++) {
            struct mx_finding *finding = mx_findings_next(&workspace->findings);

            mx_format(&finding->text, "%s%s", paths[i], parts[i].errors[j].path);
            mx_finding_key(finding, parts[i].errors[j].keyword);
            mcpx_text_slice(&finding->text, parts[i].errors[j].message);
            mx_findings_keep(&workspace->findings);
        }
    }
    return fill(report, MCPX_VERDICT_INVALID);
}

enum mcpx_err mx_report_error(struct mcpx_schema_report *report,
                              struct mcpx_schema_error error)
{
    struct mcpx_schema_report one = {.count = 1, .errors = {error}};

    return mx_report_parts(report, &one, (const char *const[]){""}, 1);
}

static enum mcpx_err fill_bound(struct mcpx_schema_report *report,
                                const struct mx_subject *subject, uint32_t node)
{
    struct mcpx_schema_error error =
        mx_error("", "bounds", "could not be judged within the bounds of an evaluation");
    mx_scoped_text path = {0};

    mx_tree_path(subject->tree, node, &path);
    error.path = mcpx_text_view(&path);
    if (path.failed || mx_report_error(report, error) == MCPX_ENOMEM)
        return MCPX_ENOMEM;
    return fill(report, MCPX_VERDICT_UNKNOWN);
}

enum mcpx_err mx_evaluate(const struct mx_compiled_schema *program,
                          const struct mx_subject *subject, struct mcpx_schema_report *report)
{
    struct mx_workspace *workspace = workspace_of(report);
    uint32_t scope[MX_RUN_DEPTH + 1];
    struct mx_run run = {
        .program = program,
        .tree = subject->tree,
        .steps = MX_RUN_STEPS,
        .scope = scope,
        .skip = subject->skip,
        .skip_count = subject->skip_count,
    };
    bool fits;

    if (!workspace)
        return MCPX_ENOMEM;
    run.scratch = &workspace->scratch;
    run.matcher = &workspace->matcher;
    workspace->scratch.limit = SCRATCH_MIN + SCRATCH_PER_BYTE * subject->tree->text.len;
    fits = mx_run_apply(&run, 0, subject->node);
    if (fits && !run.stopped) {
        report->verdict = MCPX_VERDICT_VALID;
        return MCPX_OK;
    }
    if (!run.stopped) {
        run.findings = &workspace->findings;
        run.steps = MX_RUN_STEPS;
        mx_findings_start(run.findings, subject->tree, subject->base);
        mx_run_apply(&run, 0, subject->node);
        if (workspace->findings.count > 0)
            return fill(report, MCPX_VERDICT_INVALID);
    }
    return run.no_memory ? MCPX_ENOMEM : fill_bound(report, subject, run.stop_node);
}

/* Lists the ambiguities in a value, itself included. */
static void list_ambiguous(struct mx_findings *findings, uint32_t node)
{
    const struct mx_tree *tree = findings->tree;
    bool is_object = mx_tree_type(tree, node) == MCPX_JSON_OBJECT;
    uint32_t index = 0;

    if (tree->nodes[node].ambiguous) {
        struct mx_finding *finding = mx_findings_next(findings);

        mx_finding_key(finding, MCPX_SLICE("ambiguous"));
        mcpx_text_puts(&finding->text, "must not be readable in two ways");
        mx_findings_keep(findings);
    }
    if (!is_object && mx_tree_type(tree, node) != MCPX_JSON_ARRAY)
        return;
    MX_EACH_WHILE(true, at, tree, node, is_object) {
        findings->trail[findings->depth++] =
            (struct mx_trail_step){is_object ? at : index++, !is_object};
        list_ambiguous(findings, at);
        if (is_object)
            list_ambiguous(findings, at + 1);
        findings->depth--;
    }
}

enum mcpx_err mx_report_unreadable(struct mcpx_schema_report *report, struct mcpx_slice text,
                                   bool takes_halves)
{
    struct mx_workspace *workspace = workspace_of(report);
    struct mcpx_fault fault = {"must be JSON", "", 0};
    enum mcpx_err err;

    if (!workspace)
        return MCPX_ENOMEM;
    workspace->tree.takes_halves = takes_halves;
    err = mx_tree_read(&workspace->tree, text, &fault);
    if (err == MCPX_ENOMEM)
        return err;
    if (err)
        return mx_report_error(report, mx_error("", "json", fault.reason));
    if (!workspace->tree.ambiguous)
        return MCPX_OK;
    mx_findings_start(&workspace->findings, &workspace->tree, (struct mcpx_slice){NULL, 0});
    list_ambiguous(&workspace->findings, 0);
    return fill(report, MCPX_VERDICT_INVALID);
}

enum mcpx_err mx_evaluate_text(const struct mx_compiled_schema *program,
                               struct mcpx_slice text, bool takes_halves,
                               struct mcpx_schema_report *report)
{
    struct mx_subject subject = {NULL, 0, {NULL, 0}, NULL, 0};
    enum mcpx_err err = mx_report_unreadable(report, text, takes_halves);

    if (err == MCPX_OK) {
        subject.tree = &report->workspace->tree;
        err = mx_evaluate(program, &subject, report);
    }
    if (report->workspace)
        mx_tree_trim(&report->workspace->tree, KEPT_MAX);
    return err;
}
