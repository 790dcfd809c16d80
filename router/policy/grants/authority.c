/*
 * authority.c - compares what is given with what the giver has, pattern with pattern. Trying all
 * kinds that a pattern covers is not possible, and trying some would miss the one that matters.
 * Several grants that cover something only together do not count: the giver can give it in pieces.
 */
#include "router/policy/grants/grant.h"

#include "lib/json/json_write.h"
#include "lib/protocol/capset.h"

bool authority_has(struct mcpx_capset *set, const char *kind, int64_t wall_ms)
{
    struct mcpx_kind parsed;
    struct mcpx_question question = {.kind = &parsed, .wall_ms = wall_ms};

    return mcpx_kind_parse(mcpx_slice_of(kind), &parsed, NULL) == MCPX_OK &&
           mcpx_capset_allows(set, &question);
}

static bool lasts_as_long(const struct mcpx_grant *held, const struct mcpx_grant *given,
                          int64_t wall_ms)
{
    if (held->expires_ms == 0)
        return true;
    return mx_grant_holds(held, wall_ms) && given->expires_ms != 0 &&
           given->expires_ms <= held->expires_ms;
}

struct mcpx_slice authority_denial(const struct mcpx_capset *set,
                                   const struct mx_pattern *pattern)
{
    for (size_t i = 0; i < set->deny_count; i++)
        if (mx_pattern_may_meet(&set->patterns[set->grant_count + i], pattern))
            return mx_capset_denial(set, i);
    return (struct mcpx_slice){NULL, 0};
}

static bool covers(const struct mcpx_capset *set, const struct mcpx_grant *given,
                   int64_t wall_ms, struct mcpx_text *why)
{
    const char *missing = "your grants do not cover '%s'; what you do not have yourself you "
                          "can only grant with admin/*";
    struct mx_pattern pattern;
    struct mcpx_slice denial;
    bool covered = false;

    if (mx_pattern_parse(given->pattern, &pattern, NULL))
        return false;
    for (size_t i = 0; i < set->grant_count && !covered; i++) {
        const struct mcpx_grant *held = &set->grants[i];

        if (!mx_pattern_contains(&set->patterns[i], &pattern, false))
            continue;
        if (!mx_grant_to_covers(held, given))
            missing = "you have '%s' for some addressees only: name them as to";
        else if (!lasts_as_long(held, given, wall_ms))
            missing = "you do not have '%s' yourself for so long: give an earlier until";
        else
            covered = true;
    }
    denial = authority_denial(set, &pattern);
    if (!covered)
        mx_format(why, missing, given->pattern);
    else if (denial.text)
        mx_format(why, "'%s' may cover what '%s' denies you", given->pattern, denial);
    return covered && !denial.text;
}

bool authority_has_all(const struct mcpx_capset *set, int64_t wall_ms)
{
    const struct mcpx_grant all = {.pattern = MCPX_SLICE("admin/*")};
    struct mcpx_text why = {0};
    bool has = covers(set, &all, wall_ms, &why);

    mcpx_text_fini(&why);
    return has;
}

bool authority_may_give(const struct mcpx_capset *set, const struct mcpx_grant *given,
                        int64_t wall_ms, struct mcpx_text *why)
{
    return authority_has_all(set, wall_ms) || covers(set, given, wall_ms, why);
}

bool authority_is_all(const struct mx_pattern *pattern)
{
    struct mx_pattern all;

    return mx_pattern_parse(MCPX_SLICE("admin/*"), &all, NULL) == MCPX_OK &&
           mx_pattern_contains(pattern, &all, false);
}

bool authority_is_guarded(const struct mcpx_capset *set, int64_t wall_ms)
{
    for (size_t i = 0; i < set->grant_count; i++)
        if (mx_grant_holds(&set->grants[i], wall_ms) && authority_is_all(&set->patterns[i]))
            return true;
    return false;
}
