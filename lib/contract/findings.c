/*
 * findings.c - a list of ten that stays in order while it is filled. A document can have a hundred
 * thousand errors; what does not come among the first is dropped before its message is composed.
 */
#include "lib/contract/findings.h"
#include "lib/contract/tree_find.h"

void mx_findings_fini(struct mx_findings *findings)
{
    for (size_t i = 0; i <= MCPX_SCHEMA_ERRORS_MAX; i++) {
        mcpx_text_fini(&findings->first[i].path);
        mcpx_text_fini(&findings->first[i].keyword);
        mcpx_text_fini(&findings->first[i].message);
    }
}

void mx_findings_start(struct mx_findings *findings, const struct mx_tree *tree,
                       struct mcpx_slice base)
{
    findings->base = base;
    findings->tree = tree;
    findings->depth = 0;
    findings->count = 0;
}

struct mx_finding *mx_findings_next(struct mx_findings *findings)
{
    struct mx_finding *next = &findings->first[findings->count];

    mcpx_text_reset(&next->path);
    mcpx_text_reset(&next->keyword);
    mcpx_text_reset(&next->message);
    return next;
}

void mx_findings_path(const struct mx_findings *findings, struct mcpx_text *out)
{
    mcpx_text_slice(out, findings->base);
    for (uint32_t i = 0; i < findings->depth; i++) {
        if (findings->trail[i].is_index) {
            mcpx_text_puts(out, "/");
            mcpx_text_number(out, findings->trail[i].step);
        } else {
            mx_tree_pointer_name(findings->tree, findings->trail[i].step, out);
        }
    }
}

static int compare_places(const struct mx_finding *a, const struct mx_finding *b)
{
    int order = mcpx_slice_compare(mcpx_text_view(&a->path), mcpx_text_view(&b->path));

    return order
               ? order
               : mcpx_slice_compare(mcpx_text_view(&a->keyword), mcpx_text_view(&b->keyword));
}

static int compare(const struct mx_finding *a, const struct mx_finding *b)
{
    int order = compare_places(a, b);

    return order
               ? order
               : mcpx_slice_compare(mcpx_text_view(&a->message), mcpx_text_view(&b->message));
}

bool mx_findings_wants(const struct mx_findings *findings)
{
    const struct mx_finding *next = &findings->first[findings->count];

    return findings->count < MCPX_SCHEMA_ERRORS_MAX || compare_places(next, next - 1) <= 0;
}

void mx_findings_keep(struct mx_findings *findings)
{
    struct mx_finding next = findings->first[findings->count];
    size_t at = findings->count;

    while (at > 0 && compare(&next, &findings->first[at - 1]) < 0)
        at--;
    if (at > 0 && compare(&next, &findings->first[at - 1]) == 0)
        return;
    for (size_t i = findings->count; i > at; i--)
        findings->first[i] = findings->first[i - 1];
    findings->first[at] = next;
    if (findings->count < MCPX_SCHEMA_ERRORS_MAX)
        findings->count++;
}
