/*
 * changes_draft.c - what a participant's changes would be after an order. To take away is always
 * safe, to give is not: what is unclear about patterns is read so that less may be sent.
 */
#include "lib/core/capset.h"
#include "lib/core/format.h"
#include "lib/core/ident.h"
#include "router/policy/changes_inside.h"

#include <stdlib.h>

static const struct mcpx_slice anybody = {NULL, 0};

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
    (void)mx_pattern_parse(change->grant.pattern, &change->pattern, NULL);
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
    return changed_append(draft, change) ? MCPX_OK : MCPX_ENOMEM;
}

/* A pattern that is valid. */
static struct mx_pattern parse(struct mcpx_slice text)
{
    struct mx_pattern pattern = {.final_star = false};

    (void)mx_pattern_parse(text, &pattern, NULL);
    return pattern;
}

/* Is there an addressee of both? */
static bool to_meets(const struct mcpx_grant *one, const struct mcpx_grant *other)
{
    for (size_t i = 0; i < one->to_count; i++)
        if (mx_id_is_among(one->to[i], other->to, other->to_count))
            return true;
    return one->to_count == 0 || other->to_count == 0;
}

/* ---- taking away ---- */

/* Grants that were added end now. They are remembered, so that they cannot begin anew. */
static enum mcpx_err end_grants(struct drafting *drafting, const struct mx_pattern *pattern)
{
    const struct change_act *act = &drafting->order->act;
    enum mcpx_err err = MCPX_OK;

    for (size_t i = 0; !err && i < drafting->draft->count; i++) {
        const struct change *change = drafting->draft->list[i];
        struct mcpx_grant ended = change->grant;
        struct change *made;

        if (change->sort != CHANGE_GRANT || !change_holds(change, act->wall_ms) ||
            !mx_pattern_contains(pattern, &change->pattern, true))
            continue;
        ended.expires_ms = act->wall_ms;
        made = change_new(CHANGE_GRANT, &ended, change->by, change->made_ms);
        if (made)
            made->first_ms = change->first_ms;
        err = place(drafting->draft, i, made);
    }
    return err;
}

/* Is there anything left that the pattern has to be denied of? What is not known may be. */
static bool is_left(const struct drafting *drafting, const struct mx_pattern *pattern)
{
    const struct mcpx_capset *base = drafting->order->base;

    if (!base || drafting->order->open)
        return true;
    for (size_t i = 0; i < base->grant_count; i++)
        if (mx_pattern_may_meet(&base->patterns[i], pattern))
            return true;
    for (size_t i = 0; i < drafting->draft->count; i++) {
        const struct change *change = drafting->draft->list[i];

        if (change->sort == CHANGE_GRANT &&
            change_holds(change, drafting->order->act.wall_ms) &&
            mx_pattern_may_meet(&change->pattern, pattern))
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

static enum mcpx_err remove_pattern(struct drafting *drafting, struct mcpx_slice text)
{
    const struct change_order *order = drafting->order;
    struct mcpx_grant denial = {.pattern = text, .expires_ms = order->until_ms};
    const struct mx_pattern pattern = parse(text);
    enum mcpx_err err = end_grants(drafting, &pattern);
    size_t index = changed_find(drafting->draft, CHANGE_DENIAL, &denial, order->act.by);

    if (err || !is_left(drafting, &pattern))
        return err;
    if (index < drafting->draft->count) {
        const struct change *before = drafting->draft->list[index];

        if (change_holds(before, order->act.wall_ms))
            denial.expires_ms = later(denial.expires_ms, before->grant.expires_ms);
        if (denial.expires_ms == before->grant.expires_ms)
            return MCPX_OK;
    }
    return place(drafting->draft, index,
                 change_new(CHANGE_DENIAL, &denial, order->act.by, order->act.wall_ms));
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
                                     const struct mx_pattern *pattern)
{
    const struct mcpx_capset *base = drafting->order->base;

    for (size_t i = 0; base && i < base->deny_count; i++)
        if (mx_pattern_contains(&base->patterns[base->grant_count + i], pattern, true))
            return mx_capset_denial(base, i);
    for (size_t i = 0; i < drafting->draft->count; i++) {
        const struct change *change = drafting->draft->list[i];

        if (change->sort == CHANGE_DENIAL &&
            change_holds(change, drafting->order->act.wall_ms) &&
            mx_pattern_contains(&change->pattern, pattern, true))
            return change->grant.pattern;
    }
    return (struct mcpx_slice){NULL, 0};
}

/*
 * Since when the participant has had something of this at run time. Whoever changes a pattern or
 * its addressees a little begins no new time. What others have given does not bind who has all
 * rights: else they could use up what somebody may be given.
 */
static int64_t first_of(const struct drafting *drafting, const struct mcpx_grant *grant,
                        const struct mx_pattern *pattern)
{
    const struct change_act *act = &drafting->order->act;
    int64_t first = act->wall_ms;

    for (size_t i = 0; i < drafting->draft->count; i++) {
        const struct change *change = drafting->draft->list[i];

        if (change->sort == CHANGE_GRANT && change->first_ms < first &&
            (!act->by_all || mcpx_slice_equal(change->by, act->by)) &&
            to_meets(&change->grant, grant) && mx_pattern_may_meet(&change->pattern, pattern))
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
    if (!grant->expires_ms && latest_ms > order->act.wall_ms)
        grant->expires_ms = latest_ms;
    if (grant->expires_ms && grant->expires_ms <= order->act.wall_ms) {
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

/* Whose change of a sort and pattern the caller may not take back; absent when all are theirs. */
static struct mcpx_slice find_other(const struct changed *draft, enum change_sort sort,
                                    const struct mcpx_grant *grant,
                                    const struct change_act *act)
{
    for (size_t i = 0; !act->by_all && i < draft->count; i++) {
        const struct change *change = draft->list[i];

        if (change->sort == sort && change_holds(change, act->wall_ms) &&
            mcpx_slice_equal(change->grant.pattern, grant->pattern) &&
            !mcpx_slice_equal(change->by, act->by))
            return change->by;
    }
    return (struct mcpx_slice){NULL, 0};
}

/* Drops those of a sort and pattern that the caller may take back. Returns how many held. */
static size_t drop_own(struct changed *draft, enum change_sort sort,
                       const struct mcpx_grant *grant, const struct change_act *act)
{
    struct mcpx_slice by = act->by_all ? anybody : act->by;
    size_t index, count = 0;

    while ((index = changed_find(draft, sort, grant, by)) < draft->count) {
        count += change_holds(draft->list[index], act->wall_ms);
        changed_drop(draft, index);
    }
    return count;
}

/* Does the credential give all of it? */
static bool base_gives(const struct drafting *drafting, struct mcpx_slice text)
{
    const struct mcpx_capset *base = drafting->order->base;
    const struct mx_pattern pattern = parse(text);

    for (size_t i = 0; base && i < base->grant_count; i++)
        if (base->grants[i].to_count == 0 &&
            mx_pattern_contains(&base->patterns[i], &pattern, false))
            return true;
    return !base;
}

/* What was removed comes back, as it was before: then `lifted`, if there was anything before. */
static enum mcpx_err lift(struct drafting *drafting, const struct mcpx_grant *grant,
                          bool *lifted)
{
    const struct change_act *act = &drafting->order->act;
    struct mcpx_slice other;

    *lifted = false;
    if (drafting->order->until_ms || grant->expires_ms || grant->to_count > 0)
        return MCPX_OK;
    other = find_other(drafting->draft, CHANGE_DENIAL, grant, act);
    if (other.text)
        return refuse(drafting, MCPX_ECAPABILITY,
                      "'%s' was taken away by '%s': only who did that, or has admin/*, can "
                      "give it back",
                      grant->pattern, other);
    *lifted = drop_own(drafting->draft, CHANGE_DENIAL, grant, act) > 0 &&
              (!drafting->order->open || base_gives(drafting, grant->pattern));
    return MCPX_OK;
}

static enum mcpx_err add_grant(struct drafting *drafting, const struct mcpx_grant *asked)
{
    const struct change_act *act = &drafting->order->act;
    const struct mx_pattern pattern = parse(asked->pattern);
    struct mcpx_grant grant = *asked;
    struct mcpx_slice denial;
    struct change *change;
    int64_t first_ms;
    bool lifted;
    enum mcpx_err err = lift(drafting, asked, &lifted);

    if (err || lifted || drafting->order->lifts)
        return err;
    denial = find_denial(drafting, &pattern);
    if (denial.text)
        return refuse(drafting, MCPX_ECAPABILITY,
                      "'%s' is denied by '%s', and denials win; what was removed at run time "
                      "comes back when just that is added, without to and until",
                      asked->pattern, denial);
    first_ms = first_of(drafting, asked, &pattern);
    err = settle_end(drafting, &grant, first_ms);
    if (err)
        return err;
    change = change_new(CHANGE_GRANT, &grant, act->by, act->wall_ms);
    if (change)
        change->first_ms = first_ms;
    return place(drafting->draft, changed_find(drafting->draft, CHANGE_GRANT, asked, anybody),
                 change);
}

/* ---- bounds ---- */

/*
 * Ended grants are remembered for the sake of who may not begin their time anew. Who has all rights
 * may, and is not kept from giving more by what they gave before. What others gave stays: else they
 * could fill the list until their own is forgotten.
 */
static void make_room(struct drafting *drafting)
{
    const struct change_act *act = &drafting->order->act;
    struct changed *draft = drafting->draft;

    if (!act->by_all || changed_check_room(drafting->changes, draft, act->by, NULL) == MCPX_OK)
        return;
    for (size_t i = draft->count; i-- > 0;)
        if (draft->list[i]->sort == CHANGE_GRANT &&
            !change_holds(draft->list[i], act->wall_ms) &&
            mcpx_slice_equal(draft->list[i]->by, act->by))
            changed_drop(draft, i);
}

static struct changed *begin(const struct changes *changes, const struct change_act *act)
{
    return changed_copy(changes_find(changes, act->identity, act->topic), act);
}

static enum mcpx_err finish(struct changed *draft, enum mcpx_err err, struct changed **out)
{
    if (err)
        changed_free(draft);
    else
        *out = draft;
    return err;
}

enum mcpx_err changes_draft(const struct changes *changes, const struct change_order *order,
                            struct mcpx_text *why, struct changed **out)
{
    struct drafting drafting = {changes, order, begin(changes, &order->act), why};
    enum mcpx_err err = MCPX_OK;

    if (!drafting.draft)
        return MCPX_ENOMEM;
    if (order->until_ms && order->until_ms <= order->act.wall_ms) {
        mcpx_text_puts(why, "until is past");
        err = MCPX_EREQUEST;
    }
    for (size_t i = 0; !err && i < order->remove_count; i++)
        err = remove_pattern(&drafting, order->remove[i]);
    for (size_t i = 0; !err && i < order->add_count; i++)
        err = add_grant(&drafting, &order->add[i]);
    if (!err) {
        make_room(&drafting);
        err = changed_check_room(changes, drafting.draft, order->act.by, why);
    }
    return finish(drafting.draft, err, out);
}

enum mcpx_err changes_draft_bar(const struct changes *changes, const struct change_act *act,
                                int64_t until_ms, struct mcpx_text *why, struct changed **out)
{
    const struct mcpx_grant bar = {.pattern = MCPX_SLICE(""), .expires_ms = until_ms};
    struct changed *draft = begin(changes, act);
    enum mcpx_err err = MCPX_OK;
    struct mcpx_slice other;
    size_t dropped;

    if (!draft)
        return MCPX_ENOMEM;
    dropped = drop_own(draft, CHANGE_BAR, &bar, act);
    other = find_other(draft, CHANGE_BAR, &bar, act);
    if (until_ms > act->wall_ms) {
        err = place(draft, draft->count, change_new(CHANGE_BAR, &bar, act->by, act->wall_ms));
    } else if (dropped == 0 && other.text) {
        mx_format(why, "it is kept out by '%s': only who did that, or has admin/*, can end it",
                  other);
        err = MCPX_ECAPABILITY;
    } else if (dropped == 0) {
        mcpx_text_puts(why, "nobody keeps it out of the topic");
        err = MCPX_ENOTFOUND;
    }
    if (!err)
        err = changed_check_room(changes, draft, act->by, why);
    return finish(draft, err, out);
}
