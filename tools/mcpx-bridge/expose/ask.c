/*
 * ask.c - requests of servers to the client: for input, a completion of its model, or its roots.
 * The client must have stated the capability, and the server must be working on a call of the
 * client: otherwise any participant could put questions to the user. Questions about a call of a
 * modern client wait here for the answer to that call (rounds.c).
 */
#include "tools/mcpx-bridge/expose/rounds.h"

/* Bytes of questions that wait for the answer to a call. One participant may have a quarter. */
enum { ASKS_BYTES = 64 << 20 };

/*
 * Rate limits of the bridge's own answers, to one participant and to all: they must not use up the
 * client's rate limit at the router.
 */
static const struct mx_rate rate_of_one = {60, 10}, rate_of_all = {600, 60};

static const struct {
    const char *method;
    const char *capability;
} askable[] = {{"elicitation/create", "elicitation"},
               {"sampling/createMessage", "sampling"},
               {"roots/list", "roots"}};
enum { ASKABLE = sizeof askable / sizeof askable[0] };

static const char CALL_IS_OVER[] = "the call it was about is over";

/* ---- refusing ---- */

/* Takes `payload`. */
static void respond(struct expose *x, struct mcpx_slice envelope, struct mcpx_text payload,
                    bool is_substitute)
{
    struct bridge_action action = {.type = BRIDGE_RESPOND, .about = envelope};
    struct bridge_row row = {.action = action, .is_substitute = is_substitute};

    bridge_output_put(&x->output, row, payload);
}

void expose_ask_unanswered(struct expose *x, const struct bridge_row *row, enum mcpx_err err)
{
    struct mcpx_slice payload = row->action.text;
    struct mcpx_text message = {0}, data = {0}, error = {0};

    if (err != MCPX_ETOOBIG || row->is_substitute) {
        expose_note_text(x, "a server's request could not be answered: %s",
                         mcpx_strerror(err));
        return;
    }
    /* The server learns why the client's answer is missing. */
    bridge_add_too_big(&message, &data, "the client's answer", payload.len,
                       x->view.message_max(x->view.user));
    bridge_add_error(&error, mcpx_json_get(payload, "id"), BRIDGE_UNAVAILABLE,
                     mcpx_text_view(&message), &data);
    expose_note_made(x, message);
    respond(x, row->action.about, error, true);
    mcpx_text_fini(&data);
}

static void respond_error(struct expose *x, struct mcpx_slice envelope, struct mcpx_slice id,
                          int code, const char *message)
{
    struct mcpx_text payload = {0};

    bridge_add_error(&payload, id, code, mcpx_slice_of(message), NULL);
    respond(x, envelope, payload, false);
}

/* True when the client can do that: for `call`, when that is of a modern client. */
static bool client_can(const struct expose *x, const struct bridge_call *call,
                       struct mcpx_slice method, struct mcpx_slice params)
{
    bool modern = call && call->modern;
    struct mcpx_slice can = modern ? call->can : mcpx_text_view(&x->client.capabilities);
    size_t i = 0;

    while (i < ASKABLE && !bridge_is(method, askable[i].method))
        i++;
    if (i == ASKABLE)
        return false;
    can = mcpx_json_get(can, askable[i].capability);
    if (!can.text || !modern)
        return can.text;
    /* 2026-07-28 forbids to ask for more. An empty elicitation means forms. */
    if (bridge_is(method, "sampling/createMessage"))
        return !mcpx_json_get(params, "tools").text || mcpx_json_get(can, "tools").text;
    if (mcpx_json_equals(mcpx_json_get(params, "mode"), MCPX_SLICE("url")))
        return mcpx_json_get(can, "url").text;
    return mcpx_json_get(can, "form").text || !mcpx_json_get(can, "url").text;
}

/* True when the participant works on that call of the client. */
static bool works_on(const struct bridge_call *call, struct mcpx_slice participant)
{
    return call->purpose == EXPOSE_FOR_CLIENT && call->stage != EXPOSE_PROPOSED &&
           !call->payload.len && mcpx_slice_equal(call->who.id, participant);
}

/*
 * A call of the client, other than `call`, that its participant works on; NULL: none. With `ask`:
 * of a modern client that can be asked this.
 */
static struct bridge_call *find_other(const struct expose *x, const struct bridge_call *call,
                                      const struct bridge_call *ask)
{
    struct bridge_call *other = x->calls.first;

    while (other && (other == call || !works_on(other, call->who.id) ||
                     (ask && !(other->modern && client_can(x, other, ask->method,
                                                           mcpx_text_view(&ask->payload))))))
        other = other->next;
    return other;
}

/*
 * The call that a question is about: its envelope names that of the call, or of its approval. If
 * it names none, it is the participant's newest for which the client can be asked, if any, unless
 * that could be another client's. NULL: none.
 */
static struct bridge_call *find_call(const struct expose *x, const struct mcpx_event *event)
{
    struct mcpx_slice about = event->envelope->correlation_id;
    const struct mcpx_rpc *rpc = event->rpc;
    struct bridge_call *found = NULL;

    for (struct bridge_call *call = x->calls.last; call; call = call->previous) {
        if (!works_on(call, event->envelope->from))
            continue;
        if (about.len && (mcpx_slice_equal(about, mcpx_text_view(&call->sent_in)) ||
                          mcpx_slice_equal(about, mcpx_text_view(&call->approved_in))))
            return call;
        if (!found || (!client_can(x, found, rpc->method, rpc->params) &&
                       client_can(x, call, rpc->method, rpc->params)))
            found = call;
    }
    return about.len || x->config.answers_only ? NULL : found;
}

struct bridge_call *expose_ask_about(const struct expose *x, const struct mcpx_event *event)
{
    struct bridge_call *call = find_call(x, event);

    return call && client_can(x, call, event->rpc->method, event->rpc->params) ? call : NULL;
}

/* ---- asking ---- */

/* Sends a question to the client, or keeps it for the answer to the call that it is about. */
static void pass_on(struct expose *x, const struct mcpx_event *event, struct bridge_call *call)
{
    static const struct mcpx_json_change gone[] = {/* in 2026-07-28 */
                                                   {.name = "_meta"},
                                                   {.name = "task"},
                                                   {.name = "elicitationId"}};
    struct mcpx_slice from = event->envelope->from, asked = event->rpc->params;
    struct bridge_call question = {.who.id = from,
                                   .came_in = event->envelope->id,
                                   .id = event->rpc->id,
                                   .method = event->rpc->method,
                                   .about = call->modern ? call->number : 0};
    struct bridge_call *ask = bridge_calls_add(&x->asks, &question);
    mx_scoped_text id = mx_formatted("%s", ask->number), shown = {0};
    struct mcpx_text line = {0};

    if (call->modern) {
        mcpx_json_add_changed(&shown, asked.text ? asked : MCPX_SLICE("{}"), gone, 3);
        bridge_calls_hold(&x->asks, ask, mcpx_text_view(&shown));
        expose_round_want(x, call);
        return;
    }
    expose_ids_note(x, from, EXPOSE_ELICITATION_ID, mcpx_json_get(asked, "elicitationId"));
    bridge_add_message(&line, event->rpc->text, mcpx_text_view(&id), "params",
                       expose_ids_show(x, from, asked, EXPOSE_ID_OF_ELICITATION, &shown));
    expose_tell(x, line);
}

/* The reason why a request may not reach the client; NULL: it may. */
static const char *find_obstacle(const struct expose *x, const struct mcpx_event *event,
                                 const struct bridge_call *call, int *code)
{
    struct bridge_who who = {.id = event->envelope->from};
    const struct bridge_holder *holder = bridge_calls_holder(&x->asks, who);
    bool modern = call && call->modern;
    size_t len = modern ? event->rpc->params.len : 0;
    const char *excess = modern ? expose_round_obstacle(x, call) : NULL;

    *code = BRIDGE_NO_METHOD;
    if (!client_can(x, call, event->rpc->method, event->rpc->params))
        return "the client behind this bridge cannot do that";
    *code = BRIDGE_NOT_ALLOWED;
    if (!call)
        return "only a server that works on a call of this client may ask it";
    *code = BRIDGE_BAD_PARAMS;
    if (mcpx_json_type(event->rpc->params) == MCPX_JSON_ARRAY)
        return "params must be an object";
    *code = BRIDGE_UNAVAILABLE;
    if (excess)
        return excess;
    if (!bridge_may_have((holder ? holder->calls : 0) + 1, x->asks.count + 1,
                         EXPOSE_ASKS_MAX) ||
        !bridge_may_have((holder ? holder->payload_bytes : 0) + len,
                         x->asks.payload_bytes + len, ASKS_BYTES))
        return "the client has too many questions before it already";
    return x->view.is_behind(x->view.user) ? "the client reads nothing at present" : NULL;
}

/* False, and the request is dropped, when a rate limit of the bridge's answers is reached. */
static bool may_answer(struct expose *x, const struct mcpx_event *event)
{
    struct mcpx_slice from = mcpx_identity_of(event->envelope->from);
    int64_t now_ms = x->now.mono_ms;

    x->answered.rate = rate_of_one;
    if (mx_buckets_wait_ms(&x->answered, from, 1, now_ms) > 0 ||
        !mx_bucket_take(&x->answered_all, rate_of_all, 1, now_ms)) {
        expose_note_text(x, "a request of %s is not answered: there are too many", from);
        expose_want(x, BRIDGE_DROP, event->envelope->id);
        return false;
    }
    mx_buckets_spend(&x->answered, from, 1, now_ms);
    return true;
}

void expose_ask(struct expose *x, const struct mcpx_event *event)
{
    bool is_ping = bridge_is(event->rpc->method, "ping");
    struct bridge_call *call;
    const char *obstacle;
    int code;

    if (event->envelope->to_count == 0) {
        expose_want(x, BRIDGE_DROP,
                    event->envelope->id); /* asked of all participants: others answer */
        return;
    }
    call = find_call(x, event);
    obstacle = find_obstacle(x, event, call, &code);
    if ((is_ping || obstacle) && !may_answer(x, event))
        return;
    if (is_ping)
        respond(x, event->envelope->id,
                mx_formatted("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}", event->rpc->id),
                false);
    else if (obstacle)
        respond_error(x, event->envelope->id, event->rpc->id, code, obstacle);
    else
        pass_on(x, event, call);
}

/* ---- the answer, or none ---- */

void expose_ask_answered(struct expose *x, const struct mcpx_rpc *rpc)
{
    struct mcpx_text payload = {0};
    mx_scoped_text restored = {0};
    struct bridge_call *ask;
    int64_t number;

    if (!bridge_number(rpc->id, &number) ||
        (ask = bridge_calls_find(&x->asks, number)) == NULL || ask->about)
        return;
    bridge_add_message(&payload, rpc->text, ask->id, "result",
                       expose_ids_restore(x, ask->who.id, rpc->result, &restored));
    respond(x, ask->came_in, payload, false);
    bridge_calls_drop(&x->asks, ask);
}

/*
 * Ends a question. `reason`: the error for the asker; NULL: no answer. A client is told, except a
 * modern one: its request is over.
 */
static void end(struct expose *x, struct bridge_call *ask, const char *reason, bool is_told)
{
    if (is_told && !ask->about)
        expose_tell_notice(x, "notifications/cancelled",
                           mx_formatted("{\"requestId\":%s}", ask->number));
    if (reason)
        respond_error(x, ask->came_in, ask->id, BRIDGE_UNAVAILABLE, reason);
    else
        expose_want(x, BRIDGE_DROP, ask->came_in);
    bridge_calls_drop(&x->asks, ask);
}

void expose_ask_cancelled(struct expose *x, struct mcpx_slice participant,
                          struct mcpx_slice params)
{
    struct mcpx_slice id = mcpx_json_get(params, "requestId");

    for (struct bridge_call *ask = x->asks.first; id.text && ask; ask = ask->next)
        if (mcpx_json_same(ask->id, id) && mcpx_slice_equal(ask->who.id, participant)) {
            end(x, ask, NULL, true);
            return;
        }
}

void expose_ask_end(struct expose *x, struct mcpx_slice participant, const char *reason)
{
    for (struct bridge_call *ask = x->asks.first, *next; ask; ask = next) {
        next = ask->next;
        if (!participant.text || mcpx_slice_equal(ask->who.id, participant))
            end(x, ask, reason, participant.text);
    }
}

void expose_ask_reply(struct expose *x, const struct bridge_call *call,
                      struct mcpx_slice responses)
{
    for (struct bridge_call *ask = x->asks.first, *next; ask; ask = next) {
        mx_scoped_text key = mx_formatted("%s", ask->number);
        struct mcpx_slice result = mcpx_json_get(responses, key.text);
        struct mcpx_text payload = {0};

        next = ask->next;
        if (ask->about != call->number)
            continue;
        if (mcpx_json_type(result) == MCPX_JSON_OBJECT) {
            bridge_add_result(&payload, ask->id, result);
            respond(x, ask->came_in, payload, false);
            bridge_calls_drop(&x->asks, ask);
        } else if (call->rounds >= EXPOSE_ROUNDS_MAX) {
            end(x, ask, "the client does not answer", false);
        }
    }
}

/* A pipe does not name the call of a question, so an import may have named another of ours. */
void expose_ask_over(struct expose *x, const struct bridge_call *call)
{
    for (struct bridge_call *ask = x->asks.first, *next; ask; ask = next) {
        struct bridge_call *other = NULL;

        next = ask->next;
        if (ask->about != call->number)
            continue;
        if (!x->config.answers_only)
            other = find_other(x, call, ask);
        if (other && !expose_round_obstacle(x, other)) {
            ask->about = other->number;
            expose_round_want(x, other);
        } else {
            end(x, ask, CALL_IS_OVER, false);
        }
    }
    if (x->asks.first && !find_other(x, call, NULL))
        expose_ask_end(x, call->who.id, CALL_IS_OVER);
}
