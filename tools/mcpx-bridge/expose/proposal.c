/*
 * proposal.c - calls that the client may not send itself. They are proposed and wait for approval.
 * Clients give up after a minute of silence, and people need longer to decide: a client that gave a
 * progress token gets heartbeats meanwhile.
 */
#include "tools/mcpx-bridge/expose/rounds.h"

/* For people: tools/call 'write_file' to 'files' */
static struct mcpx_text operation_of(const struct bridge_call *call)
{
    struct mcpx_slice context = call->context;

    return mx_formatted("%s%s%s to %s", call->method, context.len ? " " : "",
                        context.len ? expose_quoted(context) : context,
                        expose_quoted(call->who.id));
}

/* Names who could approve it, as the router shows their grants: no server, nor who is to act. Asks
 * about one participant after another, so it is for what is told only. */
struct mcpx_text expose_waits_for(const struct expose *x, const struct bridge_call *call)
{
    enum { NAMED = 3 };
    mx_scoped_text operation = operation_of(call);
    struct mcpx_text out = {0};
    struct expose_kind kind;
    struct mcpx_slice id;
    size_t count = 0;

    if (call->stage == EXPOSE_LOOKS)
        return mx_formatted("%s", "waiting for messages");
    if (call->stage == EXPOSE_APPROVED)
        return mx_formatted("approved, waiting for the answer of %s", &operation);
    mx_format(&out, "waiting for approval of %s", &operation);
    if (!expose_kind_make(&kind, "mcp/request", call->method, call->context))
        return out;
    for (size_t i = 0; count <= NAMED && x->view.roster(x->view.user, i, &id); i++) {
        const struct expose_participant *one = expose_catalog_find(&x->catalog, id);

        if ((one && one->hello.len) || !x->view.could(x->view.user, id, &kind.kind) ||
            mcpx_slice_equal(mcpx_identity_of(id), mcpx_identity_of(call->who.id)))
            continue;
        mx_format(&out, "%s%s", count ? " or " : " by ",
                  count < NAMED ? expose_quoted(id) : MCPX_SLICE("another"));
        count++;
    }
    if (!count)
        mx_format(&out, " by a participant that may %s", kind.kind.text);
    return out;
}

void expose_send_heartbeat(struct expose *x, struct bridge_call *call)
{
    bool is_over = call->modern && call->state.len; /* the client's request */

    if (call->token.len && !is_over && expose_may_tell(x)) {
        mx_scoped_text message = expose_waits_for(x, call);

        expose_tell_notice(
            x, "notifications/progress",
            mx_formatted("{\"progressToken\":%s,\"progress\":%s,\"message\":%q}", call->token,
                         ++call->progress, &message));
    }
    call->heartbeat_ms = call->token.len ? x->now.mono_ms + x->config.heartbeat_ms : INT64_MAX;
}

void expose_go_on(struct expose *x, struct bridge_call *call)
{
    call->heartbeat_ms = INT64_MAX;
    if (!call->payload.len && (call->task || !expose_round_offer(x, call)) &&
        call->stage != EXPOSE_REQUESTED)
        expose_send_heartbeat(x, call);
}

void expose_take_over(struct expose *x, struct bridge_call *call, const struct mcpx_rpc *rpc)
{
    struct bridge_call from;

    if (!call->state.len)
        expose_tell_error(x, call->id, BRIDGE_UNAVAILABLE, "another request took its place");
    mcpx_text_fini(&call->state);
    from = *call;
    from.id = rpc->id;
    from.token = expose_token(rpc);
    from.can = expose_meta(rpc, EXPOSE_META "clientCapabilities");
    if (call->stage != EXPOSE_PROPOSED && call->stage != EXPOSE_LOOKS)
        from.due_ms = expose_in(x, x->config.request_ms);
    call = bridge_calls_replace(&x->calls, call, &from);
    expose_ask_reply(x, call, mcpx_json_get(rpc->params, "inputResponses"));
    expose_go_on(x, call);
}

void expose_propose(struct expose *x, struct bridge_call *call)
{
    call->stage = EXPOSE_PROPOSED;
    bridge_calls_defer(&x->calls, call, expose_in(x, x->config.proposal_ms));
    call->is_again = false;
    mcpx_text_reset(&call->sent_in); /* that of a refused request */
    expose_send_call(x, call);
}

void expose_proposed(struct expose *x, struct bridge_call *call)
{
    mx_scoped_text operation = operation_of(call);

    expose_note_text(x, "proposed %s, envelope %s", &operation, &call->sent_in);
    expose_send_heartbeat(x, call);
}

/* Logs a warning about a call, and sends it to a client that wants log messages. */
static void warn(struct expose *x, const struct bridge_call *call, struct mcpx_slice sentence)
{
    expose_note_text(x, "%s", sentence);
    if (expose_wants_log(x, call->who.id, MCPX_SLICE("\"warning\"")) && expose_may_tell(x))
        expose_tell_notice(
            x, "notifications/message",
            mx_formatted("{\"level\":\"warning\",\"logger\":\"mcpx-bridge\",\"data\":%q}",
                         sentence));
}

void expose_approved(struct expose *x, struct bridge_call *call,
                     const struct mcpx_event *event)
{
    mx_scoped_text operation = operation_of(call), message = {0};

    if (call->stage != EXPOSE_PROPOSED)
        return;
    call->stage = EXPOSE_APPROVED;
    mcpx_text_slice(&call->approved_in, event->envelope->id);
    bridge_calls_defer(&x->calls, call, expose_in(x, x->config.request_ms));
    if (!event->same) {
        mx_format(&message, "participant %s approved %s with different params",
                  expose_quoted(event->envelope->from), &operation);
        warn(x, call, mcpx_text_view(&message));
    }
    expose_send_heartbeat(x, call);
}

void expose_rejected(struct expose *x, struct bridge_call *call,
                     const struct mcpx_event *event)
{
    struct mcpx_slice reason = mcpx_json_get(event->envelope->payload, "reason");
    bool is_tool = bridge_is(call->method, "tools/call");
    struct mcpx_call_end how = {.type = MCPX_CALL_REFUSED, .is_error = !is_tool};
    mx_scoped_text operation = operation_of(call), answer = {0};
    struct mcpx_text sentence;

    if (call->stage == EXPOSE_REQUESTED)
        return;
    sentence = mx_formatted("%s rejected %s%s", expose_quoted(event->envelope->from),
                            &operation, call->task ? ", so the tool did not run" : "");
    if (mcpx_json_type(reason) == MCPX_JSON_STRING && reason.len > 2) {
        mcpx_text_puts(&sentence, ": ");
        mcpx_json_add_unescaped(&sentence, reason);
    }
    /* A model reads results; errors of the protocol reach only the program around it. */
    if (is_tool)
        mx_format(&answer, EXPOSE_TOOL_ERROR, &sentence);
    else
        mx_format(&answer, "{\"code\":%s,\"message\":%q}", BRIDGE_REJECTED, &sentence);
    how.text = mcpx_text_view(&answer);
    expose_want(x, BRIDGE_FORGET, mcpx_text_view(&call->sent_in));
    expose_finish(x, call, &how, (struct mcpx_slice){0});
    expose_note_made(x, sentence);
}

void expose_refuse(struct expose *x, struct bridge_call *call, struct mcpx_slice would_allow)
{
    mx_scoped_text operation = operation_of(call), more = {0};
    mx_scoped_text message =
        mx_formatted("no grant covers %s, neither as request nor as proposal", &operation);
    struct mcpx_slice context = call->context;
    struct expose_kind kind;

    if (expose_kind_make(&kind, "mcp/request", call->method, context))
        mcpx_json_add_member(&more, "kind", kind.kind.text);
    if (context.len && memchr(context.text, '*', context.len))
        context = MCPX_SLICE("*"); /* as a pattern it could mean another one */
    if (would_allow.text)
        mx_json_add_raw(&more, "would_allow", would_allow);
    else if (expose_kind_make(&kind, "mcp/request", call->method, context))
        mcpx_json_add_member(&more, "would_allow", kind.kind.text);
    expose_fail(x, call, MCPX_CAUSE_DENIED, mcpx_text_view(&message), &more);
}
