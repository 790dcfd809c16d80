/*
 * import.c - the topics' side: requests of participants go to the server under numbers of ours,
 * notifications are passed, dropped or translated. One server serves everybody in its topics and
 * is initialised once, because servers with a state (memory, browsers, databases) are mostly
 * imported to be shared; a pool keeps them apart (pool.c).
 */
#include "tools/mcpx-bridge/import/ask.h"
#include "tools/mcpx-bridge/import/tasks.h"

#include <stdlib.h>

struct import *import_new(struct import_pool *pool, size_t number, struct bridge_who owner)
{
    char *at;
    struct import *import = bridge_room(sizeof *import, owner.id.len, &at);

    import->pool = pool;
    import->config = &pool->config;
    import->number = number;
    import->owner = (struct bridge_who){owner.topic, mx_keep(&at, owner.id)};
    import->idle_at = import->probe_at = import->handshake_at = INT64_MAX;
    import->tools.ends_at = import->tools.due_at = import->listen.due_at = INT64_MAX;
    return import;
}

void import_free(struct import *import)
{
    if (!import)
        return;
    bridge_calls_fini(&import->calls);
    bridge_calls_fini(&import->asks);
    bridge_calls_fini(&import->tasks);
    import_subs_fini(&import->subs);
    import_subs_fini(&import->levels);
    mcpx_tools_free(import->tools.known);
    mcpx_tools_free(import->tools.coming);
    mcpx_text_fini(&import->tools.doubts);
    mcpx_text_fini(&import->greeting);
    mcpx_text_fini(&import->outage);
    mcpx_text_fini(&import->outage_data);
    mcpx_text_fini(&import->failure);
    free(import);
}

void import_cancelled(struct import *import, struct bridge_call *call,
                      const struct mcpx_rpc *rpc)
{
    mx_scoped_text number = mx_formatted("%s", call->number);

    if (import_is_owed(call))
        import_write(import, import_with_param(rpc, "requestId", mcpx_text_view(&number)), 0);
    import_abandon(import, call);
}

/* True for notifications of a client. A server might run others, which are requests. */
static bool may_notify(struct mcpx_slice method)
{
    static const char all[] = "notifications/", tasks[] = "notifications/tasks";
    bool is_one = method.len > strlen(all) && memcmp(method.text, all, strlen(all)) == 0;

    return is_one &&
           (method.len < strlen(tasks) || memcmp(method.text, tasks, strlen(tasks)) != 0);
}

void import_notified(struct import *import, const struct mcpx_event *event)
{
    struct mcpx_slice method = event->rpc->method;
    struct mcpx_text line = {0};

    /* Not for participants: the bridge greets, and the operator sets the roots. */
    if (bridge_is(method, "notifications/initialized") ||
        bridge_is(method, "notifications/roots/list_changed"))
        return;
    if (!import_is_ready(import))
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

/* A request with a false kind is not executed; its sender gets an error if it addressed only us. */
void import_violated(struct import *import, size_t topic, const struct mcpx_event *event)
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

void import_refused(struct import *import, const struct mcpx_event *event)
{
    mx_scoped_text reason = mx_formatted("%s", event->reason);

    import_say(import, "the router refused what we sent: %s", &reason);
    if (event->tag)
        import_ask_failed(import, event->tag, BRIDGE_NO_METHOD, reason.text);
}

void import_left(struct import *import, struct bridge_who who)
{
    import_subs_ended(import, &import->subs, who);
    import_subs_ended(import, &import->levels, who);
    import_ask_left(import, who);
    for (struct bridge_call *call = import->calls.first, *next; call; call = next) {
        next = call->next;
        if (call->purpose != IMPORT_PARTICIPANT || !bridge_who_is(call->who, who))
            continue;
        if (call->task == IMPORT_HAS_TASK)
            import_abandon(import, call);
        else if (call->task == IMPORT_MAKES_TASK)
            call->task = IMPORT_DROPS_TASK;
    }
}

void import_topic_gone(struct import *import, size_t topic)
{
    for (struct bridge_call *call = import->calls.first, *next; call; call = next) {
        next = call->next;
        if (!call->holder || call->holder->topic != topic)
            continue;
        if (import_is_owed(call))
            import_cancel(import, call, "the topic is gone");
        import_abandon(import, call);
    }
    import_left(import, (struct bridge_who){topic, {0}});
}

static void notice_sent(struct import *import, enum mcpx_err err)
{
    if (err && err != import->notice_err)
        import_say(import, "notifications of the server cannot be sent: %s",
                   mcpx_strerror(err));
    import->notice_err = err;
}

static void write_failed(struct import *import, int64_t id, enum mcpx_err err)
{
    struct bridge_call *call = bridge_calls_find(&import->calls, id);

    if (!call)
        return;
    if (call->purpose == IMPORT_HOUSEKEEPING)
        import_own_over(import, call);
    else
        import_refuse(import, call, MCPX_CAUSE_UNAVAILABLE,
                      err == MCPX_ELIMIT ? "the server does not read its input"
                                         : "the server is gone: it reads no more");
}

void import_done(struct import *import, const struct bridge_row *row,
                 const struct bridge_outcome *outcome)
{
    if (row->action.type == BRIDGE_SEND && row->action.draft.tag)
        import_asked(import, row->action.draft.tag, outcome);
    else if (row->action.type == BRIDGE_SEND && row->is_notice)
        notice_sent(import, outcome->err);
    else if (row->action.type == BRIDGE_RESPOND && outcome->err)
        import_answer_failed(import, row, outcome->err);
    else if (row->action.type == BRIDGE_WRITE && outcome->err)
        write_failed(import, row->call, outcome->err);
}
