/*
 * ask.c - a server's question goes to the participant whose call it works on. A pipe does not name
 * that call, so the question is refused while several participants have one under way. Rejected:
 * guessing, because the newest caller could approve another participant's call. The question goes
 * out as the server wrote it and the answer comes back as the participant wrote it; the session has
 * made sure that it carries the same id. Roots are never asked in the topic: any participant could
 * widen them.
 */
#include "tools/mcpx-bridge/import/ask.h"
#include "tools/mcpx-bridge/import/tasks.h"

/* Most questions under way at one time. */
enum { ASKS_MAX = 256 };

static void answer_error(struct import *import, struct mcpx_slice rpc_id, int code,
                         const char *message)
{
    struct mcpx_text line = {0};

    bridge_add_error(&line, rpc_id, code, mcpx_slice_of(message), NULL);
    import_write(import, line, 0);
}

bool import_ask_is_open(const struct import *import, const struct bridge_call *call)
{
    const struct bridge_call *row = import->asks.first;

    while (row && (row->about != call->number || row->purpose != IMPORT_OPEN))
        row = row->next;
    return row != NULL;
}

/*
 * A question of a round has its end: so has the call, unless another question is open and none has
 * failed. What follows is for rounds.c, at the next tick.
 */
static void settle(struct import *import, struct bridge_call *row, enum import_question end,
                   struct mcpx_slice text)
{
    struct bridge_call *call = bridge_calls_find(&import->calls, row->about);

    if (row->purpose != IMPORT_OPEN)
        return;
    row->purpose = end;
    bridge_calls_hold(&import->asks, row, text);
    if (end == IMPORT_FAILED || !import_ask_is_open(import, call))
        bridge_calls_defer(&import->calls, call, 0);
}

/* Answers the question with an error, and drops it. */
static void give_up(struct import *import, struct bridge_call *row, int code,
                    const char *message)
{
    if (row->context.text) {
        settle(import, row, IMPORT_FAILED, mcpx_slice_of(message));
        return;
    }
    answer_error(import, row->id, code, message);
    bridge_calls_drop(&import->asks, row);
}

/* One silent participant must not block questions to the others. */
static bool has_room(const struct bridge_calls *asks, struct bridge_who who)
{
    const struct bridge_holder *holder = bridge_calls_holder(asks, who);

    return bridge_may_have(holder ? holder->calls + 1 : 1, asks->count + 1, ASKS_MAX);
}

/*
 * The newest call the server has of those that MCP lets a server ask about. NULL when there is
 * none, or when several participants have one, unless they trust each other: `any`.
 */
static struct bridge_call *find_call(const struct bridge_calls *calls, bool any)
{
    struct bridge_call *newest = NULL;

    for (struct bridge_call *call = calls->last; call; call = call->previous) {
        if (call->purpose != IMPORT_PARTICIPANT || !call->written ||
            !import_may_ask(call->method))
            continue;
        if (any)
            return call;
        if (newest && !bridge_who_is(import_asked_of(newest), import_asked_of(call)))
            return NULL;
        if (!newest)
            newest = call;
    }
    return newest;
}

static void answer(struct import *import, struct mcpx_slice rpc_id, struct mcpx_slice result)
{
    struct mcpx_text line = {0};

    bridge_add_result(&line, rpc_id, result);
    import_write(import, line, 0);
}

static void answer_roots(struct import *import, struct mcpx_slice rpc_id)
{
    mx_scoped_text roots = mx_formatted("{\"roots\":%s}", import->config->roots);

    if (import->config->roots)
        answer(import, rpc_id, text_whole(&roots));
    else
        answer_error(import, rpc_id, BRIDGE_NO_METHOD, IMPORT_NO_ROOTS);
}

/*
 * Who proposed a call is asked while it is there and can answer, and about the first call that
 * fulfils the proposal: an approver may fulfil it often.
 */
static const char *fault_of_proposer(const struct import *import,
                                     const struct bridge_call *call, struct mcpx_slice method)
{
    const struct import_view *view = &import->config->view;
    mx_scoped_text text = mx_formatted("mcp/response:%s", method);
    struct mcpx_kind kind;

    if (view->could && mcpx_kind_parse(mcpx_text_view(&text), &kind, NULL) == MCPX_OK &&
        !view->could(view->user, call->who.topic, call->proposer, &kind))
        return "the participant that proposed the call is not there, or may not answer";
    for (const struct bridge_call *row = call->previous; row; row = row->previous)
        if (mcpx_slice_equal(row->fulfils, call->fulfils) &&
            bridge_who_is(import_asked_of(row), import_asked_of(call)))
            return "the proposal is fulfilled by another call already";
    return NULL;
}

const char *import_ask_fault(const struct import *import, const struct bridge_call *call,
                             const struct mcpx_rpc *rpc)
{
    const char *fault = NULL;

    if (call->proposer.text && !bridge_is(rpc->method, "roots/list"))
        fault = fault_of_proposer(import, call, rpc->method);
    if (mcpx_json_type(rpc->params) == MCPX_JSON_ARRAY)
        return "the question's params are not an object";
    return fault || has_room(&import->asks, import_asked_of(call))
               ? fault
               : "the participant has too many questions under way";
}

struct bridge_call *import_ask_add(struct import *import, const struct bridge_call *call,
                                   const struct mcpx_rpc *rpc, struct mcpx_slice key)
{
    struct bridge_call question = {.number = import->pool->last_ask + 1,
                                   .who = import_asked_of(call),
                                   .id = rpc->id,
                                   .method = rpc->method,
                                   .context = key,
                                   .about = call->number};

    import->pool->last_ask++;
    return bridge_calls_add(&import->asks, &question);
}

void import_ask_send(struct import *import, struct bridge_call *call,
                     const struct bridge_call *question, struct mcpx_slice text)
{
    struct mcpx_draft draft = {.type = "mcp/request",
                               .to = &question->who.id,
                               .to_count = 1,
                               .correlation_id = call->came_in,
                               .payload = text,
                               .timeout_ms = import->config->question_ms,
                               .tag = (void *)(uintptr_t)question->number};

    call->was_asked = true;
    import_want_send(import, call->who.topic, &draft);
}

void import_ask(struct import *import, const struct mcpx_rpc *rpc)
{
    struct bridge_call *call = import_task_call(import, rpc->params);
    const char *fault = NULL;

    if (!call)
        call = find_call(&import->calls, import->config->ask_newest);
    if (call)
        fault = import_ask_fault(import, call, rpc);
    if (bridge_is(rpc->method, "ping"))
        answer(import, rpc->id, MCPX_SLICE("{}"));
    else if (bridge_is(rpc->method, "roots/list"))
        answer_roots(import, rpc->id);
    else if (!call)
        answer_error(
            import, rpc->id, BRIDGE_NO_METHOD,
            find_call(&import->calls, true)
                ? "the bridge cannot tell which call this question is about: several "
                  "participants have calls under way; --isolate gives each participant a "
                  "server"
                : "no participant has a call under way that this could be about");
    else if (fault)
        answer_error(import, rpc->id, BRIDGE_UNAVAILABLE, fault);
    else
        import_ask_send(import, call,
                        import_ask_add(import, call, rpc, (struct mcpx_slice){0}), rpc->text);
}

void import_asked(struct import *import, const void *tag, const struct bridge_outcome *outcome)
{
    struct bridge_call *row = bridge_calls_of_tag(&import->asks, tag);
    enum mcpx_err err = outcome->err;

    if (row && !err)
        mcpx_text_slice(&row->sent_in, outcome->id);
    if (!row || !err)
        return;
    import_say(import, "%s cannot be passed to %s: %s", row->method, row->who.id,
               mcpx_strerror(err));
    give_up(import, row, BRIDGE_NO_METHOD, mcpx_strerror(err));
}

/* Tells the participant that its answer is not wanted any more. */
static void take_back(struct import *import, const struct bridge_call *row, const char *reason)
{
    mx_scoped_text notice =
        mx_formatted("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
                     "{\"requestId\":%s,\"reason\":%q}}",
                     row->id, reason);

    import_send_to(import, row->who, "mcp/request", mcpx_text_view(&row->sent_in),
                   text_whole(&notice));
}

/* The answer to a question of a round waits for the others. */
static void keep_answer(struct import *import, struct bridge_call *row,
                        const struct mcpx_rpc *rpc)
{
    size_t own = row->holder->payload_bytes + rpc->text.len,
           all = import->asks.payload_bytes + rpc->text.len;
    bool fits = bridge_may_have(own, all, import->config->wait_bytes);
    bool is_answer = fits && rpc->form == MCPX_RPC_RESULT;
    mx_scoped_text why = {0};

    if (!fits)
        mcpx_text_puts(&why, "the answers are too long");
    else if (!is_answer &&
             !mcpx_json_add_unescaped(&why, mcpx_json_get(rpc->error, "message")))
        mcpx_text_slice(&why, rpc->error);
    settle(import, row, is_answer ? IMPORT_ANSWERED : IMPORT_FAILED,
           is_answer ? rpc->result : mcpx_text_view(&why));
}

void import_ask_answered(struct import *import, void *tag, const struct mcpx_rpc *rpc)
{
    struct bridge_call *row = bridge_calls_of_tag(&import->asks, tag);
    struct mcpx_text line = {0};

    if (row && row->context.text)
        keep_answer(import, row, rpc);
    if (!row || row->context.text)
        return;
    bridge_add_message(&line, rpc->text, rpc->id, NULL, (struct mcpx_slice){0});
    import_write(import, line, 0);
    bridge_calls_drop(&import->asks, row);
}

void import_ask_failed(struct import *import, void *tag, int code, const char *message)
{
    struct bridge_call *row = bridge_calls_of_tag(&import->asks, tag);

    if (row && code == BRIDGE_TIMED_OUT)
        take_back(import, row, "not answered in time");
    if (row)
        give_up(import, row, code, message);
}

void import_ask_left(struct import *import, struct bridge_who who)
{
    for (struct bridge_call *row = import->asks.first, *next; row; row = next) {
        next = row->next;
        if (row->purpose != IMPORT_OPEN || row->who.topic != who.topic ||
            (who.id.text && !mcpx_slice_equal(row->who.id, who.id)))
            continue;
        import_want_about(import, BRIDGE_FORGET, row->who.topic,
                          mcpx_text_view(&row->sent_in));
        give_up(import, row, BRIDGE_TIMED_OUT, "the participant that was asked has left");
    }
}

void import_ask_cancelled(struct import *import, const struct mcpx_rpc *rpc)
{
    struct mcpx_slice id = mcpx_json_get(rpc->params, "requestId");
    struct bridge_call *row = id.text ? import->asks.first : NULL;

    while (row && (row->context.text || !mcpx_json_same(row->id, id)))
        row = row->next;
    if (!row)
        return;
    import_send_to(import, row->who, "mcp/request", mcpx_text_view(&row->sent_in), rpc->text);
    import_want_about(import, BRIDGE_FORGET, row->who.topic, mcpx_text_view(&row->sent_in));
    bridge_calls_drop(&import->asks, row);
}

void import_ask_over(struct import *import, const struct bridge_call *call)
{
    struct bridge_call *row = call->wants_input ? import->asks.first : NULL, *next;

    for (; row; row = next) {
        next = row->next;
        if (row->about != call->number)
            continue;
        if (row->purpose == IMPORT_OPEN) {
            take_back(import, row, "the call is over");
            import_want_about(import, BRIDGE_FORGET, row->who.topic,
                              mcpx_text_view(&row->sent_in));
        }
        bridge_calls_drop(&import->asks, row);
    }
}

void import_ask_down(struct import *import)
{
    for (const struct bridge_call *row = import->asks.first; row; row = row->next)
        import_want_about(import, BRIDGE_FORGET, row->who.topic,
                          mcpx_text_view(&row->sent_in));
    bridge_calls_fini(&import->asks);
}
