/*
 * changes.c - keeps run-time changes, and finds those of a participant. A change is made on a copy
 * of its participant's list, which then takes the list's place: a refusal half-way leaves nothing
 * behind, and a preview is a copy that is thrown away.
 *
 * Writing changes into the configuration was refused: what somebody was lent for an hour must not
 * outlive the process that counts the hour.
 */
#include "lib/core/capset.h"
#include "lib/core/room.h"
#include "router/policy/changes_inside.h"

/* The names come from administrators, so the hash needs no secret key. */
static const struct mx_map_key names_key = {{5, 12}}, topics_key = {{6, 12}};

static uint64_t hash_of(struct mcpx_slice identity, struct mcpx_slice topic)
{
    return mx_map_hash(names_key, identity) ^ mx_map_hash(topics_key, topic);
}

struct changes *changes_new(void)
{
    struct changes *changes = calloc(1, sizeof *changes);

    if (changes)
        changes->next_end_ms = INT64_MAX;
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
    free(changes);
}

struct changes_figures *changes_figures(struct changes *changes)
{
    return &changes->figures;
}

size_t changes_count(const struct changes *changes)
{
    return changes->kept;
}

struct change *change_ref(struct change *change)
{
    change->refs++;
    return change;
}

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

bool changed_append(struct changed *changed, struct change *change)
{
    struct change **list =
        mx_room(changed->list, changed->count, &changed->room, sizeof(struct change *));

    if (!list) {
        change_unref(change);
        return false;
    }
    changed->list = list;
    list[changed->count++] = change;
    return true;
}

struct changed *changed_copy(const struct changed *changed, const struct change_act *act)
{
    struct changed *copy = calloc(1, sizeof *copy + act->identity.len + act->topic.len);
    char *room;

    if (!copy)
        return NULL;
    room = (char *)(copy + 1);
    memcpy(room, act->identity.text, act->identity.len);
    copy->identity = (struct mcpx_slice){room, act->identity.len};
    room += act->identity.len;
    memcpy(room, act->topic.text, act->topic.len);
    copy->topic = (struct mcpx_slice){room, act->topic.len};
    for (size_t i = 0; changed && i < changed->count; i++)
        if (!changed_append(copy, change_ref(changed->list[i]))) {
            changed_free(copy);
            return NULL;
        }
    return copy;
}

void changed_drop(struct changed *changed, size_t index)
{
    change_unref(changed->list[index]);
    memmove(&changed->list[index], &changed->list[index + 1],
            (--changed->count - index) * sizeof *changed->list);
}

size_t changed_find(const struct changed *changed, enum change_sort sort,
                    const struct mcpx_grant *grant, struct mcpx_slice by)
{
    size_t i = 0;

    while (i < changed->count &&
           (changed->list[i]->sort != sort ||
            (by.text && !mcpx_slice_equal(changed->list[i]->by, by)) ||
            !mcpx_slice_equal(changed->list[i]->grant.pattern, grant->pattern) ||
            !mx_grant_to_equals(&changed->list[i]->grant, grant)))
        i++;
    return i;
}

struct changed *changes_find(const struct changes *changes, struct mcpx_slice identity,
                             struct mcpx_slice topic)
{
    uint64_t hash, value;
    size_t at = 0;

    if (!changes || changes->count == 0)
        return NULL;
    hash = hash_of(identity, topic);
    while ((value = mx_map_next(&changes->places, hash, &at)) != 0) {
        struct changed *changed = changes->all[value - 1];

        if (mcpx_slice_equal(changed->identity, identity) &&
            mcpx_slice_equal(changed->topic, topic))
            return changed;
    }
    return NULL;
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

bool changed_takes(const struct changed *changed, struct mcpx_slice pattern, int64_t wall_ms)
{
    for (size_t i = 0; changed && i < changed->count; i++)
        if (changed->list[i]->sort == CHANGE_DENIAL &&
            change_holds(changed->list[i], wall_ms) &&
            mcpx_slice_equal(changed->list[i]->grant.pattern, pattern))
            return true;
    return false;
}

int64_t changed_barred_until(const struct changed *changed, int64_t wall_ms)
{
    int64_t until_ms = 0;

    for (size_t i = 0; changed && i < changed->count; i++) {
        const struct change *change = changed->list[i];

        if (change->sort == CHANGE_BAR && change_holds(change, wall_ms) &&
            change->grant.expires_ms > until_ms)
            until_ms = change->grant.expires_ms;
    }
    return until_ms;
}

bool changed_gives(const struct changed *changed, struct mcpx_slice pattern, int64_t wall_ms)
{
    struct mx_pattern wanted;
    bool gives = false;

    if (mx_pattern_parse(pattern, &wanted, NULL))
        return false;
    for (size_t i = 0; !gives && i < changed->count; i++)
        gives = changed->list[i]->sort == CHANGE_GRANT &&
                change_holds(changed->list[i], wall_ms) &&
                mx_pattern_contains(&changed->list[i]->pattern, &wanted, false);
    return gives;
}

/* ---- kept ---- */

/* Somebody of whom nothing is left is forgotten at the next tick. */
static void count_in(struct changes *changes, const struct changed *changed)
{
    if (changed->count == 0)
        changes->next_end_ms = INT64_MIN;
    for (size_t i = 0; i < changed->count; i++) {
        int64_t end = changed->list[i]->grant.expires_ms;

        changes->kept++;
        if (end && end < changes->next_end_ms)
            changes->next_end_ms = end;
    }
}

static void count_out(struct changes *changes, const struct changed *changed)
{
    changes->kept -= changed->count;
}

static void put(struct changes *changes, size_t index)
{
    const struct changed *changed = changes->all[index];

    mx_map_put(&changes->places, hash_of(changed->identity, changed->topic), index + 1);
}

static void take(struct changes *changes, size_t index)
{
    const struct changed *changed = changes->all[index];

    mx_map_remove(&changes->places, hash_of(changed->identity, changed->topic), index + 1);
}

enum mcpx_err changes_commit(struct changes *changes, struct changed *draft)
{
    const struct changed *before = changes_find(changes, draft->identity, draft->topic);
    struct changed **all;
    size_t index = 0;

    if (before) {
        while (changes->all[index] != before)
            index++;
        count_out(changes, before);
        changed_free(changes->all[index]);
        changes->all[index] = draft;
        count_in(changes, draft);
        return MCPX_OK;
    }
    all = mx_room(changes->all, changes->count, &changes->room, sizeof(struct changed *));
    if (!all || !mx_map_reserve(&changes->places)) {
        changes->all = all ? all : changes->all;
        changed_free(draft);
        return MCPX_ENOMEM;
    }
    changes->all = all;
    changes->all[changes->count] = draft;
    put(changes, changes->count++);
    count_in(changes, draft);
    return MCPX_OK;
}

static void forget(struct changes *changes, size_t index)
{
    take(changes, index);
    changed_free(changes->all[index]);
    if (index != --changes->count) {
        take(changes, changes->count);
        changes->all[index] = changes->all[changes->count];
        put(changes, index);
    }
}

/* When it is forgotten: a grant is remembered for as long as it might have lasted. */
static int64_t forgotten_ms(const struct change *change, int64_t longest_ms)
{
    int64_t end = change->grant.expires_ms;

    if (change->sort != CHANGE_GRANT || longest_ms == 0)
        return end;
    return end > INT64_MAX - longest_ms ? INT64_MAX : end + longest_ms;
}

/* True when a denial has ended. */
static bool drop_ended(struct changed *changed, int64_t wall_ms, int64_t longest_ms)
{
    bool told = false;

    for (size_t i = changed->count; i-- > 0;) {
        const struct change *change = changed->list[i];

        if (change_holds(change, wall_ms) || wall_ms < forgotten_ms(change, longest_ms))
            continue;
        told |= change->sort == CHANGE_DENIAL;
        changed_drop(changed, i);
    }
    return told;
}

/* When there is something to do again. */
static void plan(struct changes *changes, int64_t longest_ms)
{
    changes->next_end_ms = INT64_MAX;
    for (size_t i = 0; i < changes->count; i++) {
        for (size_t j = 0; j < changes->all[i]->count; j++) {
            int64_t end = forgotten_ms(changes->all[i]->list[j], longest_ms);

            if (changes->all[i]->list[j]->grant.expires_ms && end < changes->next_end_ms)
                changes->next_end_ms = end;
        }
    }
}

const struct changed *changes_tick(struct changes *changes, int64_t wall_ms,
                                   int64_t longest_ms)
{
    if (changes->to_look == 0 && wall_ms < changes->next_end_ms)
        return NULL;
    if (changes->to_look == 0)
        changes->to_look = changes->count;
    while (changes->to_look > 0) {
        struct changed *changed = changes->all[--changes->to_look];
        bool told;

        count_out(changes, changed);
        told = drop_ended(changed, wall_ms, longest_ms);
        count_in(changes, changed);
        if (told) {
            changes->to_look++; /* nothing may be left of it */
            return changed;
        }
        if (changed->count == 0)
            forget(changes, changes->to_look);
    }
    plan(changes, longest_ms);
    return NULL;
}

bool changes_are_looked_at(const struct changes *changes)
{
    return changes->to_look > 0;
}
