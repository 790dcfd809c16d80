/*
 * changes_apply.c - lays the changes of a participant over what its credential gives. Sets are
 * compiled when somebody needs them, and once for all connections of a participant that came with
 * the same set.
 */
#include "lib/core/capset.h"
#include "router/policy/changes_inside.h"

#include <stdlib.h>

/* What a set is made from; `taken` holds the run-time denials. */
struct mixture {
    struct mcpx_grant *grants;
    struct mcpx_slice *deny;
    size_t grant_count, deny_count;
    const struct mx_pattern *taken[CHANGES_EACH];
    size_t taken_count;
};

/* A grant that is denied as a whole is not listed either. */
static void mix_grant(struct mixture *mixture, const struct mcpx_grant *grant)
{
    struct mx_pattern pattern;

    if (mx_pattern_parse(grant->pattern, &pattern, NULL))
        return;
    for (size_t i = 0; i < mixture->taken_count; i++)
        if (mx_pattern_contains(mixture->taken[i], &pattern, true))
            return;
    mixture->grants[mixture->grant_count++] = *grant;
}

/* Two may have taken away the same. */
static bool is_taken(const struct mixture *mixture, struct mcpx_slice pattern)
{
    for (size_t i = 0; i < mixture->taken_count; i++)
        if (mcpx_slice_equal(mixture->deny[mixture->deny_count - 1 - i], pattern))
            return true;
    return false;
}

static void mix_denials(struct mixture *mixture, const struct changed *changed,
                        int64_t wall_ms)
{
    for (size_t i = 0; i < changed->count; i++) {
        const struct change *change = changed->list[i];

        if (change->sort != CHANGE_DENIAL || !change_holds(change, wall_ms) ||
            is_taken(mixture, change->grant.pattern))
            continue;
        mixture->taken[mixture->taken_count++] = &change->pattern;
        mixture->deny[mixture->deny_count++] = change->grant.pattern;
    }
}

static void mix(struct mixture *mixture, const struct changed *changed,
                const struct mcpx_capset *base, int64_t wall_ms)
{
    for (size_t i = 0; i < base->deny_count; i++)
        mixture->deny[mixture->deny_count++] = mx_capset_denial(base, i);
    mix_denials(mixture, changed, wall_ms);
    for (size_t i = 0; i < base->grant_count; i++)
        mix_grant(mixture, &base->grants[i]);
    for (size_t i = 0; i < changed->count; i++)
        if (changed->list[i]->sort == CHANGE_GRANT && change_holds(changed->list[i], wall_ms))
            mix_grant(mixture, &changed->list[i]->grant);
}

static enum mcpx_err compile(const struct changed *changed, const struct mcpx_capset *base,
                             int64_t wall_ms, struct mcpx_capset **out)
{
    size_t most = base->grant_count + base->deny_count + changed->count;
    struct mixture mixture = {.grants = calloc(most, sizeof(struct mcpx_grant)),
                              .deny = calloc(most, sizeof(struct mcpx_slice))};
    enum mcpx_err err = MCPX_ENOMEM;

    if (mixture.grants && mixture.deny) {
        mix(&mixture, changed, base, wall_ms);
        err = mcpx_capset_new(mixture.grants, mixture.grant_count, mixture.deny,
                              mixture.deny_count, NULL, NULL, out);
    }
    free(mixture.grants);
    free(mixture.deny);
    return err;
}

/* Grants end by themselves, inside the set. */
static int64_t first_end_of_denial(const struct changed *changed, int64_t wall_ms)
{
    int64_t first = 0;

    for (size_t i = 0; i < changed->count; i++) {
        const struct change *change = changed->list[i];
        int64_t end = change->grant.expires_ms;

        if (change->sort == CHANGE_DENIAL && end > wall_ms && (first == 0 || end < first))
            first = end;
    }
    return first;
}

static bool has_rights(const struct changed *changed)
{
    for (size_t i = 0; changed && i < changed->count; i++)
        if (changed->list[i]->sort != CHANGE_BAR)
            return true;
    return false;
}

static void let_go(struct changed *changed)
{
    mcpx_capset_unref(changed->base_set);
    mcpx_capset_unref(changed->set);
    changed->base_set = changed->set = NULL;
}

/* When many were made all are let go; those in use are kept by who uses them. */
static void count_set(struct changes *changes)
{
    if (changes->sets++ < CHANGES_SETS)
        return;
    for (size_t i = 0; i < changes->count; i++)
        let_go(changes->all[i]);
    changes->sets = 1;
}

enum mcpx_err changed_apply(struct changes *changes, struct changed *changed,
                            struct grant *base, int64_t wall_ms, struct grant **out)
{
    struct mcpx_capset *set = NULL;
    struct grant *grant;
    enum mcpx_err err;

    base = grant_base(base);
    if (!has_rights(changed)) {
        *out = grant_ref(base);
        return MCPX_OK;
    }
    if (changed->base_set != base->capset ||
        (changed->good_until && wall_ms >= changed->good_until)) {
        err = compile(changed, base->capset, wall_ms, &set);
        if (err)
            return err;
        count_set(changes);
        let_go(changed);
        changed->base_set = mcpx_capset_ref(base->capset);
        changed->set = set;
        changed->good_until = first_end_of_denial(changed, wall_ms);
    }
    grant = grant_over(base, changed->set);
    if (!grant)
        return MCPX_ENOMEM;
    *out = grant;
    return MCPX_OK;
}

enum mcpx_err changes_apply(struct changes *changes, struct grant *base,
                            struct mcpx_slice topic, int64_t wall_ms, struct grant **out)
{
    return changed_apply(changes, changes_find(changes, base->identity, topic), base, wall_ms,
                         out);
}

enum mcpx_err changes_admit(struct changes *changes, struct mcpx_slice topic, int64_t wall_ms,
                            struct grant **grant)
{
    struct grant *changed = NULL;
    enum mcpx_err err;

    if (changes_bar(changes, (*grant)->identity, topic, wall_ms))
        return MCPX_EKICKED;
    err = changes_apply(changes, *grant, topic, wall_ms, &changed);
    if (err)
        return err == MCPX_ELIMIT ? MCPX_EFULL : err;
    grant_unref(*grant);
    *grant = changed;
    return MCPX_OK;
}
