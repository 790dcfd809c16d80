/*
 * tasks.c - tasks of the server, in the form of 2025-11-25 (params.task) and in that of the tasks
 * extension of 2026-07-28 (a result of type "task"). A task belongs to the participant that got its
 * id, with all its instances: the id of another participant's task is an unknown id.
 *
 * A requester without tasks may call a tool that insists on one: the bridge then makes the task,
 * asks for its state until it is over, and answers the call with the task's result. The polls are
 * one row of our own: `context` is the id of the task, `task` is set when its result is asked for.
 * `about` of this row and of the call is the number of the other.
 */
#include "tools/mcpx-bridge/import/tasks.h"

#include "lib/base/digits.h"

#include <mcpx/envelope.h>

enum {
    TASKS_MAX = 2048, /* tasks of all participants; one may have a quarter */
    TOOLS_MAX =
        1024,     /* tools that insist on tasks: rows with the hash of the name as number */
    ID_MAX = 512, /* bytes of the id of a task */
    TASK_MS = 3600000, /* how long a task of our own may take */
    POLL_MS = 1000,    /* when the server does not name an interval */
    POLL_MIN_MS = 200,
    POLL_MAX_MS = 60000,
    POLL_SHARE = 8,     /* a poll waits for at least this part of the task's age, ... */
    POLL_OWN_MS = 30000 /* ... but no longer than this, unless the server says so */
};

/* ---- what the server has ---- */

/* True when the server has tasks, in the form of its own protocol. */
static bool has_tasks(const struct import *import)
{
    struct mcpx_slice can = mcpx_json_get(mcpx_text_view(&import->greeting), "capabilities");
    struct mcpx_slice requests = mcpx_json_get(mcpx_json_get(can, "tasks"), "requests");

    if (import->handshake == IMPORT_MODERN)
        return import_has_extension(can);
    return mcpx_json_get(mcpx_json_get(requests, "tools"), "call").text;
}

void import_tasks_note_tools(struct import_pool *pool, struct mcpx_slice list)
{
    MCPX_JSON_EACH(walk, mcpx_json_get(list, "tools")) {
        struct mcpx_slice support =
            mcpx_json_get(mcpx_json_get(walk.value, "execution"), "taskSupport");
        bool insists = mcpx_json_equals(support, MCPX_SLICE("required"));
        struct bridge_call tool = {0}, *known;
        mx_scoped_text name = {0};

        mcpx_json_add_unescaped(&name, mcpx_json_get(walk.value, "name"));
        tool.number = import_number_of(pool, mcpx_text_view(&name));
        known = bridge_calls_find(&pool->task_tools, tool.number);
        if (known && !insists)
            bridge_calls_drop(&pool->task_tools, known);
        else if (insists && !known && pool->task_tools.count < TOOLS_MAX)
            bridge_calls_add(&pool->task_tools, &tool);
    }
}

/* ---- owners ---- */

static struct mcpx_text id_of(struct mcpx_slice object)
{
    struct mcpx_text id = {0};

    mcpx_json_add_unescaped(&id, mcpx_json_get(object, "taskId"));
    return id;
}

/* The number of the row of a participant's task. */
static int64_t number_of(const struct import *import, struct bridge_who who,
                         struct mcpx_slice id)
{
    mx_scoped_text name = mx_formatted("%s %s %s", who.topic, mcpx_identity_of(who.id), id);

    return import_number_of(import->pool, mcpx_text_view(&name));
}

/* The task of that participant; NULL: it has none with that id. */
static struct bridge_call *owned(const struct import *import, struct bridge_who who,
                                 struct mcpx_slice id)
{
    return bridge_calls_find(&import->tasks, number_of(import, who, id));
}

/* Forgets the oldest task of the participant, or of the one with most, when there are too many. */
static void make_room(struct bridge_calls *tasks, struct bridge_who who)
{
    const struct bridge_holder *victim = bridge_calls_holder(tasks, who);
    struct bridge_call *row = tasks->first;

    if (!victim || victim->calls < TASKS_MAX / 4) {
        if (tasks->count < TASKS_MAX)
            return;
        for (size_t i = 0; i < tasks->holder_count; i++)
            if (!victim || tasks->holders[i]->calls > victim->calls)
                victim = tasks->holders[i];
    }
    while (row->holder != victim)
        row = row->next;
    bridge_calls_drop(tasks, row);
}

static void own(struct import *import, struct bridge_who who, struct mcpx_slice id)
{
    struct bridge_call task = {
        .number = number_of(import, who, id), .who = who, .context = id};

    if (bridge_calls_find(&import->tasks, task.number))
        return;
    make_room(&import->tasks, who);
    bridge_calls_add(&import->tasks, &task);
    import->listen.due_at = 0; /* at a server of 2026-07-28 */
}

/* A task with that id begins: who had one before, of a former process, has it no more. */
static void disown(struct import *import, struct mcpx_slice id)
{
    for (struct bridge_call *row = import->tasks.first, *next; row; row = next) {
        next = row->next;
        if (mcpx_slice_equal(row->context, id))
            bridge_calls_drop(&import->tasks, row);
    }
}

static bool is_over(struct mcpx_slice state)
{
    struct mcpx_slice status = mcpx_json_get(state, "status");

    return bridge_is_any(status, "\"completed\"", "\"failed\"", "\"cancelled\"");
}

bool import_task_is_foreign(struct import *import, const struct bridge_call *call)
{
    struct bridge_call task, *row;

    if (!bridge_is_any(call->method, "tasks/get", "tasks/result", "tasks/update",
                       "tasks/cancel"))
        return false;
    row = owned(import, call->who, call->context);
    if (row && !bridge_who_is(row->who, call->who)) { /* that instance is told from now on */
        task = *row;
        task.who = call->who;
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

        if (owned(import, call->who, mcpx_text_view(&id)))
            mx_json_add_raw(&own_tasks, NULL, walk.value);
    }
    mx_json_end_array(&own_tasks);
    bridge_add_with(out, result, "tasks", &own_tasks);
}

void import_tasks_notify(struct import *import, const struct mcpx_rpc *rpc)
{
    mx_scoped_text id = id_of(rpc->params);

    for (struct bridge_call *row = import->tasks.first; row; row = row->next) {
        struct mcpx_draft draft = {.to = &row->who.id, .to_count = 1, .payload = rpc->text};

        if (!mcpx_slice_equal(row->context, mcpx_text_view(&id)))
            continue;
        row->task = is_over(rpc->params);
        import_notify_topic(import, row->who.topic, &draft);
    }
}

/* ---- tasks of our own ---- */

bool import_task_add(const struct import *import, struct bridge_call *call,
                     struct mcpx_slice payload, struct mcpx_text *out)
{
    struct mcpx_slice params = mcpx_json_get(payload, "params");
    struct mcpx_slice meta = mcpx_json_get(params, "_meta");
    bool is_modern = import->handshake == IMPORT_MODERN;
    mx_scoped_text task = {0}, changed = {0};

    if (!bridge_is(call->method, "tools/call") || !has_tasks(import))
        return false;
    if (is_modern ? import_has_extension(mcpx_json_get(meta, IMPORT_META "clientCapabilities"))
                  : mcpx_json_get(params, "task").text ||
                        !bridge_calls_find(&import->pool->task_tools,
                                           import_number_of(import->pool, call->context)))
        return false;
    call->task = IMPORT_MAKES_TASK;
    if (is_modern)
        return false;
    mx_format(&task, "{\"ttl\":%s}", (int)TASK_MS);
    bridge_add_with(&changed, params, "task", &task);
    bridge_add_with(out, payload, "params", &changed);
    return true;
}

/* The row of the polls for the call's task; NULL: there is none. */
static struct bridge_call *poll_of(const struct import *import, const struct bridge_call *call)
{
    return call->task == IMPORT_HAS_TASK ? bridge_calls_find(&import->calls, call->about)
                                         : NULL;
}

void import_task_due(struct import *import, struct bridge_call *row)
{
    mx_scoped_text payload =
        mx_formatted("{\"jsonrpc\":\"2.0\",\"method\":%q,\"params\":{\"taskId\":%q}}",
                     row->task ? "tasks/result" : "tasks/get", row->context);

    if (!bridge_calls_find(&import->calls, row->about)) { /* import_task_over */
        bridge_calls_drop(&import->calls, row);
        return;
    }
    row->written = true;
    bridge_calls_defer(&import->calls, row, INT64_MAX);
    import_write_request(import, row, mcpx_text_view(&payload));
}

/*
 * Asks again after the server's interval, less often as time goes by: many may have tasks. The
 * requester hears that the task goes on.
 */
static void go_on(struct import *import, struct bridge_call *call, struct bridge_call *row,
                  struct mcpx_slice state, struct mcpx_now now)
{
    struct mcpx_slice pause = mcpx_json_get(state, "pollIntervalMs");
    struct mcpx_slice message = mcpx_json_get(state, "statusMessage");
    struct mcpx_draft draft = {
        .to = &call->who.id, .to_count = 1, .correlation_id = call->came_in};
    bool speaks = mcpx_json_type(message) == MCPX_JSON_STRING;
    int64_t age = now.mono_ms + TASK_MS - call->due_ms; /* since it had answers last */
    uint64_t ms = POLL_MS, least = (uint64_t)(age < 0 ? 0 : age) / POLL_SHARE;
    mx_scoped_text notice = {0};

    if (!pause.text)
        pause = mcpx_json_get(state, "pollInterval");
    (void)mx_decimal_clamp(pause, POLL_MAX_MS, &ms); /* else it stays as it is */
    least = least < POLL_OWN_MS ? least : POLL_OWN_MS;
    least = least < POLL_MIN_MS ? POLL_MIN_MS : least;
    bridge_calls_defer(&import->calls, row, now.mono_ms + (int64_t)(ms < least ? least : ms));
    if (!call->token.text || call->progress < 0)
        return;
    mx_format(&notice,
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
              "{\"progressToken\":%s,\"progress\":%s%s%s}}",
              call->token, ++call->progress, speaks ? ",\"message\":" : "",
              speaks ? message : (struct mcpx_slice){0});
    draft.payload = text_whole(&notice);
    import_notify_topic(import, call->who.topic, &draft);
}

static void cancel(struct import *import, struct mcpx_slice id)
{
    mx_scoped_text params = {0};

    mcpx_json_add_member(&params, "taskId", id);
    import_request(import, IMPORT_HOUSEKEEPING, "tasks/cancel", mcpx_text_view(&params));
}

void import_task_over(struct import *import, const struct bridge_call *call)
{
    struct bridge_call *row = poll_of(import, call);

    if (!row)
        return;
    if (import_is_ready(import))
        cancel(import, row->context);
    bridge_calls_defer(&import->calls, row, 0); /* others may walk through the calls now */
}

struct bridge_call *import_task_call(const struct import *import, struct mcpx_slice params)
{
    mx_scoped_text id =
        id_of(mcpx_json_get(mcpx_json_get(params, "_meta"), IMPORT_META "related-task"));

    for (struct bridge_call *row = import->calls.last; id.len && row; row = row->previous)
        if (mcpx_slice_equal(row->context, mcpx_text_view(&id)) &&
            (row->purpose == IMPORT_TASK ||
             (row->written && bridge_is(row->method, "tasks/result"))))
            return row->purpose == IMPORT_TASK ? bridge_calls_find(&import->calls, row->about)
                                               : row;
    return NULL;
}

/* ---- answers ---- */

/* The state of a task that a result creates; absent: it creates none. */
static struct mcpx_slice created(struct mcpx_slice result)
{
    if (bridge_is(mcpx_json_get(result, "resultType"), "\"task\""))
        return result;
    return mcpx_json_get(mcpx_json_get(result, "task"), "taskId").text
               ? mcpx_json_get(result, "task")
               : (struct mcpx_slice){0};
}

void import_task_orphaned(struct import *import, const struct mcpx_rpc *rpc)
{
    mx_scoped_text id = id_of(created(rpc->result));

    if (id.len)
        cancel(import, mcpx_text_view(&id));
}

const char *import_task_fault(struct import *import, const struct bridge_call *call,
                              const struct mcpx_rpc *rpc)
{
    mx_scoped_text id = id_of(created(rpc->result));
    const char *fault = NULL;

    if (!id.len || !bridge_is(call->method, "tools/call"))
        return NULL;
    if (id.len > ID_MAX)
        fault = "the id of the server's task is longer than 512 bytes";
    else if (call->task == IMPORT_DROPS_TASK)
        fault = "the participant that made the call has left";
    if (fault)
        cancel(import, mcpx_text_view(&id));
    return fault;
}

bool import_task_answered(struct import *import, struct bridge_call *call,
                          const struct mcpx_rpc *rpc, struct mcpx_now now)
{
    struct mcpx_slice state = created(rpc->result);
    mx_scoped_text id = id_of(state);
    struct bridge_call *row;

    if (bridge_is(call->method, "tasks/get")) {
        row = owned(import, call->who, call->context);
        if (row && import_is_error(rpc, "-32602"))
            bridge_calls_drop(&import->tasks, row);
        else if (row)
            row->task = is_over(rpc->result);
    }
    if (!id.len || !bridge_is(call->method, "tools/call"))
        return false;
    disown(import, mcpx_text_view(&id));
    if (call->task != IMPORT_MAKES_TASK) {
        own(import, call->who, mcpx_text_view(&id));
        if (call->proposer.text)
            own(import, (struct bridge_who){call->who.topic, call->proposer},
                mcpx_text_view(&id));
        return false;
    }
    call->task = IMPORT_HAS_TASK;
    bridge_calls_defer(&import->calls, call, now.mono_ms + TASK_MS);
    row = bridge_calls_add(&import->calls,
                           &(struct bridge_call){.purpose = IMPORT_TASK,
                                                 .about = call->number,
                                                 .context = mcpx_text_view(&id)});
    call->about = row->number;
    go_on(import, call, row, state, now);
    return true;
}

/* Appends the answer to the call of a task of 2026-07-28 that is over. */
static void add_end(struct mcpx_text *out, struct mcpx_slice state)
{
    struct mcpx_slice status = mcpx_json_get(state, "status"), none = MCPX_SLICE("null");
    struct mcpx_slice result = mcpx_json_get(state, "result");
    struct mcpx_slice error = mcpx_json_get(state, "error");

    if (bridge_is(status, "\"completed\""))
        bridge_add_result(out, MCPX_SLICE("0"), result.text ? result : none);
    else if (bridge_is(status, "\"failed\""))
        mx_format(out, "{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":%s}",
                  error.text ? error : none);
    else if (bridge_is(status, "\"cancelled\""))
        bridge_add_error(out, MCPX_SLICE("0"), BRIDGE_UNAVAILABLE,
                         MCPX_SLICE("the server cancelled the task"), NULL);
}

struct bridge_call *import_task_polled(struct import *import, struct bridge_call *row,
                                       const struct mcpx_rpc *rpc, struct mcpx_text *out,
                                       struct mcpx_now now)
{
    struct bridge_call *call = bridge_calls_find(&import->calls, row->about);
    bool is_modern = import->handshake == IMPORT_MODERN, ends = is_over(rpc->result);
    bool wants = bridge_is(mcpx_json_get(rpc->result, "status"), "\"input_required\"");

    if (!call)
        return NULL;
    if (rpc->form == MCPX_RPC_ERROR || row->task || (is_modern && ends)) {
        if (is_modern)
            add_end(out, rpc->result);
        bridge_calls_drop(&import->calls, row);
        call->task = 0;
        return call;
    }
    bridge_calls_renumber(&import->calls, row);
    call->about = row->number;
    row->written = false;
    row->task = ends || (wants && !is_modern);
    call->wants_input = wants && is_modern; /* then import_task_update goes on */
    if (row->task)
        import_task_due(import, row);
    else if (!wants)
        go_on(import, call, row, rpc->result, now);
    return call->wants_input ? call : NULL;
}

void import_task_update(struct import *import, struct bridge_call *call,
                        const struct mcpx_text *answers, struct mcpx_now now)
{
    struct bridge_call *row = poll_of(import, call);
    mx_scoped_text params = {0};

    if (!row)
        return;
    if (answers->len) {
        mx_format(&params, "\"taskId\":%q,\"inputResponses\":%s", row->context, answers);
        import_request(import, IMPORT_HOUSEKEEPING, "tasks/update", mcpx_text_view(&params));
    }
    call->wants_input = false;
    bridge_calls_defer(&import->calls, row, now.mono_ms + POLL_MS);
    if (answers->len)
        bridge_calls_defer(&import->calls, call, now.mono_ms + TASK_MS);
}
