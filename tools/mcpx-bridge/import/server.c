/*
 * server.c - the server's side: its answers go to their requesters, its notifications to their
 * receivers, its questions to a participant. Its end is reported to all waiting requesters.
 */
#include "tools/mcpx-bridge/import/ask.h"

/* The reason not to pass it on; NULL when there is none. */
static const char *fault_of_answer(const struct mcpx_rpc *rpc)
{
    struct mcpx_slice code = mcpx_json_get(rpc->error, "code");

    if (rpc->form == MCPX_RPC_RESULT)
        return bridge_is(rpc->result, "null") ? "its result is null" : NULL;
    if (mcpx_json_type(rpc->error) != MCPX_JSON_OBJECT)
        return "its error is not an object";
    return !code.text || mcpx_json_type(code) != MCPX_JSON_NUMBER
               ? "its error has no code that is a number"
               : NULL;
}

static void refuse_malformed(struct import *import, struct bridge_call *call, const char *why)
{
    mx_scoped_text message =
        mx_formatted("the server's answer is not a JSON-RPC message: %s", why);

    import_refuse(import, call, MCPX_CAUSE_FAILED, message.text);
}

static void answer_participant(struct import *import, struct bridge_call *call,
                               const struct mcpx_rpc *rpc)
{
    const char *fault = fault_of_answer(rpc);

    /* A task of our own ends it. */
    if (call->task == IMPORT_HAS_TASK)
        return;
    if (fault)
        refuse_malformed(import, call, fault);
    else if (!import_rounds_asked(import, call, rpc))
        import_pass_answer(import, call, rpc);
}

/* The answer to a poll of a task, which may end the task's call. */
static void on_polled(struct import *import, struct bridge_call *row, struct mcpx_rpc rpc)
{
    struct bridge_call *call = import_task_polled(import, row, &rpc);

    if (call && call->task)
        import_rounds_of_task(import, call, mcpx_json_get(rpc.result, "inputRequests"));
    else if (call)
        answer_participant(import, call, &rpc);
}

/* The call that has this number of ours, as an id or a token; NULL when there is none. */
static struct bridge_call *call_of(const struct import *import, struct mcpx_slice number)
{
    int64_t read;

    return bridge_number(number, &read) ? bridge_calls_find(&import->calls, read) : NULL;
}

/* True for an open request whose end is the end of a participant's call. */
static bool is_for_participant(const struct bridge_call *call)
{
    return call && import_is_owed(call) &&
           (call->purpose == IMPORT_PARTICIPANT || call->purpose == IMPORT_TASK);
}

/* An answer with an unknown id belongs to the only open call, if there is one. */
static struct bridge_call *sole_call(const struct bridge_calls *calls)
{
    struct bridge_call *sole = NULL;

    for (struct bridge_call *call = calls->first; call; call = call->next) {
        if (!import_is_owed(call) || call->purpose >= IMPORT_HOUSEKEEPING)
            continue;
        if (sole)
            return NULL;
        sole = call;
    }
    return sole;
}

static void on_answer(struct import *import, const struct mcpx_rpc *rpc, struct mcpx_now now)
{
    struct bridge_call *call = NULL, *asked;
    const char *fault;
    int64_t id = 0;

    if (bridge_number(rpc->id, &id))
        call = bridge_calls_find(&import->calls, id);
    else if (rpc->form == MCPX_RPC_ERROR && (!rpc->id.text || bridge_is(rpc->id, "null")))
        call = sole_call(&import->calls);
    if (!call || !import_is_owed(call)) {
        /* Late answers to cancelled or timed-out requests are normal. */
        if (id < 1 || id > import->calls.last_number)
            import_say(import, "the server answered a request that it did not get: %s",
                       import_shown(rpc->text));
        else if (!call)
            import_task_answered(import, NULL, rpc);
        return;
    }
    if (call->purpose >= IMPORT_HOUSEKEEPING) {
        if (rpc->form == MCPX_RPC_ERROR)
            import_say(import, "the server refuses %s: %s", call->method,
                       import_shown(rpc->error));
        asked = bridge_calls_find(&import->calls, call->about);
        import_own_over(import, call, rpc);
        if (asked)
            asked->is_again = rpc->form == MCPX_RPC_ERROR;
        return;
    }
    if (bridge_is(call->method, "tools/list") || call->list == IMPORT_PIN_ASKED)
        import_tasks_note_tools(import->pool, rpc->result);
    if (call->list == IMPORT_PIN_ASKED)
        import_compared(import, call, rpc, now);
    else if (call->purpose == IMPORT_TASK)
        on_polled(import, call, *rpc);
    else if (call->purpose == IMPORT_PARTICIPANT &&
             (fault = import_task_answered(import, call, rpc)) != NULL)
        import_refuse(import, call, MCPX_CAUSE_FAILED, fault);
    else if (call->purpose == IMPORT_PARTICIPANT)
        answer_participant(import, call, rpc);
    else if (call->purpose == IMPORT_GREETING)
        import_handshake_answered(import, call, rpc, now);
    else
        import_tools_answered(import, call, rpc, now);
}

static void on_progress(struct import *import, const struct mcpx_rpc *rpc, struct mcpx_now now)
{
    struct bridge_call *call = call_of(import, mcpx_json_get(rpc->params, "progressToken"));
    struct mcpx_draft draft = {.to_count = 1};
    mx_scoped_text notice = {0};

    if (!call || !call->token.text)
        return;
    call->progress = -1; /* the server says it itself */
    if (import_is_owed(call))
        bridge_calls_defer(&import->calls, call, now.mono_ms + import->config->request_ms);
    notice = import_with_param(rpc, "progressToken", call->token);
    draft.to = &call->who.id;
    draft.correlation_id = call->came_in;
    draft.payload = text_whole(&notice);
    import_notify_topic(import, call->who.topic, &draft);
}

static void on_notice(struct import *import, const struct mcpx_rpc *rpc, struct mcpx_now now)
{
    struct mcpx_rpc agreed = {.form = MCPX_RPC_RESULT, .result = MCPX_SLICE("{}")};
    struct bridge_call *call = NULL;

    if (bridge_is(rpc->method, "notifications/subscriptions/acknowledged"))
        call = import_listen_acknowledged(import, rpc->params);
    else if (bridge_is(rpc->method, "notifications/progress"))
        on_progress(import, rpc, now);
    else if (bridge_is(rpc->method, "notifications/resources/updated"))
        import_subs_updated(import, rpc);
    else if (bridge_is(rpc->method, "notifications/cancelled"))
        import_ask_cancelled(import, rpc);
    else if (bridge_is_any(rpc->method, "notifications/tasks", "notifications/tasks/status"))
        import_tasks_notify(import, rpc);
    else if (bridge_is(rpc->method, "notifications/message"))
        import_log(import, rpc);
    else
        import_notify(import, rpc->text);
    if (call)
        import_pass_answer(import, call, &agreed);
    if (bridge_is(rpc->method, "notifications/tools/list_changed"))
        import_tools_ask(import, now);
}

/* An invalid message may still show the id of its call. */
static void on_malformed(struct import *import, struct mcpx_slice value, const char *reason)
{
    struct bridge_call *call = call_of(import, mcpx_json_get(value, "id"));

    import_say(import,
               "the server wrote a line that is not a JSON-RPC message (%s), ignored: %s",
               reason, import_shown(value));
    if (is_for_participant(call) && !mcpx_json_get(value, "method").text)
        refuse_malformed(import, call, reason);
}

/* Fails the request that an unreadable line was to answer. */
static void refuse_unread(struct import *import, struct mcpx_slice beginning,
                          enum mcpx_cause cause, const char *message)
{
    struct bridge_call *call = NULL;
    struct mcpx_slice id;
    bool is_answer;

    bridge_read_beginning(beginning, &id, &is_answer);
    if (is_answer)
        call = id.text ? call_of(import, id) : sole_call(&import->calls);
    if (is_for_participant(call))
        import_refuse(import, call, cause, message);
    else if (is_answer)
        import_say(import, "%s",
                   "the bridge cannot find the request of this answer; the request will time "
                   "out");
}

void import_pool_overlong(struct import_pool *pool, size_t server, struct mcpx_slice beginning)
{
    struct import *import = pool->servers[server];

    import_say(import, "the server wrote a line longer than --line-max, skipped: %s",
               import_shown(beginning));
    refuse_unread(import, beginning, MCPX_CAUSE_OUTPUT_SIZE,
                  "the server's answer is a line longer than the bridge reads (its option "
                  "--line-max)");
}

/* The message with its id as we wrote it, and without params that are null; made in `out`. */
static struct mcpx_slice tidied(struct mcpx_slice value, struct mcpx_text *out)
{
    struct mcpx_json_change changes[2];
    struct mcpx_slice id = mcpx_json_get(value, "id");
    mx_scoped_text number = {0};
    size_t count = 0;
    int64_t known;

    if (mcpx_json_type(id) == MCPX_JSON_NUMBER && memchr(id.text, '.', id.len) &&
        bridge_number(id, &known)) {
        mx_format(&number, "%s", known);
        changes[count++] = (struct mcpx_json_change){"id", mcpx_text_view(&number)};
    }
    if (bridge_is(mcpx_json_get(value, "params"), "null"))
        changes[count++] = (struct mcpx_json_change){.name = "params"};
    if (!count)
        return value;
    mcpx_json_add_changed(out, value, changes, count);
    return mcpx_text_view(out);
}

static void read_message(struct import *import, struct mcpx_slice value, struct mcpx_now now)
{
    struct mcpx_fault fault = {0};
    mx_scoped_text changed = {0};
    struct mcpx_rpc rpc;

    value = tidied(value, &changed);
    if (mcpx_rpc_read(value, &rpc, &fault) || rpc.form == MCPX_RPC_BODY) {
        on_malformed(import, value, fault.reason ? fault.reason : "\"jsonrpc\" is missing");
        return;
    }
    if (rpc.form == MCPX_RPC_REQUEST)
        import_ask(import, &rpc);
    else if (rpc.form == MCPX_RPC_NOTIFICATION)
        on_notice(import, &rpc, now);
    else
        on_answer(import, &rpc, now);
}

void import_pool_line(struct import_pool *pool, size_t server, struct mcpx_slice line,
                      struct mcpx_now now)
{
    struct import *import = pool->servers[server];
    mx_scoped_text mended = {0};
    struct mcpx_slice value;
    bool is_json = mcpx_json_check(line, 0, &value, NULL) == MCPX_OK;

    pool->now_ms = now.mono_ms;
    if (line.len == 0)
        return;
    if (!is_json && bridge_mend(line, &mended)) {
        if (mended.len + 3 != line.len && !import->has_mended) { /* not only a mark of order */
            import->has_mended = true;
            import_say(
                import, "%s",
                "the server writes bytes that are not UTF-8; the bridge replaces each by "
                "U+FFFD, and logs this once");
        }
        is_json = mcpx_json_check(mcpx_text_view(&mended), 0, &value, NULL) == MCPX_OK;
    }
    if (is_json) {
        read_message(import, value, now);
    } else {
        import_say(import, "the server wrote a line that is not JSON, ignored: %s",
                   import_shown(line));
        refuse_unread(import, line, MCPX_CAUSE_FAILED, "the server's answer is not JSON");
    }
}

/* Fails the requests sent to the server. Unsent ones go on waiting if it restarts. */
static void answer_all(struct import *import)
{
    BRIDGE_EACH_CALL(call, &import->calls) {
        if (call->written || import->over)
            import_refuse_for_outage(import, call);
        else
            call->list = 0; /* the tool of the next process may be another */
    }
}

/* The next step, for the log. */
static const char *next_step(const struct import *import)
{
    if (import->over)
        return "";
    if (!import->again)
        return "; the bridge restarts the server";
    return import->pool->probe.plain
               ? "; the bridge restarts the server and sends initialize first"
               : "; the bridge restarts the server and sends server/discover first";
}

/* The sentence and the data for requests from now on. */
static void note_outage(struct import *import, const struct mcpx_child_report *report)
{
    mcpx_text_reset(&import->outage);
    mx_format(&import->outage, "the server is gone: %s", report->text);
    mcpx_text_reset(&import->outage_data);
    mcpx_text_puts(&import->outage_data, "{");
    if (report->signal)
        mx_format(&import->outage_data, "\"signal\":%s,", report->signal);
    else if (report->code >= 0)
        mx_format(&import->outage_data, "\"code\":%s,", report->code);
    mx_format(&import->outage_data, "\"reason\":%q}", report->text);
}

static void on_down(struct import *import, const struct mcpx_child_report *report)
{
    bool was_ready = import_is_ready(import);
    bool was_over = import->over;

    note_outage(import, report);
    import_handshake_down(import);
    import_tools_down(import);
    import_ask_down(import);
    import->over = was_over || report->state != MCPX_CHILD_DOWN || report->retry_ms < 0 ||
                   (import->config->once && !import->again);
    answer_all(import);
    if (report->state == MCPX_CHILD_STOPPED || was_over)
        return;
    import_say(import, "%s%s", &import->outage, next_step(import));
    if (was_ready || import->over)
        import_announce(import, import->outage.text);
    if (report->state == MCPX_CHILD_FAILED || (import->config->once && import->over))
        import_give_up(import, "%s", report->text);
}

void import_pool_state(struct import_pool *pool, size_t server,
                       const struct mcpx_child_report *report, struct mcpx_now now)
{
    struct import *import = pool->servers[server];
    bool runs = report->state == MCPX_CHILD_STARTING || report->state == MCPX_CHILD_RUNNING;

    pool->now_ms = now.mono_ms;
    if (server > 0 &&
        (report->state == MCPX_CHILD_STOPPED || report->state == MCPX_CHILD_FAILED)) {
        import->phase = IMPORT_OVER;
        pool->alive--;
    }
    if (!runs)
        on_down(import, report);
    else if (import->handshake == IMPORT_DOWN)
        import_handshake_start(import);
}

/*
 * A request the server does not answer: the requester gets an error, the server a cancellation. A
 * person's time is not the server's.
 */
static void on_late(struct import *import, struct bridge_call *call, struct mcpx_now now)
{
    bool was_asked = call->was_asked;

    call->was_asked = import_ask_is_open(import, call);
    if (call->wants_input)
        import_rounds_due(import, call);
    else if (was_asked)
        bridge_calls_defer(&import->calls, call, now.mono_ms + import->config->request_ms);
    else if (!call->written)
        import_refuse_for_outage(import, call);
    else {
        if (import_is_owed(call))
            import_cancel(import, call, "timed out");
        import_refuse(import, call, MCPX_CAUSE_TIMEOUT, "the server did not answer in time");
    }
}

void import_tick(struct import *import, struct mcpx_now now)
{
    struct bridge_call *call;
    int64_t passed = 0;

    if (import->tools.due_at <= now.mono_ms)
        import_tools_ask(import, now);
    if (import_is_ready(import) && import->listen.due_at <= now.mono_ms)
        import_listen(import);
    if (import->calls.due_ms > now.mono_ms)
        return;
    import_tasks_due(import);
    while ((call = bridge_calls_due(&import->calls, now.mono_ms, &passed)) != NULL) {
        if (call->purpose == IMPORT_GREETING)
            import_handshake_late(import, call);
        else if (call->purpose == IMPORT_TOOLS)
            import_tools_late(import, call, now);
        else
            on_late(import, call, now);
    }
}

int64_t import_deadline(const struct import *import)
{
    const int64_t dues[] = {
        import->calls.count ? import->calls.due_ms : INT64_MAX, import->idle_at,
        import_is_ready(import) ? import->listen.due_at : INT64_MAX, import->tools.due_at};
    int64_t first = INT64_MAX;

    for (size_t i = 0; i < sizeof dues / sizeof *dues; i++)
        first = dues[i] < first ? dues[i] : first;
    return first;
}
