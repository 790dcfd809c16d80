/*
 * api_change.c - POST and DELETE below /admin/participants/{id}: reads a plan, has it decided
 * (router/policy/identity/change_plans.h), answers, and tells log and audit. A preview ends before
 * it is in force.
 */
#include "lib/base/ident.h"
#include "lib/json/json_write.h"
#include "lib/protocol/capset.h"
#include "router/api/api.h"
#include "router/policy/grants/grant_list.h"
#include <mcpx/json.h>

/* Seconds that `until` may say: a hundred years. */
static const json_int_t until_most_s = INT64_C(3155760000);

/* The request. Slices borrow from the target and the body. */
struct change_request {
    struct change_act act;
    struct grant_list add, remove;
    int64_t until_ms; /* wall clock; 0 = not given */
    bool preview;
};

/* ---- read ---- */

static bool read_list(const json_t *body, const char *member, struct grant_list *list,
                      enum mcpx_err (*add)(struct grant_list *list, const json_t *value,
                                           struct mcpx_fault *fault),
                      struct http_reply *reply)
{
    const json_t *array = json_object_get(body, member);

    for (size_t i = 0; i < json_array_size(array); i++) {
        struct mcpx_fault fault = {0};
        enum mcpx_err err = add(list, json_array_get(array, i), &fault);

        if (err) {
            mx_scoped_text name = mx_formatted("%s[%s]", member, i);

            api_body_fault(err, name.failed ? member : name.text, &fault, reply);
            return false;
        }
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
    return http_reply_fail(
        reply, MCPX_EREQUEST,
        "until must be a date like 2026-12-31T23:59:59Z, or seconds from now");
}

static bool read_request(const struct api_call *call, struct change_request *request,
                         struct http_reply *reply)
{
    const json_t *body = call->body;

    request->preview = api_number(call, "dry_run", 0);
    request->act.topic = api_string(call, "topic");
    if (!read_list(body, "add", &request->add, grant_list_add, reply) ||
        !read_list(body, "remove", &request->remove, grant_list_deny, reply) ||
        !read_until(json_object_get(body, "until"), call->now.wall_ms, &request->until_ms,
                    reply))
        return false;
    return request->add.count + request->remove.deny_count > 0 ||
           http_reply_fail(reply, MCPX_EREQUEST, "add or remove must name a pattern");
}

/* ---- written ---- */

void api_write_changes(const struct change_list *list, int64_t wall_ms, struct mcpx_text *out)
{
    static const char *const sorts[] = {"add", "remove", "bar"};

    mx_json_begin_array(out, "changes");
    for (size_t i = 0; list && i < list->count; i++) {
        const struct change *change = &list->rows[i];

        if (!change_holds(change, wall_ms))
            continue;
        mx_json_begin_object(out, NULL);
        mcpx_json_add_member(out, "change", mcpx_slice_of(sorts[change->sort]));
        if (change->grant.pattern.len > 0)
            mx_json_add_optional(out, "kind", change->grant.pattern);
        if (change->grant.to_count > 0)
            mx_json_add_strings(out, "to", change->grant.to, change->grant.to_count);
        mx_json_add_time(out, "until", change->grant.expires_ms);
        mcpx_json_add_member(out, "by", change->by);
        mx_json_add_time(out, "at", change->made_ms);
        mx_json_end_object(out);
    }
    mx_json_end_array(out);
}

static enum mcpx_err add_capabilities(struct mcpx_text *out, const char *name,
                                      struct grant *grant, int64_t wall_ms)
{
    struct grant *shown = grant_at(grant, wall_ms);

    if (!shown)
        return MCPX_ENOMEM;
    mx_json_add_raw(out, name, mcpx_text_view(&shown->capabilities));
    grant_unref(shown);
    return MCPX_OK;
}

static void add_warning(const char *what, struct mcpx_slice pattern, struct mcpx_text *out)
{
    mx_scoped_text warning = {0};

    if (kind_typo_warn(what, pattern, &warning))
        mx_json_add_item(out, mcpx_text_view(&warning));
}

static enum mcpx_err write_outcome(const struct change_request *request,
                                   const struct change_result *result, struct mcpx_text *out)
{
    const struct change_act *act = &request->act;
    const struct mcpx_capset *set = result->after->capset;
    enum mcpx_err err;

    mx_format(out, "{\"participantId\":%q,\"topic\":%q", act->identity, act->topic);
    err = add_capabilities(out, "oldCapabilities", result->before, act->wall_ms);
    if (!err)
        err = add_capabilities(out, "newCapabilities", result->after, act->wall_ms);
    mcpx_json_add_member(out, "modifiedBy", act->by);
    mx_json_add_time(out, "modifiedAt", act->wall_ms);
    mx_json_begin_array(out, "denied");
    for (size_t i = 0; i < set->deny_count; i++)
        mx_json_add_item(out, mx_capset_denial(set, i));
    mx_json_end_array(out);
    mx_json_begin_array(out, "warnings");
    for (size_t i = 0; i < request->add.count; i++)
        add_warning("grant", request->add.grants[i].pattern, out);
    for (size_t i = 0; i < request->remove.deny_count; i++)
        add_warning("denial", request->remove.deny[i], out);
    mx_json_end_array(out);
    api_write_changes(result->draft, act->wall_ms, out);
    mx_json_add_bool(out, "known", result->known);
    mx_json_add_bool(out, "dryRun", request->preview);
    return err;
}

/* ---- told ---- */

/* Tells log and audit; who does it and from where is filled in. */
static void tell(const struct api_call *call, struct audit_note *note)
{
    char address[ADDRESS_TEXT_SIZE];

    note->by = call->grant->identity;
    note->address = mcpx_slice_of(address_text(call->request->from, address));
    if (call->api->tell)
        call->api->tell(call->api->context, note);
}

static void tell_pattern(const struct api_call *call, const struct change_act *act,
                         enum audit_what what, const struct mcpx_grant *grant,
                         const struct change *made)
{
    tell(call, &(struct audit_note){.what = what,
                                    .topic = act->topic,
                                    .from = act->identity,
                                    .grant = grant->pattern,
                                    .to = grant->to,
                                    .to_count = grant->to_count,
                                    .until = made ? made->grant.expires_ms : 0});
}

static void tell_all(const struct api_call *call, const struct change_request *request,
                     const struct change_list *list)
{
    const struct change_act *act = &request->act;

    for (size_t i = 0; i < request->remove.deny_count; i++) {
        const struct mcpx_grant denial = {.pattern = request->remove.deny[i]};

        tell_pattern(call, act, AUDIT_REVOKE, &denial,
                     change_list_active(list, CHANGE_DENIAL, &denial, act->wall_ms));
    }
    for (size_t i = 0; i < request->add.count; i++) {
        const struct mcpx_grant *grant = &request->add.grants[i];
        const struct change *made =
            change_list_active(list, CHANGE_GRANT, grant, act->wall_ms);

        if (!made || list->lifted >> i & 1)
            tell_pattern(call, act, AUDIT_LIFT, grant, NULL);
        if (made)
            tell_pattern(call, act, AUDIT_GRANT, grant, made);
    }
    call->api->changes->revoked += request->remove.deny_count;
    call->api->changes->granted += request->add.count;
}

/* ---- carried out ---- */

/* The lines of the change come in the audit before those of messages that it allows. */
static enum mcpx_err commit(const struct api_call *call, const struct change_request *request,
                            struct change_list *draft, struct mcpx_text *out)
{
    const struct realm realm = api_realm(call->api);
    const struct change_act *act = &request->act;
    enum mcpx_err err = changes_commit(realm.changes, draft);

    if (err)
        return err;
    tell_all(call, request, changes_find(realm.changes, act->identity, act->topic));
    mx_json_add_number(
        out, "connections",
        (int64_t)change_plans_update_grants(&realm, act->identity, act->topic, call->now));
    return MCPX_OK;
}

static void change(const struct api_call *call, const struct change_request *request,
                   const struct grant *own, struct http_reply *reply)
{
    const struct realm realm = api_realm(call->api);
    const struct change_plan plan = {.act = request->act,
                                     .add = request->add.grants,
                                     .add_count = request->add.count,
                                     .remove = request->remove.deny,
                                     .remove_count = request->remove.deny_count,
                                     .until_ms = request->until_ms,
                                     .longest_ms = call->api->config->grant_max_ms,
                                     .giver = own->capset};
    struct change_result result = {.before = NULL};
    mx_scoped_text why = {0};
    enum mcpx_err err = change_plans_decide(&realm, &plan, &result, &why);

    if (!err)
        err = write_outcome(request, &result, &reply->body);
    if (!err && !request->preview)
        err = commit(call, request, result.draft, &reply->body);
    mx_json_end_object(&reply->body);
    if (err)
        http_reply_fail(reply, err, why.len && !why.failed ? why.text : NULL);
    change_result_fini(&result);
}

static void answer_change(const struct api_call *call, struct http_reply *reply)
{
    struct change_request request = {.until_ms = 0};
    struct grant *own = NULL;

    if (api_target(call, &request.act, reply) && read_request(call, &request, reply))
        own = api_grant_in(call, request.act.topic, reply);
    if (own && api_may(call, own, "admin/grant", reply))
        change(call, &request, own, reply);
    grant_unref(own);
    grant_list_fini(&request.add);
    grant_list_fini(&request.remove);
}

/*
 * Removals: connections end, those that wait to come in are turned away, tickets are void. A token
 * stays as good as it was, so its bearer may come back, unless it is kept out for a while: taking a
 * token away is the configuration's business.
 */

/* A request to remove a participant, and its effects. */
struct kick {
    const struct api_call *call;
    struct change_act act; /* without a topic: in all topics that the caller reaches */
    /* As it was before anything was done, and the same in all topics. */
    struct change_target target;
    bool preview, has_for;
    size_t for_s;     /* how long it is kept out, if `has_for`; 0 = it is let in again */
    int64_t until_ms; /* until when it is kept out */
    size_t connections, tickets, waiting;
};

static bool read_kick(struct kick *kick, struct http_reply *reply)
{
    kick->act.topic = api_param(kick->call, "topic")->value;
    kick->has_for = api_param(kick->call, "for")->value.text;
    kick->for_s = api_number(kick->call, "for", 0);
    kick->preview = api_number(kick->call, "dry_run", 0);
    return !kick->has_for || kick->act.topic.text ||
           http_reply_fail(reply, MCPX_EREQUEST, "for needs topic: name where to keep it out");
}

static bool lets_in(const struct kick *kick)
{
    return kick->has_for && kick->for_s == 0;
}

/* An administrator of all topics still kicks only in topics of its token. */
static bool reaches(void *reach, struct mcpx_slice topic)
{
    const struct kick *kick = reach;
    const struct api_call *call = kick->call;
    MX_SCOPED(http_reply_fini) struct http_reply ignored = {.err = MCPX_OK};
    struct grant *own;
    bool reached;

    if (kick->act.topic.text)
        return mcpx_slice_equal(kick->act.topic, topic);
    own = api_grant_in(call, topic, &ignored);
    reached = own && authority_has(own->capset, "admin/kick", call->now.wall_ms) &&
              !change_plans_refuse(own->capset, kick->target, call->now.wall_ms);
    grant_unref(own);
    return reached;
}

static void tell_kick(const struct kick *kick, struct mcpx_slice id, struct mcpx_slice topic)
{
    tell(kick->call,
         &(struct audit_note){
             .what = lets_in(kick) ? AUDIT_LIFT : AUDIT_KICK,
             .topic = topic,
             .from = id,
             .until = kick->for_s ? kick->act.wall_ms + (int64_t)kick->for_s * 1000 : 0});
}

/* It cannot come back before its connections have ended. False with a problem. */
static bool keep_out(struct kick *kick, struct http_reply *reply)
{
    struct changes *changes = kick->call->api->changes;
    int64_t wall_ms = kick->act.wall_ms;
    const struct change_plan plan = {
        .act = kick->act, .bans = true, .until_ms = wall_ms + (int64_t)kick->for_s * 1000};
    struct change_list *draft = NULL;
    mx_scoped_text why = {0};
    enum mcpx_err err;

    if (!kick->has_for)
        return true;
    err = change_plans_draft(changes, &plan, &why, &draft);
    if (!err) {
        kick->until_ms = change_list_banned_until(draft, wall_ms);
        err = kick->preview ? MCPX_OK : changes_commit(changes, draft);
        change_list_free(draft);
    }
    if (err)
        http_reply_fail(reply, err, why.len && !why.failed ? why.text : NULL);
    return !err;
}

static void end_connections(struct kick *kick)
{
    const struct http_api *api = kick->call->api;
    struct peer *peer = NULL;

    while ((peer = change_plans_next_peer(api->hub, kick->act.identity, kick->act.topic,
                                          peer)) != NULL) {
        if (!reaches(kick, peer_topic_name(peer)))
            continue;
        kick->connections++;
        if (kick->preview)
            continue;
        tell_kick(kick, peer_id(peer), peer_topic_name(peer));
        hub_disconnect(api->hub, peer, MCPX_EKICKED, kick->call->now);
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
        tell_kick(kick, kick->act.identity, kick->act.topic);
    api->changes->kicked++;
}

static bool is_somebody(const struct kick *kick)
{
    return kick->has_for || kick->preview ||
           kick->connections + kick->tickets + kick->waiting > 0 ||
           tokens_find_id(kick->call->api->config->tokens, kick->act.identity);
}

static void write_answer(const struct kick *kick, struct mcpx_text *out)
{
    mx_format(out, "{\"participantId\":%q", kick->act.identity);
    mx_json_add_optional(out, "topic", kick->act.topic);
    mx_json_add_number(out, "connections", (int64_t)(kick->connections + kick->waiting));
    mx_json_add_number(out, "tickets", (int64_t)kick->tickets);
    mx_json_add_time(out, "barredUntil", kick->until_ms);
    mcpx_json_add_member(out, "modifiedBy", kick->act.by);
    mx_json_add_time(out, "modifiedAt", kick->act.wall_ms);
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
        kick->target = change_plans_target(&realm, &kick->act);
        refusal = change_plans_refuse(own->capset, kick->target, call->now.wall_ms);
    }
    if (refusal)
        http_reply_fail(reply, MCPX_ECAPABILITY, refusal);
    grant_unref(own);
    return may && !refusal;
}

static void answer_kick(const struct api_call *call, struct http_reply *reply)
{
    struct kick kick = {.call = call};

    if (!api_target(call, &kick.act, reply) || !read_kick(&kick, reply) ||
        !may_kick(&kick, reply) || !keep_out(&kick, reply))
        return;
    if (!lets_in(&kick)) {
        end_connections(&kick);
        end_others(&kick);
    } else if (!kick.preview) {
        tell_kick(&kick, kick.act.identity, kick.act.topic);
    }
    if (is_somebody(&kick))
        write_answer(&kick, &reply->body);
    else
        http_reply_fail(reply, MCPX_ENOTFOUND,
                        "no participant with that id is configured or connected");
}

#define PATTERNS(name)                                                                        \
    name, HTTP_LIST, false, 0, API_PATTERNS_MAX,                                              \
        .must = name " must be an array of at most 64 patterns"

static const struct http_param dry_run[] = {{API_NUMBER("dry_run", 0, 1)}, {API_END}};
static const struct http_param change_body[] = {{API_TOPIC},
                                                {PATTERNS("add")},
                                                {PATTERNS("remove")},
                                                {"until", HTTP_ANY, .must = NULL},
                                                {API_END}};
/* A ban lasts a year at most; the configuration can exclude for longer. */
static const struct http_param kick_query[] = {{API_TOPIC_IF_ANY},
                                               {API_NUMBER("for", 0, 31536000)},
                                               {API_NUMBER("dry_run", 0, 1)},
                                               {API_END}};

const struct api_route api_change_routes[] = {
    {HTTP_POST, "/admin/participants/{id}/capabilities", "changes grants and denials",
     .handle = answer_change, .access = ACCESS_TOKEN, .needs = "admin/grant", .query = dry_run,
     .body = change_body, .in_topic = true},
    {HTTP_DELETE, "/admin/participants/{id}", "removes a participant", .handle = answer_kick,
     .access = ACCESS_TOKEN, .needs = "admin/kick", .query = kick_query, .in_topic = true},
    {.path = NULL},
};
