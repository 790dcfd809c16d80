/*
 * change_plans.c - decides about a plan, by one code for its preview and its execution. Connected
 * participants have the new grants before the administrator has the response. When thousands of
 * denials end in the same second, each loop iteration handles some of them: telling a topic about
 * new grants costs much more than computing them.
 */
#include "router/policy/identity/change_plans.h"

#include "router/policy/grants/grant.h"

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
        const struct changed *changed = realm->changes->all[i];

        for (size_t j = 0;
             mcpx_slice_equal(changed->identity, act->identity) && j < changed->count; j++)
            if (changed->list[j].sort == CHANGE_GRANT &&
                change_holds(&changed->list[j], act->wall_ms) &&
                authority_is_all(&changed->list[j].pattern))
                return true;
    }
    return false;
}

struct change_target change_plans_target(const struct realm *realm,
                                         const struct change_act *act)
{
    const struct changed *changed = changes_find(realm->changes, act->identity, act->topic);
    struct change_target target = {.guarded = was_given_all(realm, act)};
    const struct tokens_entry *entry = tokens_find_person(realm->tokens, act->identity);
    struct peer *peer = NULL;

    target.known = entry || (changed && changed->count > 0);
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
    return target.guarded ? "who has admin/* can only be changed by who has admin/*"
                          : "who is neither configured nor connected can only be changed "
                            "with admin/*";
}

/* Its configuration must allow the topic, or have allowed it before a reload. */
static bool may_be_there(const struct realm *realm, const struct change_act *act)
{
    const struct tokens_entry *entry = tokens_find_person(realm->tokens, act->identity);

    return !tokens_topic_pattern(entry, anywhere).text ||
           tokens_topic_pattern(entry, act->topic).text ||
           changes_find(realm->changes, act->identity, act->topic);
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
    const struct tokens_entry *entry = tokens_find_person(realm->tokens, act->identity);
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
static enum mcpx_err carry_out(const struct realm *realm, const struct change_plan *order,
                               struct grant *base, struct change_result *out,
                               struct mcpx_text *why)
{
    const struct change_act *act = &order->act;
    struct changed *changed = changes_find(realm->changes, act->identity, act->topic);
    enum mcpx_err err =
        changed_apply(realm->changes, changed, base, act->wall_ms, &out->before);
    bool stays_out = err == MCPX_ELIMIT;

    if (stays_out)
        err = grant_nothing(act->identity, &out->before);
    if (!err)
        err = changes_draft(realm->changes, order, why, &out->draft);
    if (err)
        return err;
    err = changed_apply(realm->changes, out->draft, base, act->wall_ms, &out->after);
    if (err == MCPX_ELIMIT && stays_out)
        err = grant_nothing(act->identity, &out->after);
    if (err == MCPX_ELIMIT)
        mcpx_text_puts(why, "all grants and denials together are more than a set holds, 1024 "
                            "patterns and 65536 bytes of them; a grant that a removal covers "
                            "as a whole does not count: remove something broader");
    return err;
}

enum mcpx_err change_plans_decide(const struct realm *realm, const struct change_plan *order,
                                  struct change_result *out, struct mcpx_text *why)
{
    const struct change_act *act = &order->act;
    const char *refusal =
        change_plans_refuse(order->giver, change_plans_target(realm, act), act->wall_ms);
    struct change_plan settled = *order;
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

void change_result_fini(struct change_result *outcome)
{
    grant_unref(outcome->before);
    grant_unref(outcome->after);
    changed_free(outcome->draft);
}

/* ---- connected participants ---- */

static void update_grants(const struct realm *realm, struct peer *peer, struct mcpx_now now)
{
    struct grant *held = grant_ref((struct grant *)peer_grant(peer)), *grant = NULL;
    struct changed *changed =
        changes_find(realm->changes, held->identity, peer_topic_name(peer));
    enum mcpx_err err =
        changed_apply(realm->changes, changed, grant_base(held), now.wall_ms, &grant);

    if (!err)
        err = hub_update_grants(realm->hub, peer, grant, now);
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
    const struct changed *changed;
    size_t done = 0;

    while (done < CHANGES_PER_TURN &&
           (changed = changes_tick(realm->changes, now.wall_ms)) != NULL)
        done += 1 + change_plans_update_grants(realm, changed->identity, changed->topic, now);
}
