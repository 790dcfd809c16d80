/*
 * changes_draft.c - what a participant's changes would be after an order. To take away is always
 * safe, to give is not: what is unclear about patterns is read so that less may be sent.
 */
#include "lib/core/capset.h"
#include "lib/core/format.h"
#include "lib/core/ident.h"
#include "router/policy/changes_inside.h"

#include <stdlib.h>

/*
 * An order being carried out.
 *
 * draft   what becomes of it
 * why     where a refusal is explained
 */
struct drafting {
    const struct changes *changes;
    const struct change_order *order;
    struct changed *draft;
    struct mcpx_text *why;
};

static struct mcpx_slice keep(struct mcpx_slice text, char **room)
{
    struct mcpx_slice kept = {*room, text.len};

    if (text.len > 0)
        memcpy(*room, text.text, text.len);
    *room += text.len;
    return kept;
}

/* A change made now. NULL when memory runs out. */
static struct change *change_new(enum change_sort sort, const struct mcpx_grant *grant,
                                 struct mcpx_slice by, int64_t wall_ms)
{
    size_t size = sizeof(struct change) + grant->to_count * sizeof(struct mcpx_slice) +
                  grant->pattern.len + by.len;
    struct change *change;
    struct mcpx_slice *to;
    char *room;

    for (size_t i = 0; i < grant->to_count; i++)
        size += grant->to[i].len;
    change = malloc(size);
    if (!change)
        return NULL;
    to = (struct mcpx_slice *)(void *)(change + 1);
    room = (char *)(to + grant->to_count);
    *change = (struct change){.refs = 1,
                              .sort = sort,
                              .grant = *grant,
                              .first_ms = wall_ms,
                              .made_ms = wall_ms,
                              .size = size};
    for (size_t i = 0; i < grant->to_count; i++)
        to[i] = keep(grant->to[i], &room);
    change->grant.to = grant->to_count > 0 ? to : NULL;
    change->grant.pattern = keep(grant->pattern, &room);
    change->by = keep(by, &room);
    return change;
}

/* Puts a change, which is taken, at `index`, or behind the last. */
static enum mcpx_err place(struct changed *draft, size_t index, struct change *change)
{
    if (!change)
        return MCPX_ENOMEM;
    if (index < draft->count) {
        change_unref(draft->list[index]);
        draft->list[index] = change;
        return MCPX_OK;
    }
    if (draft->count == CHANGES_LIST) {
        change_unref(change);
        return MCPX_ELIMIT;
    }
    draft->list[draft->count++] = change;
    return MCPX_OK;
}

/* Both patterns are valid. */
static bool contains(struct mcpx_slice outer, struct mcpx_slice inner, bool denies)
{
    struct mx_pattern out, in;

    return !mx_pattern_parse(outer, &out, NULL) && !mx_pattern_parse(inner, &in, NULL) &&
           mx_pattern_contains(&out, &in, denies);
}

static bool may_meet(struct mcpx_slice one, struct mcpx_slice other)
{
    struct mx_pattern a, b;

    return !mx_pattern_parse(one, &a, NULL) && !mx_pattern_parse(other, &b, NULL) &&
           mx_pattern_may_meet(&a, &b);
}

/* ---- taking away ---- */

/* Grants that were added end now. They are remembered, so that they cannot begin anew. */
static enum mcpx_err end_grants(struct drafting *drafting, struct mcpx_slice pattern)
{
    const struct change_place *place_of = &drafting->order->place;
    enum mcpx_err err = MCPX_OK;

    for (size_t i = 0; !err && i < drafting->draft->count; i++) {
        const struct change *change = drafting->draft->list[i];
        struct mcpx_grant ended = change->grant;
        struct change *made;

        if (change->sort != CHANGE_GRANT || !change_holds(change, place_of->wall_ms) ||
            !contains(pattern, change->grant.pattern, true))
            continue;
        ended.expires_ms = place_of->wall_ms;
        made = change_new(CHANGE_GRANT, &ended, change->by, change->made_ms);
        if (made)
            made->first_ms = change->first_ms;
        err = place(drafting->draft, i, made);
    }
    return err;
}

/* Is there anything left that the pattern has to be denied of? What is not known may be. */
static bool is_left(const struct drafting *drafting, struct mcpx_slice pattern)
{
    const struct mcpx_capset *base = drafting->order->base;

    if (!base)
        return true;
    for (size_t i = 0; i < base->grant_count; i++)
        if (may_meet(base->grants[i].pattern, pattern))
            return true;
    for (size_t i = 0; i < drafting->draft->count; i++) {
        const struct change *change = drafting->draft->list[i];

        if (change->sort == CHANGE_GRANT &&
            change_holds(change, drafting->order->place.wall_ms) &&
            may_meet(change->grant.pattern, pattern))
            return true;
    }
    return false;
}

/* Who takes away again what was taken away never makes that shorter. */
static int64_t later(int64_t one, int64_t other)
{
    if (one == 0 || other == 0)
        return 0;
    return one > other ? one : other;
}

static enum mcpx_err remove_pattern(struct drafting *drafting, struct mcpx_slice pattern)
{
    const struct change_order *order = drafting->order;
    struct mcpx_grant denial = {.pattern = pattern, .expires_ms = order->until_ms};
    enum mcpx_err err = end_grants(drafting, pattern);
    size_t index = changed_find(drafting->draft, CHANGE_DENIAL, &denial);

    if (err || !is_left(drafting, pattern))
        return err;
    if (index < drafting->draft->count) {
        const struct change *before = drafting->draft->list[index];

        if (change_holds(before, order->place.wall_ms))
            denial.expires_ms = later(denial.expires_ms, before->grant.expires_ms);
        if (denial.expires_ms == before->grant.expires_ms)
            return MCPX_OK;
    }
    return place(drafting->draft, index,
                 change_new(CHANGE_DENIAL, &denial, order->place.by, order->place.wall_ms));
}

/* ---- giving ---- */

static enum mcpx_err refuse(struct drafting *drafting, enum mcpx_err err, const char *says,
                            struct mcpx_slice pattern, struct mcpx_slice other)
{
    mx_format(drafting->why, says, pattern, other);
    return err;
}

/* A pattern that denies all that the grant covers; absent when there is none. */
static struct mcpx_slice find_denial(const struct drafting *drafting,
                                     struct mcpx_slice pattern)
{
    const struct mcpx_capset *base = drafting->order->base;

    for (size_t i = 0; base && i < base->deny_count; i++)
        if (contains(mx_capset_denial(base, i), pattern, true))
            return mx_capset_denial(base, i);
    for (size_t i = 0; i < drafting->draft->count; i++) {
        const struct change *change = drafting->draft->list[i];

        if (change->sort == CHANGE_DENIAL &&
            change_holds(change, drafting->order->place.wall_ms) &&
            contains(change->grant.pattern, pattern, true))
            return change->grant.pattern;
    }
    return (struct mcpx_slice){NULL, 0};
}

/* Since when the participant has had this, or more, at run time. */
static int64_t first_of(const struct drafting *drafting, const struct mcpx_grant *grant)
{
    int64_t first = drafting->order->place.wall_ms;

    for (size_t i = 0; i < drafting->draft->count; i++) {
        const struct change *change = drafting->draft->list[i];

        if (change->sort == CHANGE_GRANT && change->first_ms < first &&
            mx_grant_to_covers(&change->grant, grant) &&
            contains(change->grant.pattern, grant->pattern, false))
            first = change->first_ms;
    }
    return first;
}

/* When the grant ends: as asked, but not later than it may. */
static enum mcpx_err settle_end(struct drafting *drafting, struct mcpx_grant *grant,
                                int64_t first_ms)
{
    const struct change_order *order = drafting->order;
    char latest[MX_TIME_LEN + 1];
    int64_t latest_ms = order->longest_ms ? first_ms + order->longest_ms : 0;

    if (order->until_ms && (!grant->expires_ms || order->until_ms < grant->expires_ms))
        grant->expires_ms = order->until_ms;
    if (!grant->expires_ms && latest_ms > order->place.wall_ms)
        grant->expires_ms = latest_ms;
    if (grant->expires_ms && grant->expires_ms <= order->place.wall_ms) {
        mx_format(drafting->why, "'%s' would have ended already", grant->pattern);
        return MCPX_EREQUEST;
    }
    if (!latest_ms || (grant->expires_ms && grant->expires_ms <= latest_ms))
        return MCPX_OK;
    mx_time_format(latest_ms, latest);
    return refuse(drafting, MCPX_ECAPABILITY,
                  "'%s' may be granted at run time until %s and not longer "
                  "(admin.grant_max_s); what is to last belongs into the configuration",
                  grant->pattern, mcpx_slice_of(latest));
}

/* What was removed comes back, as it was before. */
static bool lift(struct drafting *drafting, const struct mcpx_grant *grant)
{
    size_t index = changed_find(drafting->draft, CHANGE_DENIAL, grant);

    if (index == drafting->draft->count || drafting->order->until_ms || grant->expires_ms ||
        !change_holds(drafting->draft->list[index], drafting->order->place.wall_ms))
        return false;
    changed_drop(drafting->draft, index);
    return true;
}

static enum mcpx_err add_grant(struct drafting *drafting, const struct mcpx_grant *asked)
{
    const struct change_place *where = &drafting->order->place;
    struct mcpx_grant grant = *asked;
    struct mcpx_slice denial;
    struct change *change;
    int64_t first_ms;
    enum mcpx_err err;

    if (lift(drafting, asked))
        return MCPX_OK;
    denial = find_denial(drafting, asked->pattern);
    if (denial.text)
        return refuse(drafting, MCPX_ECAPABILITY,
                      "'%s' is denied by '%s', and denials win; what was removed at run time "
                      "comes back when just that is added, without to and until",
                      asked->pattern, denial);
    first_ms = first_of(drafting, asked);
    err = settle_end(drafting, &grant, first_ms);
    if (err)
        return err;
    change = change_new(CHANGE_GRANT, &grant, where->by, where->wall_ms);
    if (change)
        change->first_ms = first_ms;
    return place(drafting->draft, changed_find(drafting->draft, CHANGE_GRANT, asked), change);
}

/* ---- bounds ---- */

/* How many, and how many bytes, of denials or of all else. */
struct load {
    bool denials;
    size_t count, bytes;
};

static bool is_denial(const struct change *change)
{
    return change->sort == CHANGE_DENIAL;
}

/* Adds those of a list that somebody has made; of everybody when `by` is absent. */
static void weigh(struct load *load, const struct changed *changed, struct mcpx_slice by)
{
    for (size_t i = 0; changed && i < changed->count; i++) {
        const struct change *change = changed->list[i];

        if (is_denial(change) != load->denials ||
            (by.text && !mcpx_slice_equal(change->by, by)))
            continue;
        load->count++;
        load->bytes += change->size;
    }
}

/* Those of the whole table, with the draft in its place. */
static struct load weigh_all(const struct changes *changes, const struct changed *draft,
                             bool denials, struct mcpx_slice by)
{
    const struct changed *before = changes_find(changes, draft->identity, draft->topic);
    struct load load = {.denials = denials};

    weigh(&load, draft, by);
    for (size_t i = 0; i < changes->count; i++)
        if (changes->all[i] != before)
            weigh(&load, changes->all[i], by);
    return load;
}

static bool exceeds(struct load load, size_t share)
{
    return load.count > CHANGES_MAX / share || load.bytes > CHANGES_BYTES_MAX / share;
}

static enum mcpx_err check_room(const struct changes *changes, const struct changed *draft,
                                bool denials, struct mcpx_slice by)
{
    static const struct mcpx_slice anybody = {NULL, 0};
    const struct changed *before = changes_find(changes, draft->identity, draft->topic);
    struct load had = {.denials = denials}, has = {.denials = denials};

    weigh(&had, before, anybody);
    weigh(&has, draft, anybody);
    if (has.count > CHANGES_EACH)
        return MCPX_ELIMIT;
    if (has.count <= had.count && has.bytes <= had.bytes)
        return MCPX_OK;
    if (exceeds(weigh_all(changes, draft, denials, anybody), 1))
        return MCPX_EFULL;
    return exceeds(weigh_all(changes, draft, denials, by), CHANGES_SHARE) ? MCPX_ESHARE
                                                                          : MCPX_OK;
}

static struct changed *begin(const struct changes *changes, const struct change_place *place)
{
    return changed_copy(changes_find(changes, place->identity, place->topic), place);
}

static enum mcpx_err finish(const struct changes *changes, struct changed *draft,
                            struct mcpx_slice by, enum mcpx_err err, struct changed **out)
{
    if (!err)
        err = check_room(changes, draft, true, by);
    if (!err)
        err = check_room(changes, draft, false, by);
    if (err)
        changed_free(draft);
    else
        *out = draft;
    return err;
}

enum mcpx_err changes_draft(const struct changes *changes, const struct change_order *order,
                            struct mcpx_text *why, struct changed **out)
{
    struct drafting drafting = {changes, order, begin(changes, &order->place), why};
    enum mcpx_err err = MCPX_OK;

    if (!drafting.draft)
        return MCPX_ENOMEM;
    if (order->until_ms && order->until_ms <= order->place.wall_ms) {
        mcpx_text_puts(why, "until is past");
        err = MCPX_EREQUEST;
    }
    for (size_t i = 0; !err && i < order->remove_count; i++)
        err = remove_pattern(&drafting, order->remove[i]);
    for (size_t i = 0; !err && i < order->add_count; i++)
        err = add_grant(&drafting, &order->add[i]);
    return finish(changes, drafting.draft, order->place.by, err, out);
}

enum mcpx_err changes_draft_bar(const struct changes *changes,
                                const struct change_place *place_of, int64_t until_ms,
                                struct changed **out)
{
    const struct mcpx_grant bar = {.pattern = MCPX_SLICE(""), .expires_ms = until_ms};
    struct changed *draft = begin(changes, place_of);
    enum mcpx_err err = MCPX_OK;
    size_t index;

    if (!draft)
        return MCPX_ENOMEM;
    index = changed_find(draft, CHANGE_BAR, &bar);
    if (until_ms > place_of->wall_ms)
        err =
            place(draft, index, change_new(CHANGE_BAR, &bar, place_of->by, place_of->wall_ms));
    else if (index < draft->count)
        changed_drop(draft, index);
    return finish(changes, draft, place_of->by, err, out);
}
