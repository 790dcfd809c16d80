/*
 * send.c - drafts for the topic. A request's JSON-RPC id is its number; if the client asked for
 * progress, the request has a token that no other bridge in the topic uses. A proposal has neither:
 * its approver sends the request.
 */
#include "tools/mcpx-bridge/expose/rounds.h"

#include "lib/base/match.h"
#include "tools/common/proposal.h"

/* ---- --only ---- */

/* One pattern matches participants and names alike, because users read both in a client's list.
 * Rejected: two options. A participant's names are known only after it is asked; a participant that
 * cannot have a matching name is not asked. */

/* The longest id, in bytes, that shown names hold uncut. */
enum { ID_WHOLE_MAX = 32 };

bool expose_only_covers(const struct expose *x, struct mcpx_slice participant,
                        struct mcpx_slice shown)
{
    bool covered = x->config.only_count == 0;

    for (size_t i = 0; i < x->config.only_count; i++) {
        struct expose_only *only = &x->only[i];
        bool fits = mx_glob_matches(only->pattern, participant) ||
                    (shown.text && mx_glob_matches(only->pattern, shown));

        only->fitted |= fits;
        covered |= fits;
    }
    return covered;
}

static bool is_plain(struct mcpx_slice id)
{
    for (size_t i = 0; i < id.len; i++)
        if (!expose_shown_may_hold(id.text[i]))
            return false;
    return id.len <= ID_WHOLE_MAX;
}

/* True when names with the id and "__" in front may fit: the pattern agrees up to its star. */
static bool may_name(struct mcpx_slice pattern, struct mcpx_slice id)
{
    mx_scoped_text begins = mx_formatted("%s__", id);
    size_t same = strcspn(pattern.text, "*");

    if (same > begins.len)
        same = begins.len;
    return memcmp(pattern.text, begins.text, same) == 0 && pattern.len > same;
}

/* True when URIs may fit, any participant's: a URI begins with a scheme, without "_". */
static bool may_be_uri(struct mcpx_slice pattern)
{
    char first = pattern.text[strcspn(pattern.text, "*:_")];

    return first == '*' || first == ':';
}

bool expose_only_wants(const struct expose *x, struct mcpx_slice participant)
{
    if (expose_only_covers(x, participant, (struct mcpx_slice){0}))
        return true;
    for (size_t i = 0; i < x->config.only_count; i++) {
        struct mcpx_slice pattern = x->only[i].pattern;

        if (x->names.plain || !is_plain(participant) || may_be_uri(pattern) ||
            may_name(pattern, participant))
            return true;
    }
    return false;
}

/* ---- messages ---- */

bool expose_kind_make(struct expose_kind *out, const char *type, struct mcpx_slice method,
                      struct mcpx_slice context)
{
    mx_scoped_text text = mx_formatted("%s%s%s%s%s", type, method.len ? ":" : "", method,
                                       context.len ? ":" : "", context);
    bool fits = text.len <= MCPX_KIND_MAX;

    if (fits)
        memcpy(out->text, text.text, text.len);
    fits = fits && mcpx_kind_parse((struct mcpx_slice){out->text, text.len}, &out->kind,
                                   NULL) == MCPX_OK;
    return fits ||
           (context.len && expose_kind_make(out, type, method, (struct mcpx_slice){0}));
}

static bool may_send(struct expose *x, const char *type, struct mcpx_slice method,
                     const struct expose_item *item)
{
    struct expose_kind kind;
    struct mcpx_question question = {.kind = &kind.kind,
                                     .to = &item->participant,
                                     .to_count = 1,
                                     .wall_ms = x->now.wall_ms};

    return expose_kind_make(&kind, type, method, item->own) &&
           x->view.may(x->view.user, &question);
}

static bool may_withdraw(struct expose *x, struct mcpx_slice participant)
{
    struct expose_item nothing = {.participant = participant};

    return may_send(x, "mcp/withdraw", (struct mcpx_slice){0}, &nothing);
}

enum expose_stage expose_find_stage(struct expose *x, struct mcpx_slice method,
                                    const struct expose_item *item)
{
    if (may_send(x, "mcp/request", method, item))
        return EXPOSE_REQUESTED;
    if (!may_send(x, "mcp/proposal", method, item))
        return EXPOSE_REFUSED;
    if (!x->is_warned && !may_withdraw(x, item->participant))
        expose_note(x, "the bridge proposes calls, but has no grant for mcp/withdraw: a "
                       "call that the client gives up can be approved until its "
                       "proposal expires");
    x->is_warned = true;
    return EXPOSE_PROPOSED;
}

bool expose_wants_task(const struct bridge_call *call)
{
    struct mcpx_slice extensions = mcpx_json_get(call->can, "extensions");
    struct mcpx_slice wish = call->modern ? mcpx_json_get(extensions, EXPOSE_META "tasks")
                                          : mcpx_json_get(call->params, "task");

    return wish.text && bridge_is(call->method, "tools/call");
}

/* A listed tool; absent: none. `left`: so many bytes may be read for it; counted down. */
static struct mcpx_slice find_tool(const struct expose *x, struct mcpx_slice participant,
                                   struct mcpx_slice tool, size_t *left)
{
    const struct expose_participant *owner = expose_catalog_find(&x->catalog, participant);
    struct mcpx_slice tools = {0};

    if (owner && owner->lists[EXPOSE_TOOLS].text.len <= *left)
        tools = mcpx_text_view(&owner->lists[EXPOSE_TOOLS].text);
    *left -= tools.len;
    MCPX_JSON_EACH(walk, tools)
        if (mcpx_json_equals(mcpx_json_get(walk.value, "name"), tool))
            return walk.value;
    return (struct mcpx_slice){0};
}

bool expose_has_changed(const struct expose *x, const struct bridge_call *said,
                        struct mcpx_slice to, size_t *left)
{
    struct mcpx_slice tool = {0};
    mx_scoped_text pin = {0};

    if (said->token.text)
        tool = find_tool(x, to, said->context, left);
    if (tool.text)
        proposal_add_pin(&pin, tool);
    return pin.len && !mcpx_slice_equal(mcpx_text_view(&pin), said->token);
}

/* The params as they are sent: with our progress token, or with the pin of a proposed tool. The
 * client's wish for a task is left out where the bridge makes the task: of a proposal, and with
 * --discover of a call of a tool without tasks. */
static struct mcpx_slice params_of(const struct expose *x, const struct bridge_call *call,
                                   struct mcpx_text *scratch)
{
    bool proposes = call->stage == EXPOSE_PROPOSED;
    bool no_task = x->config.room && expose_wants_task(call) &&
                   (proposes || (x->config.discover && !call->modern));
    size_t count = 0, left = SIZE_MAX;
    struct mcpx_slice tool = {0}, support;
    struct mcpx_slice meta = mcpx_json_get(call->params, "_meta");
    struct mcpx_json_change changes[3], whole[] = {{.name = "_meta"}, {.name = "task"}};
    const struct mcpx_json_change tasks = {.name = EXPOSE_META "tasks"};
    mx_scoped_text token = {0}, pin = {0}, can = {0}, changed = {0}, others = {0};

    if (no_task || (proposes && bridge_is(call->method, "tools/call")))
        tool = find_tool(x, call->who.id, call->context, &left);
    support = mcpx_json_get(mcpx_json_get(tool, "execution"), "taskSupport");
    no_task &= proposes || !bridge_is_any(support, "\"optional\"", "\"required\"");
    if (!proposes)
        mx_format(&token, "\"%s-%s\"", x->config.nonce, call->number);
    else if (tool.text)
        proposal_add_pin(&pin, tool);
    if (call->token.len)
        changes[count++] = (struct mcpx_json_change){"progressToken", mcpx_text_view(&token)};
    if (pin.len)
        changes[count++] = (struct mcpx_json_change){PROPOSAL_PIN, mcpx_text_view(&pin)};
    if (no_task && call->can.text) {
        mcpx_json_add_changed(&others, mcpx_json_get(call->can, "extensions"), &tasks, 1);
        bridge_add_with(&can, call->can, "extensions", &others);
        changes[count++] =
            (struct mcpx_json_change){EXPOSE_META "clientCapabilities", mcpx_text_view(&can)};
    }
    if (!count && !no_task)
        return call->params;
    mcpx_json_add_changed(&changed, meta, changes, count);
    if (mcpx_json_length(mcpx_text_view(&changed)))
        whole[0].value = mcpx_text_view(&changed);
    mcpx_json_add_changed(scratch, call->params, whole, no_task ? 2 : 1);
    return mcpx_text_view(scratch);
}

static struct mcpx_text payload_of(const struct expose *x, const struct bridge_call *call)
{
    mx_scoped_text scratch = {0};
    struct mcpx_slice params = params_of(x, call, &scratch);
    struct mcpx_text out = {0};

    mcpx_text_puts(&out, "{");
    if (call->stage != EXPOSE_PROPOSED)
        mx_format(&out, "\"jsonrpc\":\"2.0\",\"id\":%s,", call->number);
    mx_format(&out, "\"method\":%q%s%s}", call->method, params.len ? ",\"params\":" : "",
              params);
    return out;
}

/* Sends a draft to a participant. Takes `payload`. */
static void send_to(struct expose *x, struct mcpx_slice participant, struct mcpx_draft draft,
                    struct mcpx_text payload)
{
    struct bridge_row row = {.action = {.type = BRIDGE_SEND, .draft = draft}};

    row.action.draft.to = &participant;
    row.action.draft.to_count = 1;
    bridge_output_put(&x->output, row, payload);
}

void expose_send_call(struct expose *x, const struct bridge_call *call)
{
    bool proposes = call->stage == EXPOSE_PROPOSED;
    struct mcpx_draft draft = {.type = proposes ? "mcp/proposal" : "mcp/request",
                               .timeout_ms = -1,
                               .tag = (void *)(uintptr_t)call->number};

    if (proposes && call->due_ms != INT64_MAX)
        draft.expires_ms = x->now.wall_ms + call->due_ms - x->now.mono_ms;
    send_to(x, call->who.id, draft, payload_of(x, call));
}

struct bridge_call *expose_send_own(struct expose *x, enum expose_purpose purpose,
                                    struct mcpx_slice participant, const char *method,
                                    struct mcpx_text params)
{
    enum { DUE_MS = 60000 };
    struct bridge_call *call = NULL, from = {.purpose = purpose,
                                             .who.id = participant,
                                             .method = mcpx_slice_of(method),
                                             .params = mcpx_text_view(&params)};
    const char *member = mcpx_rpc_context_member(from.method);
    struct expose_item item = {.participant = participant};
    mx_scoped_text context = {0};

    if (member)
        mcpx_json_add_unescaped(&context, mcpx_json_get(from.params, member));
    from.context = item.own = mcpx_text_view(&context);
    if (may_send(x, "mcp/request", from.method, &item)) {
        call = bridge_calls_add(&x->calls, &from);
        bridge_calls_defer(&x->calls, call, x->now.mono_ms + DUE_MS);
        expose_send_call(x, call);
    }
    mcpx_text_fini(&params);
    return call;
}

void expose_want(struct expose *x, enum bridge_action_type type, struct mcpx_slice envelope)
{
    struct bridge_action action = {.type = type, .about = envelope};

    if (envelope.len)
        bridge_output_add(&x->output, &(struct bridge_row){.action = action});
}

void expose_send_notice(struct expose *x, struct mcpx_slice participant, const char *method,
                        struct mcpx_text params, struct mcpx_slice about)
{
    struct expose_item nothing = {.participant = participant};
    struct mcpx_text payload = {0};

    if (may_send(x, "mcp/request", mcpx_slice_of(method), &nothing)) {
        bridge_add_notice(&payload, method, &params);
        send_to(x, participant,
                (struct mcpx_draft){.type = "mcp/request", .correlation_id = about}, payload);
    }
    mcpx_text_fini(&params);
}

void expose_send_withdrawal(struct expose *x, struct mcpx_slice participant,
                            struct mcpx_slice envelope, const char *reason)
{
    if (!envelope.len)
        return;
    if (!may_withdraw(x, participant)) {
        expose_note(
            x, "the client gave up a proposal that the bridge cannot withdraw: there is no "
               "grant for mcp/withdraw");
        return;
    }
    send_to(x, participant,
            (struct mcpx_draft){.type = "mcp/withdraw", .correlation_id = envelope},
            mx_formatted("{\"reason\":%q}", reason));
}

void expose_take_back(struct expose *x, struct bridge_call *call, struct mcpx_slice reason)
{
    if (call->payload.len || call->stage == EXPOSE_LOOKS) /* it is over, or sent nothing */
        return;
    if (!call->fulfils.len) /* an approval keeps its time limit */
        expose_want(x, BRIDGE_FORGET, mcpx_text_view(&call->sent_in));
    if (call->stage == EXPOSE_REQUESTED)
        expose_send_notice(x, call->who.id, "notifications/cancelled",
                           mx_formatted("{\"requestId\":%s%s%s}", call->number,
                                        reason.text ? ",\"reason\":" : "", reason),
                           mcpx_text_view(&call->sent_in));
    else if (call->stage == EXPOSE_PROPOSED)
        expose_send_withdrawal(x, call->who.id, mcpx_text_view(&call->sent_in),
                               call->due_ms <= x->now.mono_ms ? EXPOSE_TOO_LATE
                                                              : EXPOSE_NOBODY_WAITS);
}
