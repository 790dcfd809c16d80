/*
 * changes.c - keeps changes: found by participant and topic, counted by maker, laid over what a
 * credential gives, forgotten when they have ended. Sets are compiled when somebody needs them, and
 * once for all connections of a participant that came with the same set.
 */
#include "router/policy/grants/changes.h"

#include "lib/base/rows.h"

#include <stdlib.h>

/* The names come from administrators, so the hash needs no secret key. */
static const struct mx_map_key names_key = {{5, 12}}, topics_key = {{6, 12}};

/* ---- those of one participant ---- */

void change_unref(struct change *change)
{
    if (--change->refs == 0)
        free(change);
}

void changed_free(struct changed *changed)
{
    if (!changed)
        return;
    for (size_t i = 0; i < changed->count; i++)
        change_unref(changed->list[i]);
    free(changed->list);
    mcpx_capset_unref(changed->base_set);
    mcpx_capset_unref(changed->set);
    free(changed);
}

void changed_drop(struct changed *changed, size_t index)
{
    change_unref(changed->list[index]);
    memmove(&changed->list[index], &changed->list[index + 1],
            (--changed->count - index) * sizeof *changed->list);
}

size_t changed_find(const struct changed *changed, enum change_sort sort,
                    const struct mcpx_grant *grant)
{
    size_t i = 0;

    while (i < changed->count &&
           (changed->list[i]->sort != sort ||
            !mcpx_slice_equal(changed->list[i]->grant.pattern, grant->pattern) ||
            !mx_grant_to_equals(&changed->list[i]->grant, grant)))
        i++;
    return i;
}

const struct change *changed_held(const struct changed *changed, enum change_sort sort,
                                  const struct mcpx_grant *grant, int64_t wall_ms)
{
    size_t index = changed ? changed_find(changed, sort, grant) : 0;

    return changed && index < changed->count && change_holds(changed->list[index], wall_ms)
               ? changed->list[index]
               : NULL;
}

int64_t changed_barred_until(const struct changed *changed, int64_t wall_ms)
{
    const struct mcpx_grant bar = {.pattern = MCPX_SLICE("")};
    const struct change *held = changed_held(changed, CHANGE_BAR, &bar, wall_ms);

    return held ? held->grant.expires_ms : 0;
}

/* ---- all of them ---- */

struct changes *changes_new(void)
{
    struct changes *changes = calloc(1, sizeof *changes);

    if (changes) {
        changes->next_end_ms = INT64_MAX;
        changes->makers =
            (struct mx_holders){.key = names_key, .cap = CHANGES_OWN, .total = CHANGES_MAX};
    }
    return changes;
}

void changes_free(struct changes *changes)
{
    if (!changes)
        return;
    for (size_t i = 0; i < changes->count; i++)
        changed_free(changes->all[i]);
    free(changes->all);
    mx_map_fini(&changes->places);
    mx_holders_fini(&changes->makers);
    free(changes);
}

/* ---- found ---- */

static uint64_t hash_of(struct mcpx_slice identity, struct mcpx_slice topic)
{
    return mx_map_hash(names_key, identity) ^ mx_map_hash(topics_key, topic);
}

/* The index; `count` when nothing was changed. */
static size_t find_index(const struct changes *changes, struct mcpx_slice identity,
                         struct mcpx_slice topic)
{
    uint64_t hash, value;
    size_t at = 0;

    if (changes->count == 0)
        return 0;
    hash = hash_of(identity, topic);
    while ((value = mx_map_next(&changes->places, hash, &at)) != 0)
        if (mcpx_slice_equal(changes->all[value - 1]->identity, identity) &&
            mcpx_slice_equal(changes->all[value - 1]->topic, topic))
            return value - 1;
    return changes->count;
}

struct changed *changes_find(const struct changes *changes, struct mcpx_slice identity,
                             struct mcpx_slice topic)
{
    size_t index = changes ? find_index(changes, identity, topic) : 0;

    return changes && index < changes->count ? changes->all[index] : NULL;
}

const struct changed *changes_at(const struct changes *changes, size_t index)
{
    return index < changes->count ? changes->all[index] : NULL;
}

bool changes_bar(const struct changes *changes, struct mcpx_slice identity,
                 struct mcpx_slice topic, int64_t wall_ms)
{
    return changed_barred_until(changes_find(changes, identity, topic), wall_ms) != 0;
}

/* ---- put in force ---- */

/* The first `count` of a list count no more for their makers. */
static void count_out(struct changes *changes, const struct changed *changed, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mx_holders_remove(&changes->makers, changed->list[i]->by, changed->list[i]->amount);
}

/* False, with nothing counted, when memory runs out. */
static bool count_in(struct changes *changes, const struct changed *changed)
{
    for (size_t i = 0; i < changed->count; i++)
        if (!mx_holders_add(&changes->makers, changed->list[i]->by,
                            changed->list[i]->amount)) {
            count_out(changes, changed, i);
            return false;
        }
    return true;
}

/* Somebody of whom nothing is left is forgotten at the next tick. */
static void note_ends(struct changes *changes, const struct changed *changed)
{
    if (changed->count == 0)
        changes->next_end_ms = INT64_MIN;
    for (size_t i = 0; i < changed->count; i++) {
        int64_t end = changed->list[i]->grant.expires_ms;

        if (end && end < changes->next_end_ms)
            changes->next_end_ms = end;
    }
}

static void put(struct changes *changes, size_t index, struct changed *changed)
{
    changes->all[index] = changed;
    mx_map_put(&changes->places, hash_of(changed->identity, changed->topic), index + 1);
}

static void take(struct changes *changes, size_t index)
{
    const struct changed *changed = changes->all[index];

    mx_map_remove(&changes->places, hash_of(changed->identity, changed->topic), index + 1);
}

enum mcpx_err changes_commit(struct changes *changes, struct changed *draft)
{
    size_t index = find_index(changes, draft->identity, draft->topic);
    struct changed **all =
        mx_room(changes->all, changes->count, &changes->room, sizeof(struct changed *));

    changes->all = all ? all : changes->all;
    if (!all || !mx_map_reserve(&changes->places) || !count_in(changes, draft)) {
        changed_free(draft);
        return MCPX_ENOMEM;
    }
    if (index < changes->count) {
        count_out(changes, all[index], all[index]->count);
        changed_free(all[index]);
        all[index] = draft;
    } else {
        put(changes, changes->count++, draft);
    }
    note_ends(changes, draft);
    return MCPX_OK;
}

/* ---- forgotten ---- */

static void forget(struct changes *changes, size_t index)
{
    take(changes, index);
    changed_free(changes->all[index]);
    if (index != --changes->count) {
        take(changes, changes->count);
        put(changes, index, changes->all[changes->count]);
    }
}

/* True when a denial has ended. */
static bool drop_ended(struct changes *changes, struct changed *changed, int64_t wall_ms)
{
    bool told = false;

    for (size_t i = changed->count; i-- > 0;) {
        const struct change *change = changed->list[i];

        if (change_holds(change, wall_ms))
            continue;
        told |= change->sort == CHANGE_DENIAL;
        mx_holders_remove(&changes->makers, change->by, change->amount);
        changed_drop(changed, i);
    }
    return told;
}

const struct changed *changes_tick(struct changes *changes, int64_t wall_ms)
{
    if (changes->to_look == 0 && wall_ms < changes->next_end_ms)
        return NULL;
    if (changes->to_look == 0) {
        changes->to_look = changes->count;
        changes->next_end_ms = INT64_MAX;
    }
    while (changes->to_look > 0) {
        struct changed *changed = changes->all[--changes->to_look];

        if (drop_ended(changes, changed, wall_ms)) {
            changes->to_look++; /* nothing may be left of it */
            return changed;
        }
        if (changed->count == 0)
            forget(changes, changes->to_look);
        else
            note_ends(changes, changed);
    }
    return NULL;
}

/* ---- laid over ---- */

/* Does a removal take all that a grant gives? Then the set has no room for the grant. */
static bool is_taken(const struct changed *changed, const struct mcpx_grant *grant,
                     int64_t wall_ms)
{
    struct mx_pattern pattern;

    if (mx_pattern_parse(grant->pattern, &pattern, NULL))
        return true;
    for (size_t i = 0; i < changed->count; i++)
        if (changed->list[i]->sort == CHANGE_DENIAL &&
            change_holds(changed->list[i], wall_ms) &&
            mx_pattern_contains(&changed->list[i]->pattern, &pattern, true))
            return true;
    return false;
}

static enum mcpx_err compile(const struct changed *changed, const struct mcpx_capset *base,
                             int64_t wall_ms, struct mcpx_capset **out)
{
    size_t most = base->grant_count + base->deny_count + changed->count;
    struct mcpx_grant *grants = calloc(most, sizeof *grants);
    struct mcpx_slice *deny = calloc(most, sizeof *deny);
    size_t grant_count = 0, deny_count = 0;
    enum mcpx_err err = MCPX_ENOMEM;

    if (!grants || !deny)
        goto out;
    for (size_t i = 0; i < base->deny_count; i++)
        deny[deny_count++] = mx_capset_denial(base, i);
    for (size_t i = 0; i < base->grant_count; i++)
        if (!is_taken(changed, &base->grants[i], wall_ms))
            grants[grant_count++] = base->grants[i];
    for (size_t i = 0; i < changed->count; i++) {
        const struct change *change = changed->list[i];

        if (!change_holds(change, wall_ms))
            continue;
        if (change->sort == CHANGE_DENIAL)
            deny[deny_count++] = change->grant.pattern;
        else if (change->sort == CHANGE_GRANT && !is_taken(changed, &change->grant, wall_ms))
            grants[grant_count++] = change->grant;
    }
    err = mcpx_capset_new(grants, grant_count, deny, deny_count, NULL, NULL, out);
out:
    free(grants);
    free(deny);
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
