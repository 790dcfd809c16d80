/*
 * evaluate.c - a document is judged twice at most: for the verdict, and if it is not valid once
 * more for the errors. Memory of both is kept with the report.
 */
#include "lib/schema/run.h"

#include "lib/json/tree.h"
#include "lib/schema/program.h"

#include <stdlib.h>

/* Memory of one evaluation: for each byte of the text, besides its index, and in any case. */
enum { SCRATCH_PER_BYTE = 12, SCRATCH_MIN = 64 * 1024 };

/* An index that is larger is not kept for the next text. */
enum { KEPT_MAX = 1024 * 1024 };

static const char not_judged[] = "could not be judged within the bounds of an evaluation";
static const char ambiguous[] = "must not be readable in two ways";

struct mx_workspace {
    struct mx_tree tree;
    struct mx_arena scratch;
    struct mx_regex_matcher *matcher;
    struct mx_findings findings;
    struct mcpx_text base;
};

static struct mx_workspace *workspace_of(struct mcpx_schema_report *report)
{
    report->count = 0;
    report->verdict = MCPX_VERDICT_UNKNOWN;
    if (!report->workspace)
        report->workspace = (struct mx_workspace *)calloc(1, sizeof *report->workspace);
    return report->workspace;
}

static void findings_fini(struct mx_findings *findings)
{
    for (size_t i = 0; i <= MCPX_SCHEMA_ERRORS_MAX; i++) {
        mcpx_text_fini(&findings->first[i].path);
        mcpx_text_fini(&findings->first[i].keyword);
        mcpx_text_fini(&findings->first[i].message);
    }
}

void mcpx_schema_report_fini(struct mcpx_schema_report *report)
{
    struct mx_workspace *workspace = report->workspace;

    if (workspace) {
        mx_tree_fini(&workspace->tree);
        mx_arena_fini(&workspace->scratch);
        mx_regex_matcher_free(workspace->matcher);
        findings_fini(&workspace->findings);
        mcpx_text_fini(&workspace->base);
    }
    free(workspace);
    *report = (struct mcpx_schema_report){MCPX_VERDICT_VALID, 0, {{{0}, {0}, {0}}}, NULL};
}

/* Lends the findings to the report. */
static enum mcpx_err fill(struct mcpx_schema_report *report, enum mcpx_verdict verdict)
{
    const struct mx_findings *findings = &report->workspace->findings;

    report->verdict = verdict;
    for (size_t i = 0; i < findings->count; i++) {
        const struct mx_finding *finding = &findings->first[i];

        if (finding->path.failed || finding->keyword.failed || finding->message.failed)
            return MCPX_ENOMEM;
        report->errors[i] = (struct mcpx_schema_error){mcpx_text_view(&finding->path),
                                                       mcpx_text_view(&finding->keyword),
                                                       mcpx_text_view(&finding->message)};
        if (!report->errors[i].path.text)
            report->errors[i].path = MCPX_SLICE("");
    }
    report->count = findings->count;
    return verdict == MCPX_VERDICT_UNKNOWN ? MCPX_ELIMIT : MCPX_EINVALID;
}

/* Adds an error; its path is in two parts. */
static void add_error(struct mx_findings *findings, const char *before,
                      const struct mcpx_schema_error *error)
{
    struct mx_finding *finding = mx_findings_next(findings);

    mcpx_text_puts(&finding->path, before);
    mcpx_text_slice(&finding->path, error->path);
    mcpx_text_slice(&finding->keyword, error->keyword);
    mcpx_text_slice(&finding->message, error->message);
    mx_findings_keep(findings);
}

enum mcpx_err mx_report_parts(struct mcpx_schema_report *report,
                              const struct mcpx_schema_report *parts, const char *const *paths,
                              size_t count)
{
    struct mx_workspace *workspace = workspace_of(report);

    if (!workspace)
        return MCPX_ENOMEM;
    mx_findings_start(&workspace->findings, NULL, (struct mcpx_slice){NULL, 0});
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < parts[i].count; j++)
            add_error(&workspace->findings, paths[i], &parts[i].errors[j]);
    return fill(report, MCPX_VERDICT_INVALID);
}

enum mcpx_err mx_report_error(struct mcpx_schema_report *report, struct mcpx_slice path,
                              struct mcpx_slice keyword, struct mcpx_slice message)
{
    struct mcpx_schema_report one = {.count = 1, .errors = {{path, keyword, message}}};
    const char *none = "";

    return mx_report_parts(report, &one, &none, 1);
}

static void run_start(struct mx_run *run, const struct mx_program *program,
                      const struct mx_subject *subject, struct mx_workspace *workspace)
{
    run->program = program;
    run->tree = subject->tree;
    run->scratch = &workspace->scratch;
    run->matcher = &workspace->matcher;
    run->findings = NULL;
    run->lead = NULL;
    run->seen = NULL;
    run->steps = MX_RUN_STEPS;
    run->depth = 0;
    run->stopped = false;
    run->no_memory = false;
    run->scope_count = 0;
    run->skip = subject->skip;
    run->skip_count = subject->skip_count;
}

/* The evaluation met a bound. */
static enum mcpx_err fill_bound(struct mcpx_schema_report *report,
                                const struct mx_subject *subject, uint32_t node)
{
    struct mx_workspace *workspace = report->workspace;

    mcpx_text_reset(&workspace->base);
    mx_tree_path(subject->tree, node, &workspace->base);
    mx_report_error(report, mcpx_text_view(&workspace->base), MCPX_SLICE("bounds"),
                    mcpx_slice_of(not_judged));
    return fill(report, MCPX_VERDICT_UNKNOWN);
}

enum mcpx_err mx_evaluate(const struct mx_program *program, const struct mx_subject *subject,
                          struct mcpx_schema_report *report)
{
    struct mx_workspace *workspace = workspace_of(report);
    struct mx_run run;
    bool fits;

    if (!workspace)
        return MCPX_ENOMEM;
    run_start(&run, program, subject, workspace);
    workspace->scratch.limit = SCRATCH_MIN + SCRATCH_PER_BYTE * subject->tree->text.len;
    fits = mx_run_apply(&run, 0, subject->node);
    if (fits && !run.stopped) {
        report->verdict = MCPX_VERDICT_VALID;
        return MCPX_OK;
    }
    if (!run.stopped) {
        run_start(&run, program, subject, workspace);
        run.findings = &workspace->findings;
        mx_findings_start(run.findings, subject->tree, subject->base);
        mx_run_apply(&run, 0, subject->node);
        if (workspace->findings.count > 0)
            return fill(report, MCPX_VERDICT_INVALID);
    }
    return run.no_memory ? MCPX_ENOMEM : fill_bound(report, subject, run.stop_node);
}

/* Lists what is ambiguous in a value, itself included. */
static void list_ambiguous(struct mx_findings *findings, uint32_t node)
{
    const struct mx_tree *tree = findings->tree;
    bool is_object = mx_tree_type(tree, node) == MCPX_JSON_OBJECT;
    uint32_t index = 0;

    if (tree->nodes[node].ambiguous) {
        struct mx_finding *finding = mx_findings_next(findings);

        mx_findings_path(findings, &finding->path);
        mcpx_text_puts(&finding->keyword, "ambiguous");
        mcpx_text_puts(&finding->message, ambiguous);
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
        return mx_report_error(report, MCPX_SLICE(""), MCPX_SLICE("json"),
                               mcpx_slice_of(fault.reason));
    if (!workspace->tree.ambiguous)
        return MCPX_OK;
    mx_findings_start(&workspace->findings, &workspace->tree, (struct mcpx_slice){NULL, 0});
    list_ambiguous(&workspace->findings, 0);
    return fill(report, MCPX_VERDICT_INVALID);
}

enum mcpx_err mx_evaluate_text(const struct mx_program *program, struct mcpx_slice text,
                               bool takes_halves, struct mcpx_schema_report *report)
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
