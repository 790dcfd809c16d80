/*
 * changes.c - a table of changes by participant and topic; the quota of each administrator is
 * counted. A participant's grant and its changes together make a set of patterns. The set is
 * compiled on demand, once for all connections of the participant with the same grant.
 */
#include "router/policy/grants/changes.h"

#include "lib/base/rows.h"
#include "lib/json/json_write.h"

#include <stdlib.h>

/* The names come from administrators, so the hash needs no secret key. */
static const struct mx_map_key names_key = {{5, 12}}, topics_key = {{6, 12}};

/* ---- the changes of one participant ---- */

static void release_sets(struct change_list *list)
{
    mcpx_capset_unref(list->base_set);
    mcpx_capset_unref(list->set);
    list->base_set = list->set = NULL;
}

void change_list_free(struct change_list *list)
{
    if (list)
        release_sets(list);
    free(list);
}

void change_list_drop(struct change_list *list, size_t index)
{
    memmove(&list->rows[index], &list->rows[index + 1],
            (--list->count - index) * sizeof *list->rows);
}

size_t change_list_find(const struct change_list *list, enum change_sort sort,
                        const struct mcpx_grant *grant)
{
    size_t i = 0;

    while (i < list->count &&
           (list->rows[i].sort != sort ||
            !mcpx_slice_equal(list->rows[i].grant.pattern, grant->pattern) ||
            !mx_grant_to_equals(&list->rows[i].grant, grant)))
        i++;
    return i;
}

const struct change *change_list_active(const struct change_list *list, enum change_sort sort,
                                        const struct mcpx_grant *grant, int64_t wall_ms)
{
    size_t index = list ? change_list_find(list, sort, grant) : 0;

    return list && index < list->count && change_holds(&list->rows[index], wall_ms)
               ? &list->rows[index]
               : NULL;
}

const struct change *change_list_denial(const struct change_list *list,
                                        const struct mx_pattern *pattern, int64_t wall_ms)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct change *change = &list->rows[i];

        if (change->sort == CHANGE_DENIAL && change_holds(change, wall_ms) &&
            mx_pattern_contains(&change->pattern, pattern, true))
            return change;
    }
    return NULL;
}

int64_t change_list_banned_until(const struct change_list *list, int64_t wall_ms)
{
    const struct mcpx_grant ban = {.pattern = MCPX_SLICE("")};
    const struct change *held = change_list_active(list, CHANGE_BAN, &ban, wall_ms);

    return held ? held->grant.expires_ms : 0;
}

/* ---- all changes ---- */

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
        change_list_free(changes->all[i]);
    free(changes->all);
    mx_map_fini(&changes->places);
    mx_holders_fini(&changes->makers);
    free(changes);
}

/* ---- finding ---- */

static uint64_t hash_of(struct mcpx_slice identity, struct mcpx_slice topic)
{
    return mx_map_hash(names_key, identity) ^ mx_map_hash(topics_key, topic);
}

/* Returns the index; `count` without changes. */
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

struct change_list *changes_find(const struct changes *changes, struct mcpx_slice identity,
                                 struct mcpx_slice topic)
{
    size_t index = changes ? find_index(changes, identity, topic) : 0;

    return changes && index < changes->count ? changes->all[index] : NULL;
}

/* ---- bounds ---- */

static uint64_t amount_of(const struct change_list *list, struct mcpx_slice by)
{
    uint64_t amount = 0;

    for (size_t i = 0; list && i < list->count; i++)
        if (mcpx_slice_equal(list->rows[i].by, by))
            amount += list->rows[i].amount;
    return amount;
}

/* Checks the bounds of one participant, a number and bytes for each sort of change. */
static bool fits_one(const struct change_list *draft, enum change_sort sort)
{
    size_t count = 0, text = 0;

    for (size_t i = 0; i < draft->count; i++)
        if (draft->rows[i].sort == sort) {
            count++;
            text += draft->rows[i].grant.pattern.len;
        }
    return count <= CHANGES_EACH && text <= CHANGES_EACH_TEXT;
}

enum mcpx_err changes_check_room(const struct changes *changes,
                                 const struct change_list *draft, struct mcpx_slice by,
                                 struct mcpx_text *why)
{
    const struct change_list *before = changes_find(changes, draft->identity, draft->topic);
    uint64_t had = amount_of(before, by), has = amount_of(draft, by);
    enum mx_sharing sharing =
        has > had ? mx_holders_ask(&changes->makers, by, has - had) : MX_SHARING_FITS;
    bool grants = fits_one(draft, CHANGE_GRANT);

    if (!grants || !fits_one(draft, CHANGE_DENIAL)) {
        mx_format(why, "for '%s' in '%s' %s %s with %s bytes of patterns may be kept",
                  draft->identity, draft->topic, CHANGES_EACH, grants ? "removals" : "grants",
                  CHANGES_EACH_TEXT);
        return MCPX_ESHARE;
    }
    if (sharing == MX_SHARING_FITS)
        return MCPX_OK;
    mx_format(why,
              sharing == MX_SHARING_OVER_CAP
                  ? "you may have made %s changes that are kept, one for each KiB; "
                  : "%s changes of all administrators are kept, one for each KiB; ",
              sharing == MX_SHARING_OVER_CAP ? CHANGES_OWN : CHANGES_MAX);
    mcpx_text_puts(why, "there is room when some have ended or were taken back");
    return sharing == MX_SHARING_OVER_CAP ? MCPX_ESHARE : MCPX_EFULL;
}

/* ---- commit ---- */

size_t change_size(const struct change *change)
{
    size_t size = sizeof *change + change->grant.pattern.len + change->by.len;

    for (size_t i = 0; i < change->grant.to_count; i++)
        size += sizeof(struct mcpx_slice) + change->grant.to[i].len;
    return size;
}

/* A copy in one block of memory. The sets move into it. NULL when memory runs out. */
static struct change_list *copy_of(struct change_list *list)
{
    size_t size = sizeof *list + list->identity.len + list->topic.len, to_count = 0;
    struct change_list *copy;
    struct mcpx_slice *to;
    char *room;

    for (size_t i = 0; i < list->count; i++) {
        size += change_size(&list->rows[i]);
        to_count += list->rows[i].grant.to_count;
    }
    copy = malloc(size);
    if (!copy)
        return NULL;
    *copy = *list;
    list->base_set = list->set = NULL;
    copy->rows = (struct change *)(void *)(copy + 1);
    to = (struct mcpx_slice *)(void *)(copy->rows + copy->count);
    room = (char *)(to + to_count);
    copy->identity = mx_keep(&room, list->identity);
    copy->topic = mx_keep(&room, list->topic);
    for (size_t i = 0; i < copy->count; i++) {
        struct change *change = &copy->rows[i];

        *change = list->rows[i];
        for (size_t j = 0; j < change->grant.to_count; j++)
            to[j] = mx_keep(&room, change->grant.to[j]);
        change->grant.to = change->grant.to_count > 0 ? to : NULL;
        to += change->grant.to_count;
        change->grant.pattern = mx_keep(&room, change->grant.pattern);
        (void)mx_pattern_parse(change->grant.pattern, &change->pattern, NULL);
        change->by = mx_keep(&room, change->by);
    }
    return copy;
}

/* Subtracts the first `count` of a list from their makers. */
static void count_out(struct changes *changes, const struct change_list *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mx_holders_remove(&changes->makers, list->rows[i].by, list->rows[i].amount);
}

/* False, with nothing counted, when memory runs out. */
static bool count_in(struct changes *changes, const struct change_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!mx_holders_add(&changes->makers, list->rows[i].by, list->rows[i].amount)) {
            count_out(changes, list, i);
            return false;
        }
    return true;
}

/* An empty list is dropped at the next tick. */
static void note_ends(struct changes *changes, const struct change_list *list)
{
    if (list->count == 0)
        changes->next_end_ms = INT64_MIN;
    for (size_t i = 0; i < list->count; i++) {
        int64_t end = list->rows[i].grant.expires_ms;

        if (end && end < changes->next_end_ms)
            changes->next_end_ms = end;
    }
}

static void put(struct changes *changes, size_t index, struct change_list *list)
{
    changes->all[index] = list;
    mx_map_put(&changes->places, hash_of(list->identity, list->topic), index + 1);
}

static void unmap(struct changes *changes, size_t index)
{
    const struct change_list *list = changes->all[index];

    mx_map_remove(&changes->places, hash_of(list->identity, list->topic), index + 1);
}

enum mcpx_err changes_commit(struct changes *changes, struct change_list *draft)
{
    size_t index = find_index(changes, draft->identity, draft->topic);
    struct change_list *kept = mx_make_room(&changes->all, changes->count, &changes->room,
                                            sizeof(struct change_list *))
                                   ? copy_of(draft)
                                   : NULL;

    if (!kept || !mx_map_reserve(&changes->places) || !count_in(changes, kept)) {
        change_list_free(kept);
        return MCPX_ENOMEM;
    }
    if (index < changes->count) {
        count_out(changes, changes->all[index], changes->all[index]->count);
        change_list_free(changes->all[index]);
        changes->all[index] = kept;
    } else {
        put(changes, changes->count++, kept);
    }
    note_ends(changes, kept);
    return MCPX_OK;
}

/* ---- dropping what has ended ---- */

static void forget(struct changes *changes, size_t index)
{
    unmap(changes, index);
    change_list_free(changes->all[index]);
    if (index != --changes->count) {
        unmap(changes, changes->count);
        put(changes, index, changes->all[changes->count]);
    }
}

/* True when a denial has ended. The other changes are copied into a smaller block. */
static bool drop_ended(struct changes *changes, size_t index, int64_t wall_ms)
{
    struct change_list *list = changes->all[index], *left;
    const size_t had = list->count;
    bool denial_ended = false;

    for (size_t i = had; i-- > 0;) {
        const struct change *change = &list->rows[i];

        if (change_holds(change, wall_ms))
            continue;
        denial_ended |= change->sort == CHANGE_DENIAL;
        mx_holders_remove(&changes->makers, change->by, change->amount);
        change_list_drop(list, i);
    }
    left = list->count < had ? copy_of(list) : NULL;
    if (left) {
        changes->all[index] = left;
        change_list_free(list);
    }
    return denial_ended;
}

const struct change_list *changes_tick(struct changes *changes, int64_t wall_ms)
{
    if (changes->to_look == 0 && wall_ms < changes->next_end_ms)
        return NULL;
    if (changes->to_look == 0) {
        changes->to_look = changes->count;
        changes->next_end_ms = INT64_MAX;
    }
    while (changes->to_look > 0) {
        size_t index = changes->to_look - 1; /* examined again after it was returned */

        if (drop_ended(changes, index, wall_ms))
            return changes->all[index];
        changes->to_look = index;
        if (changes->all[index]->count == 0)
            forget(changes, index);
        else
            note_ends(changes, changes->all[index]);
    }
    return NULL;
}

/* ---- changes applied to a grant ---- */

/* Releases all sets when many were made; sets in use live on by their own references. */
static void count_set(struct changes *changes)
{
    if (changes->sets++ < CHANGES_SETS)
        return;
    for (size_t i = 0; i < changes->count; i++)
        release_sets(changes->all[i]);
    changes->sets = 1;
}

/* Makes the set, without the grants that a runtime denial covers as a whole. The set checks the end
 * of a grant itself; when a denial ends, a new set is necessary (`good_until`). */
static enum mcpx_err compile(struct change_list *list, struct mcpx_capset *base,
                             int64_t wall_ms)
{
    size_t most = base->grant_count + base->deny_count + list->count;
    struct mcpx_grant *grants = calloc(most, sizeof *grants);
    struct mcpx_slice *deny = calloc(most, sizeof *deny);
    size_t grant_count = 0, deny_count = 0;
    enum mcpx_err err = MCPX_ENOMEM;

    release_sets(list);
    list->good_until = 0;
    if (!grants || !deny)
        goto out;
    for (size_t i = 0; i < base->deny_count; i++)
        deny[deny_count++] = mx_capset_denial(base, i);
    for (size_t i = 0; i < base->grant_count; i++)
        if (!change_list_denial(list, &base->patterns[i], wall_ms))
            grants[grant_count++] = base->grants[i];
    for (size_t i = 0; i < list->count; i++) {
        const struct change *change = &list->rows[i];
        int64_t end = change->grant.expires_ms;

        if (change->sort == CHANGE_BAN || !change_holds(change, wall_ms))
            continue;
        if (change->sort == CHANGE_DENIAL) {
            deny[deny_count++] = change->grant.pattern;
            if (end && (!list->good_until || end < list->good_until))
                list->good_until = end;
        } else if (!change_list_denial(list, &change->pattern, wall_ms)) {
            grants[grant_count++] = change->grant;
        }
    }
    err = mcpx_capset_new(grants, grant_count, deny, deny_count, NULL, NULL, &list->set);
    list->base_set = err ? NULL : mcpx_capset_ref(base);
out:
    free(grants);
    free(deny);
    return err;
}

static bool alters_grant(const struct change_list *list)
{
    for (size_t i = 0; list && i < list->count; i++)
        if (list->rows[i].sort != CHANGE_BAN)
            return true;
    return false;
}

enum mcpx_err change_list_apply(struct changes *changes, struct change_list *list,
                                struct grant *base, int64_t wall_ms, struct grant **out)
{
    enum mcpx_err err = MCPX_OK;

    base = grant_base(base);
    if (!alters_grant(list)) {
        *out = grant_ref(base);
        return MCPX_OK;
    }
    if (list->base_set != base->capset || (list->good_until && wall_ms >= list->good_until)) {
        count_set(changes);
        err = compile(list, base->capset, wall_ms);
    }
    if (!err)
        *out = grant_over(base, list->set);
    return err || *out ? err : MCPX_ENOMEM;
}

enum mcpx_err changes_admit(struct changes *changes, struct mcpx_slice topic, int64_t wall_ms,
                            struct grant **grant)
{
    struct change_list *list = changes_find(changes, (*grant)->identity, topic);
    struct grant *made = NULL;
    enum mcpx_err err;

    if (change_list_banned_until(list, wall_ms))
        return MCPX_EKICKED;
    err = change_list_apply(changes, list, *grant, wall_ms, &made);
    if (err)
        return err == MCPX_ELIMIT ? MCPX_EFULL : err;
    grant_unref(*grant);
    *grant = made;
    return MCPX_OK;
}
