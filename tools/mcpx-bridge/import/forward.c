/*
 * forward.c - requests of participants on their way to the server, and their ends. Some are
 * answered without it, some wait: until it is ready, or until its tools are known. Contract
 * settings check a tool call at admission and completion: lib/contract decides; this file reports
 * the call's end and writes the answer's message. A call that never reached the server is admitted
 * before it ends, so each call leaves a record.
 */
#include "tools/mcpx-bridge/import/ask.h"
#include "tools/mcpx-bridge/import/tasks.h"

enum { WAIT_MS = 30000 }; /* how long a request waits for a server that is not ready */

/* ---- admission ---- */

/* The bytes of a message around its result, besides its id. */
#define AROUND sizeof("{\"jsonrpc\":\"2.0\",\"id\":,\"result\":}")

bool import_is_under_terms(const struct import *import, struct mcpx_slice method)
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

/*
 * `payload` is the request as it came; `fault` is its error, NULL: it is valid. At the first call
 * of all servers our id is already known.
 */
static void admit(struct import *import, const struct bridge_call *call,
                  struct mcpx_slice payload, const struct mcpx_fault *fault,
                  struct mcpx_admission *out)
{
    struct import_pool *pool = import->pool;
    struct mcpx_calls_options options = {.transport = "ws"};
    struct caller caller = {import, call->who};
    struct mcpx_call_request request = {.payload = payload,
                                        .fault = fault,
                                        .tools = import->tools.known,
                                        .envelope_id = call->came_in,
                                        .fulfils = call->fulfils,
                                        .may = may_call,
                                        .context = &caller,
                                        .answer_max = answer_max(import, call)};

    for (size_t i = 0; i < pool->config.topics && !pool->edge_len; i++) {
        pool->edge_len = pool->topics[i].self_len;
        memcpy(pool->edge, pool->topics[i].self, pool->edge_len);
    }
    options.participant = (struct mcpx_slice){pool->edge, pool->edge_len};
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
        import_is_under_terms(import, envelope->kind.method))
        admit(import, &arrival, envelope->payload, &event->fault, &admission);
}

/* ---- what is shown of the tools ---- */

/* True when the handshake is the only tool, because the server has none. */
static bool has_the_only_tool(const struct import *import)
{
    const struct bridge_terms *terms = import->pool->checks.terms;

    return terms && mcpx_terms_has_handshake(terms->terms) && !import_has_tools(import);
}

/* Appends the server's greeting, with the tools capability added. */
static void add_with_tools(struct mcpx_text *out, struct mcpx_slice hello)
{
    struct mcpx_slice own = mcpx_json_get(hello, "capabilities");
    struct mcpx_json_change tools = {"tools", MCPX_SLICE("{}")};
    mx_scoped_text capabilities = {0};

    mcpx_json_add_changed(&capabilities, own.text ? own : MCPX_SLICE("{}"), &tools, 1);
    bridge_add_with(out, hello, "capabilities", &capabilities);
}

/* Appends a result as it is shown; nothing when it is unchanged. */
static void add_shown(const struct import *import, struct mcpx_slice method,
                      struct mcpx_slice result, struct mcpx_text *out)
{
    const struct bridge_terms *terms = import->pool->checks.terms;
    bool has_only = has_the_only_tool(import);

    if (terms && bridge_is(method, "tools/list") &&
        (has_only || mcpx_terms_change_lists(terms->terms)))
        mcpx_terms_list_add(out, terms->terms, result, import->tools.known);
    else if (has_only &&
             (bridge_is(method, "initialize") || bridge_is(method, "server/discover")))
        add_with_tools(out, result);
}

/* ---- the end: with an answer, with an error of ours, or in silence ---- */

/* Ends what belongs to a call that is over. */
static void end(struct import *import, struct bridge_call *call)
{
    import_task_over(import, call);
    import_ask_over(import, call);
}

/* Answers a participant's call with a message that has its id and is taken, and drops it. */
static void answer(struct import *import, struct bridge_call *call, struct mcpx_text message)
{
    struct bridge_row row = {
        .action = {.type = BRIDGE_RESPOND, .topic = call->who.topic, .about = call->came_in},
        .who = call->who.id,
        .method = call->method};

    if (message.len > call->holder->longest)
        call->holder->longest = message.len;
    end(import, call);
    import_want_text(import, row, message);
    bridge_calls_drop(&import->calls, call);
}

/* The members of an object without "reason", which is said in another place. */
static void add_more(struct mcpx_text *out, const struct mcpx_text *data)
{
    MCPX_JSON_EACH(walk, data ? mcpx_text_view(data) : (struct mcpx_slice){0})
        if (!mcpx_json_walk_at(&walk, "reason"))
            mx_format(out, "%s\"%s\":%s", out->len ? "," : "", walk.name, walk.value);
}

/*
 * An error of ours as an answer. `data` is a JSON object; NULL: none. Under contract settings this
 * first admits a call not admitted yet; a refusal there is its answer.
 */
static struct mcpx_text refusal(struct import *import, struct bridge_call *call,
                                enum mcpx_cause cause, const char *message,
                                const struct mcpx_text *data)
{
    struct mcpx_call_end end = {
        .type = MCPX_CALL_FAILED, .cause = cause, .reason = mcpx_slice_of(message)};
    struct mcpx_admission admission = {0};
    struct mcpx_text out = {0};
    mx_scoped_text more = {0};

    if (!import_is_under_terms(import, call->method)) {
        bridge_add_error(&out, call->id, bridge_code_of(cause), end.reason, data);
        return out;
    }
    if (!call->admitted)
        admit_call(import, call, &admission);
    if (call->admitted) {
        add_more(&more, data);
        end.more = mcpx_text_view(&more);
        bridge_checks_end(&import->pool->checks, &call->admitted, &end, &admission.answer);
    }
    bridge_add_answer(&out, call->id, &admission.answer);
    return out;
}

/* Refuses a call. One of our own is dropped; a poll of a task takes its call with it. */
static void refuse(struct import *import, struct bridge_call *call, enum mcpx_cause cause,
                   const char *message, const struct mcpx_text *data)
{
    struct bridge_call *whole = call;

    if (call->purpose != IMPORT_PARTICIPANT) {
        whole = call->purpose == IMPORT_TASK ? bridge_calls_find(&import->calls, call->about)
                                             : NULL;
        bridge_calls_drop(&import->calls, call);
    }
    if (whole)
        answer(import, whole, refusal(import, whole, cause, message, data));
}

void import_refuse(struct import *import, struct bridge_call *call, enum mcpx_cause cause,
                   const char *message)
{
    refuse(import, call, cause, message, NULL);
}

void import_refuse_for_outage(struct import *import, struct bridge_call *call)
{
    const char *why = import->outage.text ? import->outage.text : "the server is not ready";

    refuse(import, call, MCPX_CAUSE_UNAVAILABLE, why, &import->outage_data);
}

void import_abandon(struct import *import, struct bridge_call *call)
{
    struct mcpx_admission admission;

    if (import_is_under_terms(import, call->method)) {
        if (!call->admitted)
            admit_call(import, call, &admission);
        bridge_checks_abandon(&import->pool->checks, &call->admitted);
    }
    end(import, call);
    import_want_about(import, BRIDGE_DROP, call->who.topic, call->came_in);
    bridge_calls_drop(&import->calls, call);
}

void import_pass_answer(struct import *import, struct bridge_call *call,
                        const struct mcpx_rpc *rpc)
{
    bool was_error = rpc->form == MCPX_RPC_ERROR;
    struct mcpx_call_end end = {.type = was_error ? MCPX_CALL_ERROR : MCPX_CALL_RESULT,
                                .text = was_error ? rpc->error : rpc->result,
                                .answer_max = answer_max(import, call)};
    struct mcpx_call_answer made = {.is_error = was_error};
    struct mcpx_json_change changes[2] = {{"id", call->id}};
    mx_scoped_text shown = {0};
    struct mcpx_text out = {0};

    if (call->admitted) {
        bridge_checks_end(&import->pool->checks, &call->admitted, &end, &made);
    } else if (!was_error) {
        add_shown(import, call->method, rpc->result, &shown);
        import_tasks_show(import, call, rpc->result, &shown);
        made.text = mcpx_text_view(&shown);
    }
    changes[1] = (struct mcpx_json_change){was_error ? "error" : "result", made.text};
    if (made.is_error == was_error)
        mcpx_json_add_changed(&out, rpc->text, changes, made.text.text ? 2 : 1);
    else
        bridge_add_answer(&out, call->id, &made);
    answer(import, call, out);
}

/* ---- to the server ---- */

void import_agree(struct import *import, struct bridge_call *call)
{
    struct mcpx_text out = {0};

    if (!import_agreed(import, call)) {
        import_refuse(import, call, MCPX_CAUSE_EXHAUSTED, IMPORT_NO_ROOM);
        return;
    }
    bridge_add_result(&out, call->id, MCPX_SLICE("{}"));
    answer(import, call, out);
}

/* Requests the bridge answers for the server. Returns true when this was one. */
static bool answer_instead(struct import *import, struct bridge_call *call)
{
    struct mcpx_slice result;
    mx_scoped_text shown = {0};
    struct mcpx_text out = {0};

    if (bridge_is(call->method, "initialize")) {
        import_requester_note(import, call);
        result = mcpx_text_view(&import->greeting);
    } else if (bridge_is(call->method, "tools/list") && has_the_only_tool(import))
        result = MCPX_SLICE("{\"tools\":[]}");
    else
        return false;
    add_shown(import, call->method, result, &shown);
    bridge_add_result(&out, call->id, shown.len ? mcpx_text_view(&shown) : result);
    answer(import, call, out);
    return true;
}

/* True for what a participant wants to hear, when the server itself does not get the request. */
static bool is_taken(struct import *import, struct bridge_call *call, struct mcpx_now now)
{
    enum import_taken taken = import_subs_left_to_others(import, call)
                                  ? IMPORT_AGREED
                                  : import_listen_takes(import, call, now);

    if (taken == IMPORT_PASSED)
        taken = import_logs_takes(import, call);
    if (taken == IMPORT_AGREED)
        import_agree(import, call);
    else if (taken == IMPORT_REFUSED)
        import_refuse(import, call, MCPX_CAUSE_INPUT,
                      bridge_is(call->method, "logging/setLevel")
                          ? "params.level is not a level"
                          : "params.uri is missing, or too long");
    return taken != IMPORT_PASSED;
}

/* Writes a request of a participant to the server, or answers it; it may be gone afterwards. */
static void forward(struct import *import, struct bridge_call *call, struct mcpx_now now)
{
    struct mcpx_slice payload = mcpx_text_view(&call->payload);
    struct mcpx_admission admission = {0};
    struct mcpx_json_change change = {"params", {0}};
    mx_scoped_text changed = {0}, with_task = {0};
    struct mcpx_text out = {0};

    if (import_task_is_foreign(import, call)) {
        import_refuse(import, call, MCPX_CAUSE_INPUT, "there is no such task");
        return;
    }
    if (answer_instead(import, call) || is_taken(import, call, now))
        return;
    if (import_is_under_terms(import, call->method)) {
        admit_call(import, call, &admission);
        if (!admission.call) {
            bridge_add_answer(&out, call->id, &admission.answer);
            answer(import, call, out);
            return;
        }
    }
    change.value = admission.params;
    if (change.value.text) {
        mcpx_json_add_changed(&changed, payload, &change, 1);
        payload = mcpx_text_view(&changed);
    }
    if (import_task_add(import, call, payload, &with_task))
        payload = mcpx_text_view(&with_task);
    import_logs_note(import, call);
    import_write_request(import, call, payload);
    call->written = true;
    import_keep(import, call, mcpx_text_view(&changed));
    bridge_calls_defer(&import->calls, call, now.mono_ms + import->config->request_ms);
}

/* True when the server takes requests of that method now. Other requests wait. */
static bool takes(const struct import *import, struct mcpx_slice method)
{
    return import_is_ready(import) &&
           !(import_is_under_terms(import, method) && import->tools.coming);
}

void import_forward_waiting(struct import *import, struct mcpx_now now)
{
    for (struct bridge_call *call = import->calls.first, *next; call; call = next) {
        next = call->next; /* the call may be gone afterwards */
        if (!call->written && call->purpose == IMPORT_PARTICIPANT &&
            takes(import, call->method))
            forward(import, call, now);
    }
}

/* Calls of participants, without our own: those of one must not take room from others. */
static size_t count_of(const struct bridge_calls *calls)
{
    size_t count = 0;

    for (size_t i = 0; i < calls->holder_count; i++)
        count += calls->holders[i]->calls;
    return count;
}

void import_take_request(struct import *import, size_t topic, const struct mcpx_event *event,
                         struct mcpx_now now)
{
    struct bridge_call draft = import_draft_of(topic, event),
                       *call = bridge_calls_add(&import->calls, &draft);
    const char *fault = import_fault_of(event->rpc, call);

    bridge_calls_hold(&import->calls, call, event->rpc->text);
    bridge_calls_defer(&import->calls, call, now.mono_ms + WAIT_MS);
    if (fault)
        import_refuse(import, call, MCPX_CAUSE_INPUT, fault);
    else if (!bridge_may_have(call->holder->calls, count_of(&import->calls),
                              import->config->calls_max))
        import_refuse(import, call, MCPX_CAUSE_EXHAUSTED,
                      "your requests under way have reached the bridge's limit");
    else if (takes(import, call->method))
        forward(import, call, now);
    else if (import->over)
        import_refuse_for_outage(import, call);
    else if (!bridge_may_have(call->holder->payload_bytes, import->calls.payload_bytes,
                              import->config->wait_bytes))
        import_refuse(import, call, MCPX_CAUSE_EXHAUSTED,
                      "the server is not ready, and too many bytes of yours wait for it");
}

void import_turn_away(struct import *import, size_t topic, const struct mcpx_event *event,
                      const char *message)
{
    struct bridge_call call = import_draft_of(topic, event);
    struct bridge_row row = {
        .action = {.type = BRIDGE_RESPOND, .topic = topic, .about = call.came_in},
        .who = call.who.id,
        .method = call.method,
        .is_substitute = true};

    call.payload = (struct mcpx_text){.text = (char *)(uintptr_t)event->rpc->text.text,
                                      .len = event->rpc->text.len}; /* lent, and only read */
    import_want_text(import, row, refusal(import, &call, MCPX_CAUSE_EXHAUSTED, message, NULL));
}

/* ---- an answer that the router does not take ---- */

/* The error for an answer that cannot be sent, as contract settings make it, if any. */
static struct mcpx_text error_of(struct import *import, const struct bridge_row *row,
                                 enum mcpx_cause cause, struct mcpx_slice message,
                                 const struct mcpx_text *data)
{
    struct mcpx_slice id = mcpx_json_get(row->action.text, "id");
    mx_scoped_text error = {0}, more = {0};
    struct mcpx_text out = {0};

    if (!import_is_under_terms(import, row->method)) {
        bridge_add_error(&out, id, BRIDGE_UNAVAILABLE, message, data);
        return out;
    }
    add_more(&more, data);
    mcpx_cause_error(&error, cause, (struct mcpx_slice){0}, mcpx_text_view(&more));
    bridge_add_answer(&out, id, &(struct mcpx_call_answer){true, mcpx_text_view(&error)});
    return out;
}

static struct mcpx_text too_large(struct import *import, const struct bridge_row *row)
{
    size_t max = import->pool->topics[row->action.topic].message_max;
    mx_scoped_text message = {0}, data = {0};

    bridge_add_too_big(&message, &data, "the answer", row->action.text.len, max);
    import_say(import, "%s by %s: %s", row->method, row->who, &message);
    return error_of(import, row, MCPX_CAUSE_OUTPUT_SIZE, mcpx_text_view(&message), &data);
}

/* A sentence instead of the answer may still fit. */
void import_answer_failed(struct import *import, const struct bridge_row *row,
                          enum mcpx_err err)
{
    struct bridge_row substitute = *row;

    substitute.action.text = (struct mcpx_slice){0};
    substitute.is_substitute = true;
    if (!row->is_substitute && err == MCPX_ETOOBIG) {
        import_want_text(import, substitute, too_large(import, row));
    } else if (!row->is_substitute && err == MCPX_ELIMIT) {
        import_want_text(import, substitute,
                         error_of(import, row, MCPX_CAUSE_EXHAUSTED,
                                  MCPX_SLICE("too many answers wait to be sent "
                                             "(--answers-max)"),
                                  NULL));
    } else {
        import_say(import, "the answer to %s for %s cannot be sent: %s", row->method, row->who,
                   mcpx_strerror(err));
        import_want_about(import, BRIDGE_DROP, row->action.topic, row->action.about);
    }
}
