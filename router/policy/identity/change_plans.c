/*
 * change_plans.c - decides about a plan, by one code for its preview and its execution: drafts the
 * participant's changes in a copy, so that a refusal half-way leaves nothing behind. An unclear
 * pattern is read so that less may be sent. An iteration handles a part of the ended denials.
 *
 * Rejected: changes that only their maker may take back (a full table would stay full). Rejected:
 * changes in the configuration: a grant for an hour must not outlive the process.
 */
#include "router/policy/identity/change_plans.h"

#include "lib/base/ident.h"
#include "lib/json/json_write.h"
#include "router/policy/grants/grant.h"

#include <stdlib.h>

static const struct mcpx_slice anywhere = {NULL, 0};

/* Limit of a loop iteration: ended denials and the connections of their participants. */
enum { CHANGES_PER_TURN = 64 };

struct peer *change_plans_next_peer(struct hub *hub, struct mcpx_slice identity,
                                    struct mcpx_slice topic, const struct peer *peer)
{
    struct peer *next = hub_peer_of(hub, identity, peer);

    while (next && (peer_is_disconnected(next) ||
                    (topic.text && !mcpx_slice_equal(peer_topic_name(next), topic))))
        next = hub_peer_of(hub, identity, next);
    return next;
}

/* ---- permission ---- */

/* Has the participant a runtime grant for all of `admin/`, in any topic? */
static bool was_given_all(const struct realm *realm, const struct change_act *act)
{
    for (size_t i = 0; i < realm->changes->count; i++) {
        const struct change_list *list = realm->changes->all[i];

        for (size_t j = 0; mcpx_slice_equal(list->identity, act->identity) && j < list->count;
             j++)
            if (list->rows[j].sort == CHANGE_GRANT &&
                change_holds(&list->rows[j], act->wall_ms) &&
                authority_is_all(&list->rows[j].pattern))
                return true;
    }
    return false;
}

struct change_target change_plans_target(const struct realm *realm,
                                         const struct change_act *act)
{
    const struct change_list *list = changes_find(realm->changes, act->identity, act->topic);
    struct change_target target = {.guarded = was_given_all(realm, act)};
    const struct tokens_entry *entry = tokens_find_id(realm->tokens, act->identity);
    struct peer *peer = NULL;

    target.known = entry || (list && list->count > 0);
    if (entry)
        target.guarded |= authority_is_guarded(entry->grant->capset, act->wall_ms);
    while ((peer = change_plans_next_peer(realm->hub, act->identity, anywhere, peer)) !=
           NULL) {
        struct grant *grant = (struct grant *)peer_grant(peer);

        target.known = true;
        target.guarded |= authority_is_guarded(grant->capset, act->wall_ms) ||
                          authority_is_guarded(grant_base(grant)->capset, act->wall_ms);
    }
    return target;
}

const char *change_plans_refuse(const struct mcpx_capset *own, struct change_target target,
                                int64_t wall_ms)
{
    if (authority_has_all(own, wall_ms) || (target.known && !target.guarded))
        return NULL;
    return target.guarded
               ? "a participant with admin/* can only be changed by one with admin/*"
               : "a participant that is neither configured nor connected can only be changed "
                 "with admin/*";
}

/* Its configuration must allow the topic, or have allowed it before a reload. */
static bool may_be_there(const struct realm *realm, const struct change_act *act)
{
    const struct tokens_entry *entry = tokens_find_id(realm->tokens, act->identity);

    return !tokens_topic_pattern(entry, anywhere).text ||
           tokens_topic_pattern(entry, act->topic).text ||
           changes_find(realm->changes, act->identity, act->topic);
}

/* ---- the draft ---- */

/* A plan being applied; `draft` is its result, `why` explains a refusal. */
struct drafting {
    const struct change_plan *plan;
    struct change_list *draft;
    struct mcpx_text *why;
};

/* Copies the list, with room for the plan's additions. NULL when memory runs out. */
static struct change_list *begin(const struct change_list *before,
                                 const struct change_plan *plan)
{
    size_t had = before ? before->count : 0;
    size_t most = had + plan->add_count + plan->remove_count + 1;
    struct change_list *draft = malloc(sizeof *draft + most * sizeof(struct change));

    if (!draft)
        return NULL;
    *draft = (struct change_list){.identity = plan->act.identity,
                                  .topic = plan->act.topic,
                                  .rows = (struct change *)(void *)(draft + 1),
                                  .count = had};
    if (had > 0)
        memcpy(draft->rows, before->rows, had * sizeof *draft->rows);
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
    const struct change_act *act = &drafting->plan->act;
    struct change_list *draft = drafting->draft;
    size_t index = change_list_find(draft, sort, grant);
    struct change *change = &draft->rows[index];

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
    const struct change_plan *plan = drafting->plan;
    const struct mcpx_grant denial = {.pattern = text, .expires_ms = plan->until_ms};
    struct change_list *draft = drafting->draft;
    const struct mx_pattern pattern = parse(text);
    const struct change *before;

    for (size_t i = draft->count; i-- > 0;)
        if (draft->rows[i].sort == CHANGE_GRANT &&
            mx_pattern_contains(&pattern, &draft->rows[i].pattern, true))
            change_list_drop(draft, i);
    before = change_list_active(draft, CHANGE_DENIAL, &denial, plan->act.wall_ms);
    if (!before || (before->grant.expires_ms &&
                    (!denial.expires_ms || denial.expires_ms > before->grant.expires_ms)))
        place(drafting, CHANGE_DENIAL, &denial, plan->act.wall_ms);
}

/* A denial that covers the whole grant; absent when there is none. */
static struct mcpx_slice find_denial(const struct drafting *drafting,
                                     const struct mx_pattern *pattern)
{
    const struct mcpx_capset *base = drafting->plan->base;
    const struct change *denial;

    for (size_t i = 0; i < base->deny_count; i++)
        if (mx_pattern_contains(&base->patterns[base->grant_count + i], pattern, true))
            return mx_capset_denial(base, i);
    denial = change_list_denial(drafting->draft, pattern, drafting->plan->act.wall_ms);
    return denial ? denial->grant.pattern : (struct mcpx_slice){NULL, 0};
}

/* Sets the end of the grant; refuses one that is past or later than allowed. */
static enum mcpx_err settle_end(const struct drafting *drafting, struct mcpx_grant *grant,
                                int64_t first_ms)
{
    const struct change_plan *plan = drafting->plan;
    char latest[MX_TIME_LEN + 1];
    int64_t latest_ms = plan->longest_ms ? first_ms + plan->longest_ms : 0;

    if (plan->until_ms && (!grant->expires_ms || plan->until_ms < grant->expires_ms))
        grant->expires_ms = plan->until_ms;
    if (!grant->expires_ms)
        grant->expires_ms = latest_ms;
    if (grant->expires_ms && grant->expires_ms <= plan->act.wall_ms) {
        mx_format(drafting->why, "'%s' would have ended already", grant->pattern);
        return MCPX_EREQUEST;
    }
    if (!latest_ms || grant->expires_ms <= latest_ms)
        return MCPX_OK;
    mx_time_format(latest_ms, latest);
    return refuse(drafting, MCPX_ECAPABILITY,
                  "'%s' may be granted at run time until %s and not longer "
                  "(admin.grant_max_s); lasting grants belong into the configuration",
                  grant->pattern, mcpx_slice_of(latest));
}

/* Makes a runtime grant. A renewal keeps the first start: else a grant could last for ever. */
static enum mcpx_err lend(const struct drafting *drafting, struct mcpx_grant grant)
{
    const struct change_plan *plan = drafting->plan;
    const int64_t wall_ms = plan->act.wall_ms;
    const struct change *before =
        change_list_active(drafting->draft, CHANGE_GRANT, &grant, wall_ms);
    const int64_t first_ms = before ? before->first_ms : wall_ms;
    const struct mx_pattern pattern = parse(grant.pattern);
    const struct mcpx_slice denial = find_denial(drafting, &pattern);
    enum mcpx_err err;

    if (denial.text)
        return refuse(drafting, MCPX_ECAPABILITY,
                      "'%s' is denied by '%s', and denials win; a runtime denial ends when "
                      "exactly its pattern is added, without to and until",
                      grant.pattern, denial);
    err = settle_end(drafting, &grant, first_ms);
    if (err)
        return err;
    if (!authority_may_give(plan->giver, &grant, wall_ms, drafting->why))
        return MCPX_ECAPABILITY;
    place(drafting, CHANGE_GRANT, &grant, first_ms);
    return MCPX_OK;
}

static bool base_gives(const struct drafting *drafting, const struct mx_pattern *pattern)
{
    const struct mcpx_capset *base = drafting->plan->base;

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
    const struct change_plan *plan = drafting->plan;
    const struct change removal = drafting->draft->rows[index];
    struct mcpx_slice denial = authority_denial(plan->giver, &removal.pattern);
    struct mcpx_text ignored = {0};

    if (denial.text && !authority_has_all(plan->giver, plan->act.wall_ms))
        return refuse(drafting, MCPX_ECAPABILITY, "'%s' may cover what '%s' denies you",
                      removal.grant.pattern, denial);
    change_list_drop(drafting->draft, index);
    if (!base_gives(drafting, &removal.pattern))
        (void)lend(&(struct drafting){plan, drafting->draft, &ignored},
                   (struct mcpx_grant){.pattern = removal.grant.pattern});
    mcpx_text_fini(&ignored);
    return MCPX_OK;
}

static enum mcpx_err add_grant(const struct drafting *drafting, size_t at)
{
    const struct change_plan *plan = drafting->plan;
    const struct mcpx_grant *asked = &plan->add[at];
    struct change_list *draft = drafting->draft;
    size_t index = change_list_find(draft, CHANGE_DENIAL, asked);

    if (index == draft->count || plan->until_ms || asked->expires_ms)
        return lend(drafting, *asked);
    if (at < 64 && change_holds(&draft->rows[index], plan->act.wall_ms))
        draft->lifted |= UINT64_C(1) << at;
    return lift(drafting, index);
}

/* Makes or replaces the ban; a past end lifts it. */
static enum mcpx_err keep_out(const struct drafting *drafting)
{
    const struct change_act *act = &drafting->plan->act;
    const struct mcpx_grant ban = {.pattern = MCPX_SLICE(""),
                                   .expires_ms = drafting->plan->until_ms};

    if (ban.expires_ms > act->wall_ms)
        place(drafting, CHANGE_BAN, &ban, act->wall_ms);
    else if (change_list_banned_until(drafting->draft, act->wall_ms))
        change_list_drop(drafting->draft, change_list_find(drafting->draft, CHANGE_BAN, &ban));
    else
        return refuse(drafting, MCPX_ENOTFOUND, "'%s' is not banned from '%s'", act->identity,
                      act->topic);
    return MCPX_OK;
}

static enum mcpx_err draft_all(const struct drafting *drafting)
{
    const struct change_plan *plan = drafting->plan;
    enum mcpx_err err = MCPX_OK;

    if (plan->bans)
        return keep_out(drafting);
    if (plan->until_ms && plan->until_ms <= plan->act.wall_ms) {
        mcpx_text_puts(drafting->why, "until is past");
        return MCPX_EREQUEST;
    }
    for (size_t i = 0; i < plan->remove_count; i++)
        remove_pattern(drafting, plan->remove[i]);
    for (size_t i = 0; !err && i < plan->add_count; i++)
        err = add_grant(drafting, i);
    return err;
}

enum mcpx_err change_plans_draft(const struct changes *changes, const struct change_plan *plan,
                                 struct mcpx_text *why, struct change_list **out)
{
    const struct change_list *before =
        changes_find(changes, plan->act.identity, plan->act.topic);
    struct drafting drafting = {plan, begin(before, plan), why};
    enum mcpx_err err = drafting.draft ? draft_all(&drafting) : MCPX_ENOMEM;

    if (!err)
        err = changes_check_room(changes, drafting.draft, plan->act.by, why);
    if (err)
        change_list_free(drafting.draft);
    else
        *out = drafting.draft;
    return err;
}

/* ---- the result ---- */

static enum mcpx_err grant_nothing(struct mcpx_slice identity, struct grant **out)
{
    struct mcpx_capset *nothing = NULL;
    enum mcpx_err err = mcpx_capset_new(NULL, 0, NULL, 0, NULL, NULL, &nothing);

    if (!err)
        *out = grant_new(identity, nothing, ROUTING_DEFAULT, 0);
    mcpx_capset_unref(nothing);
    return err || *out ? err : MCPX_ENOMEM;
}

/* The credential's grant: the configured one, else a connection's, else an empty one. */
static enum mcpx_err find_base(const struct realm *realm, const struct change_act *act,
                               struct grant **out, bool *known)
{
    const struct tokens_entry *entry = tokens_find_id(realm->tokens, act->identity);
    struct peer *peer = change_plans_next_peer(realm->hub, act->identity, act->topic, NULL);

    *known = entry || peer;
    if (!*known)
        return grant_nothing(act->identity, out);
    *out = grant_ref(entry ? entry->grant : grant_base((struct grant *)peer_grant(peer)));
    return MCPX_OK;
}

/*
 * After a reload, the grant of a participant and its changes together may exceed a set. It cannot
 * join then until enough changes are removed; one plan may remove only a part of them.
 */
static enum mcpx_err carry_out(const struct realm *realm, const struct change_plan *plan,
                               struct grant *base, struct change_result *out,
                               struct mcpx_text *why)
{
    const struct change_act *act = &plan->act;
    struct change_list *list = changes_find(realm->changes, act->identity, act->topic);
    enum mcpx_err err =
        change_list_apply(realm->changes, list, base, act->wall_ms, &out->before);
    bool stays_out = err == MCPX_ELIMIT;

    if (stays_out)
        err = grant_nothing(act->identity, &out->before);
    if (!err)
        err = change_plans_draft(realm->changes, plan, why, &out->draft);
    if (err)
        return err;
    err = change_list_apply(realm->changes, out->draft, base, act->wall_ms, &out->after);
    if (err == MCPX_ELIMIT && stays_out)
        err = grant_nothing(act->identity, &out->after);
    if (err == MCPX_ELIMIT)
        mcpx_text_puts(why, "all grants and denials together are more than a set holds, 1024 "
                            "patterns and 65536 bytes of them; a grant that a removal covers "
                            "as a whole does not count: remove something broader");
    return err;
}

enum mcpx_err change_plans_decide(const struct realm *realm, const struct change_plan *plan,
                                  struct change_result *out, struct mcpx_text *why)
{
    const struct change_act *act = &plan->act;
    const char *refusal =
        change_plans_refuse(plan->giver, change_plans_target(realm, act), act->wall_ms);
    struct change_plan settled = *plan;
    struct grant *base = NULL;
    enum mcpx_err err;

    if (refusal) {
        mcpx_text_puts(why, refusal);
        return MCPX_ECAPABILITY;
    }
    if (!may_be_there(realm, act)) {
        mcpx_text_puts(why, "by the configuration the participant may not join this topic");
        return MCPX_ENOTFOUND;
    }
    err = find_base(realm, act, &base, &out->known);
    if (!err) {
        settled.base = base->capset;
        err = carry_out(realm, &settled, base, out, why);
    }
    grant_unref(base);
    return err;
}

void change_result_fini(struct change_result *result)
{
    grant_unref(result->before);
    grant_unref(result->after);
    change_list_free(result->draft);
}

/* ---- connected participants ---- */

static void update_grants(const struct realm *realm, struct peer *peer, struct mcpx_now now)
{
    struct grant *held = grant_ref((struct grant *)peer_grant(peer)), *grant = NULL;
    struct change_list *list =
        changes_find(realm->changes, held->identity, peer_topic_name(peer));
    enum mcpx_err err =
        change_list_apply(realm->changes, list, grant_base(held), now.wall_ms, &grant);

    if (!err)
        err = hub_update_grants(realm->hub, peer, grant, false, now);
    if (err)
        hub_disconnect(realm->hub, peer, MCPX_ENOMEM, now);
    grant_unref(grant);
    grant_unref(held);
}

size_t change_plans_update_grants(const struct realm *realm, struct mcpx_slice identity,
                                  struct mcpx_slice topic, struct mcpx_now now)
{
    struct peer *peer = NULL;
    size_t count = 0;

    for (; (peer = change_plans_next_peer(realm->hub, identity, topic, peer)) != NULL; count++)
        update_grants(realm, peer, now);
    return count;
}

void change_plans_tick(const struct realm *realm, struct mcpx_now now)
{
    const struct change_list *list;
    size_t done = 0;

    while (done < CHANGES_PER_TURN &&
           (list = changes_tick(realm->changes, now.wall_ms)) != NULL)
        done += 1 + change_plans_update_grants(realm, list->identity, list->topic, now);
}
