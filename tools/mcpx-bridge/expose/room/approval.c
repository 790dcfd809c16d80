/*
 * approval.c - calls that wait for an approval, as tasks of a client that declares these. The
 * client's request is answered by the task, whose id is that of the proposal; the call stays under
 * way as a parked one does. After a restart the topic's history says what became of a proposal.
 * A room__wait becomes a task in the same way, but does not outlive the bridge. Nor does the task
 * of a tool without tasks, which begins with the answer.
 *
 * A task belongs to the participant that proposed it, with all its instances: to others its id is
 * unknown. The proposal does not ask for a task: the server would make that for whoever approves.
 */
#include "tools/mcpx-bridge/expose/rounds.h"

#include "lib/base/digits.h"
#include "lib/base/ident.h"
#include "lib/base/match.h"

/* Most calls under way for a new task: a further one waits as that of any other client. */
enum { CALLS_MAX = 256, POLL_MS = 2000, KEPT_MS = 600000, WAIT_TTL_MS = 1200000 };

/* The id of a wait begins so; other clients of this bridge cannot guess the rest. */
#define WAIT_ID "room__wait-"
static bool is_wait(struct mcpx_slice id)
{
    return mx_common_len(id, MCPX_SLICE(WAIT_ID)) == sizeof WAIT_ID - 1;
}

/* Makes the task, without its braces. SEP-2643 and SEP-2848 are drafts: `_meta` has our names. */
static struct mcpx_text task_of(const struct expose *x, const struct bridge_call *call)
{
    struct mcpx_slice answer = mcpx_text_view(&call->payload);
    struct mcpx_slice result = mcpx_json_get(answer, "result");
    mx_scoped_text questions = expose_round_questions(x, call);
    bool is_approved = call->stage == EXPOSE_APPROVED || call->stage == EXPOSE_CANCELLED;
    bool is_ended = call->stage == EXPOSE_WITHDRAWN || call->stage == EXPOSE_CANCELLED;
    bool is_over = is_ended || answer.len, waits = is_wait(mcpx_text_view(&call->sent_in));
    bool plain = !waits && call->stage == EXPOSE_REQUESTED;
    int64_t ttl_ms = waits ? WAIT_TTL_MS : plain ? KEPT_MS : x->config.proposal_ms;
    mx_scoped_text ttl = mx_formatted("%s", ttl_ms);
    char began[MX_TIME_LEN + 1], now[MX_TIME_LEN + 1];
    mx_scoped_text whole = {0};
    struct mcpx_text out = {0};

    /* What the history has is as an older server sent it. */
    if (call->modern && result.text && !mcpx_json_get(result, "resultType").text)
        bridge_add_with_string(&whole, result, "resultType", MCPX_SLICE("complete"));
    mx_time_format(call->began_ms, began);
    mx_time_format(x->now.wall_ms, now);
    mx_format(&out,
              "\"taskId\":%q,\"status\":\"%s\",\"createdAt\":\"%s\",\"lastUpdatedAt\":\"%s\","
              "\"%s\":%s,\"%s\":%s,\"_meta\":{%s}",
              &call->sent_in,
              is_ended        ? "cancelled"
              : result.text   ? "completed"
              : is_over       ? "failed"
              : questions.len ? "input_required"
                              : "working",
              began, now, call->modern ? "ttlMs" : "ttl", ttl_ms ? ttl.text : "null",
              call->modern ? "pollIntervalMs" : "pollInterval", POLL_MS,
              waits || plain ? ""
              : !is_over
                  ? "\"io.mcpx/authorization\":{\"reason\":\"insufficient_authorization\","
                    "\"remediation\":\"available\",\"remediationHints\":[{\"type\":\"task\"}]}"
              : !is_approved ? "\"io.mcpx/approval\":{\"outcome\":\"denied-not-executed\"}"
              : result.text  ? "\"io.mcpx/approval\":{\"outcome\":\"approved-executed\"}"
                             : "\"io.mcpx/approval\":{\"outcome\":\"execution-error\"}");
    if (!is_over && !plain) {
        mx_scoped_text why = expose_waits_for(x, call);

        mx_format(&out, ",\"statusMessage\":%q", &why);
    }
    if (call->modern && questions.len)
        mx_format(&out, ",\"inputRequests\":{%s}", &questions);
    else if (call->modern && is_over && !is_ended)
        mx_format(&out, ",\"%s\":%s", result.text ? "result" : "error",
                  whole.len     ? mcpx_text_view(&whole)
                  : result.text ? result
                                : mcpx_json_get(answer, "error"));
    return out;
}

void expose_task_make(struct expose *x, struct bridge_call *call)
{
    mx_scoped_text task = {0};

    if (!expose_wants_task(call) || x->calls.count > CALLS_MAX)
        return;
    call->task = true;
    call->began_ms = x->now.wall_ms;
    mx_format(&call->state, "%q", &call->sent_in);
    task = task_of(x, call);
    expose_tell_result(
        x, expose_request_of(call),
        mx_formatted(call->modern ? "{\"resultType\":\"task\",%s}" : "{\"task\":{%s}}",
                     &task));
}

void expose_task_wait(struct expose *x, struct bridge_call *wait)
{
    unsigned char random[16];
    char hex[2 * sizeof random + 1];

    x->view.chance(x->view.user, random, sizeof random);
    mx_hex_format(random, sizeof random, hex);
    mx_format(&wait->sent_in, WAIT_ID "%s", hex);
    expose_task_make(x, wait);
}

/* Only what has its place in the topic is there after a restart, and keeps its id. */
void expose_task_begin(struct expose *x, const struct mcpx_envelope *echo)
{
    if (!x->config.room || !mcpx_slice_equal(echo->from, x->view.self(x->view.user)))
        return;
    BRIDGE_EACH_CALL(call, &x->calls) {
        if (call->stage == EXPOSE_PROPOSED && !call->task &&
            mcpx_slice_equal(mcpx_text_view(&call->sent_in), echo->id))
            expose_task_make(x, call);
    }
}

/* ---- after a restart ---- */

/* Takes in a message about the proposal, or about the request that approved it. */
static void hear(struct bridge_call *call, const struct bridge_call *said)
{
    mx_scoped_text text = {0}, why = mx_formatted("%s", expose_quoted(said->who.id));
    struct mcpx_slice value = {0};

    if (said->payload.len > said->list)
        mcpx_text_slice(&text, mx_behind(mcpx_text_view(&said->payload), said->list));
    else
        mcpx_json_add_unescaped(&text, room_said_get(said, "text"));
    if (said->stage == ROOM_REQUEST) {
        call->stage = EXPOSE_APPROVED;
        call->came_in = said->came_in;
    } else if (call->stage == EXPOSE_APPROVED) {
        if (mcpx_json_check(mcpx_text_view(&text), 0, &value, NULL) != MCPX_OK ||
            !(mcpx_json_get(value, "result").text || mcpx_json_get(value, "error").text))
            value =
                MCPX_SLICE("{\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"the tool "
                           "ran; its answer, in the topic, is too long to be kept\"}]}}");
        mx_format(&call->payload, "%s", value);
    } else if (mcpx_slice_equal(mcpx_identity_of(said->who.id), call->proposer)) {
        bool late = bridge_is(mcpx_text_view(&text), EXPOSE_TOO_LATE);

        call->stage = late ? EXPOSE_PROPOSED : EXPOSE_WITHDRAWN;
        mx_format(&call->payload, "{\"error\":{\"code\":%s,\"message\":%q}}",
                  late ? BRIDGE_TIMED_OUT : BRIDGE_NOT_ALLOWED,
                  late ? EXPOSE_TOO_LATE : "the proposal was withdrawn");
    } else {
        mx_format(&why, " rejected it, so the tool did not run: %s", &text);
        mx_format(&call->payload, "{\"result\":" EXPOSE_TOOL_ERROR "}", &why);
    }
}

/* Reads in the history what became of a proposal of ours. False: there is none with that id. */
static bool recall(const struct expose *x, struct mcpx_slice id, struct bridge_call *call)
{
    const struct bridge_call *said = x->config.room ? room_log_find(&x->room.log, id) : NULL;
    mx_scoped_text ts = {0};

    if (!said || (said->stage != ROOM_OPEN && said->stage != ROOM_OVER) ||
        !room_said_addressee(said).text)
        return false;
    call->proposer = mcpx_identity_of(x->view.self(x->view.user));
    mcpx_json_add_unescaped(&ts, room_said_get(said, "ts"));
    mx_time_parse(mcpx_text_view(&ts), &call->began_ms);
    mcpx_text_slice(&call->sent_in, id);
    call->method = said->method;
    call->context = said->context;
    call->stage = EXPOSE_PROPOSED;
    call->came_in = id;
    call->who.id = room_said_addressee(said);
    if (said->stage == ROOM_OPEN && said->due_ms <= x->now.wall_ms)
        mx_format(&call->payload, "{\"error\":{\"code\":%s,\"message\":%q}}", BRIDGE_TIMED_OUT,
                  EXPOSE_TOO_LATE);
    /* The first answer counts, as with a call under way. */
    for (const struct bridge_call *next = said->next; next && !call->payload.len;
         next = next->next)
        if (next->stage >= ROOM_REQUEST &&
            mcpx_json_equals(room_said_get(next, "about"), call->came_in))
            hear(call, next);
    return mcpx_slice_equal(mcpx_identity_of(said->who.id), call->proposer);
}

/* ---- requests about tasks ---- */

/* All but for a result. `is_live`: the call is under way. */
static void serve(struct expose *x, const struct expose_request *request,
                  struct bridge_call *call, bool is_live)
{
    const struct mcpx_rpc *rpc = request->rpc;
    bool cancels = bridge_is(rpc->method, "tasks/cancel") && !call->payload.len;
    mx_scoped_text task = {0};

    if (bridge_is(rpc->method, "tasks/update") && is_live)
        expose_ask_reply(x, call, mcpx_json_get(rpc->params, "inputResponses"));
    if (cancels) {
        expose_take_back(x, call, (struct mcpx_slice){0});
        call->stage = call->stage == EXPOSE_APPROVED ? EXPOSE_CANCELLED : EXPOSE_WITHDRAWN;
    }
    task = task_of(x, call);
    if (request->modern && !bridge_is(rpc->method, "tasks/get"))
        mcpx_text_reset(&task);
    expose_tell_result(x, request, mx_formatted("{%s}", &task));
    if (cancels && is_live)
        expose_fail(x, call, MCPX_CAUSE_DENIED,
                    call->stage == EXPOSE_CANCELLED
                        ? MCPX_SLICE("the approved call was cancelled, but it may run")
                    : is_wait(mcpx_text_view(&call->sent_in))
                        ? MCPX_SLICE("the wait was cancelled")
                        : MCPX_SLICE("the proposal was withdrawn"),
                    NULL);
}

bool expose_task_serve(struct expose *x, const struct expose_request *request)
{
    const struct mcpx_rpc *rpc = request->rpc;
    struct bridge_call past = {
        .number = -1, .task = true, .modern = request->modern, .due_ms = INT64_MAX};
    struct bridge_call *call;
    mx_scoped_text id = {0};

    mcpx_json_add_unescaped(&id, mcpx_json_get(rpc->params, "taskId"));
    call = expose_ids_task(x, mcpx_text_view(&id));
    if (!call && recall(x, mcpx_text_view(&id), &past))
        call = &past;
    if (call && !bridge_is(rpc->method, "tasks/result"))
        serve(x, request, call, call != &past);
    else if (call && call->payload.len)
        expose_tell_kept(x, call, rpc->id, mcpx_text_view(&call->payload));
    else if (call && call != &past)
        expose_take_over(x, call, rpc);
    else if (call)
        expose_tell_error(x, rpc->id, BRIDGE_UNAVAILABLE, "there is no result yet");
    else if (is_wait(mcpx_text_view(&id)))
        expose_tell_error(x, rpc->id, BRIDGE_BAD_PARAMS,
                          "the wait is over, or the bridge was started anew: call room__wait "
                          "again with the last place, after");
    mcpx_text_fini(&past.sent_in);
    mcpx_text_fini(&past.payload);
    return call || is_wait(mcpx_text_view(&id));
}
