/*
 * ask.c - a server's question goes to the participant whose call it works on. A pipe does not name
 * that call, so the question is refused while several participants have one under way. Rejected:
 * guessing, because the newest caller could approve another participant's call. The question goes
 * out as the server wrote it and the answer comes back as the participant wrote it; the session has
 * made sure that it carries the same id. Roots are the operator's: each participant that is asked
 * for them could widen what the server may touch.
 */
#include "tools/mcpx-bridge/import/ask.h"

/* Most questions under way at one time. */
enum { ASKS_MAX = 256 };

#define NO_ROOTS "there are no roots; the bridge's operator can name some with --root"

/* Answers a request of the server with an error; code 0: `text` is the result. */
static void answer(struct import *import, struct mcpx_slice rpc_id, int code, const char *text)
{
    struct mcpx_text line = {0};

    if (code)
        bridge_add_error(&line, rpc_id, code, mcpx_slice_of(text), NULL);
    else
        bridge_add_result(&line, rpc_id, mcpx_slice_of(text));
    import_write(import, line, 0);
}

bool import_ask_is_open(const struct import *import, const struct bridge_call *call)
{
    const struct bridge_call *row = import->asks.first;

    while (row && (row->about != call->number || row->written))
        row = row->next;
    return row != NULL;
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
            call->list == IMPORT_PIN_ASKED || !import_may_ask(call->method))
            continue;
        if (newest && (!bridge_who_is(import_asked_of(newest), import_asked_of(call)) ||
                       !(bridge_who_is(newest->who, call->who) ||
                         mcpx_slice_equal(newest->fulfils, call->fulfils))))
            return NULL;
        newest = newest ? newest : call;
        if (any)
            break;
    }
    return newest;
}

static bool asks_for_roots(const struct import *import)
{
    return mcpx_json_get(mcpx_slice_of(import->config->capabilities), "roots").text;
}

/*
 * Who proposed a call is asked while it is there and can answer, and about the first call that
 * fulfils the proposal: an approver may fulfil it often. One silent participant must not block
 * questions to the others.
 */
static const char *fault_of(const struct import *import, const struct bridge_call *call,
                            const struct mcpx_rpc *rpc)
{
    const struct import_view *view = &import->config->view;
    struct bridge_who who = import_asked_of(call);
    const struct bridge_holder *holder = bridge_calls_holder(&import->asks, who);
    const struct bridge_call *other = call->proposer.text ? call->previous : NULL;
    mx_scoped_text text = mx_formatted("mcp/response:%s", rpc->method);
    struct mcpx_kind kind;

    if (mcpx_json_type(rpc->params) == MCPX_JSON_ARRAY)
        return "the question's params are not an object";
    if (!bridge_may_have(holder ? holder->calls + 1 : 1, import->asks.count + 1, ASKS_MAX))
        return "the participant has too many questions under way";
    if (bridge_is(rpc->method, "roots/list") && import->config->roots)
        return NULL;
    if (bridge_is(rpc->method, "roots/list") && !asks_for_roots(import))
        return NO_ROOTS;
    if (call->proposer.text && view->could &&
        mcpx_kind_parse(mcpx_text_view(&text), &kind, NULL) == MCPX_OK &&
        !view->could(view->user, who.topic, who.id, &kind))
        return "the participant that proposed the call is not there, or may not answer";
    while (other && !(mcpx_slice_equal(other->fulfils, call->fulfils) &&
                      bridge_who_is(import_asked_of(other), who)))
        other = other->previous;
    return other ? "the proposal is fulfilled by another call already" : NULL;
}

const char *import_ask_about(struct import *import, struct bridge_call *call,
                             const struct mcpx_rpc *rpc, struct mcpx_slice key)
{
    struct bridge_call question = {.number = import->pool->last_ask + 1,
                                   .who = import_asked_of(call),
                                   .id = rpc->id,
                                   .method = rpc->method,
                                   .context = key,
                                   .about = call->number};
    struct mcpx_draft draft = {.type = "mcp/request",
                               .to = &question.who.id,
                               .to_count = 1,
                               .correlation_id = call->came_in,
                               .payload = rpc->text,
                               .timeout_ms = import->config->question_ms,
                               .tag = (void *)(uintptr_t)question.number};
    const char *fault = fault_of(import, call, rpc);
    struct bridge_call *row;

    if (fault)
        return fault;
    import->pool->last_ask++;
    row = bridge_calls_add(&import->asks, &question);
    if (bridge_is(rpc->method, "roots/list") && import->config->roots) {
        row->written = true;
        bridge_calls_hold(&import->asks, row, mcpx_slice_of(import->config->roots));
        return NULL;
    }
    call->was_asked = true;
    import_want_send(import, call->who.topic, &draft);
    return NULL;
}

void import_ask(struct import *import, const struct mcpx_rpc *rpc)
{
    struct bridge_call *call = NULL;
    bool is_of_task = import_task_call(import, rpc->params, &call);
    bool is_of_roots = bridge_is(rpc->method, "roots/list");
    const char *fault;

    if (!is_of_task) /* of the task of one participant another is not asked */
        call = find_call(&import->calls, import->config->ask_newest);
    if (bridge_is(rpc->method, "ping"))
        answer(import, rpc->id, 0, "{}");
    else if (is_of_roots && import->config->roots)
        answer(import, rpc->id, 0, import->config->roots);
    else if (is_of_roots && !asks_for_roots(import))
        answer(import, rpc->id, BRIDGE_NO_METHOD, NO_ROOTS);
    else if (!call)
        answer(import, rpc->id, BRIDGE_NO_METHOD,
               is_of_task ? "no participant waits for the result of the question's task"
               : find_call(&import->calls, true)
                   ? "the bridge cannot tell which call this question is about: several "
                     "participants have calls under way; --isolate gives each participant a "
                     "server"
                   : "no participant has a call under way that this could be about");
    else if ((fault = import_ask_about(import, call, rpc, (struct mcpx_slice){0})) != NULL)
        answer(import, rpc->id, BRIDGE_UNAVAILABLE, fault);
}

/* ---- no answer is wanted any more ---- */

void import_ask_forget(struct import *import, const struct bridge_call *row,
                       const char *reason)
{
    struct mcpx_slice question = mcpx_text_view(&row->sent_in);
    mx_scoped_text notice = {0};

    if (!question.len)
        return; /* it waits for its turn: import_asked */
    if (reason) {
        mx_format(&notice,
                  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
                  "{\"requestId\":%s,\"reason\":%q}}",
                  row->id, reason);
        import_send_to(import, row->who, "mcp/request", question, text_whole(&notice));
    }
    import_want_about(import, BRIDGE_FORGET, row->who.topic, question);
}

void import_ask_cancelled(struct import *import, const struct mcpx_rpc *rpc)
{
    struct mcpx_slice id = mcpx_json_get(rpc->params, "requestId");
    struct bridge_call *row = id.text ? import->asks.first : NULL;

    while (row && (row->context.text || !mcpx_json_same(row->id, id)))
        row = row->next;
    if (!row)
        return;
    if (row->sent_in.len)
        import_send_to(import, row->who, "mcp/request", mcpx_text_view(&row->sent_in),
                       rpc->text);
    import_ask_forget(import, row, NULL);
    bridge_calls_drop(&import->asks, row);
}

void import_ask_over(struct import *import, const struct bridge_call *call)
{
    struct bridge_call *row = call->wants_input ? import->asks.first : NULL, *next;

    for (; row; row = next) {
        next = row->next;
        if (row->about != call->number)
            continue;
        if (!row->written)
            import_ask_forget(import, row, "the call is over");
        bridge_calls_drop(&import->asks, row);
    }
}

void import_ask_down(struct import *import)
{
    for (const struct bridge_call *row = import->asks.first; row; row = row->next)
        import_ask_forget(import, row, NULL);
    bridge_calls_fini(&import->asks);
}
