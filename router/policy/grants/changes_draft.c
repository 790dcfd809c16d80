/*
 * changes_draft.c - works out what an order makes of the changes for a participant. A change is
 * made on a copy of its participant's list, which then takes the list's place: a refusal half-way
 * leaves nothing behind, and a preview is a copy that is thrown away. To take away is always safe,
 * to give is not: what is unclear about patterns is read so that less may be sent.
 *
 * Refused: changes that only their maker may take back. Then a table that one administrator has
 * filled stays full. Refused, too: writing changes into the configuration. What somebody was lent
 * for an hour must not outlive the process that counts the hour.
 */
#include "router/policy/grants/changes.h"

#include "lib/base/ident.h"
#include "lib/base/rows.h"
#include "lib/json/json_write.h"
#include "router/policy/grants/authority.h"

#include <stdlib.h>

/* ---- one change ---- */

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
                                 const struct change_act *act)
{
    size_t size = sizeof(struct change) + grant->to_count * sizeof(struct mcpx_slice) +
                  grant->pattern.len + act->by.len;
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
                              .first_ms = act->wall_ms,
                              .made_ms = act->wall_ms,
                              .amount = (size + 1023) / 1024};
    for (size_t i = 0; i < grant->to_count; i++)
        to[i] = keep(grant->to[i], &room);
    change->grant.to = grant->to_count > 0 ? to : NULL;
    change->grant.pattern = keep(grant->pattern, &room);
    change->by = keep(act->by, &room);
    (void)mx_pattern_parse(change->grant.pattern, &change->pattern, NULL);
    return change;
}

/* ---- those of one participant ---- */

/* Puts a change, which is taken, at `index`, or behind the last. NULL is no memory. */
static enum mcpx_err place(struct changed *changed, size_t index, struct change *change)
{
    struct change **list;

    if (!change)
        return MCPX_ENOMEM;
    if (index < changed->count) {
        change_unref(changed->list[index]);
        changed->list[index] = change;
        return MCPX_OK;
    }
    list = mx_room(changed->list, changed->count, &changed->room, sizeof(struct change *));
    if (!list) {
        change_unref(change);
        return MCPX_ENOMEM;
    }
    changed->list = list;
    list[changed->count++] = change;
    return MCPX_OK;
}

/* A copy of the changes of somebody, or empty ones. NULL when memory runs out. */
static struct changed *copy_of(const struct changed *changed, const struct change_act *act)
{
    struct changed *copy = calloc(1, sizeof *copy + act->identity.len + act->topic.len);
    char *room;

    if (!copy)
        return NULL;
    room = (char *)(copy + 1);
    copy->identity = keep(act->identity, &room);
    copy->topic = keep(act->topic, &room);
    for (size_t i = 0; changed && i < changed->count; i++) {
        changed->list[i]->refs++;
        if (place(copy, i, changed->list[i])) {
            changed_free(copy);
            return NULL;
        }
    }
    return copy;
}

/* ---- an order ---- */

/* An order being carried out; `draft` is what becomes of it, `why` explains a refusal. */
struct drafting {
    const struct change_order *order;
    struct changed *draft;
    struct mcpx_text *why;
};

/* A pattern that is valid. */
static struct mx_pattern parse(struct mcpx_slice text)
{
    struct mx_pattern pattern = {.final_star = false};

    (void)mx_pattern_parse(text, &pattern, NULL);
    return pattern;
}

static enum mcpx_err refuse(struct drafting *drafting, enum mcpx_err err, const char *says,
                            struct mcpx_slice pattern, struct mcpx_slice other)
{
    mx_format(drafting->why, says, pattern, other);
    return err;
}

/* Who takes away again what was taken away never makes that shorter. */
static enum mcpx_err remove_pattern(struct drafting *drafting, struct mcpx_slice text)
{
    const struct change_order *order = drafting->order;
    struct mcpx_grant denial = {.pattern = text, .expires_ms = order->until_ms};
    struct changed *draft = drafting->draft;
    const struct mx_pattern pattern = parse(text);
    const struct change *before =
        changed_held(draft, CHANGE_DENIAL, &denial, order->act.wall_ms);

    for (size_t i = draft->count; i-- > 0;)
        if (draft->list[i]->sort == CHANGE_GRANT &&
            mx_pattern_contains(&pattern, &draft->list[i]->pattern, true))
            changed_drop(draft, i);
    if (before && (!before->grant.expires_ms ||
                   (denial.expires_ms && denial.expires_ms <= before->grant.expires_ms)))
        return MCPX_OK;
    return place(draft, changed_find(draft, CHANGE_DENIAL, &denial),
                 change_new(CHANGE_DENIAL, &denial, &order->act));
}

/* A pattern that denies all that the grant covers; absent when there is none. */
static struct mcpx_slice find_denial(const struct drafting *drafting,
                                     const struct mx_pattern *pattern)
{
    const struct mcpx_capset *base = drafting->order->base;

    for (size_t i = 0; i < base->deny_count; i++)
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

/* When the grant ends: as asked, but not later than it may. */
static enum mcpx_err settle_end(struct drafting *drafting, struct mcpx_grant *grant,
                                int64_t first_ms)
{
    const struct change_order *order = drafting->order;
    char latest[MX_TIME_LEN + 1];
    int64_t latest_ms = order->longest_ms ? first_ms + order->longest_ms : 0;

    if (order->until_ms && (!grant->expires_ms || order->until_ms < grant->expires_ms))
        grant->expires_ms = order->until_ms;
    if (!grant->expires_ms)
        grant->expires_ms = latest_ms;
    if (grant->expires_ms && grant->expires_ms <= order->act.wall_ms) {
        mx_format(drafting->why, "'%s' would have ended already", grant->pattern);
        return MCPX_EREQUEST;
    }
    if (!latest_ms || grant->expires_ms <= latest_ms)
        return MCPX_OK;
    mx_time_format(latest_ms, latest);
    return refuse(drafting, MCPX_ECAPABILITY,
                  "'%s' may be granted at run time until %s and not longer "
                  "(admin.grant_max_s); what is to last belongs into the configuration",
                  grant->pattern, mcpx_slice_of(latest));
}

/* Lends it. The same, while it holds, begins no new time: else nobody could say when it ends. */
static enum mcpx_err lend(struct drafting *drafting, const struct mcpx_grant *asked)
{
    const struct change_act *act = &drafting->order->act;
    const struct change *before =
        changed_held(drafting->draft, CHANGE_GRANT, asked, act->wall_ms);
    const int64_t first_ms = before ? before->first_ms : act->wall_ms;
    const struct mx_pattern pattern = parse(asked->pattern);
    const struct mcpx_slice denial = find_denial(drafting, &pattern);
    struct mcpx_grant grant = *asked;
    struct change *change;
    enum mcpx_err err;

    if (denial.text)
        return refuse(drafting, MCPX_ECAPABILITY,
                      "'%s' is denied by '%s', and denials win; what was removed at run time "
                      "comes back when just that is added, without to and until",
                      asked->pattern, denial);
    err = settle_end(drafting, &grant, first_ms);
    if (err)
        return err;
    if (!authority_may_give(drafting->order->giver, &grant, act->wall_ms, drafting->why))
        return MCPX_ECAPABILITY;
    change = change_new(CHANGE_GRANT, &grant, act);
    if (change)
        change->first_ms = first_ms;
    return place(drafting->draft, changed_find(drafting->draft, CHANGE_GRANT, asked), change);
}

/* Does the credential give all of it? */
static bool base_gives(const struct drafting *drafting, const struct mx_pattern *pattern)
{
    const struct mcpx_capset *base = drafting->order->base;

    for (size_t i = 0; i < base->grant_count; i++)
        if (base->grants[i].to_count == 0 &&
            mx_pattern_contains(&base->patterns[i], pattern, false))
            return true;
    return false;
}

/*
 * What was removed comes back, as it was before: lent, where the credential does not give it and
 * the caller may. Of oneself nobody takes a removal back, since it denies the caller, too.
 */
static enum mcpx_err lift(struct drafting *drafting, size_t index)
{
    const struct change_order *order = drafting->order;
    struct change *removal = drafting->draft->list[index];
    struct mcpx_grant grant = {.pattern = removal->grant.pattern};
    struct mcpx_slice denial = authority_denial(order->giver, &removal->pattern);
    struct mcpx_text ignored = {0};
    enum mcpx_err err = MCPX_OK;

    if (denial.text && !authority_has_all(order->giver, order->act.wall_ms))
        return refuse(drafting, MCPX_ECAPABILITY, "'%s' may cover what '%s' denies you",
                      grant.pattern, denial);
    removal->refs++; /* the pattern is its own */
    changed_drop(drafting->draft, index);
    if (!base_gives(drafting, &removal->pattern)) {
        struct drafting lending = {order, drafting->draft, &ignored};

        err = lend(&lending, &grant);
    }
    change_unref(removal);
    mcpx_text_fini(&ignored);
    return err == MCPX_ECAPABILITY ? MCPX_OK : err;
}

static enum mcpx_err add_grant(struct drafting *drafting, const struct mcpx_grant *asked)
{
    size_t index = changed_find(drafting->draft, CHANGE_DENIAL, asked);
    bool whole = !drafting->order->until_ms && !asked->expires_ms;

    return whole && index < drafting->draft->count ? lift(drafting, index)
                                                   : lend(drafting, asked);
}

/* ---- bounds ---- */

static uint64_t amount_of(const struct changed *changed, struct mcpx_slice by)
{
    uint64_t amount = 0;

    for (size_t i = 0; changed && i < changed->count; i++)
        if (mcpx_slice_equal(changed->list[i]->by, by))
            amount += changed->list[i]->amount;
    return amount;
}

/* Of one participant: else there is no room for a removal in its set, which is bounded. */
static bool fits_one(const struct changed *draft, enum change_sort sort)
{
    size_t count = 0, text = 0;

    for (size_t i = 0; i < draft->count; i++)
        if (draft->list[i]->sort == sort) {
            count++;
            text += draft->list[i]->grant.pattern.len;
        }
    return count <= CHANGES_EACH && text <= CHANGES_EACH_TEXT;
}

static enum mcpx_err check_room(const struct changes *changes, const struct changed *draft,
                                struct mcpx_slice by, struct mcpx_text *why)
{
    uint64_t had = amount_of(changes_find(changes, draft->identity, draft->topic), by);
    uint64_t has = amount_of(draft, by);
    enum mx_sharing sharing =
        has > had ? mx_holders_ask(&changes->makers, by, has - had) : MX_SHARING_FITS;
    bool grants = fits_one(draft, CHANGE_GRANT);

    if (!grants || !fits_one(draft, CHANGE_DENIAL)) {
        mx_format(why, "for '%s' in '%s' %s %s with %s bytes of patterns may be kept",
                  draft->identity, draft->topic, CHANGES_EACH, grants ? "removals" : "grants",
                  CHANGES_EACH_TEXT);
        return MCPX_ESHARE;
    }
    if (sharing == MX_SHARING_OVER_CAP)
        mx_format(why, "you may have made %s changes that are kept, one for each KiB; ",
                  CHANGES_OWN);
    else if (sharing == MX_SHARING_OVER_TOTAL)
        mx_format(why, "%s changes of all administrators are kept, one for each KiB; ",
                  CHANGES_MAX);
    else
        return MCPX_OK;
    mcpx_text_puts(why, "there is room when some have ended or were taken back");
    return sharing == MX_SHARING_OVER_CAP ? MCPX_ESHARE : MCPX_EFULL;
}

static enum mcpx_err finish(const struct changes *changes, const struct change_act *act,
                            struct drafting *drafting, enum mcpx_err err, struct changed **out)
{
    if (!err)
        err = check_room(changes, drafting->draft, act->by, drafting->why);
    if (err)
        changed_free(drafting->draft);
    else
        *out = drafting->draft;
    return err;
}

enum mcpx_err changes_draft(const struct changes *changes, const struct change_order *order,
                            struct mcpx_text *why, struct changed **out)
{
    const struct change_act *act = &order->act;
    struct drafting drafting = {
        order, copy_of(changes_find(changes, act->identity, act->topic), act), why};
    enum mcpx_err err = MCPX_OK;

    if (!drafting.draft)
        return MCPX_ENOMEM;
    if (order->until_ms && order->until_ms <= act->wall_ms) {
        mcpx_text_puts(why, "until is past");
        err = MCPX_EREQUEST;
    }
    for (size_t i = 0; !err && i < order->remove_count; i++)
        err = remove_pattern(&drafting, order->remove[i]);
    for (size_t i = 0; !err && i < order->add_count; i++)
        err = add_grant(&drafting, &order->add[i]);
    return finish(changes, act, &drafting, err, out);
}

enum mcpx_err changes_draft_bar(const struct changes *changes, const struct change_act *act,
                                int64_t until_ms, struct mcpx_text *why, struct changed **out)
{
    const struct mcpx_grant bar = {.pattern = MCPX_SLICE(""), .expires_ms = until_ms};
    const struct changed *before = changes_find(changes, act->identity, act->topic);
    struct drafting drafting = {.draft = copy_of(before, act), .why = why};
    enum mcpx_err err = MCPX_OK;
    size_t index;

    if (!drafting.draft)
        return MCPX_ENOMEM;
    index = changed_find(drafting.draft, CHANGE_BAR, &bar);
    if (until_ms > act->wall_ms)
        err = place(drafting.draft, index, change_new(CHANGE_BAR, &bar, act));
    else if (changed_barred_until(before, act->wall_ms))
        changed_drop(drafting.draft, index);
    else
        err = refuse(&drafting, MCPX_ENOTFOUND, "nobody keeps '%s' out of '%s'", act->identity,
                     act->topic);
    return finish(changes, act, &drafting, err, out);
}
