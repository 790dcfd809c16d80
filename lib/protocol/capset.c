/*
 * capset.c - keeps a grant set: copies grants and denials into one block, counts its holders.
 * Rejected: an allocation per pattern; sets are made while a participant waits to join, and one
 * allocation has one way to fail.
 */
#include "lib/protocol/capset.h"

#include "lib/base/ident.h"
#include "lib/base/rows.h"

#include <stdlib.h>

/* The parts of a set, as given to mcpx_capset_new. */
struct source {
    const struct mcpx_grant *grants;
    size_t grant_count;
    const struct mcpx_slice *deny;
    size_t deny_count;
};

/* How much of everything the block must hold. */
struct needs {
    size_t patterns;
    size_t pattern_bytes;
    size_t addressees;
    size_t addressee_bytes;
};

static struct mcpx_slice source_pattern(const struct source *source, size_t index)
{
    return index < source->grant_count ? source->grants[index].pattern
                                       : source->deny[index - source->grant_count];
}

/* Checks the bounds and every pattern's grammar. */
static enum mcpx_err survey(const struct source *source, struct needs *needs, size_t *failed,
                            struct mcpx_fault *fault)
{
    *needs = (struct needs){.patterns = source->grant_count + source->deny_count};
    for (size_t i = 0; i < needs->patterns; i++) {
        enum mcpx_err err = mcpx_pattern_check(source_pattern(source, i), fault);

        if (!err) {
            needs->pattern_bytes += source_pattern(source, i).len;
            if (i < MCPX_CAPSET_PATTERNS_MAX && needs->pattern_bytes <= MCPX_CAPSET_BYTES_MAX)
                continue;
            err = MCPX_ELIMIT;
            if (fault)
                *fault = (struct mcpx_fault){
                    "a set holds at most 1024 patterns and 65536 bytes of them", "", 0};
        }
        if (failed)
            *failed = i;
        return err;
    }
    for (size_t i = 0; i < source->grant_count; i++) {
        needs->addressees += source->grants[i].to_count;
        for (size_t j = 0; j < source->grants[i].to_count; j++)
            needs->addressee_bytes += source->grants[i].to[j].len;
    }
    return MCPX_OK;
}

static void copy_grant(const struct mcpx_grant *grant, struct mcpx_slice *to, char **room,
                       struct mcpx_grant *out)
{
    *out = *grant;
    out->pattern = mx_keep(room, grant->pattern);
    out->to = grant->to_count > 0 ? to : NULL;
    for (size_t i = 0; i < grant->to_count; i++)
        to[i] = mx_keep(room, grant->to[i]);
}

/* Lays the block out: set, grants, patterns, addressees, then bytes, widest alignment first. */
static struct mcpx_capset *copy_source(const struct source *source, const struct needs *needs)
{
    size_t grants_size = source->grant_count * sizeof(struct mcpx_grant);
    size_t patterns_size = needs->patterns * sizeof(struct mx_pattern);
    size_t addressees_size = needs->addressees * sizeof(struct mcpx_slice);
    struct mcpx_capset *set =
        calloc(1, sizeof *set + grants_size + patterns_size + addressees_size +
                      needs->pattern_bytes + needs->addressee_bytes);
    struct mcpx_slice *to;
    char *room;

    if (!set)
        return NULL;
    set->refs = 1;
    set->grant_count = source->grant_count;
    set->deny_count = source->deny_count;
    set->grants = (struct mcpx_grant *)(void *)(set + 1);
    set->patterns = (struct mx_pattern *)(void *)((char *)(set + 1) + grants_size);
    to = (struct mcpx_slice *)(void *)((char *)set->patterns + patterns_size);
    room = (char *)to + addressees_size;
    for (size_t i = 0; i < needs->patterns; i++) {
        struct mcpx_slice pattern;

        if (i < source->grant_count) {
            copy_grant(&source->grants[i], to, &room, &set->grants[i]);
            to += source->grants[i].to_count;
            pattern = set->grants[i].pattern;
        } else {
            pattern = mx_keep(&room, source_pattern(source, i));
        }
        mx_pattern_parse(pattern, &set->patterns[i], NULL); /* surveyed: cannot fail */
    }
    return set;
}

enum mcpx_err mcpx_capset_new(const struct mcpx_grant *grants, size_t grant_count,
                              const struct mcpx_slice *deny, size_t deny_count, size_t *failed,
                              struct mcpx_fault *fault, struct mcpx_capset **out)
{
    struct source source = {grants, grant_count, deny, deny_count};
    struct mcpx_capset *set;
    struct needs needs;
    enum mcpx_err err = survey(&source, &needs, failed, fault);

    if (err)
        return err;
    set = copy_source(&source, &needs);
    if (!set)
        return MCPX_ENOMEM;
    err = mx_matcher_new(set, &set->matcher);
    if (err) {
        mcpx_capset_unref(set);
        return err;
    }
    *out = set;
    return MCPX_OK;
}

struct mcpx_capset *mcpx_capset_ref(struct mcpx_capset *set)
{
    set->refs++;
    return set;
}

void mcpx_capset_unref(struct mcpx_capset *set)
{
    if (!set || --set->refs > 0)
        return;
    mx_matcher_free(set->matcher);
    free(set);
}

size_t mcpx_capset_count(const struct mcpx_capset *set)
{
    return set->grant_count;
}

const struct mcpx_grant *mcpx_capset_grant(const struct mcpx_capset *set, size_t index)
{
    return &set->grants[index];
}

int64_t mcpx_capset_next_expiry(const struct mcpx_capset *set, int64_t wall_ms)
{
    int64_t next = 0;

    for (size_t i = 0; i < set->grant_count; i++) {
        int64_t expires_ms = set->grants[i].expires_ms;

        if (expires_ms > wall_ms && expires_ms != 0 && (next == 0 || expires_ms < next))
            next = expires_ms;
    }
    return next;
}

bool mx_grant_to_equals(const struct mcpx_grant *one, const struct mcpx_grant *other)
{
    bool same = one->to_count == other->to_count;

    for (size_t i = 0; same && i < one->to_count; i++)
        same = mcpx_slice_equal(one->to[i], other->to[i]);
    return same;
}

bool mx_grant_to_covers(const struct mcpx_grant *outer, const struct mcpx_grant *inner)
{
    if (outer->to_count == 0)
        return true;
    for (size_t i = 0; i < inner->to_count; i++)
        if (!mx_id_is_among(inner->to[i], outer->to, outer->to_count))
            return false;
    return inner->to_count > 0;
}

bool mx_grant_equals(const struct mcpx_grant *one, const struct mcpx_grant *other)
{
    return mcpx_slice_equal(one->pattern, other->pattern) &&
           one->expires_ms == other->expires_ms && mx_grant_to_equals(one, other);
}

static bool same_grants(const struct mcpx_capset *set, const struct mcpx_grant *grants,
                        size_t count)
{
    bool same = set->grant_count == count;

    for (size_t i = 0; same && i < count; i++)
        same = mx_grant_equals(&set->grants[i], &grants[i]);
    return same;
}

bool mx_capset_is_of(const struct mcpx_capset *set, const struct mcpx_grant *grants,
                     size_t grant_count, const struct mcpx_slice *deny, size_t deny_count)
{
    bool same = same_grants(set, grants, grant_count) && set->deny_count == deny_count;

    for (size_t i = 0; same && i < deny_count; i++)
        same = mcpx_slice_equal(mx_capset_denial(set, i), deny[i]);
    return same;
}

bool mx_capset_equals(const struct mcpx_capset *one, const struct mcpx_capset *other)
{
    bool same = one->deny_count == other->deny_count;

    if (one == other)
        return true;
    for (size_t i = 0; same && i < one->deny_count; i++)
        same = mcpx_slice_equal(mx_capset_denial(one, i), mx_capset_denial(other, i));
    return same && same_grants(one, other->grants, other->grant_count);
}
