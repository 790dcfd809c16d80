/*
 * ask.c - a server's question goes to the participant whose call it works on. A pipe does not name
 * that call, so the question is refused while several participants have one under way. Rejected:
 * guessing, because the newest caller could approve another participant's call. The question goes
 * out as the server wrote it and the answer comes back as the participant wrote it; the session has
 * made sure that it carries the same id. Roots are never asked in the topic: any participant could
 * widen them.
 */
#include "tools/mcpx-bridge/import/state.h"

/* Most questions under way at one time. */
enum { ASKS_MAX = 256 };

static void answer_error(struct import *import, struct mcpx_slice rpc_id, int code,
                         const char *message)
{
    struct mcpx_text line = {0};

    bridge_add_error(&line, rpc_id, code, mcpx_slice_of(message), NULL);
    import_write(import, line, 0);
}

/* Answers the question with an error, and drops it. */
static void give_up(struct import *import, struct bridge_call *row, int code,
                    const char *message)
{
    answer_error(import, row->id, code, message);
    bridge_calls_drop(&import->asks, row);
}

/* One silent participant must not block questions to the others. */
static bool has_room(const struct bridge_calls *asks, struct bridge_who who)
{
    const struct bridge_holder *holder = bridge_calls_holder(asks, who);

    return bridge_may_have(holder ? holder->calls + 1 : 1, asks->count + 1, ASKS_MAX);
}

static bool may_ask(struct mcpx_slice method)
{
    return bridge_is_any(method, "tools/call", "prompts/get", "resources/read");
}

/*
 * The newest call the server has of those that MCP lets a server ask about. NULL when there is
 * none, or when several participants have one, unless they trust each other: `any`.
 */
static struct bridge_call *find_call(const struct bridge_calls *calls, bool any)
{
    struct bridge_call *newest = NULL;

    for (struct bridge_call *call = calls->last; call; call = call->previous) {
        if (call->purpose != IMPORT_PARTICIPANT || !call->written || !may_ask(call->method))
            continue;
        if (any)
            return call;
        if (newest && !bridge_who_is(newest->who, call->who))
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
        answer_error(import, rpc_id, BRIDGE_NO_METHOD,
                     "there are no roots; the bridge's operator can name some with --root");
}

/* Sends the question to the call's participant, under the next number of all servers. */
static void put(struct import *import, struct bridge_call *call, const struct mcpx_rpc *rpc)
{
    struct bridge_call question = {.number = ++import->pool->last_ask,
                                   .who = call->who,
                                   .id = rpc->id,
                                   .method = rpc->method,
                                   .about = call->number};
    struct mcpx_draft draft = {.type = "mcp/request",
                               .to = &call->who.id,
                               .to_count = 1,
                               .correlation_id = call->came_in,
                               .payload = rpc->text,
                               .timeout_ms = import->config->question_ms,
                               .tag = (void *)(uintptr_t)question.number};

    bridge_calls_add(&import->asks, &question);
    call->was_asked = true;
    import_want_send(import, call->who.topic, &draft);
}

void import_ask(struct import *import, const struct mcpx_rpc *rpc)
{
    struct bridge_call *call = find_call(&import->calls, import->config->ask_newest);

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
    else if (!has_room(&import->asks, call->who))
        answer_error(import, rpc->id, BRIDGE_UNAVAILABLE,
                     "the participant has too many questions under way");
    else
        put(import, call, rpc);
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

/* Tells the participant that the question was cancelled. */
static void take_back(struct import *import, const struct bridge_call *row)
{
    mx_scoped_text notice =
        mx_formatted("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
                     "{\"requestId\":%s,\"reason\":\"not answered in time\"}}",
                     row->id);

    import_send_to(import, row->who, "mcp/request", mcpx_text_view(&row->sent_in),
                   text_whole(&notice));
}

void import_ask_answered(struct import *import, void *tag, const struct mcpx_rpc *rpc)
{
    struct bridge_call *row = bridge_calls_of_tag(&import->asks, tag);
    struct mcpx_text line = {0};

    if (!row)
        return;
    bridge_add_message(&line, rpc->text, rpc->id, NULL, (struct mcpx_slice){0});
    import_write(import, line, 0);
    bridge_calls_drop(&import->asks, row);
}

void import_ask_failed(struct import *import, void *tag, int code, const char *message)
{
    struct bridge_call *row = bridge_calls_of_tag(&import->asks, tag);

    if (row && code == BRIDGE_TIMED_OUT)
        take_back(import, row);
    if (row)
        give_up(import, row, code, message);
}

void import_ask_left(struct import *import, struct bridge_who who)
{
    for (struct bridge_call *row = import->asks.first, *next; row; row = next) {
        next = row->next;
        if (row->who.topic != who.topic ||
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

    while (row && !mcpx_json_same(row->id, id))
        row = row->next;
    if (!row)
        return;
    import_send_to(import, row->who, "mcp/request", mcpx_text_view(&row->sent_in), rpc->text);
    import_want_about(import, BRIDGE_FORGET, row->who.topic, mcpx_text_view(&row->sent_in));
    bridge_calls_drop(&import->asks, row);
}

void import_ask_down(struct import *import)
{
    for (const struct bridge_call *row = import->asks.first; row; row = row->next)
        import_want_about(import, BRIDGE_FORGET, row->who.topic,
                          mcpx_text_view(&row->sent_in));
    bridge_calls_fini(&import->asks);
}
