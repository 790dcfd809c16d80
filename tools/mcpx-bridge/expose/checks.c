/*
 * checks.c - admission and completion of tool calls under the client's contract settings, and the
 * end of any call. lib/contract decides. A call is admitted before it is sent or proposed, so
 * participants never approve a call that could not run.
 *
 * A server's answer keeps its bytes on its way to the client. Exceptions: its id, task ids that
 * another server has too, and changes by contract settings. The end of a call ends the questions of
 * a server without other calls. A failed subscription ends the watch of its resource.
 */
#include "tools/mcpx-bridge/expose/rounds.h"

#include "lib/base/digits.h"

/* ---- the tools of a server ---- */

/* Logs doubts about a server's tools, once: its list is read again after each change. */
static void tell_doubts(struct expose *x, struct expose_items *items, struct mcpx_tools *tools)
{
    mx_scoped_text doubts = {0};
    struct mcpx_slice rest;

    mcpx_tools_doubts_add(&doubts, tools);
    rest = mcpx_text_view(&doubts);
    items->is_doubted = rest.len > 0;
    while (rest.len)
        expose_note_text(x, "%s: %s", expose_quoted(items->owner->id), mx_cut_at(&rest, '\n'));
}

static struct mcpx_tools *read_tools(struct expose *x, struct expose_items *items)
{
    struct mcpx_slice owner =
        mcpx_identity_of(items->owner ? items->owner->id : MCPX_SLICE(""));
    struct mcpx_tools *tools = mcpx_tools_new(x->config.terms->shelf, owner);
    mx_scoped_text page =
        mx_formatted("{\"tools\":%s}", items->text.len ? items->text.text : "[]");

    memory_checked(mcpx_tools_add(tools, mcpx_text_view(&page), NULL));
    if (items->owner && !items->is_doubted)
        tell_doubts(x, items, tools);
    return tools;
}

/* False until the first reading of the list is over: the server's tools are unknown. */
static bool is_known(const struct expose_items *items)
{
    return items->text.len ||
           (items->owner->state == EXPOSE_PARTICIPANT_LISTED && !items->is_open);
}

/* The tools of a route's server; without route, none. NULL: not connected, or list not known. */
static struct mcpx_tools *find_tools(struct expose *x, const struct expose_route *route)
{
    struct expose_items *items = route ? &route->owner->lists[EXPOSE_TOOLS] : &x->no_tools;

    if (!x->joined || (route && !is_known(items)))
        return NULL;
    if (!items->tools)
        items->tools = read_tools(x, items);
    return items->tools;
}

bool expose_terms_know(struct expose *x, const struct expose_route *route)
{
    struct mcpx_tools *tools = find_tools(x, route);

    for (size_t i = 0; tools && i < mcpx_tools_count(tools); i++)
        if (mcpx_slice_equal(mcpx_tools_name(tools, i), route->item.own))
            return true;
    return false;
}

/* ---- admission ---- */

/** A client's call, to check that the grants cover its tool. */
struct asker {
    struct expose *x;
    const struct expose_route *route;
};

static bool may_call(void *context, struct mcpx_slice tool, struct mcpx_text *more)
{
    struct asker *asker = context;
    struct expose_item item = {asker->route->item.participant, tool};
    struct expose_kind kind;

    if (expose_find_stage(asker->x, MCPX_SLICE("tools/call"), &item) != EXPOSE_REFUSED)
        return true;
    if (expose_kind_make(&kind, "mcp/request", MCPX_SLICE("tools/call"), tool))
        mcpx_json_add_member(more, "kind", kind.kind.text);
    return false;
}

static void admit(struct expose *x, const struct expose_request *request,
                  const struct expose_route *route, struct mcpx_admission *out)
{
    struct mcpx_calls_options options = {
        .side = MCPX_SIDE_CLIENT, .transport = x->config.answers_only ? "http" : "stdio"};
    struct asker asker = {x, route};
    struct mcpx_call_request call = {
        .payload = request->payload.text ? request->payload : request->rpc->text,
        .fault = request->fault,
        .params = route                   ? mcpx_text_view(&route->params)
                  : request->payload.text ? request->rpc->params
                                          : (struct mcpx_slice){0},
        .tools = request->is_over ? NULL : find_tools(x, route),
        .may = route ? may_call : NULL,
        .context = &asker};

    bridge_checks_admit(&x->checks, &options, &call,
                        route ? mcpx_text_view(&route->owner->hello) : (struct mcpx_slice){0},
                        out);
}

bool expose_terms_admit(struct expose *x, const struct expose_request *request,
                        const struct expose_route *route, struct mcpx_admission *out)
{
    admit(x, request, route, out);
    if (!out->call)
        expose_tell_answer(x, request, out->answer, (struct mcpx_slice){0});
    return out->call != NULL;
}

/* A message without id is a notification and calls no tool. */
static bool is_meant_as_call(struct mcpx_slice message)
{
    bool has_id = false, has_method = false;

    MCPX_JSON_EACH(walk, message) {
        has_id |= mcpx_json_walk_at(&walk, "id");
        has_method |= mcpx_json_walk_at(&walk, "method") &&
                      (mcpx_json_equals(walk.value, MCPX_SLICE("tools/call")) ||
                       mcpx_json_equals(walk.value, MCPX_SLICE("mcp.tool.invoke")));
    }
    return has_id && has_method;
}

bool expose_terms_turn_away(struct expose *x, struct mcpx_slice message,
                            const struct mcpx_fault *fault, bool is_told)
{
    struct mcpx_rpc rpc = {.text = message};
    const struct expose_request request = {.rpc = &rpc, .is_over = true, .fault = fault};
    struct mcpx_admission admission = {0};

    if (!x->config.terms || !is_meant_as_call(message) ||
        (!fault && mcpx_rpc_read(message, &rpc, NULL) != MCPX_OK))
        return false;
    admit(x, &request, NULL, &admission);
    if (is_told && admission.answer.text.text)
        expose_tell_answer(x, &request, admission.answer, (struct mcpx_slice){0});
    return true;
}

/* ---- an answer ---- */

/* The place of a task's id in an answer about the task, or in one that begins it. */
static unsigned ids_of(const struct bridge_call *call, struct mcpx_slice result)
{
    if (bridge_is_any(call->method, "tasks/get", "tasks/cancel", "tasks/update") ||
        expose_ids_is_task(call, result))
        return EXPOSE_ID_OF_TASK;
    return mcpx_json_get(call->params, "task").text ? EXPOSE_ID_IN_TASK : 0;
}

/* True when a client that ignores letter case could read another id, even another server's. */
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

void expose_answer(struct expose *x, struct bridge_call *call, const struct mcpx_rpc *rpc)
{
    bool is_error = rpc->form == MCPX_RPC_ERROR;
    struct mcpx_call_end how = {.type = is_error ? MCPX_CALL_ERROR : MCPX_CALL_RESULT,
                                .text = rpc->error,
                                .is_error = is_error};
    unsigned ids = ids_of(call, rpc->result);
    mx_scoped_text shown = {0};

    if (names_two_tasks(rpc->result, ids)) {
        expose_fail(x, call, MCPX_CAUSE_FAILED,
                    MCPX_SLICE("the server's answer names its task in two ways"), NULL);
        return;
    }
    if (!is_error)
        how.text = expose_ids_show(x, call->who.id, rpc->result, ids, &shown);
    expose_finish(x, call, &how, rpc->text);
}

/* ---- the end ---- */

void expose_end(struct expose *x, struct bridge_call *call)
{
    bridge_checks_abandon(&x->checks, &call->admitted);
    mcpx_text_reset(&call->state); /* its client is not awaited any more */
    expose_ask_over(x, call);
    if (call->purpose == EXPOSE_FOR_LISTEN)
        expose_listen_heard(x, call);
    bridge_calls_drop(&x->calls, call);
}

void expose_tell_kept(struct expose *x, const struct bridge_call *call, struct mcpx_slice id,
                      struct mcpx_slice answer)
{
    struct mcpx_slice result = mcpx_json_get(answer, "result");
    mx_scoped_text task = mx_formatted("{\"taskId\":%q}", &call->sent_in), related = {0};
    struct mcpx_text line = {0};

    if (call->task && mcpx_json_type(result) == MCPX_JSON_OBJECT)
        bridge_add_meta(&related, result, EXPOSE_META "related-task", &task);
    bridge_add_message(&line, answer, id, "result", mcpx_text_view(&related));
    expose_tell(x, line);
}

/* The answer to a permission prompt: any end but our own answer that allows is a denial. */
static struct mcpx_call_answer end_prompt(const struct bridge_call *call,
                                          const struct mcpx_call_end *how,
                                          struct mcpx_text *out)
{
    struct mcpx_slice why = mcpx_json_get(how->text, "message");
    mx_scoped_text decision = {0};
    /* Only our own answer permits: who has our former id may answer, too. */
    bool permits = call->written && how->type == MCPX_CALL_RESULT &&
                   mcpx_json_equals(mcpx_json_get(how->text, "behavior"), MCPX_SLICE("allow"));

    if (permits)
        mx_format(&decision, "{\"behavior\":\"allow\",\"updatedInput\":%s}",
                  mcpx_json_get(call->params, "input"));
    else
        mx_format(&decision, "{\"behavior\":\"deny\",\"message\":%s}",
                  why.text ? why : MCPX_SLICE("\"not permitted\""));
    if (call->by_channel)
        mx_format(out, "{\"request_id\":%s,\"behavior\":\"%s\"}", call->id,
                  permits ? "allow" : "deny");
    else
        mx_format(out, "{\"content\":[{\"type\":\"text\",\"text\":%q}]}", &decision);
    return (struct mcpx_call_answer){false, mcpx_text_view(out)};
}

void expose_finish(struct expose *x, struct bridge_call *call, struct mcpx_call_end *how,
                   struct mcpx_slice message)
{
    struct mcpx_call_answer answer = {how->is_error, how->text};
    mx_scoped_text changed = {0};
    struct mcpx_text line = {0};

    if (call->payload.len) /* it is over, and its client has not asked again yet */
        return;
    if (call->admitted)
        bridge_checks_end(&x->checks, &call->admitted, how, &answer);
    if (bridge_is(call->method, EXPOSE_PERMISSION)) {
        answer = end_prompt(call, how, &changed);
        message = (struct mcpx_slice){0};
    } else if (call->modern && how->type == MCPX_CALL_ERROR) {
        expose_round_visits(x, call, how->text, &answer, &changed);
    }
    if (answer.is_error != how->is_error)
        message = (struct mcpx_slice){0};
    if (call->by_channel)
        bridge_add_notice(&line, "notifications/claude/channel/permission", &changed);
    else
        line = expose_answer_make(expose_request_of(call), answer, message);
    if (call->task && !call->state.len) {
        expose_tell_kept(x, call, call->id, mcpx_text_view(&line));
        mx_format(&call->state, "%q", &call->sent_in); /* it may be asked for again */
    }
    if (!call->state.len)
        expose_tell(x, line);
    else if (expose_round_keep(x, call, line)) {
        expose_ask_over(x, call);
        return;
    }
    expose_end(x, call);
}

void expose_fail(struct expose *x, struct bridge_call *call, enum mcpx_cause cause,
                 struct mcpx_slice message, const struct mcpx_text *more)
{
    struct mcpx_call_end how = {
        .type = MCPX_CALL_FAILED, .cause = cause, .reason = message, .is_error = true};
    mx_scoped_text error =
        mx_formatted("{\"code\":%s,\"message\":%q", bridge_code_of(cause), message);
    mx_scoped_text retry = {0};

    if (call->by_channel)
        expose_note_text(x, "the client alone decides about %s: %s", call->id, message);
    if (call->purpose != EXPOSE_FOR_CLIENT || call->by_channel) {
        expose_end(x, call);
        return;
    }
    if (!more && call->resend_ms > x->now.mono_ms && call->resend_ms < INT64_MAX) {
        mx_format(&retry, "\"retryAfterMs\":%s", call->resend_ms - x->now.mono_ms);
        more = &retry;
    }
    if (more) {
        mx_format(&error, ",\"data\":{%s}", more);
        how.more = mcpx_text_view(more);
    }
    mcpx_text_puts(&error, "}");
    how.text = mcpx_text_view(&error);
    expose_watch(x, call, (struct mcpx_slice){0});
    expose_finish(x, call, &how, (struct mcpx_slice){0});
}
