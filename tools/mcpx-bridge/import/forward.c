/*
 * forward.c - requests of participants on their way to the server, and their ends. Some are
 * answered without it, some wait: until it is ready, or until its tools are known. Contract
 * settings check a tool call at admission and completion: lib/contract decides; this file reports
 * the call's end and writes the answer's message. A call that never reached the server is admitted
 * before it ends, so each call leaves a record.
 */
#include "tools/mcpx-bridge/import/ask.h"

#include "tools/common/proposal.h"

enum { WAIT_MS = 30000 }; /* how long a request waits for a server that is not ready */

/* ---- admission ---- */

/* The bytes of a message around its result, besides its id. */
#define AROUND sizeof("{\"jsonrpc\":\"2.0\",\"id\":,\"result\":}")

/* True when contract settings apply to the method: it is tools/call, and settings are given. */
static bool is_under_terms(const struct import *import, struct mcpx_slice method)
{
    return bridge_checks_apply_to(&import->pool->checks, method);
}

/** The caller, to check that an alias gives no more grants than its tool. */
struct caller {
    const struct import *import;
    struct bridge_who who;
};

static bool may_call(void *context, struct mcpx_slice tool, struct mcpx_text *more)
{
    const struct caller *caller = context;
    const struct import_view *view = &caller->import->pool->config.view;
    mx_scoped_text text = {0};
    struct mcpx_kind kind;
    bool may;

    mx_format(&text, "mcp/request:tools/call:%s", tool);
    may = mcpx_kind_parse(mcpx_text_view(&text), &kind, NULL) == MCPX_OK &&
          view->could(view->user, caller->who.topic, caller->who.id, &kind);
    if (!may)
        mcpx_json_add_member(more, "kind", mcpx_text_view(&text));
    return may;
}

/* Longest answer in bytes that fits into an envelope with its message. 0: not known. */
static size_t answer_max(const struct import *import, const struct bridge_call *call)
{
    size_t max = import->pool->topics[call->who.topic].message_max;
    size_t around = AROUND + call->id.len + call->came_in.len + call->who.id.len;

    return max > around ? max - around : max;
}

/* `payload` is the request as it came; `fault` is its error, NULL: it is valid. */
static void admit(struct import *import, const struct bridge_call *call,
                  struct mcpx_slice payload, const struct mcpx_fault *fault,
                  struct mcpx_admission *out)
{
    struct import_pool *pool = import->pool;
    struct mcpx_calls_options options = {.transport = "ws",
                                         .participant = {pool->edge, pool->edge_len}};
    struct caller caller = {import, call->who};
    struct mcpx_call_request request = {.payload = payload,
                                        .fault = fault,
                                        .tools = import->tools.known,
                                        .envelope_id = call->came_in,
                                        .fulfils = call->fulfils,
                                        .may = may_call,
                                        .context = &caller,
                                        .answer_max = answer_max(import, call)};

    bridge_checks_admit(&pool->checks, &options, &request, mcpx_text_view(&import->greeting),
                        out);
}

static void admit_call(struct import *import, struct bridge_call *call,
                       struct mcpx_admission *out)
{
    admit(import, call, mcpx_text_view(&call->payload), NULL, out);
    call->admitted = out->call;
}

void import_terms_note_broken(struct import *import, size_t topic,
                              const struct mcpx_event *event)
{
    const struct mcpx_envelope *envelope = event->envelope;
    const struct bridge_call arrival = {.came_in = envelope->id,
                                        .who = {topic, envelope->from}};
    struct mcpx_admission admission = {0};

    if (event->violation == MCPX_VIOLATION_RPC &&
        is_under_terms(import, envelope->kind.method))
        admit(import, &arrival, envelope->payload, &event->fault, &admission);
}

/* ---- what is shown of the tools ---- */

/* True when the handshake is the only tool, because the server has none. */
static bool has_the_only_tool(const struct import *import)
{
    const struct bridge_terms *terms = import->pool->checks.terms;

    return terms && mcpx_terms_has_handshake(terms->terms) &&
           !import_can(import, "tools").text;
}

/* Appends a result as it is shown; nothing when it is unchanged. */
static void add_shown(const struct import *import, struct mcpx_slice method,
                      struct mcpx_slice result, struct mcpx_text *out)
{
    const struct bridge_terms *terms = import->pool->checks.terms;
    struct mcpx_slice own = mcpx_json_get(result, "capabilities");
    mx_scoped_text tools = mx_formatted("%s", "{}"), capabilities = {0};
    bool has_only = has_the_only_tool(import);

    if (terms && bridge_is(method, "tools/list") &&
        (has_only || mcpx_terms_change_lists(terms->terms)))
        mcpx_terms_list_add(out, terms->terms, result, import->tools.known);
    if (!has_only || !bridge_is_any(method, "initialize", "server/discover"))
        return;
    bridge_add_with(&capabilities, own, "tools", &tools);
    bridge_add_with(out, result, "capabilities", &capabilities);
}

/* ---- the end: with an answer, with an error of ours, or in silence ---- */

/*
 * Ends a call and what belongs to it, and answers its participant, unless `made` has no text. With
 * `message` of the server the answer keeps its other bytes; absent: there is none.
 */
static void finish(struct import *import, struct bridge_call *call,
                   const struct mcpx_call_answer *made, struct mcpx_slice message)
{
    struct mcpx_json_change changes[] = {{"id", call->id},
                                         {made->is_error ? "error" : "result", made->text}};
    struct bridge_row row = {
        .action = {.type = BRIDGE_RESPOND, .topic = call->who.topic, .about = call->came_in},
        .who = call->who.id,
        .method = call->method};
    struct mcpx_text out = {0};

    import_task_over(import, call);
    import_ask_over(import, call);
    if (made->text.text) {
        mcpx_json_add_changed(
            &out, message.text ? message : MCPX_SLICE("{\"jsonrpc\":\"2.0\"}"), changes, 2);
        if (out.len > call->holder->longest)
            call->holder->longest = out.len;
        import_want_text(import, row, out);
    } else
        import_want_about(import, BRIDGE_DROP, call->who.topic, call->came_in);
    bridge_calls_drop(&import->calls, call);
}

/* The members of an object without "reason", which is said in another place. */
static void add_more(struct mcpx_text *out, struct mcpx_slice data)
{
    MCPX_JSON_EACH(walk, data)
        if (!mcpx_json_walk_at(&walk, "reason"))
            mx_format(out, "%s\"%s\":%s", out->len ? "," : "", walk.name, walk.value);
}

/* The `error` of ours for a method. `data` is a JSON object, or absent. */
static struct mcpx_text error_of(const struct import *import, struct mcpx_slice method,
                                 enum mcpx_cause cause, const char *message,
                                 struct mcpx_slice data)
{
    mx_scoped_text more = {0};
    struct mcpx_text error = {0};

    add_more(&more, data);
    if (is_under_terms(import, method))
        mcpx_cause_error(&error, cause, (struct mcpx_slice){0}, mcpx_text_view(&more));
    else
        mx_format(&error, "{\"code\":%s,\"message\":%q%s%s}", bridge_code_of(cause), message,
                  data.len ? ",\"data\":" : "", data);
    return error;
}

/*
 * Refuses a call: admits it, under contract settings, if that was not done; a refusal there is its
 * answer. One of our own is dropped; a poll of a task takes its call with it.
 */
static void refuse(struct import *import, struct bridge_call *call, enum mcpx_cause cause,
                   const char *message, struct mcpx_slice data)
{
    struct mcpx_call_end end = {
        .type = MCPX_CALL_FAILED, .cause = cause, .reason = mcpx_slice_of(message)};
    struct bridge_call *whole = call;
    struct mcpx_admission admission = {0};
    mx_scoped_text error = {0}, more = {0};

    if (call->purpose != IMPORT_PARTICIPANT) {
        whole = call->purpose == IMPORT_TASK ? bridge_calls_find(&import->calls, call->about)
                                             : NULL;
        bridge_calls_drop(&import->calls, call);
    }
    if (!whole)
        return;
    error = error_of(import, whole->method, cause, message, data);
    admission.answer = (struct mcpx_call_answer){true, mcpx_text_view(&error)};
    if (is_under_terms(import, whole->method) && !whole->admitted)
        admit_call(import, whole, &admission);
    add_more(&more, data);
    end.more = mcpx_text_view(&more);
    if (whole->admitted)
        bridge_checks_end(&import->pool->checks, &whole->admitted, &end, &admission.answer);
    finish(import, whole, &admission.answer, (struct mcpx_slice){0});
}

void import_refuse(struct import *import, struct bridge_call *call, enum mcpx_cause cause,
                   const char *message)
{
    refuse(import, call, cause, message,
           mcpx_slice_of(cause == MCPX_CAUSE_EXHAUSTED ? "{\"retryAfterMs\":5000}" : NULL));
}

void import_refuse_for_outage(struct import *import, struct bridge_call *call)
{
    const char *why = import->outage.text ? import->outage.text : "the server is not ready";

    refuse(import, call, MCPX_CAUSE_UNAVAILABLE, why, mcpx_text_view(&import->outage_data));
}

void import_abandon(struct import *import, struct bridge_call *call)
{
    struct mcpx_admission admission;

    if (is_under_terms(import, call->method) && !call->admitted)
        admit_call(import, call, &admission);
    bridge_checks_abandon(&import->pool->checks, &call->admitted);
    finish(import, call, &(struct mcpx_call_answer){0}, (struct mcpx_slice){0});
}

void import_pass_answer(struct import *import, struct bridge_call *call,
                        const struct mcpx_rpc *rpc)
{
    bool was_error = rpc->form == MCPX_RPC_ERROR;
    struct mcpx_call_end end = {.type = was_error ? MCPX_CALL_ERROR : MCPX_CALL_RESULT,
                                .text = was_error ? rpc->error : rpc->result,
                                .answer_max = answer_max(import, call)};
    struct mcpx_call_answer made = {was_error, end.text};
    const char *why = was_error ? NULL : import_agreed(import, call);
    mx_scoped_text shown = {0};

    if (why) {
        import_refuse(import, call, MCPX_CAUSE_UNAVAILABLE, why);
        return;
    }
    if (call->admitted) {
        bridge_checks_end(&import->pool->checks, &call->admitted, &end, &made);
    } else if (!was_error) {
        add_shown(import, call->method, rpc->result, &shown);
        import_tasks_show(import, call, rpc->result, &shown);
        made.text = shown.len ? mcpx_text_view(&shown) : made.text;
    }
    finish(import, call, &made,
           made.is_error == was_error ? rpc->text : (struct mcpx_slice){0});
}

/* ---- the pin of a proposed tool ---- */

/*
 * A call may say what its tool was when it was proposed. An approval is for that tool, whichever
 * program approves: the call of another one does not reach the server. Rejected: comparing with an
 * earlier list; a server need not say that its list has changed.
 */

/* Absent: it has none, or is no tool call. */
static struct mcpx_slice pin_of(const struct bridge_call *call)
{
    struct mcpx_slice params = mcpx_json_get(mcpx_text_view(&call->payload), "params");

    return bridge_is(call->method, "tools/call")
               ? mcpx_json_get(mcpx_json_get(params, "_meta"), PROPOSAL_PIN)
               : (struct mcpx_slice){0};
}

static void ask_pin(struct import *import, struct bridge_call *call, struct mcpx_slice cursor)
{
    mx_scoped_text line =
        mx_formatted("{\"jsonrpc\":\"2.0\",\"method\":\"tools/list\",\"params\":{%s%s}}",
                     cursor.text ? "\"cursor\":" : "", cursor);

    call->list = IMPORT_PIN_ASKED;
    call->written = true;
    bridge_calls_defer(&import->calls, call, /* for all pages together */
                       cursor.text ? call->due_ms
                                   : import->pool->now_ms + import->config->request_ms);
    import_write_request(import, call, mcpx_text_view(&line));
}

/* True: the call waits for a page of the server's tools, or is refused. */
static bool compare(struct import *import, struct bridge_call *call)
{
    if (call->list || !pin_of(call).text)
        return false;
    if (import_keeps(import, call))
        ask_pin(import, call, (struct mcpx_slice){0});
    else
        import_refuse(import, call, MCPX_CAUSE_EXHAUSTED,
                      "too many bytes of yours wait for the server");
    return true;
}

/* ---- to the server ---- */

/* Requests the bridge answers for the server. Returns true when this was one. */
static bool answer_instead(struct import *import, struct bridge_call *call)
{
    struct mcpx_rpc rpc = {.form = MCPX_RPC_RESULT, .result = MCPX_SLICE("{}")};
    struct mcpx_slice params = mcpx_json_get(mcpx_text_view(&call->payload), "params");
    const char *why = NULL;

    if (bridge_is(call->method, "initialize")) {
        import_requester_note(import, call);
        rpc.result = mcpx_text_view(&import->greeting);
    } else if (bridge_is(call->method, "tools/list") && has_the_only_tool(import))
        rpc.result = MCPX_SLICE("{\"tools\":[]}");
    else if (call->modern && import->handshake == IMPORT_LEGACY &&
             mcpx_json_get(params, "requestState").text)
        why = "params.requestState is not the server's: it gives none";
    else if (!import_takes(import, call, &why))
        return false;
    if (why)
        import_refuse(import, call, MCPX_CAUSE_INPUT, why);
    else
        import_pass_answer(import, call, &rpc);
    return true;
}

/* Writes a request of a participant to the server, or answers it; it may be gone afterwards. */
static void forward(struct import *import, struct bridge_call *call, struct mcpx_now now)
{
    struct mcpx_slice payload = mcpx_text_view(&call->payload);
    struct mcpx_admission admission = {0};
    mx_scoped_text changed = {0}, with_task = {0};

    if (import_task_is_foreign(import, call)) {
        import_refuse(import, call, MCPX_CAUSE_INPUT, "there is no such task");
        return;
    }
    if (answer_instead(import, call))
        return;
    if (!has_the_only_tool(import) && compare(import, call))
        return;
    if (is_under_terms(import, call->method)) {
        admit_call(import, call, &admission);
        if (!admission.call) {
            finish(import, call, &admission.answer, (struct mcpx_slice){0});
            return;
        }
    }
    if (admission.params.text) {
        mcpx_json_add_changed(&changed, payload,
                              &(struct mcpx_json_change){"params", admission.params}, 1);
        payload = mcpx_text_view(&changed);
    }
    if (import_task_add(import, call, payload, &with_task) ||
        import_listen_add(import, call, &with_task))
        payload = mcpx_text_view(&with_task);
    import_write_request(import, call, payload);
    call->written = true;
    import_keep(import, call, mcpx_text_view(&changed));
    bridge_calls_defer(&import->calls, call, now.mono_ms + import->config->request_ms);
}

/* True when the server takes requests of that method now. Other requests wait. */
static bool takes(const struct import *import, struct mcpx_slice method)
{
    return import_is_ready(import) &&
           !(is_under_terms(import, method) && import->tools.coming);
}

void import_forward_waiting(struct import *import, struct mcpx_now now)
{
    BRIDGE_EACH_CALL(call, &import->calls) {
        if (!call->written && call->purpose == IMPORT_PARTICIPANT &&
            takes(import, call->method))
            forward(import, call, now);
    }
}

void import_compared(struct import *import, struct bridge_call *call,
                     const struct mcpx_rpc *rpc, struct mcpx_now now)
{
    struct mcpx_slice list = rpc->result, cursor = mcpx_json_get(list, "nextCursor"),
                      tool = {0};
    mx_scoped_text shown = {0}, pin = {0}, why = {0};

    if (rpc->form == MCPX_RPC_ERROR) {
        import_refuse(import, call, MCPX_CAUSE_FAILED,
                      "the server does not list its tools, so the tool cannot be compared");
        return;
    }
    add_shown(import, MCPX_SLICE("tools/list"), list, &shown);
    list = mcpx_json_get(shown.len ? mcpx_text_view(&shown) : list, "tools");
    MCPX_JSON_EACH_WHILE(!tool.text, walk, list)
        if (mcpx_json_equals(mcpx_json_get(walk.value, "name"), call->context))
            tool = walk.value;
    bridge_calls_renumber(&import->calls, call);
    if (!tool.text && mcpx_json_type(cursor) == MCPX_JSON_STRING) {
        ask_pin(import, call, cursor);
        return;
    }
    proposal_add_pin(&pin, tool);
    call->list = IMPORT_PIN_COMPARED;
    call->written = false;
    if (mcpx_slice_equal(mcpx_text_view(&pin), pin_of(call))) {
        import_forward_waiting(import, now);
    } else { /* the proposer has an old list */
        mx_format(&why, "the tool %s has changed since it was proposed", call->context);
        import_refuse(import, call, MCPX_CAUSE_INPUT, why.text);
        import_notify(import->pool->servers[0],
                      MCPX_SLICE("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                                 "tools/list_changed\"}"));
    }
}

void import_take_request(struct import *import, size_t topic, const struct mcpx_event *event,
                         const char *refusal, struct mcpx_now now)
{
    struct bridge_call draft = import_draft_of(topic, event),
                       *call = bridge_calls_add(&import->calls, &draft);
    const char *fault = import_fault_of(event->rpc, call);

    bridge_calls_hold(&import->calls, call, event->rpc->text);
    bridge_calls_defer(&import->calls, call, now.mono_ms + WAIT_MS);
    if (fault)
        import_refuse(import, call, MCPX_CAUSE_INPUT, fault);
    else if (refusal)
        import_refuse(import, call, MCPX_CAUSE_EXHAUSTED, refusal);
    else if (!bridge_may_have(call->holder->calls, import->calls.held,
                              import->config->calls_max))
        import_refuse(import, call, MCPX_CAUSE_EXHAUSTED,
                      "your requests under way have reached the bridge's limit");
    else if (takes(import, call->method))
        forward(import, call, now);
    else if (import->over)
        import_refuse_for_outage(import, call);
    else if (!import_keeps(import, call))
        import_refuse(import, call, MCPX_CAUSE_EXHAUSTED,
                      "the server is not ready, and too many bytes of yours wait for it");
}

/* ---- an answer that the router does not take ---- */

/* A sentence instead of the answer may still fit. */
void import_answer_failed(struct import *import, const struct bridge_row *row,
                          enum mcpx_err err)
{
    size_t max = import->pool->topics[row->action.topic].message_max;
    bool is_too_big = err == MCPX_ETOOBIG;
    struct bridge_row substitute = *row;
    mx_scoped_text message = {0}, data = {0}, error = {0};
    struct mcpx_text out = {0};

    if (row->is_substitute || (!is_too_big && err != MCPX_ELIMIT)) {
        import_say(import, "the answer to %s for %s cannot be sent: %s", row->method, row->who,
                   mcpx_strerror(err));
        import_want_about(import, BRIDGE_DROP, row->action.topic, row->action.about);
        return;
    }
    if (is_too_big) {
        bridge_add_too_big(&message, &data, "the answer", row->action.text.len, max);
        import_say(import, "%s by %s: %s", row->method, row->who, &message);
    } else
        mcpx_text_puts(&message, "too many answers wait to be sent (--answers-max)");
    error = error_of(import, row->method,
                     is_too_big ? MCPX_CAUSE_OUTPUT_SIZE : MCPX_CAUSE_EXHAUSTED, message.text,
                     mcpx_text_view(&data));
    mx_format(&out, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":%s}",
              mcpx_json_get(row->action.text, "id"), &error);
    substitute.action.text = (struct mcpx_slice){0};
    substitute.is_substitute = true;
    import_want_text(import, substitute, out);
}
