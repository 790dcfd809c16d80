/*
 * request.c - a request of the client from its line to its answer. It leaves as request or as
 * proposal, as the grants allow. It ends exactly once: with the answer, with an error, or silently
 * when the client cancelled it.
 */
#include "tools/mcpx-bridge/expose/rounds.h"

#include "lib/base/digits.h"

/* ---- on its way ---- */

/* The draft of a call could not be sent. */
static void fail_unsent(struct expose *x, struct bridge_call *call, bool was_asked,
                        const struct mcpx_draft *draft, enum mcpx_err err)
{
    mx_scoped_text message =
        mx_formatted("%s", was_asked ? "the call could not be sent: "
                                     : "the call needs approval, but could not be proposed: ");

    if (err == MCPX_ETOOBIG)
        bridge_add_too_big(&message, NULL, "a message", draft->payload.len,
                           x->view.message_max(x->view.user));
    else
        mcpx_text_puts(&message, mcpx_strerror(err));
    expose_give_up(x, call, MCPX_CAUSE_UNAVAILABLE, mcpx_text_view(&message));
}

/* Sends a call as request or else as proposal, as the grants allow; or refuses it. */
static void start(struct expose *x, struct bridge_call *call)
{
    struct expose_item item = {call->who.id, call->context};
    enum expose_stage stage = expose_find_stage(x, call->method, &item);

    if (stage == EXPOSE_REFUSED) {
        expose_refuse(x, call, (struct mcpx_slice){0});
    } else if (stage == EXPOSE_PROPOSED) {
        expose_propose(x, call);
    } else {
        bridge_calls_defer(&x->calls, call, expose_in(x, x->config.request_ms));
        expose_send_call(x, call);
    }
}

/* Appends a name that distinguishes this participant's item from the rival's. */
static void add_distinct(struct expose *x, const struct expose_route *route,
                         struct mcpx_slice participant, struct mcpx_text *out)
{
    struct expose_item item = {participant, route->item.own};
    struct mcpx_slice shown = expose_names_shown(&x->names, route->space, &item);

    if (shown.text)
        mcpx_text_slice(out, shown);
    else
        expose_uri_wrap(out, participant, item.own, false);
}

static struct mcpx_text why_ambiguous(struct expose *x, const struct expose_route *route)
{
    mx_scoped_text first = {0}, second = {0};

    add_distinct(x, route, route->item.participant, &first);
    add_distinct(x, route, route->rival, &second);
    return mx_formatted("%s can belong to participant %s or %s: ask for %s or %s",
                        expose_quoted(route->item.own), expose_quoted(route->item.participant),
                        expose_quoted(route->rival), &first, &second);
}

/* Answers a request without a destination: an error. */
static void refuse(struct expose *x, const struct mcpx_rpc *rpc, enum expose_routing routing,
                   const struct expose_route *route)
{
    const char *member = mcpx_rpc_context_member(rpc->method);
    const char *reach = x->joined ? "" : ": the topic cannot be reached";
    int code = BRIDGE_BAD_PARAMS;
    struct mcpx_text why;

    if (routing == EXPOSE_MALFORMED) {
        why =
            mx_formatted("params.%s must be there once, as a string", member ? member : "uri");
    } else if (routing == EXPOSE_AMBIGUOUS) {
        why = why_ambiguous(x, route);
    } else if (routing == EXPOSE_UNKNOWN) {
        code = x->joined ? BRIDGE_BAD_PARAMS : BRIDGE_UNAVAILABLE;
        why = mx_formatted("no participant has %s for %s%s", expose_quoted(rpc->context),
                           rpc->method, reach);
    } else {
        code = BRIDGE_UNAVAILABLE;
        why = mx_formatted("participant %s%s", expose_quoted(route->item.participant),
                           x->joined ? " is not in the topic" : reach);
    }
    expose_tell_error_of(x, rpc->id, code, why, (struct mcpx_text){0});
}

/* `admitted`: by contract settings; NULL: they do not apply. */
static void forward(struct expose *x, const struct expose_request *request,
                    const struct expose_route *route, struct mcpx_call *admitted)
{
    const struct mcpx_rpc *rpc = request->rpc;
    mx_scoped_text restored = {0};
    struct bridge_call from = {.purpose = EXPOSE_FOR_CLIENT,
                               .modern = request->modern,
                               .level =
                                   bridge_log_level(expose_meta(rpc, EXPOSE_META "logLevel")),
                               .id = rpc->id,
                               .token = expose_token(rpc),
                               .method = rpc->method,
                               .who.id = route->item.participant,
                               .context = route->item.own,
                               .admitted = admitted};
    struct bridge_call *call;

    from.params =
        expose_ids_restore(x, from.who.id, mcpx_text_view(&route->params), &restored);
    if (request->modern && !request->payload.text &&
        bridge_is_any(rpc->method, "tools/call", "prompts/get", "resources/read")) {
        from.can = expose_meta(rpc, EXPOSE_META "clientCapabilities");
        from.bound = expose_round_binding(x, rpc);
    }
    call = bridge_calls_add(&x->calls, &from);
    expose_watch(x, call, mcpx_text_view(&route->name));
    start(x, call);
}

/* Sends a request to the participant that it is for. False: it must wait. */
static bool send_on(struct expose *x, const struct expose_request *request)
{
    const struct mcpx_rpc *rpc = request->rpc;
    bool is_judged = bridge_checks_apply_to(&x->checks, rpc->method);
    MX_SCOPED(expose_route_fini) struct expose_route route = {0};
    enum expose_routing routing = expose_route_find(x, rpc, &route);
    bool known = routing == EXPOSE_ROUTED;
    struct mcpx_admission admission = {0};

    if (request->may_wait && (x->room.to_come || (bridge_is(rpc->context, "room__propose") &&
                                                  !expose_is_settled(x, EXPOSE_TOOLS))))
        return false;
    if (expose_room_serve(x, request))
        return true;
    /* The check of a tool call needs the listed tool. */
    if (routing != EXPOSE_MALFORMED && request->may_wait && !expose_is_settled(x, -1) &&
        !(known && (!is_judged || expose_terms_know(x, &route))))
        return false;
    if (is_judged && !expose_terms_admit(x, request, known ? &route : NULL, &admission))
        return true;
    if (admission.params.text) {
        mcpx_text_reset(&route.params);
        mcpx_text_slice(&route.params, admission.params);
    }
    if (known)
        forward(x, request, &route, admission.call);
    else if (!is_judged)
        refuse(x, rpc, routing, &route);
    return true;
}

/* ---- again, with the answers to questions ---- */

static bool is_ours(const struct expose *x, struct mcpx_slice text)
{
    size_t len = strlen(x->config.nonce);

    return text.len > len && memcmp(text.text, x->config.nonce, len) == 0 &&
           text.text[len] == '-';
}

/* Ends a request without a call when the client has not visited an address. */
static bool refuse_unvisited(struct expose *x, const struct mcpx_rpc *rpc)
{
    MCPX_JSON_EACH(walk, mcpx_json_get(rpc->params, "inputResponses")) {
        if (!is_ours(x, walk.name) ||
            mcpx_json_equals(mcpx_json_get(walk.value, "action"), MCPX_SLICE("accept")))
            continue;
        expose_tell_error(x, rpc->id, BRIDGE_REJECTED,
                          "the user did not visit the address that the server named");
        return true;
    }
    return false;
}

/* Handles a request that goes on with a call answered by questions of ours. False: it does not. */
static bool go_back(struct expose *x, const struct mcpx_rpc *rpc)
{
    struct mcpx_slice given = mcpx_json_get(rpc->params, "requestState");
    struct bridge_call *call = x->calls.first;

    if (!given.len || !is_ours(x, (struct mcpx_slice){given.text + 1, given.len - 1}))
        return refuse_unvisited(x, rpc);
    while (call && !mcpx_slice_equal(given, mcpx_text_view(&call->state)))
        call = call->next;
    if (!call || call->bound != expose_round_binding(x, rpc)) {
        expose_tell_error(x, rpc->id, BRIDGE_BAD_PARAMS,
                          "params.requestState is not that of a call that waits for this "
                          "request: it serves once, with the same method and params");
    } else if (!call->payload.len) {
        expose_take_over(x, call, rpc);
    } else {
        expose_tell_kept(x, call, rpc->id, mcpx_text_view(&call->payload));
        expose_end(x, call);
    }
    return true;
}

bool expose_forward(struct expose *x, const struct expose_request *request)
{
    return (request->modern && go_back(x, request->rpc)) || send_on(x, request);
}

bool expose_invoke(struct expose *x, const struct expose_request *request)
{
    mx_scoped_text params = {0}, text = {0};
    struct expose_request call = *request;
    struct mcpx_admission none;
    struct mcpx_rpc rpc;
    bool is_done = true;

    call.payload = request->rpc->text;
    call.rpc = &rpc;
    if (mcpx_invocation_params_add(&params, request->rpc->params))
        mx_format(&text,
                  "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"tools/call\",\"params\":%s}",
                  request->rpc->id, &params);
    if (text.len && mcpx_rpc_read(mcpx_text_view(&text), &rpc, NULL) == MCPX_OK)
        is_done = expose_forward(x, &call);
    else
        expose_terms_admit(x, request, NULL, &none);
    return is_done;
}

void expose_sent(struct expose *x, const struct mcpx_draft *draft,
                 const struct bridge_outcome *outcome)
{
    struct bridge_call *call = bridge_calls_of_tag(&x->calls, draft->tag);
    enum mcpx_err err = outcome->err;
    bool proposes = call && call->stage == EXPOSE_PROPOSED && !call->is_again;

    if (!call && !err) { /* its call is over, and its id known only now */
        expose_want(x, BRIDGE_FORGET, outcome->id);
        if (strcmp(draft->type, "mcp/proposal") == 0)
            expose_send_withdrawal(x, draft->to[0], outcome->id, EXPOSE_NOBODY_WAITS);
    }
    if (!call)
        return;
    mcpx_text_slice(&call->sent_in, outcome->id);
    if (err && expose_call_is_probe(call) && !call->is_again)
        expose_probe_end(x, call, NULL, true);
    else if (err)
        fail_unsent(x, call, !proposes, draft, err);
    else if (proposes)
        expose_proposed(x, call);
}

/* ---- taken back ---- */

/* The client's call with that id; NULL: none. */
static struct bridge_call *find_id(const struct bridge_calls *calls, struct mcpx_slice id)
{
    struct bridge_call *call = calls->first;

    while (call && (call->purpose != EXPOSE_FOR_CLIENT || call->state.len ||
                    !mcpx_json_same(call->id, id)))
        call = call->next;
    return call;
}

void expose_cancel(struct expose *x, const struct mcpx_rpc *rpc)
{
    struct mcpx_slice id = mcpx_json_get(rpc->params, "requestId");
    struct mcpx_slice reason = mcpx_json_get(rpc->params, "reason");
    struct bridge_call *held = id.text ? find_id(&x->held, id) : NULL, *call;

    if (held) {
        expose_terms_turn_away(x, mcpx_text_view(&held->payload), NULL, false);
        bridge_calls_drop(&x->held, held);
        return;
    }
    if (!id.text || expose_listen_end(x, id))
        return;
    call = find_id(&x->calls, id);
    if (call && call->task) /* only tasks/cancel ends it */
        mx_format(&call->state, "%q", &call->sent_in);
    if (!call || call->task)
        return;
    expose_take_back(
        x, call, mcpx_json_type(reason) == MCPX_JSON_STRING ? reason : (struct mcpx_slice){0});
    expose_end(x, call);
}

/* ---- its end ---- */

void expose_answered(struct expose *x, struct bridge_call *call,
                     const struct mcpx_event *event)
{
    if (expose_call_is_probe(call)) {
        expose_probe_end(x, call, event->rpc, false);
    } else if (call->purpose != EXPOSE_FOR_CLIENT) {
        call->written = event->rpc->form == MCPX_RPC_RESULT;
        expose_end(x, call);
    } else {
        if (call->stage == EXPOSE_PROPOSED) /* approved while we were away */
            call->stage = EXPOSE_APPROVED;
        expose_ids_note_answer(x, call, event->rpc);
        if (event->rpc->form == MCPX_RPC_ERROR)
            expose_watch(x, call, (struct mcpx_slice){0});
        else if (x->config.room && call->stage == EXPOSE_REQUESTED && !call->modern &&
                 !mcpx_json_get(event->rpc->result, "task").text)
            expose_task_make(x, call); /* the server made none, or was not to */
        expose_answer(x, call, event->rpc);
    }
}

/* True for a refusal by a rate limit: the call is sent again at the time the router names. */
static bool put_off(struct expose *x, struct bridge_call *call, const struct mcpx_event *event)
{
    enum { PAUSE_MS = 1000, PAUSE_MAX_MS = 60000 };
    struct mcpx_slice raw = {0};
    uint64_t pause = PAUSE_MS;

    if (event->err != MCPX_ERATE)
        return false;
    if (event->envelope)
        raw = mcpx_json_get(event->envelope->payload, "retry_after_ms");
    (void)mx_decimal_clamp(raw, PAUSE_MAX_MS, &pause); /* else it stays as it is */
    call->resend_ms = x->now.mono_ms + (int64_t)pause;
    return true;
}

void expose_undelivered(struct expose *x, struct bridge_call *call,
                        const struct mcpx_event *event)
{
    struct bridge_call *said = room_log_find(&x->room.log, call->fulfils);
    mx_scoped_text message = {0};

    if (said)
        said->resend_ms = INT64_MAX; /* it may be approved again at once */
    if (put_off(x, call, event) && call->stage != EXPOSE_SAID)
        return;
    if (call->purpose == EXPOSE_FOR_CLIENT && call->stage != EXPOSE_SAID &&
        event->err == MCPX_ECAPABILITY) {
        struct mcpx_slice would = event->envelope
                                      ? mcpx_json_get(event->envelope->payload, "would_allow")
                                      : (struct mcpx_slice){0};

        if (call->stage == EXPOSE_REQUESTED && event->alternative.len)
            expose_propose(x, call);
        else
            expose_refuse(x, call, would);
        return;
    }
    mx_format(&message, "the router refused it: %s", event->reason);
    if (call->purpose != EXPOSE_FOR_CLIENT)
        expose_note_text(x, "%s", &message);
    if (expose_call_is_probe(call))
        expose_probe_end(x, call, NULL, true);
    else
        expose_give_up(x, call, MCPX_CAUSE_UNAVAILABLE, mcpx_text_view(&message));
}

void expose_expired(struct expose *x, struct bridge_call *call, const struct mcpx_event *event)
{
    (void)event;
    if (call->stage == EXPOSE_SAID) /* others have time limits of their own */
        expose_give_up(
            x, call, MCPX_CAUSE_TIMEOUT,
            MCPX_SLICE("not confirmed in time: room__history tells whether it was sent"));
}

static void run_out(struct expose *x, struct bridge_call *call)
{
    bool asked = call->stage != EXPOSE_PROPOSED;
    mx_scoped_text message =
        mx_formatted("%s %s within %s s",
                     call->stage == EXPOSE_SAID ? "it may still be sent: no confirmation for"
                     : asked                    ? "no answer from"
                                                : "no decision about the proposal to",
                     expose_quoted(call->who.id),
                     (asked ? x->config.request_ms : x->config.proposal_ms) / 1000);

    if (call->purpose == EXPOSE_FOR_CLIENT)
        expose_take_back(x, call, MCPX_SLICE("\"timed out\""));
    else
        expose_want(x, BRIDGE_FORGET, mcpx_text_view(&call->sent_in));
    if (call->state.len && (!call->task || call->payload.len)) /* nobody waits for an answer */
        expose_end(x, call);
    else
        expose_give_up(x, call, MCPX_CAUSE_TIMEOUT, mcpx_text_view(&message));
}

/* True while the server may wait for the client: that has an open question of the participant. */
static bool is_asked(const struct expose *x, const struct bridge_call *call)
{
    return call->purpose == EXPOSE_FOR_CLIENT && !call->modern && !x->config.answers_only &&
           call->stage != EXPOSE_PROPOSED && bridge_calls_holder(&x->asks, call->who);
}

void expose_calls_tick(struct expose *x)
{
    BRIDGE_EACH_CALL(call, &x->calls) {
        if (call->due_ms <= x->now.mono_ms && is_asked(x, call))
            bridge_calls_defer(&x->calls, call, x->now.mono_ms + x->config.request_ms);
        if (call->stage == EXPOSE_LOOKS && call->due_ms <= x->now.mono_ms)
            expose_room_look(x, call);
        else if (call->due_ms <= x->now.mono_ms)
            run_out(x, call);
        else if (call->resend_ms <= x->now.mono_ms) {
            call->resend_ms = INT64_MAX;
            call->is_again = true;
            mcpx_text_reset(&call->sent_in); /* it was refused */
            expose_send_call(x, call);
        }
    }
    BRIDGE_EACH_CALL(call, &x->calls) {
        if (call->heartbeat_ms <= x->now.mono_ms)
            expose_go_on(x, call);
    }
}

int64_t expose_calls_deadline(const struct expose *x)
{
    int64_t due = INT64_MAX;

    for (const struct bridge_call *call = x->calls.first; call; call = call->next)
        due = bridge_sooner(bridge_sooner(due, call->due_ms),
                            bridge_sooner(call->heartbeat_ms, call->resend_ms));
    return due;
}
