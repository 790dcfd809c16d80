/*
 * rounds.c - calls that a server of 2026-07-28 answers with questions (input_required). Requesters
 * of older protocols do not know such an answer, and an approval must cover all rounds of its call:
 * for both the bridge asks the questions itself (ask.c), and makes the call again with the answers.
 * Nobody sends the call once more, so an approval covers its rounds and nothing else. Rejected:
 * an approval of each round, because its approver cannot answer for the proposer's client.
 */
#include "tools/mcpx-bridge/import/ask.h"
#include "tools/mcpx-bridge/import/tasks.h"

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
    mx_scoped_text text = message, answer = {0};
    struct mcpx_rpc rpc;

    if (bridge_is(call->method, "tools/call"))
        mx_format(&answer,
                  "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"resultType\":\"complete\","
                  "\"content\":[{\"type\":\"text\",\"text\":%q}],\"isError\":true}}",
                  &text);
    else
        bridge_add_error(&answer, MCPX_SLICE("0"), BRIDGE_INTERNAL, mcpx_text_view(&text),
                         NULL);
    if (mcpx_rpc_read(mcpx_text_view(&answer), &rpc, NULL) == MCPX_OK)
        import_pass_answer(import, call, &rpc);
}

static void fail_for(struct import *import, struct bridge_call *call, struct mcpx_slice key,
                     struct mcpx_slice why)
{
    fail(import, call, mx_formatted("the server asks for the input %s: %s", key, why));
}

/* ---- a round ---- */

/* Appends a question as a request. A URL needs an id before 2026-07-28. */
static void add_question(struct mcpx_text *out, struct mcpx_slice request,
                         const struct bridge_call *call, int64_t number)
{
    struct mcpx_slice params = mcpx_json_get(request, "params");
    mx_scoped_text id = mx_formatted("%s", number), named = {0}, url_id = {0};

    if (mcpx_json_equals(mcpx_json_get(params, "mode"), MCPX_SLICE("url")) &&
        !mcpx_json_get(params, "elicitationId").text) {
        mx_format(&url_id, "%s-%s", call->came_in, number);
        bridge_add_with_string(&named, params, "elicitationId", mcpx_text_view(&url_id));
    }
    bridge_add_message(out, request, mcpx_text_view(&id), "params", mcpx_text_view(&named));
}

/* Asks one question. Returns why it cannot; NULL: it is asked. */
static const char *ask(struct import *import, struct bridge_call *call, struct mcpx_slice key,
                       struct mcpx_slice request)
{
    mx_scoped_text text = {0}, roots = {0};
    struct bridge_call *question;
    struct mcpx_rpc rpc;
    const char *fault;
    bool is_of_roots;

    if (mcpx_json_type(request) == MCPX_JSON_OBJECT)
        add_question(&text, request, call, import->pool->last_ask + 1);
    if (!text.len || mcpx_rpc_read(mcpx_text_view(&text), &rpc, NULL) != MCPX_OK ||
        !bridge_is_any(rpc.method, "elicitation/create", "sampling/createMessage",
                       "roots/list"))
        return "it is not a request that a server may make";
    is_of_roots = bridge_is(rpc.method, "roots/list");
    if (is_of_roots && !import->config->roots)
        return IMPORT_NO_ROOTS;
    fault = import_ask_fault(import, call, &rpc);
    if (fault)
        return fault;
    question = import_ask_add(import, call, &rpc, key);
    if (is_of_roots) {
        mx_format(&roots, "{\"roots\":%s}", import->config->roots);
        question->purpose = IMPORT_ANSWERED;
        bridge_calls_hold(&import->asks, question, mcpx_text_view(&roots));
    } else {
        import_ask_send(import, call, question, rpc.text);
    }
    return NULL;
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

/* Begins a round, or ends the call. */
static void begin(struct import *import, struct bridge_call *call, struct mcpx_slice questions,
                  struct mcpx_now now)
{
    bool is_empty = mcpx_json_length(questions) == 0;

    if (call->rounds++ == ROUNDS_MAX) {
        import_refuse(import, call, MCPX_CAUSE_FAILED,
                      "the server asks for input again after 10 rounds");
        return;
    }
    call->wants_input = true;
    bridge_calls_defer(&import->calls, call,
                       now.mono_ms + (is_empty ? PAUSE_MS : import->config->request_ms));
    MCPX_JSON_EACH(walk, questions) {
        struct mcpx_slice quoted = {walk.name.text - 1, walk.name.len + 2};
        const char *why = ask(import, call, quoted, walk.value);

        if (why) {
            fail_for(import, call, quoted, mcpx_slice_of(why));
            return;
        }
    }
    if (!is_empty && !import_ask_is_open(import, call))
        bridge_calls_defer(&import->calls, call, 0);
}

/* True for a question of the call's task that was answered: `sent_in` has them. */
static bool was_answered(const struct bridge_call *call, struct mcpx_slice name)
{
    mx_scoped_text key = mx_formatted("\"%s\",", name);

    return call->sent_in.len && strstr(call->sent_in.text, key.text);
}

void import_rounds_of_task(struct import *import, struct bridge_call *call,
                           struct mcpx_slice questions, struct mcpx_now now)
{
    const char *why = fault_of_round(questions, call->sent_in.len);
    mx_scoped_text fresh = {0};

    MCPX_JSON_EACH_WHILE(!why, walk, questions)
        if (!was_answered(call, walk.name))
            mx_format(&fresh, "%s\"%s\":%s", fresh.len ? "," : "{", walk.name, walk.value);
    if (why) {
        import_refuse(import, call, MCPX_CAUSE_FAILED, why);
    } else if (fresh.len) {
        mcpx_text_puts(&fresh, "}");
        begin(import, call, mcpx_text_view(&fresh), now);
    } else { /* the server has the answers, or will soon */
        import_task_update(import, call, &fresh, now);
    }
}

bool import_rounds_asked(struct import *import, struct bridge_call *call,
                         const struct mcpx_rpc *rpc, struct mcpx_now now)
{
    struct mcpx_slice questions = mcpx_json_get(rpc->result, "inputRequests");
    struct mcpx_slice missing =
        mcpx_json_get(mcpx_json_get(rpc->error, "data"), "requiredCapabilities");
    const char *why;

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
    why = keep(import, call, questions, mcpx_json_get(rpc->result, "requestState"));
    if (why)
        import_refuse(import, call, MCPX_CAUSE_FAILED, why);
    else
        begin(import, call, questions, now);
    return true;
}

/* Makes the call again, with the answers; or gives them to its task. */
static void go_on(struct import *import, struct bridge_call *call, struct mcpx_now now)
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
    if (is_task) {
        import_task_update(import, call, &answers, now);
        return;
    }
    bridge_add_with(&params, mcpx_json_get(was, "params"), "inputResponses", &answers);
    bridge_add_with(&again, was, "params", &params);
    call->wants_input = false;
    bridge_calls_renumber(&import->calls, call);
    import_write_request(import, call, mcpx_text_view(&again));
}

void import_rounds_due(struct import *import, struct bridge_call *call, struct mcpx_now now)
{
    const struct bridge_call *row = import->asks.first;

    while (row && (row->about != call->number || row->purpose != IMPORT_FAILED))
        row = row->next;
    if (row) {
        fail_for(import, call, row->context, mcpx_text_view(&row->payload));
        return;
    }
    bridge_calls_defer(&import->calls, call, now.mono_ms + import->config->request_ms);
    if (!import_ask_is_open(import, call))
        go_on(import, call, now);
}
