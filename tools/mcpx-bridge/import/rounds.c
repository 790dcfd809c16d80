/*
 * rounds.c - the ends of questions, and calls that a server of 2026-07-28 answers with questions
 * (input_required). Requesters of older protocols do not know such an answer, and an approval must
 * cover all rounds of its call: for both the bridge asks the questions itself (ask.c), and makes
 * the call again with the answers. Nobody sends the call once more, so an approval covers its
 * rounds and nothing else. Rejected: an approval of each round, because its approver cannot answer
 * for the proposer's client.
 */
#include "tools/mcpx-bridge/import/ask.h"

enum {
    ROUNDS_MAX = 10,
    QUESTIONS_MAX = 16,  /* in one round */
    BYTES_MAX = 1 << 20, /* of questions and requestState */
    PAUSE_MS = 250       /* before a round without questions */
};

/* ---- the end of a call that cannot be made again ---- */

/* A tool that fails says so in its result; takes `message`. */
static void fail(struct import *import, struct bridge_call *call, struct mcpx_text message)
{
    bool is_tool = bridge_is(call->method, "tools/call");
    struct mcpx_rpc rpc = {.form = is_tool ? MCPX_RPC_RESULT : MCPX_RPC_ERROR};
    mx_scoped_text text = message, answer = {0};

    if (is_tool)
        mx_format(&answer,
                  "{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":%q}],"
                  "\"isError\":true}",
                  &text);
    else
        mx_format(&answer, "{\"code\":%s,\"message\":%q}", (int)BRIDGE_INTERNAL, &text);
    rpc.result = rpc.error = mcpx_text_view(&answer);
    import_pass_answer(import, call, &rpc);
}

static void fail_for(struct import *import, struct bridge_call *call, struct mcpx_slice key,
                     struct mcpx_slice why)
{
    fail(import, call, mx_formatted("the server asks for the input %s: %s", key, why));
}

/* ---- a round ---- */

/* Asks one question; a URL needs an id before 2026-07-28. Returns why it cannot; NULL: it does. */
static const char *ask(struct import *import, struct bridge_call *call, struct mcpx_slice key,
                       struct mcpx_slice request)
{
    struct mcpx_slice params = mcpx_json_get(request, "params");
    mx_scoped_text id = mx_formatted("%s", import->pool->last_ask + 1);
    mx_scoped_text url_id = mx_formatted("%s-%s", call->came_in, &id), named = {0}, text = {0};
    struct mcpx_rpc rpc;

    if (mcpx_json_equals(mcpx_json_get(params, "mode"), MCPX_SLICE("url")) &&
        !mcpx_json_get(params, "elicitationId").text)
        bridge_add_with_string(&named, params, "elicitationId", mcpx_text_view(&url_id));
    if (mcpx_json_type(request) == MCPX_JSON_OBJECT)
        bridge_add_message(&text, request, mcpx_text_view(&id), "params",
                           mcpx_text_view(&named));
    if (!text.len || mcpx_rpc_read(mcpx_text_view(&text), &rpc, NULL) != MCPX_OK ||
        !bridge_is_any(rpc.method, "elicitation/create", "sampling/createMessage",
                       "roots/list"))
        return "it is not a request that a server may make";
    return import_ask_about(import, call, &rpc, key);
}

/* Why a round cannot begin; NULL: it can. `more`: bytes that are kept besides the questions. */
static const char *fault_of_round(struct mcpx_slice questions, size_t more)
{
    if (questions.text && mcpx_json_type(questions) != MCPX_JSON_OBJECT)
        return "the server's inputRequests are not an object";
    if (mcpx_json_length(questions) > QUESTIONS_MAX)
        return "the server asks more than 16 questions at once";
    return questions.len + more > BYTES_MAX ? "the server asks for input with more than 1 MiB"
                                            : NULL;
}

/* Keeps the call with the server's state. Returns why it cannot; NULL: it does. */
static const char *keep(struct import *import, struct bridge_call *call,
                        struct mcpx_slice questions, struct mcpx_slice state)
{
    struct mcpx_json_change changes[] = {{"requestState", {0}}, {"inputResponses", {0}}};
    struct mcpx_slice was = mcpx_text_view(&call->payload);
    const char *why = fault_of_round(questions, state.len);
    mx_scoped_text params = {0}, again = {0};

    if (why)
        return why;
    if (mcpx_json_type(state) == MCPX_JSON_STRING)
        changes[0].value = state;
    else if (!questions.text)
        return "the server asks for input, but neither has questions nor a requestState";
    if (was.len) {
        mcpx_json_add_changed(&params, mcpx_json_get(was, "params"), changes, 2);
        bridge_add_with(&again, was, "params", &params);
        import_keep(import, call, mcpx_text_view(&again));
    }
    return call->payload.len
               ? NULL
               : "the server asks for input, and the bridge has no room to keep the call";
}

/* Begins a round; or ends the call, if `why` is not NULL. */
static void begin(struct import *import, struct bridge_call *call, struct mcpx_slice questions,
                  const char *why)
{
    if (!why && call->rounds++ == ROUNDS_MAX)
        why = "the server asks for input again after 10 rounds";
    if (why) {
        import_refuse(import, call, MCPX_CAUSE_FAILED, why);
        return;
    }
    call->wants_input = true;
    MCPX_JSON_EACH(walk, questions) {
        struct mcpx_slice quoted = {walk.name.text - 1, walk.name.len + 2};

        why = ask(import, call, quoted, walk.value);
        if (why) {
            fail_for(import, call, quoted, mcpx_slice_of(why));
            return;
        }
    }
    if (mcpx_json_length(questions) == 0)
        bridge_calls_defer(&import->calls, call, import->pool->now_ms + PAUSE_MS);
    else
        import_rounds_due(import, call);
}

/* True for a question of the call's task that was answered: `sent_in` has them. */
static bool was_answered(const struct bridge_call *call, struct mcpx_slice name)
{
    mx_scoped_text key = mx_formatted("\"%s\",", name);

    return call->sent_in.len && strstr(call->sent_in.text, key.text);
}

void import_rounds_of_task(struct import *import, struct bridge_call *call,
                           struct mcpx_slice questions)
{
    const char *why = fault_of_round(questions, call->sent_in.len);
    mx_scoped_text fresh = {0};

    MCPX_JSON_EACH_WHILE(!why, walk, questions)
        if (!was_answered(call, walk.name))
            mx_format(&fresh, "%s\"%s\":%s", fresh.len ? "," : "{", walk.name, walk.value);
        else if (call->is_again)
            why = "the server does not take the answers";
    if (!why && !fresh.len) { /* the server has the answers, or will soon */
        import_task_update(import, call, &fresh);
        return;
    }
    mcpx_text_puts(&fresh, "}");
    begin(import, call, mcpx_text_view(&fresh), why);
}

bool import_rounds_asked(struct import *import, struct bridge_call *call,
                         const struct mcpx_rpc *rpc)
{
    struct mcpx_slice questions = mcpx_json_get(rpc->result, "inputRequests");
    struct mcpx_slice missing =
        mcpx_json_get(mcpx_json_get(rpc->error, "data"), "requiredCapabilities");

    if (!import_asks_itself(import, call))
        return false;
    if (import_is_error(rpc, "-32021") && bridge_is(call->method, "tools/call")) {
        fail(import, call,
             mx_formatted("the client cannot do what the server needs: %s",
                          missing.text ? missing : rpc->error));
        return true;
    }
    if (!mcpx_json_equals(mcpx_json_get(rpc->result, "resultType"),
                          MCPX_SLICE("input_required")))
        return false;
    begin(import, call, questions,
          keep(import, call, questions, mcpx_json_get(rpc->result, "requestState")));
    return true;
}

/* Makes the call again, with the answers; or gives them to its task. */
static void go_on(struct import *import, struct bridge_call *call)
{
    bool is_task = call->task == IMPORT_HAS_TASK;
    struct mcpx_slice was = mcpx_text_view(&call->payload);
    mx_scoped_text answers = {0}, params = {0}, again = {0};

    for (const struct bridge_call *row = import->asks.first; row; row = row->next) {
        if (row->about != call->number)
            continue;
        mx_format(&answers, "%s%s:%s", answers.len ? "," : "{", row->context, &row->payload);
        if (is_task)
            mx_format(&call->sent_in, "%s,", row->context);
    }
    mcpx_text_puts(&answers, answers.len ? "}" : "");
    import_ask_over(import, call);
    call->was_asked = false;
    if (is_task) {
        import_task_update(import, call, &answers);
        return;
    }
    bridge_add_with(&params, mcpx_json_get(was, "params"), "inputResponses", &answers);
    bridge_add_with(&again, was, "params", &params);
    call->wants_input = false;
    bridge_calls_renumber(&import->calls, call);
    import_write_request(import, call, mcpx_text_view(&again));
}

void import_rounds_due(struct import *import, struct bridge_call *call)
{
    bridge_calls_defer(&import->calls, call,
                       import->pool->now_ms + import->config->request_ms);
    if (!import_ask_is_open(import, call))
        go_on(import, call);
}

/* ---- the end of a question ---- */

/* The server gets the answer; or a round goes on with it, or ends without. The question is over. */
static void finish(struct import *import, struct bridge_call *row, const struct mcpx_rpc *rpc)
{
    struct bridge_call *call = bridge_calls_find(&import->calls, row->about);
    struct mcpx_text line = {0};
    mx_scoped_text why = {0};

    if (row->written)
        return;
    if (!row->context.text) {
        bridge_add_message(&line, rpc->text, rpc->id, NULL, (struct mcpx_slice){0});
        import_write(import, line, 0);
        bridge_calls_drop(&import->asks, row);
        return;
    }
    row->written = true;
    if (!bridge_may_have(row->holder->payload_bytes + rpc->text.len,
                         import->asks.payload_bytes + rpc->text.len,
                         import->config->wait_bytes))
        mcpx_text_puts(&why, "the answers are too long");
    else if (rpc->form == MCPX_RPC_RESULT) {
        bridge_calls_hold(&import->asks, row, rpc->result);
        import_rounds_due(import, call);
        return;
    } else if (!mcpx_json_add_unescaped(&why, mcpx_json_get(rpc->error, "message")))
        mcpx_text_slice(&why, rpc->error);
    fail_for(import, call, row->context, mcpx_text_view(&why));
}

static void give_up(struct import *import, struct bridge_call *row, int code,
                    const char *message)
{
    mx_scoped_text text = {0};
    struct mcpx_rpc rpc = {.form = MCPX_RPC_ERROR, .id = row->id};

    bridge_add_error(&text, row->id, code, mcpx_slice_of(message), NULL);
    rpc.text = mcpx_text_view(&text);
    rpc.error = mcpx_json_get(rpc.text, "error");
    finish(import, row, &rpc);
}

void import_asked(struct import *import, const struct bridge_action *sent,
                  const struct bridge_outcome *outcome)
{
    struct bridge_call *row = bridge_calls_of_tag(&import->asks, sent->draft.tag);
    struct bridge_call over = {.who = {sent->topic, sent->draft.to[0]},
                               .id = mcpx_json_get(sent->draft.payload, "id")};
    const char *why = mcpx_strerror(outcome->err);

    if (!outcome->err)
        mcpx_text_slice(row ? &row->sent_in : &over.sent_in, outcome->id);
    if (!row) {
        import_ask_forget(import, &over, "no answer is wanted any more");
        mcpx_text_fini(&over.sent_in);
    } else if (outcome->err) {
        import_say(import, "%s cannot be passed to %s: %s", row->method, row->who.id, why);
        give_up(import, row, BRIDGE_NO_METHOD, why);
    }
}

void import_ask_answered(struct import *import, void *tag, const struct mcpx_rpc *rpc)
{
    struct bridge_call *row = bridge_calls_of_tag(&import->asks, tag);

    if (row)
        finish(import, row, rpc);
}

void import_ask_failed(struct import *import, void *tag, int code, const char *message)
{
    struct bridge_call *row = bridge_calls_of_tag(&import->asks, tag);

    if (row && code == BRIDGE_TIMED_OUT)
        import_ask_forget(import, row, "not answered in time");
    if (row)
        give_up(import, row, code, message);
}

void import_ask_left(struct import *import, struct bridge_who who)
{
    struct bridge_call *row = import->asks.first;

    while (row) {
        if (row->written || row->who.topic != who.topic ||
            (who.id.text && !mcpx_slice_equal(row->who.id, who.id))) {
            row = row->next;
            continue;
        }
        import_ask_forget(import, row, NULL);
        give_up(import, row, BRIDGE_TIMED_OUT, "the participant that was asked has left");
        row = import->asks.first; /* a call that ends takes its other questions with it */
    }
}
