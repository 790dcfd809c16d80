/*
 * send.c - drafts for the topic. A request's JSON-RPC id is its number; if the client asked for
 * progress, the request has a token that no other bridge in the topic uses. A proposal has neither:
 * its approver sends the request.
 */
#include "tools/mcpx-bridge/expose/state.h"

#include "lib/base/match.h"

/* ---- --only ---- */

/*
 * One pattern matches participants and names alike, because users read both in a client's list.
 * Rejected: two options. A participant's names are known only after it is asked; a participant that
 * cannot have a matching name is not asked.
 */

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

/* Appends the params with another progress token; empty: without a token. */
static void add_params(struct mcpx_text *out, struct mcpx_slice params,
                       const struct mcpx_text *token)
{
    struct mcpx_text meta = {0}, none = {0};

    bridge_add_with(&meta, mcpx_json_get(params, "_meta"), "progressToken", token);
    bridge_add_with(out, params, "_meta",
                    mcpx_json_length(mcpx_text_view(&meta)) ? &meta : &none);
    mcpx_text_fini(&meta);
}

static void write_payload(const struct expose *x, const struct bridge_call *call,
                          struct mcpx_text *out)
{
    mx_scoped_text token = {0}, params = {0};

    if (call->stage == EXPOSE_PROPOSED) {
        mcpx_text_puts(out, "{");
    } else {
        mx_format(out, "{\"jsonrpc\":\"2.0\",\"id\":%s,", call->number);
        mx_format(&token, "\"%s-%s\"", x->config.nonce, call->number);
    }
    if (call->token.len)
        add_params(&params, call->params, &token);
    mx_format(out, "\"method\":%q%s%s}", call->method, call->params.len ? ",\"params\":" : "",
              call->token.len ? mcpx_text_view(&params) : call->params);
}

void expose_send_call(struct expose *x, const struct bridge_call *call)
{
    struct mcpx_slice participant = call->who.id;
    struct mcpx_draft draft = {.type = call->stage == EXPOSE_PROPOSED ? "mcp/proposal"
                                                                      : "mcp/request",
                               .to = &participant,
                               .to_count = 1,
                               .timeout_ms = -1,
                               .tag = (void *)(uintptr_t)call->number};
    struct bridge_action action = {.type = BRIDGE_SEND, .draft = draft};
    struct mcpx_text payload = {0};

    if (call->stage == EXPOSE_PROPOSED && call->due_ms != INT64_MAX)
        action.draft.expires_ms = x->now.wall_ms + call->due_ms - x->now.mono_ms;
    write_payload(x, call, &payload);
    bridge_output_put(&x->output, (struct bridge_row){.action = action}, payload);
}

void expose_add_unsent(struct expose *x, const struct bridge_call *call, enum mcpx_err err,
                       struct mcpx_text *out)
{
    mx_scoped_text payload = {0};

    if (err == MCPX_ETOOBIG) {
        write_payload(x, call, &payload);
        bridge_add_too_big(out, NULL, "a message", payload.len,
                           x->view.message_max(x->view.user));
    } else {
        mcpx_text_puts(out, mcpx_strerror(err));
    }
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

/* Takes `payload`. */
static void send_message(struct expose *x, const char *type, struct mcpx_slice to,
                         struct mcpx_text payload, struct mcpx_slice about)
{
    struct mcpx_draft draft = {
        .type = type, .to = &to, .to_count = 1, .correlation_id = about};
    struct bridge_action action = {.type = BRIDGE_SEND, .draft = draft};

    bridge_output_put(&x->output, (struct bridge_row){.action = action}, payload);
}

void expose_send_notice(struct expose *x, struct mcpx_slice participant, const char *method,
                        struct mcpx_text params, struct mcpx_slice about)
{
    struct expose_item nothing = {.participant = participant};
    struct mcpx_text payload = {0};

    if (may_send(x, "mcp/request", mcpx_slice_of(method), &nothing)) {
        bridge_add_notice(&payload, method, &params);
        send_message(x, "mcp/request", participant, payload, about);
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
    send_message(x, "mcp/withdraw", participant, mx_formatted("{\"reason\":%q}", reason),
                 envelope);
}
