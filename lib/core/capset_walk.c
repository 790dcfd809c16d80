/*
 * capset_walk.c - asks a set pattern by pattern, and reads the conditions of grants.
 * That finds the reasons of a verdict, and the verdict itself where the programs of capability.c
 * could take long: what a walk costs is bounded by the patterns' number times the kind's length.
 */
#include "lib/core/capset.h"

#include <mcpx/envelope.h>

/* Who is listed is so with all its instances. Protocol: section 3. */
static bool is_listed(const struct mcpx_grant *grant, struct mcpx_slice addressee)
{
    struct mcpx_slice identity = mcpx_identity_of(addressee);

    for (size_t i = 0; i < grant->to_count; i++)
        if (mcpx_slice_equal(grant->to[i], identity) ||
            mcpx_slice_equal(grant->to[i], addressee))
            return true;
    return false;
}

enum mcpx_refusal mx_grant_condition(const struct mcpx_grant *grant,
                                     const struct mcpx_question *question)
{
    if (grant->expires_ms != 0 && question->wall_ms >= grant->expires_ms)
        return MCPX_GRANT_EXPIRED;
    if (grant->to_count == 0)
        return MCPX_ALLOWED;
    if (question->to_count == 0) /* everyone is more than those listed */
        return MCPX_TARGET_NOT_ALLOWED;
    for (size_t i = 0; i < question->to_count; i++)
        if (!is_listed(grant, question->to[i]))
            return MCPX_TARGET_NOT_ALLOWED;
    return MCPX_ALLOWED;
}

struct mcpx_slice mx_capset_denied_by(const struct mcpx_capset *set,
                                      const struct mcpx_kind *kind)
{
    for (size_t i = set->grant_count; i < set->grant_count + set->deny_count; i++)
        if (mx_pattern_covers(&set->patterns[i], kind, false))
            return mx_capset_pattern(set, i);
    return (struct mcpx_slice){NULL, 0};
}

struct mcpx_slice mx_capset_granted_by(struct mcpx_capset *set,
                                       const struct mcpx_question *question)
{
    bool dotted = mcpx_kind_has_dot_segment(question->kind);

    for (size_t i = 0; i < set->grant_count; i++) {
        const struct mcpx_grant *grant = &set->grants[i];

        if (!mx_pattern_covers(&set->patterns[i], question->kind, dotted))
            continue;
        set->depends |= mcpx_grant_is_conditional(grant);
        if (mx_grant_condition(grant, question) == MCPX_ALLOWED)
            return mx_capset_pattern(set, i);
    }
    return (struct mcpx_slice){NULL, 0};
}
