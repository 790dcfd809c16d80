/*
 * tasks.c - tasks of the server, in the form of 2025-11-25 (params.task) and in that of the tasks
 * extension of 2026-07-28 (a result of type "task"). A task belongs to the participant that got its
 * id and to the proposer of its call, with all their instances. To others the id is unknown.
 *
 * A requester without tasks may call a tool that insists on one: the bridge then makes the task,
 * asks for its state until it is over, and answers the call with the task's result. The `state` of
 * such a call is the id of the task, `about` the number of its latest poll, which is a request of
 * our own `about` the call.
 */
#include "tools/mcpx-bridge/import/ask.h"

#include "lib/base/digits.h"

#include <mcpx/envelope.h>

enum {
    TASKS_MAX = 2048, /* tasks of all participants; one may have a quarter */
    TOOLS_MAX =
        1024,     /* tools that insist on tasks: rows with the hash of the name as number */
    ID_MAX = 512, /* bytes of the id of a task */
    TASK_MS = 3600000, /* how long a task of our own may take */
    POLL_MS = 1000,    /* when the server does not name an interval */
    POLL_MAX_MS = 60000,
    POLL_MIN_MS = 200, /* and this for each request under way, so polls have a rate: */
    POLL_EACH_MS = 2
};

void import_tasks_note_tools(struct import_pool *pool, struct mcpx_slice list)
{
    struct bridge_calls *tools = &pool->task_tools;

    MCPX_JSON_EACH(walk, mcpx_json_get(list, "tools")) {
        struct mcpx_slice support =
            mcpx_json_get(mcpx_json_get(walk.value, "execution"), "taskSupport");
        struct bridge_call tool = {0}, *known;
        mx_scoped_text name = {0};

        mcpx_json_add_unescaped(&name, mcpx_json_get(walk.value, "name"));
        tool.number = import_number_of(pool, mcpx_text_view(&name));
        known = bridge_calls_find(tools, tool.number);
        if (known)
            bridge_calls_drop(tools, known);
        if (bridge_is(support, "\"required\"") && tools->count < TOOLS_MAX)
            bridge_calls_add(tools, &tool);
    }
}

/* ---- owners ---- */

static struct mcpx_text id_of(struct mcpx_slice object)
{
    struct mcpx_text id = {0};

    mcpx_json_add_unescaped(&id, mcpx_json_get(object, "taskId"));
    return id;
}

static bool is_same(struct mcpx_slice one, struct mcpx_slice other)
{
    return mcpx_slice_equal(mcpx_identity_of(one), mcpx_identity_of(other));
}

/* The task with that id, if that participant owns it; NULL: there is none. `who` NULL: of any. */
static struct bridge_call *owned(const struct import *import, const struct bridge_who *who,
                                 struct mcpx_slice id)
{
    struct bridge_call *row =
        bridge_calls_find(&import->tasks, import_number_of(import->pool, id));
    bool is_own =
        row && (!who || (row->who.topic == who->topic &&
                         (is_same(row->who.id, who->id) || is_same(row->proposer, who->id))));

    return is_own ? row : NULL;
}

/* Too many of one participant, or of all: the one with most loses its oldest. */
static void make_room(struct bridge_calls *tasks, struct bridge_who who)
{
    const struct bridge_holder *most = bridge_calls_holder(tasks, who);
    struct bridge_call *row = tasks->first;

    if (tasks->count < TASKS_MAX && (!most || most->calls < TASKS_MAX / 4))
        return;
    for (size_t i = 0; i < tasks->holder_count; i++)
        if (!most || tasks->holders[i]->calls > most->calls)
            most = tasks->holders[i];
    while (row->holder != most)
        row = row->next;
    bridge_calls_drop(tasks, row);
}

bool import_task_is_foreign(struct import *import, const struct bridge_call *call)
{
    struct bridge_call task, *row;

    if (!bridge_is_any(call->method, "tasks/get", "tasks/result", "tasks/update",
                       "tasks/cancel"))
        return false;
    row = owned(import, &call->who, call->context);
    if (row) { /* this instance is told from now on */
        task = *row;
        *(is_same(task.who.id, call->who.id) ? &task.who.id : &task.proposer) = call->who.id;
        bridge_calls_replace(&import->tasks, row, &task);
    }
    return !row;
}

void import_tasks_show(const struct import *import, const struct bridge_call *call,
                       struct mcpx_slice result, struct mcpx_text *out)
{
    mx_scoped_text own_tasks = {0};

    if (!bridge_is(call->method, "tasks/list"))
        return;
    mx_json_begin_array(&own_tasks, NULL);
    MCPX_JSON_EACH(walk, mcpx_json_get(result, "tasks")) {
        mx_scoped_text id = id_of(walk.value);

        if (owned(import, &call->who, mcpx_text_view(&id)))
            mx_json_add_raw(&own_tasks, NULL, walk.value);
    }
    mx_json_end_array(&own_tasks);
    bridge_add_with(out, result, "tasks", &own_tasks);
}

static bool is_over(struct mcpx_slice state)
{
    struct mcpx_slice status = mcpx_json_get(state, "status");

    return bridge_is_any(status, "\"completed\"", "\"failed\"", "\"cancelled\"");
}

void import_tasks_notify(struct import *import, const struct mcpx_rpc *rpc)
{
    mx_scoped_text id = id_of(rpc->params);
    struct bridge_call *row = owned(import, NULL, mcpx_text_view(&id));

    if (!row)
        return;
    row->task = is_over(rpc->params);
    for (int i = 0; i < 2; i++) {
        struct mcpx_draft draft = {
            .to = i ? &row->proposer : &row->who.id, .to_count = 1, .payload = rpc->text};

        if (draft.to->text)
            import_notify_topic(import, row->who.topic, &draft);
    }
}

/* ---- tasks of our own ---- */

bool import_task_add(const struct import *import, struct bridge_call *call,
                     struct mcpx_slice payload, struct mcpx_text *out)
{
    struct mcpx_slice can = mcpx_json_get(mcpx_text_view(&import->greeting), "capabilities");
    struct mcpx_slice of = mcpx_json_get(mcpx_json_get(can, "tasks"), "requests");
    struct mcpx_slice params = mcpx_json_get(payload, "params");
    struct mcpx_slice meta = mcpx_json_get(params, "_meta");
    mx_scoped_text task = mx_formatted("{\"ttl\":%s}", (int)TASK_MS), changed = {0},
                   name = {0};
    bool makes;

    if (import->handshake == IMPORT_MODERN)
        makes = import_has_extension(can) &&
                !import_has_extension(mcpx_json_get(meta, IMPORT_META "clientCapabilities"));
    else
        makes = mcpx_json_get(mcpx_json_get(of, "tools"), "call").text &&
                !mcpx_json_get(params, "task").text && /* its context may be an alias */
                mcpx_json_add_unescaped(&name, mcpx_json_get(params, "name")) &&
                bridge_calls_find(&import->pool->task_tools,
                                  import_number_of(import->pool, mcpx_text_view(&name)));
    if (!makes || !bridge_is(call->method, "tools/call"))
        return false;
    call->task = IMPORT_MAKES_TASK;
    if (import->handshake == IMPORT_MODERN)
        return false;
    bridge_add_with(&changed, params, "task", &task);
    bridge_add_with(out, payload, "params", &changed);
    return true;
}

/*
 * Asks for the state of the call's task, or its result. Either may take as long as any answer; only
 * the result of a task that wants input first may take as long as the task.
 */
static void poll(struct import *import, struct bridge_call *call, const char *method,
                 int64_t most_ms)
{
    int64_t due_ms = import->pool->now_ms + most_ms;
    mx_scoped_text payload =
        mx_formatted("{\"jsonrpc\":\"2.0\",\"method\":%q,\"params\":{\"taskId\":%q}}", method,
                     &call->state);
    const struct bridge_call *row =
        bridge_calls_add(&import->calls, &(struct bridge_call){.purpose = IMPORT_TASK,
                                                               .written = true,
                                                               .method = mcpx_slice_of(method),
                                                               .about = call->number});

    call->about = row->number;
    bridge_calls_defer(&import->calls, call,
                       due_ms < call->heartbeat_ms ? due_ms : call->heartbeat_ms);
    import_write_request(import, row, mcpx_text_view(&payload));
}

void import_tasks_due(struct import *import)
{
    int64_t now_ms = import->pool->now_ms;

    for (struct bridge_call *call = import->calls.first; call; call = call->next)
        if (call->task == IMPORT_HAS_TASK && !call->wants_input && call->due_ms <= now_ms &&
            call->heartbeat_ms > now_ms && !bridge_calls_find(&import->calls, call->about))
            poll(import, call, "tasks/get", import->config->request_ms);
}

/* Asks again after the server's interval. The requester hears that the task goes on. */
static void go_on(struct import *import, struct bridge_call *call, struct mcpx_slice state)
{
    struct mcpx_slice pause = mcpx_json_get(state, "pollIntervalMs");
    struct mcpx_slice message = mcpx_json_get(state, "statusMessage");
    struct mcpx_draft draft = {
        .to = &call->who.id, .to_count = 1, .correlation_id = call->came_in};
    uint64_t ms = POLL_MS, least = POLL_MIN_MS + POLL_EACH_MS * import->calls.count;
    mx_scoped_text notice = {0};

    if (!pause.text)
        pause = mcpx_json_get(state, "pollInterval");
    (void)mx_decimal_clamp(pause, POLL_MAX_MS, &ms); /* else it stays as it is */
    bridge_calls_defer(&import->calls, call,
                       import->pool->now_ms + (int64_t)(ms < least ? least : ms));
    if (!call->token.text || call->progress < 0)
        return;
    if (mcpx_json_type(message) != MCPX_JSON_STRING)
        message.len = 0;
    mx_format(&notice,
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
              "{\"progressToken\":%s,\"progress\":%s%s%s}}",
              call->token, ++call->progress, message.len ? ",\"message\":" : "", message);
    draft.payload = text_whole(&notice);
    import_notify_topic(import, call->who.topic, &draft);
}

static void cancel(struct import *import, const struct mcpx_text *id)
{
    mx_scoped_text params = mx_formatted("\"taskId\":%q", id);

    import_request(import, IMPORT_HOUSEKEEPING, "tasks/cancel", mcpx_text_view(&params));
}

void import_task_over(struct import *import, const struct bridge_call *call)
{
    struct bridge_call *row = bridge_calls_find(&import->calls, call->about);

    if (call->task != IMPORT_HAS_TASK)
        return;
    if (row) /* as any other request that nobody waits for */
        bridge_calls_defer(&import->calls, row,
                           import->pool->now_ms + import->config->request_ms);
    if (import_is_ready(import))
        cancel(import, &call->state);
}

bool import_task_call(const struct import *import, struct mcpx_slice params,
                      struct bridge_call **call)
{
    mx_scoped_text text =
        id_of(mcpx_json_get(mcpx_json_get(params, "_meta"), IMPORT_META "related-task"));
    struct mcpx_slice id = mcpx_text_view(&text);
    struct bridge_call *row = id.len ? import->calls.last : NULL;

    while (row && !(row->task == IMPORT_HAS_TASK
                        ? mcpx_slice_equal(mcpx_text_view(&row->state), id)
                        : row->written && bridge_is(row->method, "tasks/result") &&
                              mcpx_slice_equal(row->context, id)))
        row = row->previous;
    *call = row;
    return row || owned(import, NULL, id);
}

/* ---- answers ---- */

/* The state of a task that a result creates; without id: it creates none. */
static struct mcpx_slice created(struct mcpx_slice result)
{
    return bridge_is(mcpx_json_get(result, "resultType"), "\"task\"")
               ? result
               : mcpx_json_get(result, "task");
}

/* Whoever had a task with that id before, of a former process, has it no more. */
static void own(struct import *import, const struct bridge_call *call, struct mcpx_slice id)
{
    struct bridge_call *former = owned(import, NULL, id);

    if (former)
        bridge_calls_drop(&import->tasks, former);
    if (call->task == IMPORT_MAKES_TASK)
        return;
    make_room(&import->tasks, call->who);
    bridge_calls_add(&import->tasks,
                     &(struct bridge_call){.number = import_number_of(import->pool, id),
                                           .who = call->who,
                                           .proposer = call->proposer,
                                           .context = id,
                                           .progress = (int64_t)import->starts});
    import->listen.due_at = 0; /* at a server of 2026-07-28 */
}

const char *import_task_answered(struct import *import, struct bridge_call *call,
                                 const struct mcpx_rpc *rpc)
{
    struct mcpx_slice state = created(rpc->result);
    mx_scoped_text id = id_of(state);
    struct bridge_call *row =
        call && bridge_is_any(call->method, "tasks/get", "tasks/result", "tasks/cancel")
            ? owned(import, &call->who, call->context)
            : NULL;
    bool is_unknown = import_is_error(rpc, "-32602"); /* or over, and so not to be cancelled */

    if (row && is_unknown && bridge_is(call->method, "tasks/get"))
        bridge_calls_drop(&import->tasks, row);
    else if (row) /* before 2026-07-28 a result comes when the task is over */
        row->task |=
            is_unknown || is_over(rpc->result) ||
            (import->handshake == IMPORT_LEGACY && bridge_is(call->method, "tasks/result"));
    if (!id.len || (call ? !bridge_is(call->method, "tools/call")
                         : owned(import, NULL, mcpx_text_view(&id)) != NULL))
        return NULL;
    if (!call || id.len > ID_MAX || call->task == IMPORT_DROPS_TASK) {
        cancel(import, &id);
        return id.len > ID_MAX ? "the id of the server's task is longer than 512 bytes"
                               : "the participant that made the call has left";
    }
    own(import, call, mcpx_text_view(&id));
    if (call->task != IMPORT_MAKES_TASK)
        return NULL;
    call->task = IMPORT_HAS_TASK;
    mcpx_text_slice(&call->state, mcpx_text_view(&id));
    call->heartbeat_ms = import->pool->now_ms + TASK_MS;
    go_on(import, call, state);
    return NULL;
}

/* Turns the state of a task of 2026-07-28 that is over into the answer to its call. */
static void end_with_state(struct mcpx_rpc *rpc)
{
    struct mcpx_slice state = rpc->result, status = mcpx_json_get(state, "status");
    struct mcpx_slice result = mcpx_json_get(state, "result");

    rpc->text = (struct mcpx_slice){0};
    rpc->form = bridge_is(status, "\"completed\"") ? MCPX_RPC_RESULT : MCPX_RPC_ERROR;
    rpc->result = result.text ? result : MCPX_SLICE("null");
    rpc->error =
        bridge_is(status, "\"cancelled\"")
            ? MCPX_SLICE("{\"code\":-31000,\"message\":\"the server cancelled the task\"}")
            : mcpx_json_get(state, "error");
}

struct bridge_call *import_task_polled(struct import *import, struct bridge_call *row,
                                       struct mcpx_rpc *rpc)
{
    struct bridge_call *call = bridge_calls_find(&import->calls, row->about);
    struct mcpx_slice status = mcpx_json_get(rpc->result, "status");
    bool is_modern = import->handshake == IMPORT_MODERN, ends = is_over(rpc->result);
    bool wants = bridge_is(status, "\"input_required\"");
    bool is_end = rpc->form == MCPX_RPC_ERROR || bridge_is(row->method, "tasks/result") ||
                  (is_modern && ends);

    bridge_calls_drop(&import->calls, row);
    if (!call)
        return NULL;
    if (is_modern && ends)
        end_with_state(rpc);
    if (is_end)
        call->task = 0;
    else if (!is_modern && (ends || wants))
        poll(import, call, "tasks/result", ends ? import->config->request_ms : TASK_MS);
    else if (!wants)
        go_on(import, call, rpc->result);
    return is_end || (is_modern && wants) ? call : NULL;
}

void import_task_update(struct import *import, struct bridge_call *call,
                        const struct mcpx_text *answers)
{
    mx_scoped_text params = {0};
    struct bridge_call *update;

    if (answers->len) {
        mx_format(&params, "\"taskId\":%q,\"inputResponses\":%s", &call->state, answers);
        update = import_request(import, IMPORT_HOUSEKEEPING, "tasks/update",
                                mcpx_text_view(&params));
        if (update)
            update->about = call->number;
        call->heartbeat_ms = import->pool->now_ms + TASK_MS;
    }
    call->wants_input = false;
    bridge_calls_defer(&import->calls, call, import->pool->now_ms + POLL_MS);
}
