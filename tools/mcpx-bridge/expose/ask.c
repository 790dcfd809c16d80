/*
 * ask.c - requests of servers to the client: for input, a completion of its model, or its roots.
 * The client must have stated the capability, and the server must be working on a call of the
 * client: otherwise any participant could put questions to the user.
 */
#include "tools/mcpx-bridge/expose/state.h"

/* Most questions of servers that the client has open. */
enum { ASKS_MAX = 256 };

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

static bool client_can(const struct expose *x, struct mcpx_slice method)
{
    struct mcpx_slice capabilities = mcpx_text_view(&x->client.capabilities);

    for (size_t i = 0; i < sizeof askable / sizeof askable[0]; i++)
        if (bridge_is(method, askable[i].method))
            return mcpx_json_get(capabilities, askable[i].capability).text != NULL;
    return false;
}

/* True when the participant works on a call of the client other than `but`; NULL: on any. */
static bool works_for_client(const struct expose *x, struct mcpx_slice participant,
                             const struct bridge_call *but)
{
    for (const struct bridge_call *call = x->calls.first; call; call = call->next)
        if (call != but && call->purpose == EXPOSE_FOR_CLIENT &&
            call->stage != EXPOSE_PROPOSED && mcpx_slice_equal(call->who.id, participant))
            return true;
    return false;
}

/* ---- asking ---- */

static void pass_on(struct expose *x, const struct mcpx_event *event)
{
    struct bridge_call question = {
        .who.id = event->envelope->from, .came_in = event->envelope->id, .id = event->rpc->id};
    const struct bridge_call *ask = bridge_calls_add(&x->asks, &question);
    struct mcpx_slice from = event->envelope->from, asked = event->rpc->params;
    mx_scoped_text id = mx_formatted("%s", ask->number), shown = {0};
    struct mcpx_text line = {0};

    expose_ids_note(x, from, EXPOSE_ELICITATION_ID, mcpx_json_get(asked, "elicitationId"));
    bridge_add_message(&line, event->rpc->text, mcpx_text_view(&id), "params",
                       expose_ids_show(x, from, asked, EXPOSE_ID_OF_ELICITATION, &shown));
    expose_tell(x, line);
}

/* The reason why a request may not reach the client; NULL: it may. */
static const char *find_obstacle(const struct expose *x, const struct mcpx_event *event,
                                 int *code)
{
    *code = BRIDGE_NO_METHOD;
    if (!client_can(x, event->rpc->method))
        return "the client behind this bridge cannot do that";
    *code = BRIDGE_NOT_ALLOWED;
    if (!works_for_client(x, event->envelope->from, NULL))
        return "only a server that works on a call of this client may ask it";
    *code = BRIDGE_UNAVAILABLE;
    if (x->asks.count >= ASKS_MAX)
        return "the client has 256 questions before it already";
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
    const char *obstacle;
    int code;

    if (event->envelope->to_count == 0) {
        expose_want(x, BRIDGE_DROP,
                    event->envelope->id); /* asked of all participants: others answer */
        return;
    }
    obstacle = find_obstacle(x, event, &code);
    if ((is_ping || obstacle) && !may_answer(x, event))
        return;
    if (is_ping)
        respond(x, event->envelope->id,
                mx_formatted("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}", event->rpc->id),
                false);
    else if (obstacle)
        respond_error(x, event->envelope->id, event->rpc->id, code, obstacle);
    else
        pass_on(x, event);
}

/* ---- the answer, or none ---- */

void expose_ask_answered(struct expose *x, const struct mcpx_rpc *rpc)
{
    struct mcpx_text payload = {0};
    mx_scoped_text restored = {0};
    struct bridge_call *ask;
    int64_t number;

    if (!bridge_number(rpc->id, &number) ||
        (ask = bridge_calls_find(&x->asks, number)) == NULL)
        return;
    bridge_add_message(&payload, rpc->text, ask->id, "result",
                       expose_ids_restore(x, ask->who.id, rpc->result, &restored));
    respond(x, ask->came_in, payload, false);
    bridge_calls_drop(&x->asks, ask);
}

static void tell_cancelled(struct expose *x, const struct bridge_call *ask)
{
    expose_tell_notice(x, "notifications/cancelled",
                       mx_formatted("{\"requestId\":%s}", ask->number));
}

void expose_ask_cancelled(struct expose *x, struct mcpx_slice participant,
                          struct mcpx_slice params)
{
    struct mcpx_slice id = mcpx_json_get(params, "requestId");

    for (struct bridge_call *ask = x->asks.first; id.text && ask; ask = ask->next)
        if (mcpx_json_same(ask->id, id) && mcpx_slice_equal(ask->who.id, participant)) {
            tell_cancelled(x, ask);
            expose_want(x, BRIDGE_DROP, ask->came_in);
            bridge_calls_drop(&x->asks, ask);
            return;
        }
}

void expose_ask_end(struct expose *x, struct mcpx_slice participant, const char *reason)
{
    for (struct bridge_call *ask = x->asks.first, *next; ask; ask = next) {
        next = ask->next;
        if (participant.text && !mcpx_slice_equal(ask->who.id, participant))
            continue;
        if (participant.text)
            tell_cancelled(x, ask);
        if (reason)
            respond_error(x, ask->came_in, ask->id, BRIDGE_UNAVAILABLE, reason);
        else
            expose_want(x, BRIDGE_DROP, ask->came_in);
        bridge_calls_drop(&x->asks, ask);
    }
}

void expose_ask_over(struct expose *x, const struct bridge_call *call)
{
    if (x->asks.first && !works_for_client(x, call->who.id, call))
        expose_ask_end(x, call->who.id, "the call it was about is over");
}
