/*
 * ask.c - requests to the client: approvals of its permission prompts; and servers' questions, for
 * input, a completion of its model, or its roots. It must have stated the capability, and the
 * server must be working on a call of it: otherwise any participant could put questions to the
 * user. Those about a call of a modern client wait here for the answer to that call (rounds.c).
 */
#include "tools/mcpx-bridge/expose/rounds.h"

#include "tools/common/proposal.h"

/* Most questions that the client has open, and most bytes of those of modern clients. One
 * participant may have a quarter. GATHER_MS: time to gather questions about a call. */
enum { ASKS_MAX = 256, ASKS_BYTES = 64 << 20, GATHER_MS = 10 };

/* Rate limits of the bridge's own answers, to one participant and to all: they must not use up the
 * client's rate limit at the router. */
static const struct mx_rate rate_of_one = {60, 10}, rate_of_all = {600, 60};

/* ---- refusing ---- */

/* Takes `payload`. */
static void respond(struct expose *x, struct mcpx_slice envelope, struct mcpx_text payload,
                    bool is_substitute)
{
    struct bridge_row row = {.action = {.type = BRIDGE_RESPOND, .about = envelope},
                             .is_substitute = is_substitute};

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

/* True when the client can be asked this: about `call`, when that is of a modern client. */
static bool client_can(const struct expose *x, const struct bridge_call *call,
                       const struct bridge_call *ask)
{
    bool modern = call && call->modern,
         samples = bridge_is(ask->method, "sampling/createMessage");
    struct mcpx_slice can = modern ? call->can : mcpx_text_view(&x->client.capabilities);

    can = mcpx_json_get(can, samples                                        ? "sampling"
                             : bridge_is(ask->method, "elicitation/create") ? "elicitation"
                             : bridge_is(ask->method, "roots/list")         ? "roots"
                                                                            : "");
    if (!can.text || !modern)
        return can.text;
    /* 2026-07-28 forbids to ask for more. An empty elicitation means forms. */
    if (samples)
        return !mcpx_json_get(ask->params, "tools").text || mcpx_json_get(can, "tools").text;
    if (mcpx_json_equals(mcpx_json_get(ask->params, "mode"), MCPX_SLICE("url")))
        return mcpx_json_get(can, "url").text;
    return mcpx_json_get(can, "form").text || !mcpx_json_get(can, "url").text;
}

/* The call that a question is about: `about`, the envelope of the call or of its approval. When
 * that is absent, it is the newest call, other than `but`, that the asker works on, if possible one
 * for which the client can be asked; none where it could be another client's. NULL: none. */
static struct bridge_call *find_call(const struct expose *x, const struct bridge_call *ask,
                                     struct mcpx_slice about, const struct bridge_call *but)
{
    struct bridge_call *found = NULL;

    for (struct bridge_call *call = x->calls.last; call; call = call->previous) {
        if (call == but || call->purpose != EXPOSE_FOR_CLIENT ||
            call->stage == EXPOSE_PROPOSED || call->stage >= EXPOSE_SAID ||
            call->payload.len || !mcpx_slice_equal(call->who.id, ask->who.id))
            continue;
        if (about.len && (mcpx_slice_equal(about, mcpx_text_view(&call->sent_in)) ||
                          mcpx_slice_equal(about, mcpx_text_view(&call->approved_in))))
            return call;
        if (!found || (!about.len && !client_can(x, found, ask) && client_can(x, call, ask)))
            found = call;
    }
    return about.len || x->config.answers_only ? NULL : found;
}

/* ---- asking ---- */

/* The client gets the question by the answer to its call, soon or when it asks again. */
static void ask_by(struct expose *x, struct bridge_call *ask, struct bridge_call *call)
{
    ask->about = call->number;
    if (!call->state.len)
        call->heartbeat_ms = x->now.mono_ms + GATHER_MS;
}

/* Sends a question to the client, or keeps it for the answer to the call that it is about. */
static void pass_on(struct expose *x, const struct mcpx_event *event,
                    struct bridge_call question, struct bridge_call *call)
{
    static const struct mcpx_json_change gone[] = {/* in 2026-07-28 */
                                                   {.name = "_meta"},
                                                   {.name = "task"},
                                                   {.name = "elicitationId"}};
    struct mcpx_slice from = question.who.id, asked = question.params;
    mx_scoped_text id = {0}, shown = {0};
    struct mcpx_text line = {0};
    struct bridge_call *ask;

    question.params = (struct mcpx_slice){0};
    ask = bridge_calls_add(&x->asks, &question);
    if (call->modern) {
        mcpx_json_add_changed(&shown, asked, gone, 3);
        bridge_calls_hold(&x->asks, ask, mcpx_text_view(&shown));
        ask->params = mcpx_text_view(&ask->payload);
        ask_by(x, ask, call);
        return;
    }
    mx_format(&id, "%s", ask->number);
    expose_ids_note(x, from, EXPOSE_ELICITATION_ID, mcpx_json_get(asked, "elicitationId"));
    bridge_add_message(&line, event->rpc->text, mcpx_text_view(&id), "params",
                       expose_ids_show(x, from, asked, EXPOSE_ID_OF_ELICITATION, &shown));
    expose_tell(x, line);
}

static bool has_room(const struct expose *x, struct bridge_who who, size_t len)
{
    const struct bridge_holder *holder = bridge_calls_holder(&x->asks, who);

    return bridge_may_have((holder ? holder->calls : 0) + 1, x->asks.count + 1, ASKS_MAX) &&
           bridge_may_have((holder ? holder->payload_bytes : 0) + len,
                           x->asks.payload_bytes + len, ASKS_BYTES);
}

/* Among several clients, one that does not answer must not use up the questions of all: the oldest
 * parked call, of the participant if that has any questions, ends for one about `call`. NULL: there
 * is none. */
static struct bridge_call *find_oldest(const struct expose *x, struct bridge_who who,
                                       const struct bridge_call *call)
{
    const struct bridge_holder *holder = bridge_calls_holder(&x->asks, who);
    struct bridge_call *over = NULL;

    for (const struct bridge_call *ask = x->asks.first; ask && !over; ask = ask->next) {
        over = bridge_calls_find(&x->calls, ask->about);
        if (over == call || (over && !over->state.len) || (holder && ask->holder != holder))
            over = NULL;
    }
    return x->config.answers_only ? over : NULL;
}

/* Why a request may not reach the client; NULL: it may, once the call *over has ended. */
static const char *find_obstacle(const struct expose *x, const struct bridge_call *ask,
                                 const struct bridge_call *call, int *code,
                                 struct bridge_call **over)
{
    bool modern = call && call->modern;

    *code = BRIDGE_NO_METHOD;
    if (bridge_is(ask->method, EXPOSE_PERMISSION))
        return "no permission prompt waits for this";
    if (!client_can(x, call, ask))
        return "the client behind this bridge cannot do that";
    *code = BRIDGE_NOT_ALLOWED;
    if (!call)
        return "only a server that works on a call of this client may ask it";
    *code = BRIDGE_BAD_PARAMS;
    if (mcpx_json_type(ask->params) == MCPX_JSON_ARRAY)
        return "params must be an object";
    *code = BRIDGE_UNAVAILABLE;
    if (modern && call->rounds >= EXPOSE_ROUNDS_MAX)
        return "the client was asked ten times about this call already";
    if (modern && ask->params.len > ASKS_BYTES / 4) /* no other question makes room for it */
        return "the question is too long";
    if (!has_room(x, ask->who, modern ? ask->params.len : 0) &&
        !(*over = find_oldest(x, ask->who, call)))
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

/* A client's permission prompt is a proposal to ourselves, protocol section 9. Its approval is a
 * request to us; our answer to that, back from the topic, ends the client's call. Empty: the
 * request is another. */
static struct mcpx_text answer_prompt(const struct expose *x, const struct mcpx_event *event)
{
    struct mcpx_text out = {0};

    BRIDGE_EACH_CALL(call, &x->calls) {
        if (bridge_is(call->method, EXPOSE_PERMISSION) &&
            mcpx_slice_equal(mcpx_text_view(&call->approved_in), event->envelope->id))
            call->written =
                !proposal_answer_prompt(&out, x->view.self(x->view.user), call->params, event);
    }
    return out;
}

struct bridge_call *expose_ask(struct expose *x, const struct mcpx_event *event)
{
    bool is_ping = bridge_is(event->rpc->method, "ping");
    struct mcpx_text permission = {0};
    struct bridge_call ask = {.who.id = event->envelope->from,
                              .came_in = event->envelope->id,
                              .id = event->rpc->id,
                              .method = event->rpc->method,
                              .params = event->rpc->params},
                       *call, *over = NULL;
    const char *obstacle;
    int code;

    if (event->envelope->to_count == 0) { /* asked of all participants: others answer */
        expose_want(x, BRIDGE_DROP, event->envelope->id);
        return NULL;
    }
    permission = answer_prompt(x, event);
    if (permission.len) {
        respond(x, event->envelope->id, permission, false);
        return NULL;
    }
    call = find_call(x, &ask, event->envelope->correlation_id, NULL);
    obstacle = find_obstacle(x, &ask, call, &code, &over);
    if (over || ((is_ping || obstacle) && !may_answer(x, event)))
        return over;
    if (is_ping)
        respond(x, event->envelope->id,
                mx_formatted("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}", event->rpc->id),
                false);
    else if (obstacle)
        respond_error(x, event->envelope->id, event->rpc->id, code, obstacle);
    else
        pass_on(x, event, ask, call);
    return NULL;
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

/* Ends a question. `reason`: the error for the asker; NULL: no answer. A client is told, except a
 * modern one: its request is over. What that was told counts until it is back, without id: so no
 * server has more calls that wait for the client than questions. */
static void end(struct expose *x, struct bridge_call *ask, const char *reason)
{
    const struct bridge_call *call = bridge_calls_find(&x->calls, ask->about);

    if (!ask->about)
        expose_tell_notice(x, "notifications/cancelled",
                           mx_formatted("{\"requestId\":%s}", ask->number));
    if (reason && ask->id.text)
        respond_error(x, ask->came_in, ask->id, BRIDGE_UNAVAILABLE, reason);
    else if (ask->id.text)
        expose_want(x, BRIDGE_DROP, ask->came_in);
    ask->id = ask->params = (struct mcpx_slice){0};
    if (call && call->state.len && !call->task)
        bridge_calls_release(&x->asks, ask);
    else
        bridge_calls_drop(&x->asks, ask);
}

void expose_ask_cancelled(struct expose *x, struct mcpx_slice participant,
                          struct mcpx_slice params)
{
    struct mcpx_slice id = mcpx_json_get(params, "requestId");

    for (struct bridge_call *ask = x->asks.first; id.text && ask; ask = ask->next)
        if (mcpx_json_same(ask->id, id) && mcpx_slice_equal(ask->who.id, participant)) {
            end(x, ask, NULL);
            return;
        }
}

void expose_ask_reply(struct expose *x, const struct bridge_call *call,
                      struct mcpx_slice responses)
{
    BRIDGE_EACH_CALL(ask, &x->asks) {
        mx_scoped_text key = mx_formatted("%s", ask->number);
        struct mcpx_slice result = mcpx_json_get(responses, key.text);
        bool answered = mcpx_json_type(result) == MCPX_JSON_OBJECT;
        struct mcpx_text payload = {0};

        if (ask->about != call->number ||
            (ask->id.text && !answered && call->rounds < EXPOSE_ROUNDS_MAX))
            continue;
        if (ask->id.text && answered) {
            bridge_add_result(&payload, ask->id, result);
            respond(x, ask->came_in, payload, false);
            ask->id = (struct mcpx_slice){0};
        }
        end(x, ask, "the client does not answer");
    }
}

/* A pipe does not name the call of a question, so an import may have named another of ours. */
void expose_ask_over(struct expose *x, const struct bridge_call *call)
{
    BRIDGE_EACH_CALL(ask, &x->asks) {
        struct bridge_call *other = NULL;

        if (ask->about ? ask->about != call->number
                       : !mcpx_slice_equal(ask->who.id, call->who.id))
            continue;
        if (ask->id.text)
            other = find_call(x, ask, (struct mcpx_slice){0}, call);
        if (!ask->about && other)
            continue;
        if (other && other->modern && other->rounds < EXPOSE_ROUNDS_MAX &&
            client_can(x, other, ask))
            ask_by(x, ask, other);
        else
            end(x, ask, "the call it was about is over");
    }
}
