/*
 * capability_explain.c - says why, and what would have to change.
 * The verdict is mcpx_capset_allows's own; the reasons come from a walk over the single patterns.
 * Programs of their own for every pattern would say the same (the tests compare both ways) at a
 * hundred times the cost of making a set, for the sake of refusals that most participants never
 * meet.
 */
#include "lib/core/capset.h"

/* What a decision lends. Not in the set: there are thousands of sets, and one reader at a time. */
static _Thread_local char would_allow[MCPX_KIND_MAX];
static _Thread_local char alternative[MCPX_KIND_MAX];

const char *mcpx_refusal_wire(enum mcpx_refusal refusal)
{
    static const char *const wire[] = {
        "allowed",       "no_matching_grant",  "denied",
        "grant_expired", "target_not_allowed", "reserved_namespace"};

    return (size_t)refusal < sizeof wire / sizeof *wire ? wire[refusal] : "";
}

/*
 * The first grant that would allow a refused kind but for its target, else but for its expiry.
 * Those without conditions, or whose conditions hold, cannot be the reason and cost no walk.
 */
static void find_missed(const struct mcpx_capset *set, const struct mcpx_question *question,
                        struct mcpx_decision *out)
{
    bool dotted = mcpx_kind_has_dot_segment(question->kind);

    out->refusal = MCPX_NO_MATCHING_GRANT;
    for (size_t i = 0; i < set->grant_count && out->refusal != MCPX_TARGET_NOT_ALLOWED; i++) {
        enum mcpx_refusal refusal = mx_grant_condition(&set->grants[i], question);

        if (refusal == MCPX_ALLOWED || refusal == out->refusal ||
            !mx_pattern_covers(&set->patterns[i], question->kind, dotted))
            continue;
        out->refusal = refusal;
        out->grant = mx_capset_pattern(set, i);
    }
}

static struct mcpx_slice find_nearest(const struct mcpx_capset *set,
                                      const struct mcpx_kind *kind)
{
    struct mcpx_slice nearest = {NULL, 0};
    size_t longest = 0;

    for (size_t i = 0; i < set->grant_count; i++) {
        size_t agreement = mx_pattern_agreement(&set->patterns[i], kind);

        if (!nearest.text || agreement > longest) {
            nearest = mx_capset_pattern(set, i);
            longest = agreement;
        }
    }
    return nearest;
}

/*
 * The kind itself. A "*" in it is a star in the pattern, which covers it too; but not where the
 * context is dotted (rule 6), there only all contexts of the method will do.
 */
static struct mcpx_slice write_would_allow(const struct mcpx_kind *kind)
{
    struct mcpx_slice text = kind->text;

    memcpy(would_allow, text.text, text.len);
    if (kind->context.len > 0 && memchr(kind->context.text, '*', kind->context.len) &&
        mcpx_kind_has_dot_segment(kind)) {
        text.len -= kind->context.len;
        would_allow[text.len++] = '*';
    }
    return (struct mcpx_slice){would_allow, text.len};
}

static struct mcpx_slice write_alternative(struct mcpx_capset *set,
                                           const struct mcpx_question *question)
{
    static const struct mcpx_slice absent = {NULL, 0};
    const struct mcpx_slice request = MCPX_SLICE("mcp/request");
    const struct mcpx_slice proposal = MCPX_SLICE("mcp/proposal");
    const struct mcpx_kind *kind = question->kind;
    struct mcpx_question instead = *question;
    struct mcpx_kind other;
    size_t rest = kind->text.len - kind->type.len;

    if (!mcpx_slice_equal(kind->type, request) || proposal.len + rest > MCPX_KIND_MAX)
        return absent;
    memcpy(alternative, proposal.text, proposal.len);
    memcpy(alternative + proposal.len, kind->type.text + kind->type.len, rest);
    if (mcpx_kind_parse((struct mcpx_slice){alternative, proposal.len + rest}, &other, NULL))
        return absent;
    instead.kind = &other;
    return mcpx_capset_allows(set, &instead) ? other.text : absent;
}

void mcpx_capset_explain(struct mcpx_capset *set, const struct mcpx_question *question,
                         struct mcpx_decision *out)
{
    *out = (struct mcpx_decision){.nearest = find_nearest(set, question->kind)};
    if (mcpx_capset_allows(set, question)) {
        out->grant = mx_capset_granted_by(set, question);
        return;
    }
    if (mcpx_kind_is_reserved(question->kind)) {
        out->refusal = MCPX_RESERVED_NAMESPACE;
        return;
    }
    out->grant = mx_capset_denied_by(set, question->kind);
    if (out->grant.text)
        out->refusal = MCPX_DENIED; /* and no grant helps against that */
    else
        find_missed(set, question, out);
    if (out->refusal != MCPX_DENIED)
        out->would_allow = write_would_allow(question->kind);
    out->alternative = write_alternative(set, question);
}
