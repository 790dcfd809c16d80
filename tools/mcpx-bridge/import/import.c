/*
 * import.c - the topics' side: requests of participants go to the server under numbers of ours,
 * notifications are passed, dropped or translated. One server serves everybody in its topics and
 * is initialised once, because servers with a state (memory, browsers, databases) are mostly
 * imported to be shared; a pool keeps them apart (pool.c).
 */
#include "tools/mcpx-bridge/import/ask.h"

/* True for notifications of a client. A server might run others, which are requests. */
static bool may_notify(struct mcpx_slice method)
{
    static const char all[] = "notifications/", tasks[] = "notifications/tasks";
    bool is_one = method.len > strlen(all) && memcmp(method.text, all, strlen(all)) == 0;

    return is_one &&
           (method.len < strlen(tasks) || memcmp(method.text, tasks, strlen(tasks)) != 0);
}

static void notified(struct import *import, const struct mcpx_event *event)
{
    struct mcpx_slice method = event->rpc->method;
    struct mcpx_text line = {0};

    /* Not for participants: the bridge greets, and the operator sets the roots. */
    if (bridge_is_any(method, "notifications/initialized",
                      "notifications/roots/list_changed") ||
        !import_is_ready(import))
        return;
    if (!may_notify(method)) {
        import_say(import, "%s without an id is dropped: it is no notification of a client",
                   import_shown(method));
        return;
    }
    /* Progress belongs to a question of the server; other progress is noise, or false. */
    if (bridge_is(method, "notifications/progress") && !event->own.text)
        return;
    bridge_add_message(&line, event->rpc->text, (struct mcpx_slice){0}, NULL,
                       (struct mcpx_slice){0});
    import_write(import, line, 0);
}

/* Only the requester may cancel; the envelope's correlation and the JSON-RPC id both count. */
static struct bridge_call *call_of(const struct import *import, size_t topic,
                                   const struct mcpx_event *event)
{
    struct bridge_who who = {topic, event->envelope->from};
    struct mcpx_slice about = event->envelope->correlation_id;
    struct mcpx_slice id = mcpx_json_get(event->rpc->params, "requestId");
    struct bridge_call *call = about.text || id.text ? import->calls.last : NULL;

    while (call && (call->purpose != IMPORT_PARTICIPANT || !bridge_who_is(call->who, who) ||
                    (about.text && !mcpx_slice_equal(call->came_in, about)) ||
                    (id.text && !mcpx_json_same(call->id, id))))
        call = call->previous;
    return call;
}

/* To the sender's own server. Cancelled lists are those of the shared one. */
static void on_notification(const struct import_pool *pool, size_t topic,
                            const struct mcpx_event *event)
{
    struct bridge_who who = {topic, event->envelope->from};
    struct import *import = pool->servers[import_pool_server(pool, who)];
    mx_scoped_text number = {0};
    struct bridge_call *call;

    if (!bridge_is(event->rpc->method, "notifications/cancelled")) {
        if (import->number || !pool->config.isolate_max)
            notified(import, event);
        return;
    }
    call = call_of(import, topic, event);
    if (!call) {
        import = pool->servers[0];
        call = call_of(import, topic, event);
    }
    if (!call)
        return;
    mx_format(&number, "%s", call->number);
    if (import_is_owed(call))
        import_write(import,
                     import_with_param(event->rpc, "requestId", mcpx_text_view(&number)), 0);
    import_abandon(import, call);
}

/* A request with a false kind is not executed; its sender gets an error if it addressed only us. */
static void violated(struct import *import, size_t topic, const struct mcpx_event *event)
{
    const struct mcpx_envelope *envelope = event->envelope;
    const struct import_topic *state = &import->pool->topics[topic];
    struct mcpx_slice id, self = {state->self, state->self_len};
    const char *field = event->fault.field, *reason = event->fault.reason;
    mx_scoped_text kind = {0}, message = {0}, error = {0};

    import_say(import, "ignored a message of %s: %s",
               envelope ? envelope->from : MCPX_SLICE("unknown"),
               mcpx_violation_text(event->violation));
    if (!envelope || !bridge_is(envelope->kind.type, "mcp/request") ||
        envelope->to_count != 1 || !mcpx_slice_equal(envelope->to[0], self))
        return;
    id = mcpx_json_get(envelope->payload, "id");
    if (mcpx_json_type(id) != MCPX_JSON_STRING && mcpx_json_type(id) != MCPX_JSON_NUMBER)
        return;
    import_terms_note_broken(import, topic, event);
    mx_format(&kind, "mcp/response:%s", envelope->kind.method);
    if (reason)
        mx_format(&message, "%s%s%s", field, field && *field ? ": " : "", reason);
    else
        mcpx_text_puts(&message, mcpx_violation_text(event->violation));
    bridge_add_error(&error, id, BRIDGE_KIND, mcpx_text_view(&message), NULL);
    import_send_to(import, (struct bridge_who){topic, envelope->from}, kind.text, envelope->id,
                   text_whole(&error));
}

static void refused(struct import *import, const struct mcpx_event *event)
{
    mx_scoped_text reason = mx_formatted("%s", event->reason);

    import_say(import, "the router refused what we sent: %s", &reason);
    if (event->tag)
        import_ask_failed(import, event->tag, BRIDGE_NO_METHOD, reason.text);
}

static void left(struct import *import, struct bridge_who who)
{
    import_subs_left(import, who);
    import_ask_left(import, who);
    BRIDGE_EACH_CALL(call, &import->calls) {
        if (call->purpose != IMPORT_PARTICIPANT || !bridge_who_is(call->who, who) ||
            call->proposer.text) /* the proposer waits for the answer, too */
            continue;
        if (call->task == IMPORT_HAS_TASK)
            import_abandon(import, call);
        else if (call->task == IMPORT_MAKES_TASK)
            call->task = IMPORT_DROPS_TASK;
    }
}

static void topic_gone(struct import *import, size_t topic)
{
    BRIDGE_EACH_CALL(call, &import->calls) {
        if (!call->holder || call->holder->topic != topic)
            continue;
        if (import_is_owed(call))
            import_cancel(import, call, "the topic is gone");
        import_abandon(import, call);
    }
    left(import, (struct bridge_who){topic, {0}});
    bridge_calls_fini(&import->pool->topics[topic].clients);
}

/* The server that asked a question; server 0 when none did. */
static struct import *asker_of(const struct import_pool *pool, const void *tag)
{
    size_t at = pool->size;

    while (--at > 0 &&
           !(pool->servers[at] && bridge_calls_of_tag(&pool->servers[at]->asks, tag)))
        ;
    return pool->servers[at];
}

static void on_presence(struct import_pool *pool, struct bridge_who who, bool has_left)
{
    size_t own = import_pool_server(pool, who);

    if (own)
        pool->servers[own]->is_away = has_left;
    for (size_t i = 0; has_left && i < pool->size; i++)
        if (pool->servers[i])
            left(pool->servers[i], who);
}

void import_pool_event(struct import_pool *pool, size_t topic, const struct mcpx_event *event,
                       struct mcpx_now now)
{
    pool->now_ms = now.mono_ms;
    switch (event->type) {
    case MCPX_EVENT_REQUEST:
        import_pool_request(pool, topic, event, now);
        break;
    case MCPX_EVENT_NOTIFICATION:
        on_notification(pool, topic, event);
        break;
    case MCPX_EVENT_RESPONSE:
        import_ask_answered(asker_of(pool, event->tag), event->tag, event->rpc);
        break;
    case MCPX_EVENT_EXPIRED:
        import_ask_failed(asker_of(pool, event->tag), event->tag, BRIDGE_TIMED_OUT,
                          "no participant answered in time");
        break;
    case MCPX_EVENT_REFUSED:
        refused(asker_of(pool, event->tag), event);
        break;
    case MCPX_EVENT_VIOLATION:
        violated(pool->servers[0], topic, event);
        break;
    case MCPX_EVENT_PRESENCE:
        on_presence(pool, (struct bridge_who){topic, event->participant},
                    event->presence == MCPX_PRESENCE_LEAVE);
        break;
    case MCPX_EVENT_LEFT:
        for (size_t i = 0; event->retry_ms < 0 && i < pool->size; i++)
            if (pool->servers[i])
                topic_gone(pool->servers[i], topic);
        break;
    default:
        break;
    }
}

/* ---- outcomes ---- */

static void notice_sent(struct import *import, enum mcpx_err err)
{
    if (err && err != import->notice_err)
        import_say(import, "notifications of the server cannot be sent: %s",
                   mcpx_strerror(err));
    import->notice_err = err;
}

/* A greeting and a list of tools are not answered in time then. */
static void write_failed(struct import *import, int64_t id, enum mcpx_err err)
{
    struct bridge_call *call = bridge_calls_find(&import->calls, id);

    if (!call || call->purpose == IMPORT_GREETING || call->purpose == IMPORT_TOOLS)
        return;
    if (call->purpose >= IMPORT_HOUSEKEEPING)
        import_own_over(import, call, NULL);
    else
        import_refuse(import, call, MCPX_CAUSE_UNAVAILABLE,
                      err == MCPX_ELIMIT ? "the server does not read its input"
                                         : "the server is gone: it reads no more");
}

/* The server of a message may be gone before the message's turn. */
void import_pool_done(struct import_pool *pool, const struct bridge_outcome *outcome,
                      struct mcpx_now now)
{
    struct bridge_row *row = pool->row;
    const struct bridge_action *action = &row->action;
    struct import *import = pool->servers[pool->servers[action->server] ? action->server : 0];
    struct mcpx_child_report report = {MCPX_CHILD_FAILED,          0, -1, 0, -1,
                                       mcpx_strerror(outcome->err)};

    pool->row = NULL;
    if (action->type == BRIDGE_START && outcome->err)
        import_pool_state(pool, import->number, &report, now);
    else if (action->type == BRIDGE_SEND && action->draft.tag)
        import_asked(import, action, outcome);
    else if (action->type == BRIDGE_SEND && row->is_notice)
        notice_sent(import, outcome->err);
    else if (action->type == BRIDGE_RESPOND && outcome->err)
        import_answer_failed(import, row, outcome->err);
    else if (action->type == BRIDGE_WRITE && outcome->err)
        write_failed(import, row->call, outcome->err);
    bridge_row_free(row);
}

const struct bridge_action *import_pool_next(struct import_pool *pool, struct mcpx_now now)
{
    static const struct bridge_outcome no_room = {.err = MCPX_ELIMIT};

    while (!pool->row && (pool->row = import_turns_next(pool, now.mono_ms)) != NULL)
        if (pool->row->is_given_up)
            import_pool_done(pool, &no_room, now);
    if (!pool->row)
        import_pool_look_after(pool, now);
    return pool->row ? &pool->row->action : NULL;
}
