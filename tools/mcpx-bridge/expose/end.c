/*
 * end.c - the end of a call. A server's answer on its way to the client keeps its bytes, but for
 * its id, for ids of tasks that another server has too, and for what terms make of it. Whoever ends
 * a call for the client ends what hangs on it: the questions of its server, and the resource that
 * it was to watch.
 */
#include "tools/mcpx-bridge/bridge.h"
#include "tools/mcpx-bridge/expose/request.h"

/* ---- an answer ---- */

/* A task's own answers name it, and so does the answer that begins it. */
static unsigned ids_of(const struct bridge_call *call)
{
    struct mcpx_slice method = call->method;

    if (method.len > 6 && memcmp(method.text, "tasks/", 6) == 0 &&
        !mcpx_slice_equal(method, MCPX_SLICE("tasks/result")))
        return EXPOSE_ID_OF_TASK;
    return mcpx_json_get(call->params, "task").text ? EXPOSE_ID_IN_TASK : 0;
}

/* A client that ignores letter case would take another id for the task's, one of another server. */
static bool names_two_tasks(struct mcpx_slice result, unsigned where)
{
    struct mcpx_slice task =
        where & EXPOSE_ID_IN_TASK ? mcpx_json_get(result, "task") : result;

    if (where & EXPOSE_ID_IN_TASK &&
        mcpx_json_count_like(result, "task") != (task.text ? 1 : 0))
        return true;
    return where && mcpx_json_count_like(task, "taskId") !=
                        (mcpx_json_get(task, "taskId").text ? 1 : 0);
}

/*
 * The answer through the second door. `shown` is the server's result or error where that was
 * changed, and becomes what the terms make of it; empty: it stays. Returns true for an error.
 */
static bool pass_terms(struct expose *x, struct bridge_call *call, const struct mcpx_rpc *rpc,
                       struct mcpx_text *shown)
{
    bool is_error = rpc->form == MCPX_RPC_ERROR;
    struct mcpx_call_end how = {.type = is_error ? MCPX_CALL_ERROR : MCPX_CALL_RESULT,
                                .text = is_error ? rpc->error : rpc->result};
    struct mcpx_call_answer answer;

    if (!call->admitted)
        return is_error;
    if (shown->len)
        how.text = mcpx_text_view(shown);
    bridge_doors_end(&x->doors, &call->admitted, &how, &answer);
    if (answer.text.text != how.text.text) {
        mcpx_text_reset(shown);
        mcpx_text_slice(shown, answer.text);
    }
    return answer.is_error;
}

void expose_answer(struct expose *x, struct bridge_call *call, const struct mcpx_rpc *rpc)
{
    struct mcpx_text out = {0}, shown = {0}, modern = {0};
    bool is_error;

    if (names_two_tasks(rpc->result, ids_of(call))) {
        expose_fail(x, call, MCPX_CAUSE_FAILED,
                    MCPX_SLICE("the server's answer names its task in two ways"), NULL);
        return;
    }
    expose_ids_show(x, call->who.id, rpc->result, ids_of(call), &shown);
    is_error = pass_terms(x, call, rpc, &shown);
    if (call->modern && !is_error) {
        struct mcpx_slice result = shown.len ? mcpx_text_view(&shown) : rpc->result;

        if (mcpx_json_type(result) == MCPX_JSON_OBJECT)
            expose_tell_add_modern(&modern, call->method, result);
    }
    if (is_error == (rpc->form == MCPX_RPC_ERROR))
        bridge_add_message(&out, rpc->text, call->id, is_error ? "error" : "result",
                           modern.len ? &modern : &shown);
    else
        mx_format(&out, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"%s\":%s}", call->id,
                  is_error ? "error" : "result", modern.len ? &modern : &shown);
    expose_tell(x, out);
    expose_end(x, call);
    mcpx_text_fini(&shown);
    mcpx_text_fini(&modern);
}

/* ---- the end ---- */

void expose_end(struct expose *x, struct bridge_call *call)
{
    bridge_doors_abandon(&x->doors, &call->admitted);
    expose_ask_over(x, call);
    bridge_calls_drop(&x->calls, call);
}

void expose_fail(struct expose *x, struct bridge_call *call, enum mcpx_cause cause,
                 struct mcpx_slice message, const struct mcpx_text *more)
{
    struct mcpx_text data = {0};

    if (call->purpose == EXPOSE_FOR_CLIENT) {
        if (more)
            mx_format(&data, "{%s}", more);
        if (call->admitted)
            expose_terms_fail(x, call, cause, message, more);
        else
            expose_tell_error_data(x, call->id, bridge_code_of(cause), message, &data);
        expose_unwatch(x, call);
        mcpx_text_fini(&data);
    }
    expose_end(x, call);
}
