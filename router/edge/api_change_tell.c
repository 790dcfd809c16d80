/*
 * api_change_tell.c - what became of a change at run time, for who asked, and for log and audit.
 */
#include "router/edge/api_change.h"

#include "lib/core/capset.h"
#include "lib/core/format.h"
#include "lib/core/ident.h"
#include "lib/core/json_write.h"
#include "router/policy/kind_typo.h"
#include <mcpx/json.h>

static void add_time(struct mcpx_text *out, const char *name, int64_t wall_ms)
{
    char text[MX_TIME_LEN + 1];

    if (!wall_ms)
        return;
    mx_time_format(wall_ms, text);
    mcpx_json_add_member(out, name, mcpx_slice_of(text));
}

void api_change_write_list(const struct changed *changed, int64_t wall_ms,
                           struct mcpx_text *out)
{
    static const char *const sorts[] = {"add", "remove", "bar"};

    mx_json_begin_array(out, "changes");
    for (size_t i = 0; changed && i < changed->count; i++) {
        const struct change *change = changed->list[i];

        if (!change_holds(change, wall_ms))
            continue;
        mx_json_begin_object(out, NULL);
        mcpx_json_add_member(out, "change", mcpx_slice_of(sorts[change->sort]));
        if (change->grant.pattern.len > 0)
            mx_json_add_optional(out, "kind", change->grant.pattern);
        if (change->grant.to_count > 0)
            mx_json_add_strings(out, "to", change->grant.to, change->grant.to_count);
        add_time(out, "until", change->grant.expires_ms);
        mcpx_json_add_member(out, "by", change->by);
        add_time(out, "at", change->made_ms);
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

enum mcpx_err api_change_write(const struct api_call *call, const struct outcome *outcome,
                               struct http_reply *reply)
{
    const struct change_act *act = &outcome->wish->act;
    const struct mcpx_capset *set = outcome->after->capset;
    struct mcpx_text *out = &reply->body;
    enum mcpx_err err;

    mx_format(out, "{\"participantId\":%q,\"topic\":%q", act->identity, act->topic);
    err = add_capabilities(out, "oldCapabilities", outcome->before, act->wall_ms);
    if (!err)
        err = add_capabilities(out, "newCapabilities", outcome->after, act->wall_ms);
    mcpx_json_add_member(out, "modifiedBy", act->by);
    add_time(out, "modifiedAt", call->now.wall_ms);
    mx_json_begin_array(out, "denied");
    for (size_t i = 0; i < set->deny_count; i++)
        mx_json_add_item(out, mx_capset_denial(set, i));
    mx_json_end_array(out);
    mx_json_begin_array(out, "warnings");
    for (size_t i = 0; i < outcome->wish->add.count; i++)
        add_warning("grant", outcome->wish->add.grants[i].pattern, out);
    for (size_t i = 0; i < outcome->wish->remove.deny_count; i++)
        add_warning("denial", outcome->wish->remove.deny[i], out);
    mx_json_end_array(out);
    api_change_write_list(outcome->list, act->wall_ms, out);
    mx_json_add_bool(out, "known", outcome->known);
    mx_json_add_bool(out, "dryRun", outcome->wish->preview);
    return err;
}

/* What became of something that was asked for, as it was settled; NULL when nothing had to be. */
static const struct change *made_of(const struct outcome *outcome, enum change_sort sort,
                                    const struct mcpx_grant *grant)
{
    const struct change_act *act = &outcome->wish->act;
    size_t index = changed_find(outcome->list, sort, grant, act->by);

    return index < outcome->list->count &&
                   change_holds(outcome->list->list[index], act->wall_ms)
               ? outcome->list->list[index]
               : NULL;
}

static void tell(const struct api_call *call, const struct outcome *outcome,
                 enum audit_what what, const struct mcpx_grant *grant)
{
    const struct change *made =
        what == AUDIT_LIFT
            ? NULL
            : made_of(outcome, what == AUDIT_GRANT ? CHANGE_GRANT : CHANGE_DENIAL, grant);
    char address[ADDRESS_TEXT_SIZE];
    struct audit_note note = {.what = what,
                              .topic = outcome->wish->act.topic,
                              .from = outcome->wish->act.identity,
                              .by = outcome->wish->act.by,
                              .grant = grant->pattern,
                              .to = grant->to,
                              .to_count = grant->to_count,
                              .address =
                                  mcpx_slice_of(address_text(call->request->from, address)),
                              .until = made ? made->grant.expires_ms : 0};

    if (call->api->tell)
        call->api->tell(call->api->context, &note, call->now);
}

void api_change_tell(const struct api_call *call, const struct outcome *outcome)
{
    struct changes_figures *figures = changes_figures(call->api->changes);
    const struct wish *wish = outcome->wish;

    for (size_t i = 0; i < wish->remove.deny_count; i++)
        tell(call, outcome, AUDIT_REVOKE,
             &(struct mcpx_grant){.pattern = wish->remove.deny[i]});
    for (size_t i = 0; i < wish->add.count; i++) {
        const struct mcpx_grant *grant = &wish->add.grants[i];
        bool given = made_of(outcome, CHANGE_GRANT, grant);

        if (!given || outcome->lifted >> i & 1)
            tell(call, outcome, AUDIT_LIFT, grant);
        if (given)
            tell(call, outcome, AUDIT_GRANT, grant);
    }
    figures->revoked += wish->remove.deny_count;
    figures->granted += wish->add.count;
}
