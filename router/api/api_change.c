/*
 * api_change.c - POST /admin/participants/{id}/capabilities: reads an order, has it decided
 * (router/policy/identity/orders.h), answers, and tells log and audit. A preview ends before it is
 * in force.
 */
#include "lib/base/ident.h"
#include "lib/json/json_write.h"
#include "lib/protocol/capset.h"
#include "router/api/api.h"
#include "router/policy/config/kind_typo.h"
#include "router/policy/grants/grant_list.h"
#include <mcpx/json.h>

/* Patterns of one request: `lifted` of an outcome has a bit for each. */
enum { PATTERNS_MAX = 64 };

/* Seconds that `until` may say: a hundred years. */
static const json_int_t until_most_s = INT64_C(3155760000);

/* What is asked. Slices borrow from request and body. */
struct wish {
    struct change_act act;
    struct grant_list add, remove;
    int64_t until_ms; /* wall clock; 0 = not given */
    bool preview;
};

/* ---- read ---- */

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
    struct http_param param = {.name = "dry_run"};
    struct mcpx_text scratch = {0};
    size_t value = 0;
    bool reads = api_params_read(call, &param, 1, &scratch, reply) &&
                 api_number_read(&param, 0, 1, &value, reply);

    mcpx_text_fini(&scratch);
    *preview = value == 1;
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

/* ---- written ---- */

void api_write_time(struct mcpx_text *out, const char *name, int64_t wall_ms)
{
    char text[MX_TIME_LEN + 1];

    if (!wall_ms)
        return;
    mx_time_format(wall_ms, text);
    mcpx_json_add_member(out, name, mcpx_slice_of(text));
}

void api_write_changes(const struct changed *changed, int64_t wall_ms, struct mcpx_text *out)
{
    static const char *const sorts[] = {"add", "remove", "bar"};

    mx_json_begin_array(out, "changes");
    for (size_t i = 0; changed && i < changed->count; i++) {
        const struct change *change = &changed->list[i];

        if (!change_holds(change, wall_ms))
            continue;
        mx_json_begin_object(out, NULL);
        mcpx_json_add_member(out, "change", mcpx_slice_of(sorts[change->sort]));
        if (change->grant.pattern.len > 0)
            mx_json_add_optional(out, "kind", change->grant.pattern);
        if (change->grant.to_count > 0)
            mx_json_add_strings(out, "to", change->grant.to, change->grant.to_count);
        api_write_time(out, "until", change->grant.expires_ms);
        mcpx_json_add_member(out, "by", change->by);
        api_write_time(out, "at", change->made_ms);
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
    struct mcpx_text warning = {0};

    if (kind_typo_warn(what, pattern, &warning))
        mx_json_add_item(out, mcpx_text_view(&warning));
    mcpx_text_fini(&warning);
}

static enum mcpx_err write_outcome(const struct wish *wish, const struct outcome *outcome,
                                   struct mcpx_text *out)
{
    const struct change_act *act = &wish->act;
    const struct mcpx_capset *set = outcome->after->capset;
    enum mcpx_err err;

    mx_format(out, "{\"participantId\":%q,\"topic\":%q", act->identity, act->topic);
    err = add_capabilities(out, "oldCapabilities", outcome->before, act->wall_ms);
    if (!err)
        err = add_capabilities(out, "newCapabilities", outcome->after, act->wall_ms);
    mcpx_json_add_member(out, "modifiedBy", act->by);
    api_write_time(out, "modifiedAt", act->wall_ms);
    mx_json_begin_array(out, "denied");
    for (size_t i = 0; i < set->deny_count; i++)
        mx_json_add_item(out, mx_capset_denial(set, i));
    mx_json_end_array(out);
    mx_json_begin_array(out, "warnings");
    for (size_t i = 0; i < wish->add.count; i++)
        add_warning("grant", wish->add.grants[i].pattern, out);
    for (size_t i = 0; i < wish->remove.deny_count; i++)
        add_warning("denial", wish->remove.deny[i], out);
    mx_json_end_array(out);
    api_write_changes(outcome->draft, act->wall_ms, out);
    mx_json_add_bool(out, "known", outcome->known);
    mx_json_add_bool(out, "dryRun", wish->preview);
    return err;
}

/* ---- told ---- */

void api_tell(const struct api_call *call, const struct change_act *act,
              struct audit_note *note)
{
    char address[ADDRESS_TEXT_SIZE];

    note->topic = act->topic;
    note->by = act->by;
    note->address = mcpx_slice_of(address_text(call->request->from, address));
    if (call->api->tell)
        call->api->tell(call->api->context, note, call->now);
}

static void tell(const struct api_call *call, const struct change_act *act,
                 enum audit_what what, const struct mcpx_grant *grant,
                 const struct change *made)
{
    api_tell(call, act,
             &(struct audit_note){.what = what,
                                  .from = act->identity,
                                  .grant = grant->pattern,
                                  .to = grant->to,
                                  .to_count = grant->to_count,
                                  .until = made ? made->grant.expires_ms : 0});
}

/* Tells and counts each pattern that was given or taken away. */
static void tell_all(const struct api_call *call, const struct wish *wish,
                     const struct changed *changed)
{
    const struct change_act *act = &wish->act;

    for (size_t i = 0; i < wish->remove.deny_count; i++) {
        const struct mcpx_grant denial = {.pattern = wish->remove.deny[i]};

        tell(call, act, AUDIT_REVOKE, &denial,
             changed_held(changed, CHANGE_DENIAL, &denial, act->wall_ms));
    }
    for (size_t i = 0; i < wish->add.count; i++) {
        const struct mcpx_grant *grant = &wish->add.grants[i];
        const struct change *made = changed_held(changed, CHANGE_GRANT, grant, act->wall_ms);

        if (!made || changed->lifted >> i & 1)
            tell(call, act, AUDIT_LIFT, grant, NULL);
        if (made)
            tell(call, act, AUDIT_GRANT, grant, made);
    }
    call->api->changes->revoked += wish->remove.deny_count;
    call->api->changes->granted += wish->add.count;
}

/* ---- carried out ---- */

/* The audit has its lines before those of what is allowed by them. */
static enum mcpx_err commit(const struct api_call *call, const struct wish *wish,
                            struct changed *draft, struct mcpx_text *out)
{
    const struct realm realm = api_realm(call->api);
    const struct change_act *act = &wish->act;
    enum mcpx_err err = changes_commit(realm.changes, draft);

    if (err)
        return err;
    tell_all(call, wish, changes_find(realm.changes, act->identity, act->topic));
    mx_json_add_number(out, "connections",
                       (int64_t)orders_regrant(&realm, act->identity, act->topic, call->now));
    return MCPX_OK;
}

static void change(const struct api_call *call, const struct wish *wish,
                   const struct grant *own, struct http_reply *reply)
{
    const struct realm realm = api_realm(call->api);
    const struct change_order order = {.act = wish->act,
                                       .add = wish->add.grants,
                                       .add_count = wish->add.count,
                                       .remove = wish->remove.deny,
                                       .remove_count = wish->remove.deny_count,
                                       .until_ms = wish->until_ms,
                                       .longest_ms = call->api->config->grant_max_ms,
                                       .giver = own->capset};
    struct outcome outcome = {.before = NULL};
    struct mcpx_text why = {0};
    enum mcpx_err err = orders_decide(&realm, &order, &outcome, &why);

    if (!err)
        err = write_outcome(wish, &outcome, &reply->body);
    if (!err && !wish->preview)
        err = commit(call, wish, outcome.draft, &reply->body);
    mx_json_end_object(&reply->body);
    if (err)
        http_reply_fail(reply, err, why.len && !why.failed ? why.text : NULL);
    mcpx_text_fini(&why);
    outcome_fini(&outcome);
}

void api_change(const struct api_call *call, struct http_reply *reply)
{
    struct wish wish = {.until_ms = 0};
    struct grant *own = NULL;
    json_t *body = api_body_read(call->request->body, reply);

    if (!body || !api_target(call, &wish.act, reply) || !read_wish(call, body, &wish, reply))
        goto out;
    own = api_grant_in(call, wish.act.topic, reply);
    if (own && api_may(call, own, "admin/grant", reply))
        change(call, &wish, own, reply);
out:
    grant_unref(own);
    grant_list_fini(&wish.add);
    grant_list_fini(&wish.remove);
    json_decref(body);
}
