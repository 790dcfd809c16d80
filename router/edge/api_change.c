/*
 * api_change.c - POST /admin/participants/{id}/capabilities: who asks, whether they may, what
 * becomes of it. The change is worked out on a copy first, so that a refusal and a preview leave
 * nothing behind; then it is in force before the answer is written.
 */
#include "router/edge/api_change.h"

#include "lib/core/capset.h"
#include "lib/core/ident.h"
#include "router/edge/api_body.h"
#include "router/edge/http_query.h"
#include "router/edge/regrant.h"
#include "router/policy/authority.h"
#include "router/policy/grant_list.h"

/* Patterns of one request: `lifted` of an outcome has a bit for each. */
enum { PATTERNS_MAX = 64 };

/* Seconds that `until` may say: a hundred years. */
static const json_int_t until_most_s = INT64_C(3155760000);

static bool refuse_item(const char *member, size_t index, const struct mcpx_fault *fault,
                        enum mcpx_err err, struct http_reply *reply)
{
    struct mcpx_text name = {0};

    mcpx_text_puts(&name, member);
    mcpx_text_puts(&name, "[");
    mcpx_text_number(&name, (int64_t)index);
    mcpx_text_puts(&name, "]");
    api_body_fault(err, name.failed ? member : name.text, fault, reply);
    mcpx_text_fini(&name);
    return false;
}

static bool read_list(const json_t *body, const char *member, struct grant_list *list,
                      struct http_reply *reply)
{
    const json_t *array = json_object_get(body, member);
    bool adds = strcmp(member, "add") == 0;

    if (array && (!json_is_array(array) || json_array_size(array) > PATTERNS_MAX)) {
        http_reply_fail(reply, MCPX_EREQUEST, member);
        mcpx_text_puts(&reply->detail, " must be an array of at most 64 patterns");
        return false;
    }
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *item = json_array_get(array, i);
        struct mcpx_fault fault = {0};
        enum mcpx_err err =
            adds ? grant_list_add(list, item, &fault) : grant_list_deny(list, item, &fault);

        if (err)
            return refuse_item(member, i, &fault, err, reply);
    }
    return true;
}

/* A date, or seconds from now. */
static bool read_until(const json_t *value, int64_t wall_ms, int64_t *out,
                       struct http_reply *reply)
{
    json_int_t seconds = json_integer_value(value);

    if (!value || json_is_null(value))
        return true;
    if (json_is_integer(value) && seconds > 0 && seconds <= until_most_s) {
        *out = wall_ms + seconds * 1000;
        return true;
    }
    if (json_is_string(value) && mx_time_parse(json_slice(value), out) && *out > 0)
        return true;
    http_reply_fail(reply, MCPX_EREQUEST,
                    "until must be a date like 2026-12-31T23:59:59Z, or seconds from now");
    return false;
}

/* ?dry_run=1 */
static bool read_preview(const struct api_call *call, bool *preview, struct http_reply *reply)
{
    struct http_param params[] = {{.name = "dry_run"}};
    struct mcpx_text scratch = {0};
    size_t bad, value = 0;
    bool reads = mcpx_text_reserve(&scratch, call->query.len) &&
                 http_params_read(call->query, params, 1, &scratch, &bad) == HTTP_PARAM_OK &&
                 (!params[0].value.text || http_decimal(params[0].value, 1, &value));

    mcpx_text_fini(&scratch);
    *preview = value == 1;
    if (!reads)
        http_reply_fail(reply, MCPX_EREQUEST, "dry_run must be 0 or 1, once");
    return reads;
}

static bool read_wish(const struct api_call *call, const json_t *body, struct wish *wish,
                      struct http_reply *reply)
{
    if (!read_preview(call, &wish->preview, reply) ||
        !api_body_string(body, "topic", &wish->act.topic, reply) ||
        !api_is_topic(wish->act.topic, reply))
        return false;
    if (!read_list(body, "add", &wish->add, reply) ||
        !read_list(body, "remove", &wish->remove, reply) ||
        !read_until(json_object_get(body, "until"), call->now.wall_ms, &wish->until_ms, reply))
        return false;
    if (wish->add.count + wish->remove.deny_count == 0) {
        http_reply_fail(reply, MCPX_EREQUEST, "add or remove must name a pattern");
        return false;
    }
    return true;
}

bool api_target(const struct api_call *call, struct change_act *act, struct http_reply *reply)
{
    if (!mcpx_participant_id_is_valid(call->name)) {
        http_reply_fail(reply, MCPX_EREQUEST,
                        "the participant must be 1 to 256 bytes without control characters, "
                        "and not 'system'");
        return false;
    }
    act->identity = mcpx_identity_of(call->name);
    act->by = call->grant->identity;
    act->wall_ms = call->now.wall_ms;
    return true;
}

/* ---- who may ---- */

/* Was it given at run time, in whatever topic? */
static bool was_given_all(const struct api_call *call, struct mcpx_slice identity)
{
    const struct changed *changed;
    bool given = false;

    for (size_t i = 0; !given && (changed = changes_at(call->api->changes, i)) != NULL; i++)
        given = mcpx_slice_equal(changed->identity, identity) &&
                changed_gives(changed, MCPX_SLICE("admin/*"), call->now.wall_ms);
    return given;
}

struct standing api_standing(const struct api_call *call, struct mcpx_slice identity)
{
    static const struct mcpx_slice anywhere = {NULL, 0};
    int64_t wall_ms = call->now.wall_ms;
    struct peer *peer = NULL;
    struct grant *grant = NULL;
    bool guarded = was_given_all(call, identity);
    bool known = tokens_participant(call->api->config->tokens, identity, &grant) == MCPX_OK;

    if (known)
        guarded = guarded || authority_is_guarded(grant->capset, wall_ms);
    grant_unref(grant);
    while ((peer = regrant_next(call->api, identity, anywhere, peer)) != NULL) {
        grant = (struct grant *)peer_grant(peer);
        known = true;
        guarded = guarded || authority_is_guarded(grant->capset, wall_ms) ||
                  authority_is_guarded(grant_base(grant)->capset, wall_ms);
    }
    return (struct standing){known, guarded};
}

bool api_may_change(const struct api_call *call, const struct grant *own,
                    struct standing standing, struct http_reply *reply)
{
    if (authority_has_all(own->capset, call->now.wall_ms))
        return true;
    if (standing.guarded)
        http_reply_fail(reply, MCPX_ECAPABILITY,
                        "who has admin/* can only be changed by who has admin/*");
    else if (!standing.known)
        http_reply_fail(reply, MCPX_ECAPABILITY,
                        "who is neither configured nor connected can only be changed with "
                        "admin/*");
    return standing.known && !standing.guarded;
}

/* Each grant, with the end that it would have. */
static bool may_give(const struct api_call *call, const struct grant *own,
                     const struct wish *wish, struct http_reply *reply)
{
    int64_t longest_ms = call->api->config->grant_max_ms;
    struct mcpx_text why = {0};
    bool may = true;

    if (authority_has_all(own->capset, call->now.wall_ms))
        return true;
    for (size_t i = 0; may && i < wish->add.count; i++) {
        struct mcpx_grant given = wish->add.grants[i];
        int64_t until_ms = wish->until_ms;

        if (!until_ms && !given.expires_ms && longest_ms)
            until_ms = call->now.wall_ms + longest_ms;
        if (until_ms && (!given.expires_ms || until_ms < given.expires_ms))
            given.expires_ms = until_ms;
        may = authority_may_give(own->capset, &given, call->now.wall_ms, &why);
    }
    if (!may)
        http_reply_fail(reply, MCPX_ECAPABILITY, why.failed ? NULL : why.text);
    mcpx_text_fini(&why);
    return may;
}

/* ---- what becomes of it ---- */

static bool is_configured(const struct api_call *call, struct mcpx_slice identity)
{
    struct tokens_entry entry;

    return tokens_entry(call->api->config->tokens, identity, &entry);
}

static enum mcpx_err grant_nothing(struct mcpx_slice identity, struct grant **out)
{
    struct mcpx_capset *nothing = NULL;
    enum mcpx_err err = mcpx_capset_new(NULL, 0, NULL, 0, NULL, NULL, &nothing);

    if (!err)
        *out = grant_new(identity, nothing, ROUTING_DEFAULT, 0);
    mcpx_capset_unref(nothing);
    return err || *out ? err : MCPX_ENOMEM;
}

/* What its credential gives: as configured, else as it came. Nothing where neither is known. */
static enum mcpx_err find_base(const struct api_call *call, const struct change_act *act,
                               struct grant **out, bool *known)
{
    struct peer *peer = regrant_next(call->api, act->identity, act->topic, NULL);
    enum mcpx_err err = tokens_participant(call->api->config->tokens, act->identity, out);

    *known = !err || peer;
    if (err != MCPX_ENOTFOUND)
        return err;
    if (peer) {
        *out = grant_ref(grant_base((struct grant *)peer_grant(peer)));
        return MCPX_OK;
    }
    return grant_nothing(act->identity, out);
}

/* Do all its connections hold the same credential's grants? A removal that fits one may miss
   another. */
static bool is_all_of(const struct api_call *call, const struct change_act *act,
                      const struct grant *base)
{
    struct peer *peer = NULL;
    bool same = true;

    while (same && (peer = regrant_next(call->api, act->identity, act->topic, peer)) != NULL)
        same = mx_capset_equals(grant_base((struct grant *)peer_grant(peer))->capset,
                                base->capset);
    return same;
}

/* A configured participant has to be able to come into the topic, or was before a reload. */
static bool may_be_there(const struct api_call *call, const struct change_act *act,
                         struct http_reply *reply)
{
    static const struct mcpx_slice any = {NULL, 0};
    const struct tokens *tokens = call->api->config->tokens;

    if (!tokens_topic_pattern(tokens, act->identity, any).text ||
        tokens_topic_pattern(tokens, act->identity, act->topic).text ||
        changes_find(call->api->changes, act->identity, act->topic))
        return true;
    http_reply_fail(reply, MCPX_ENOTFOUND,
                    "by the configuration the participant may not join this topic");
    return false;
}

/*
 * Does it only take back removals that the caller has made? That needs no other right: else they
 * hold their share for ever once the participant has left, or has more rights than the caller.
 */
static bool only_lifts(const struct api_call *call, const struct wish *wish)
{
    const struct change_act *act = &wish->act;
    const struct changed *changed =
        changes_find(call->api->changes, act->identity, act->topic);
    bool lifts = changed && wish->remove.deny_count == 0 && !wish->until_ms;

    for (size_t i = 0; lifts && i < wish->add.count; i++)
        lifts = !wish->add.grants[i].expires_ms &&
                changed_find(changed, CHANGE_DENIAL, &wish->add.grants[i], act->by) <
                    changed->count;
    return lifts;
}

/* May the caller, with this grant, change the participant so? Else a problem. */
static bool may_change(const struct api_call *call, const struct grant *own, struct wish *wish,
                       struct http_reply *reply)
{
    if (api_may_change(call, own, api_standing(call, wish->act.identity), reply) &&
        may_give(call, own, wish, reply) && may_be_there(call, &wish->act, reply))
        return true;
    wish->lifts = only_lifts(call, wish);
    if (wish->lifts)
        http_reply_fail(reply, MCPX_OK, NULL);
    return wish->lifts;
}

/* The audit has its lines before those of what is allowed by them. */
static enum mcpx_err commit(const struct api_call *call, struct outcome *outcome)
{
    struct changed *draft = outcome->draft;
    enum mcpx_err err;

    outcome->draft = NULL;
    err = changes_commit(call->api->changes, draft);
    if (err)
        return err;
    api_change_tell(call, outcome);
    outcome->connections = regrant_participant(call->api, outcome->wish->act.identity,
                                               outcome->wish->act.topic, call->now);
    return MCPX_OK;
}

/* Which of the patterns that are added were taken away before, and are no longer. */
static uint64_t find_lifted(const struct api_call *call, const struct outcome *outcome)
{
    const struct change_act *act = &outcome->wish->act;
    const struct grant_list *add = &outcome->wish->add;
    const struct changed *before = changes_find(call->api->changes, act->identity, act->topic);
    uint64_t lifted = 0;

    for (size_t i = 0; i < add->count; i++)
        if (changed_takes(before, add->grants[i].pattern, act->wall_ms) &&
            !changed_takes(outcome->draft, add->grants[i].pattern, act->wall_ms))
            lifted |= UINT64_C(1) << i;
    return lifted;
}

static enum mcpx_err carry_out(const struct api_call *call, struct outcome *outcome,
                               struct mcpx_text *why)
{
    const struct wish *wish = outcome->wish;
    int64_t wall_ms = call->now.wall_ms;
    struct grant *base = NULL;
    bool stays_out;
    enum mcpx_err err = find_base(call, &wish->act, &base, &outcome->known);
    struct change_order order = {.act = wish->act,
                                 .add = wish->add.grants,
                                 .add_count = wish->add.count,
                                 .remove = wish->remove.deny,
                                 .remove_count = wish->remove.deny_count,
                                 .until_ms = wish->until_ms,
                                 .longest_ms = call->api->config->grant_max_ms,
                                 .open = !is_configured(call, wish->act.identity),
                                 .lifts = wish->lifts};

    if (!err && outcome->known && is_all_of(call, &wish->act, base))
        order.base = base->capset;
    if (!err)
        err = changes_apply(call->api->changes, base, wish->act.topic, wall_ms,
                            &outcome->before);
    /* A reload may have given it more than fits into a set beside these changes. Then it is not let
       in until enough was taken back, for which one order need not be enough. */
    stays_out = err == MCPX_ELIMIT;
    if (stays_out)
        err = grant_nothing(wish->act.identity, &outcome->before);
    if (!err)
        err = changes_draft(call->api->changes, &order, why, &outcome->draft);
    outcome->list = outcome->draft;
    outcome->lifted = err ? 0 : find_lifted(call, outcome);
    if (!err)
        err =
            changed_apply(call->api->changes, outcome->draft, base, wall_ms, &outcome->after);
    if (err == MCPX_ELIMIT && stays_out)
        err = grant_nothing(wish->act.identity, &outcome->after);
    if (err == MCPX_ELIMIT)
        mcpx_text_puts(why,
                       "all grants and denials together are more than a set holds, 1024 "
                       "patterns and 65536 bytes of them; a grant that a removal covers as a "
                       "whole does not count: remove something broader");
    grant_unref(base);
    return err;
}

static void change(const struct api_call *call, const struct wish *wish,
                   struct http_reply *reply)
{
    struct outcome outcome = {.wish = wish};
    struct mcpx_text why = {0};
    enum mcpx_err err = carry_out(call, &outcome, &why);

    if (!err)
        err = api_change_write(call, &outcome, reply);
    if (!err && !wish->preview) {
        err = commit(call, &outcome);
        mcpx_text_puts(&reply->body, ",\"connections\":");
        mcpx_text_number(&reply->body, (int64_t)outcome.connections);
    }
    mcpx_text_puts(&reply->body, "}");
    if (err)
        http_reply_fail(reply, err, why.len && !why.failed ? why.text : NULL);
    mcpx_text_fini(&why);
    grant_unref(outcome.before);
    grant_unref(outcome.after);
    changed_free(outcome.draft);
}

void api_change(const struct api_call *call, struct http_reply *reply)
{
    struct wish wish = {.until_ms = 0};
    struct grant *own = NULL;
    json_t *body = api_body_read(call->request->body, reply);

    if (!body || !api_target(call, &wish.act, reply) || !read_wish(call, body, &wish, reply))
        goto out;
    own = api_grant_in(call, wish.act.topic, reply);
    wish.act.by_all = own && authority_has_all(own->capset, call->now.wall_ms);
    if (own && api_may(call, own, "admin/grant", reply) && may_change(call, own, &wish, reply))
        change(call, &wish, reply);
out:
    grant_unref(own);
    grant_list_fini(&wish.add);
    grant_list_fini(&wish.remove);
    json_decref(body);
}
