/*
 * api_kick.c - DELETE /admin/participants/{id}: connections end, those that wait to come in are
 * turned away, tickets are void. A token stays as good as it was, so its bearer may come back,
 * unless it is kept out for a while: taking a token away is the configuration's business.
 */
#include "router/api/api.h"

#include "lib/json/json_write.h"
#include "router/policy/grants/grant.h"
#include <mcpx/json.h>

/* Nobody is kept out for longer without the configuration: a year. */
enum { BAR_MOST_S = 31536000 };

/*
 * What is asked, and what was done.
 *
 * act       without a topic: in all topics that the caller reaches
 * standing  as it was before anything was done, and the same in all topics
 * for_s     how long it is kept out, if `has_for`; 0 = it is let in again
 * until_ms  until when it is kept out
 */
struct kick {
    const struct api_call *call;
    struct change_act act;
    struct standing standing;
    bool preview, has_for;
    size_t for_s;
    int64_t until_ms;
    size_t connections, tickets, waiting;
};

static bool read_query(struct kick *kick, struct mcpx_text *scratch, struct http_reply *reply)
{
    struct http_param params[] = {{.name = "topic"}, {.name = "for"}, {.name = "dry_run"}};
    size_t preview = 0;

    if (!api_params_read(kick->call, params, 3, scratch, reply))
        return false;
    kick->act.topic = params[0].value;
    kick->has_for = params[1].value.text;
    if ((kick->act.topic.text && !api_is_topic(kick->act.topic, reply)) ||
        !api_number_read(&params[1], 0, BAR_MOST_S, &kick->for_s, reply) ||
        !api_number_read(&params[2], 0, 1, &preview, reply))
        return false;
    kick->preview = preview == 1;
    if (kick->has_for && !kick->act.topic.text)
        http_reply_fail(reply, MCPX_EREQUEST, "for needs topic: name where to keep it out");
    return !reply->err;
}

static bool lets_in(const struct kick *kick)
{
    return kick->has_for && kick->for_s == 0;
}

/* Whoever may kick everywhere still does so only where its token is good. */
static bool reaches(void *reach, struct mcpx_slice topic)
{
    const struct kick *kick = reach;
    const struct api_call *call = kick->call;
    struct http_reply ignored = {.err = MCPX_OK};
    struct grant *own;
    bool reached;

    if (kick->act.topic.text)
        return mcpx_slice_equal(kick->act.topic, topic);
    own = api_grant_in(call, topic, &ignored);
    reached = own && authority_has(own->capset, "admin/kick", call->now.wall_ms) &&
              !orders_refuse(own->capset, kick->standing, call->now.wall_ms);
    grant_unref(own);
    http_reply_fini(&ignored);
    return reached;
}

static void tell(const struct kick *kick, struct mcpx_slice id, struct mcpx_slice topic)
{
    const struct change_act act = {.topic = topic, .by = kick->act.by};

    api_tell(kick->call, &act,
             &(struct audit_note){
                 .what = lets_in(kick) ? AUDIT_LIFT : AUDIT_KICK,
                 .from = id,
                 .until = kick->for_s ? kick->act.wall_ms + (int64_t)kick->for_s * 1000 : 0});
}

/* It cannot come back before its connections have ended. False with a problem. */
static bool keep_out(struct kick *kick, struct http_reply *reply)
{
    struct changes *changes = kick->call->api->changes;
    int64_t wall_ms = kick->act.wall_ms;
    const struct change_order order = {
        .act = kick->act, .bars = true, .until_ms = wall_ms + (int64_t)kick->for_s * 1000};
    struct changed *draft = NULL;
    struct mcpx_text why = {0};
    enum mcpx_err err;

    if (!kick->has_for)
        return true;
    err = changes_draft(changes, &order, &why, &draft);
    if (!err) {
        kick->until_ms = changed_barred_until(draft, wall_ms);
        err = kick->preview ? MCPX_OK : changes_commit(changes, draft);
        changed_free(draft);
    }
    if (err)
        http_reply_fail(reply, err, why.len && !why.failed ? why.text : NULL);
    mcpx_text_fini(&why);
    return !err;
}

static void end_connections(struct kick *kick)
{
    const struct http_api *api = kick->call->api;
    struct peer *peer = NULL;

    while ((peer = orders_next_peer(api->hub, kick->act.identity, kick->act.topic, peer)) !=
           NULL) {
        if (!reaches(kick, peer_topic_name(peer)))
            continue;
        kick->connections++;
        if (kick->preview)
            continue;
        tell(kick, peer_id(peer), peer_topic_name(peer));
        hub_condemn(api->hub, peer, MCPX_EKICKED, kick->call->now);
    }
}

static void end_others(struct kick *kick)
{
    const struct http_api *api = kick->call->api;
    struct removal removal = {kick->act.identity, reaches, kick};

    if (kick->preview)
        return;
    kick->tickets = tickets_void(api->tickets, kick->act.identity, reaches, kick);
    if (api->turn_away)
        kick->waiting = api->turn_away(api->context, &removal);
    if (kick->connections == 0 && (kick->has_for || kick->tickets + kick->waiting > 0))
        tell(kick, kick->act.identity, kick->act.topic);
    api->changes->kicked++;
}

static bool is_somebody(const struct kick *kick)
{
    struct tokens_entry entry;

    return kick->has_for || kick->preview ||
           kick->connections + kick->tickets + kick->waiting > 0 ||
           tokens_entry(kick->call->api->config->tokens, kick->act.identity, &entry);
}

static void write_answer(const struct kick *kick, struct mcpx_text *out)
{
    mx_format(out, "{\"participantId\":%q", kick->act.identity);
    mx_json_add_optional(out, "topic", kick->act.topic);
    mx_json_add_number(out, "connections", (int64_t)(kick->connections + kick->waiting));
    mx_json_add_number(out, "tickets", (int64_t)kick->tickets);
    api_write_time(out, "barredUntil", kick->until_ms);
    mcpx_json_add_member(out, "modifiedBy", kick->act.by);
    api_write_time(out, "modifiedAt", kick->act.wall_ms);
    mx_json_add_bool(out, "dryRun", kick->preview);
    mx_json_end_object(out);
}

static bool may_kick(struct kick *kick, struct http_reply *reply)
{
    const struct api_call *call = kick->call;
    const struct realm realm = api_realm(call->api);
    struct grant *own = kick->act.topic.text ? api_grant_in(call, kick->act.topic, reply)
                                             : grant_ref(call->grant);
    const char *refusal = NULL;
    bool may = own && api_may(call, own, "admin/kick", reply);

    if (may) {
        kick->standing = orders_standing(&realm, &kick->act);
        refusal = orders_refuse(own->capset, kick->standing, call->now.wall_ms);
    }
    if (refusal)
        http_reply_fail(reply, MCPX_ECAPABILITY, refusal);
    grant_unref(own);
    return may && !refusal;
}

void api_kick(const struct api_call *call, struct http_reply *reply)
{
    struct kick kick = {.call = call};
    struct mcpx_text scratch = {0};

    if (!api_target(call, &kick.act, reply) || !read_query(&kick, &scratch, reply) ||
        !may_kick(&kick, reply) || !keep_out(&kick, reply))
        goto out;
    if (!lets_in(&kick)) {
        end_connections(&kick);
        end_others(&kick);
    } else if (!kick.preview) {
        tell(&kick, kick.act.identity, kick.act.topic);
    }
    if (is_somebody(&kick))
        write_answer(&kick, &reply->body);
    else
        http_reply_fail(reply, MCPX_ENOTFOUND,
                        "nobody is configured or connected under that id");
out:
    mcpx_text_fini(&scratch);
}
