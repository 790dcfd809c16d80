/*
 * changes_draft.c - applies a plan to a copy of a participant's changes; the copy then replaces
 * them. So a refusal half-way leaves nothing behind, and a preview discards the copy. Denials are
 * always safe, grants are not: an unclear pattern is read so that less may be sent.
 *
 * Rejected: changes that only their maker may take back, because a table filled by one
 * administrator would stay full. Rejected: writing changes into the configuration, because a grant
 * for an hour must not outlive the process that counts the hour.
 */
#include "router/policy/grants/changes.h"

#include "lib/base/ident.h"
#include "lib/json/json_write.h"
#include "router/policy/grants/grant.h"

#include <stdlib.h>

/* A plan being applied; `draft` is its result, `why` explains a refusal. */
struct drafting {
    const struct change_plan *order;
    struct changed *draft;
    struct mcpx_text *why;
};

/* Copies the list, with room for the plan's additions. NULL when memory runs out. */
static struct changed *begin(const struct changed *before, const struct change_plan *order)
{
    size_t had = before ? before->count : 0;
    size_t most = had + order->add_count + order->remove_count + 1;
    struct changed *draft = malloc(sizeof *draft + most * sizeof(struct change));

    if (!draft)
        return NULL;
    *draft = (struct changed){.identity = order->act.identity,
                              .topic = order->act.topic,
                              .list = (struct change *)(void *)(draft + 1),
                              .count = had};
    if (had > 0)
        memcpy(draft->list, before->list, had * sizeof *draft->list);
    return draft;
}

/* A pattern that is valid, or the empty one of a ban. */
static struct mx_pattern parse(struct mcpx_slice text)
{
    struct mx_pattern pattern = {.final_star = false};

    (void)mx_pattern_parse(text, &pattern, NULL);
    return pattern;
}

/* Makes a change; it replaces one with the same sort, pattern and addressees. */
static void place(const struct drafting *drafting, enum change_sort sort,
                  const struct mcpx_grant *grant, int64_t first_ms)
{
    const struct change_act *act = &drafting->order->act;
    struct changed *draft = drafting->draft;
    size_t index = changed_find(draft, sort, grant);
    struct change *change = &draft->list[index];

    *change = (struct change){.sort = sort,
                              .grant = *grant,
                              .pattern = parse(grant->pattern),
                              .by = act->by,
                              .first_ms = first_ms,
                              .made_ms = act->wall_ms};
    change->amount = (change_size(change) + 1023) / 1024;
    if (index == draft->count)
        draft->count++;
}

static enum mcpx_err refuse(const struct drafting *drafting, enum mcpx_err err,
                            const char *says, struct mcpx_slice pattern,
                            struct mcpx_slice other)
{
    mx_format(drafting->why, says, pattern, other);
    return err;
}

/* A second denial never shortens the first. */
static void remove_pattern(const struct drafting *drafting, struct mcpx_slice text)
{
    const struct change_plan *order = drafting->order;
    const struct mcpx_grant denial = {.pattern = text, .expires_ms = order->until_ms};
    struct changed *draft = drafting->draft;
    const struct mx_pattern pattern = parse(text);
    const struct change *before;

    for (size_t i = draft->count; i-- > 0;)
        if (draft->list[i].sort == CHANGE_GRANT &&
            mx_pattern_contains(&pattern, &draft->list[i].pattern, true))
            changed_drop(draft, i);
    before = changed_held(draft, CHANGE_DENIAL, &denial, order->act.wall_ms);
    if (!before || (before->grant.expires_ms &&
                    (!denial.expires_ms || denial.expires_ms > before->grant.expires_ms)))
        place(drafting, CHANGE_DENIAL, &denial, order->act.wall_ms);
}

/* A denial that covers the whole grant; absent when there is none. */
static struct mcpx_slice find_denial(const struct drafting *drafting,
                                     const struct mx_pattern *pattern)
{
    const struct mcpx_capset *base = drafting->order->base;
    const struct change *denial;

    for (size_t i = 0; i < base->deny_count; i++)
        if (mx_pattern_contains(&base->patterns[base->grant_count + i], pattern, true))
            return mx_capset_denial(base, i);
    denial = changed_denial(drafting->draft, pattern, drafting->order->act.wall_ms);
    return denial ? denial->grant.pattern : (struct mcpx_slice){NULL, 0};
}

/* Sets the end of the grant; refuses one that is past or later than allowed. */
static enum mcpx_err settle_end(const struct drafting *drafting, struct mcpx_grant *grant,
                                int64_t first_ms)
{
    const struct change_plan *order = drafting->order;
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

/* Makes a runtime grant. A renewal keeps the first start: else a grant could last for ever. */
static enum mcpx_err lend(const struct drafting *drafting, struct mcpx_grant grant)
{
    const struct change_plan *order = drafting->order;
    const int64_t wall_ms = order->act.wall_ms;
    const struct change *before = changed_held(drafting->draft, CHANGE_GRANT, &grant, wall_ms);
    const int64_t first_ms = before ? before->first_ms : wall_ms;
    const struct mx_pattern pattern = parse(grant.pattern);
    const struct mcpx_slice denial = find_denial(drafting, &pattern);
    enum mcpx_err err;

    if (denial.text)
        return refuse(drafting, MCPX_ECAPABILITY,
                      "'%s' is denied by '%s', and denials win; what was removed at run time "
                      "comes back when just that is added, without to and until",
                      grant.pattern, denial);
    err = settle_end(drafting, &grant, first_ms);
    if (err)
        return err;
    if (!authority_may_give(order->giver, &grant, wall_ms, drafting->why))
        return MCPX_ECAPABILITY;
    place(drafting, CHANGE_GRANT, &grant, first_ms);
    return MCPX_OK;
}

/* Does the credential give the whole pattern? */
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
 * Lifts a denial. The pattern becomes a runtime grant if the credential does not give it and the
 * caller may. A participant cannot lift its own denial, because it denies the caller, too.
 */
static enum mcpx_err lift(const struct drafting *drafting, size_t index)
{
    const struct change_plan *order = drafting->order;
    const struct change removal = drafting->draft->list[index];
    struct mcpx_slice denial = authority_denial(order->giver, &removal.pattern);
    struct mcpx_text ignored = {0};

    if (denial.text && !authority_has_all(order->giver, order->act.wall_ms))
        return refuse(drafting, MCPX_ECAPABILITY, "'%s' may cover what '%s' denies you",
                      removal.grant.pattern, denial);
    changed_drop(drafting->draft, index);
    if (!base_gives(drafting, &removal.pattern))
        (void)lend(&(struct drafting){order, drafting->draft, &ignored},
                   (struct mcpx_grant){.pattern = removal.grant.pattern});
    mcpx_text_fini(&ignored);
    return MCPX_OK;
}

static enum mcpx_err add_grant(const struct drafting *drafting, size_t at)
{
    const struct change_plan *order = drafting->order;
    const struct mcpx_grant *asked = &order->add[at];
    struct changed *draft = drafting->draft;
    size_t index = changed_find(draft, CHANGE_DENIAL, asked);

    if (index == draft->count || order->until_ms || asked->expires_ms)
        return lend(drafting, *asked);
    if (at < 64 && change_holds(&draft->list[index], order->act.wall_ms))
        draft->lifted |= UINT64_C(1) << at;
    return lift(drafting, index);
}

/* Makes or replaces the ban; a past end lifts it. */
static enum mcpx_err keep_out(const struct drafting *drafting)
{
    const struct change_act *act = &drafting->order->act;
    const struct mcpx_grant bar = {.pattern = MCPX_SLICE(""),
                                   .expires_ms = drafting->order->until_ms};

    if (bar.expires_ms > act->wall_ms)
        place(drafting, CHANGE_BAR, &bar, act->wall_ms);
    else if (changed_barred_until(drafting->draft, act->wall_ms))
        changed_drop(drafting->draft, changed_find(drafting->draft, CHANGE_BAR, &bar));
    else
        return refuse(drafting, MCPX_ENOTFOUND, "nobody keeps '%s' out of '%s'", act->identity,
                      act->topic);
    return MCPX_OK;
}

static enum mcpx_err carry_out(const struct drafting *drafting)
{
    const struct change_plan *order = drafting->order;
    enum mcpx_err err = MCPX_OK;

    if (order->bars)
        return keep_out(drafting);
    if (order->until_ms && order->until_ms <= order->act.wall_ms) {
        mcpx_text_puts(drafting->why, "until is past");
        return MCPX_EREQUEST;
    }
    for (size_t i = 0; i < order->remove_count; i++)
        remove_pattern(drafting, order->remove[i]);
    for (size_t i = 0; !err && i < order->add_count; i++)
        err = add_grant(drafting, i);
    return err;
}

/* ---- bounds ---- */

static uint64_t amount_of(const struct changed *changed, struct mcpx_slice by)
{
    uint64_t amount = 0;

    for (size_t i = 0; changed && i < changed->count; i++)
        if (mcpx_slice_equal(changed->list[i].by, by))
            amount += changed->list[i].amount;
    return amount;
}

/* Bound of one participant: its set, which is bounded, must have room for denials. */
static bool fits_one(const struct changed *draft, enum change_sort sort)
{
    size_t count = 0, text = 0;

    for (size_t i = 0; i < draft->count; i++)
        if (draft->list[i].sort == sort) {
            count++;
            text += draft->list[i].grant.pattern.len;
        }
    return count <= CHANGES_EACH && text <= CHANGES_EACH_TEXT;
}

static enum mcpx_err check_room(const struct changes *changes, const struct changed *before,
                                const struct drafting *drafting)
{
    const struct change_act *act = &drafting->order->act;
    const struct changed *draft = drafting->draft;
    uint64_t had = amount_of(before, act->by), has = amount_of(draft, act->by);
    enum mx_sharing sharing =
        has > had ? mx_holders_ask(&changes->makers, act->by, has - had) : MX_SHARING_FITS;
    bool grants = fits_one(draft, CHANGE_GRANT);

    if (!grants || !fits_one(draft, CHANGE_DENIAL)) {
        mx_format(drafting->why,
                  "for '%s' in '%s' %s %s with %s bytes of patterns may be kept",
                  act->identity, act->topic, CHANGES_EACH, grants ? "removals" : "grants",
                  CHANGES_EACH_TEXT);
        return MCPX_ESHARE;
    }
    if (sharing == MX_SHARING_FITS)
        return MCPX_OK;
    mx_format(drafting->why,
              sharing == MX_SHARING_OVER_CAP
                  ? "you may have made %s changes that are kept, one for each KiB; "
                  : "%s changes of all administrators are kept, one for each KiB; ",
              sharing == MX_SHARING_OVER_CAP ? CHANGES_OWN : CHANGES_MAX);
    mcpx_text_puts(drafting->why, "there is room when some have ended or were taken back");
    return sharing == MX_SHARING_OVER_CAP ? MCPX_ESHARE : MCPX_EFULL;
}

enum mcpx_err changes_draft(const struct changes *changes, const struct change_plan *order,
                            struct mcpx_text *why, struct changed **out)
{
    const struct changed *before =
        changes_find(changes, order->act.identity, order->act.topic);
    struct drafting drafting = {order, begin(before, order), why};
    enum mcpx_err err = drafting.draft ? carry_out(&drafting) : MCPX_ENOMEM;

    if (!err)
        err = check_room(changes, before, &drafting);
    if (err)
        changed_free(drafting.draft);
    else
        *out = drafting.draft;
    return err;
}
