/*
 * import.c - the topics' side: requests of participants go to the server under numbers of ours,
 * notifications are passed, dropped or translated. One server serves everybody in its topics and
 * is initialised once, because servers with a state (memory, browsers, databases) are mostly
 * imported to be shared; who wants them apart has a pool of them (import_pool.c).
 * Includes import_state.h only.
 */
#include "tools/mcpx-bridge/import_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { REQUEST_MS = 300000, PROBE_MS = 2000, HANDSHAKE_MS = 120000, WAIT_MS = 30000 };
enum { CALLS_MAX = 10000, WAIT_BYTES = 64 << 20 };

static int64_t or_else(int64_t value, int64_t fallback)
{
    return value > 0 ? value : fallback;
}

enum mcpx_err import_new(const struct import_config *config, const struct import_port *port,
                         const struct import_setup *setup, struct import **out)
{
    const char *capabilities =
        config->capabilities ? config->capabilities : IMPORT_CAPABILITIES;
    struct import *import = calloc(1, sizeof *import);

    if (!import)
        return MCPX_ENOMEM;
    import->config = (struct import_config){
        .topics = config->topics ? config->topics : 1,
        .capabilities = strdup(capabilities),
        .ask_newest = config->ask_newest,
        .protocol = config->protocol,
        .once = config->once,
        .request_ms = or_else(config->request_ms, REQUEST_MS),
        .probe_ms = or_else(config->probe_ms, PROBE_MS),
        .handshake_ms = or_else(config->handshake_ms, HANDSHAKE_MS),
        .wait_ms = or_else(config->wait_ms, WAIT_MS),
        .calls_max = config->calls_max ? config->calls_max : CALLS_MAX,
        .wait_bytes = config->wait_bytes ? config->wait_bytes : WAIT_BYTES};
    import->port = *port;
    import->setup = *setup;
    import->era_at = INT64_MAX;
    import->handshake_at = INT64_MAX;
    if (config->roots)
        import->config.roots = strdup(config->roots);
    if (!import->config.capabilities || (config->roots && !import->config.roots)) {
        import_free(import);
        return MCPX_ENOMEM;
    }
    *out = import;
    return MCPX_OK;
}

void import_free(struct import *import)
{
    if (!import)
        return;
    import_calls_fini(&import->calls);
    import_asks_fini(&import->asks);
    import_subs_fini(&import->subs);
    mcpx_text_fini(&import->greeting);
    mcpx_text_fini(&import->trouble);
    mcpx_text_fini(&import->trouble_data);
    mcpx_text_fini(&import->line);
    mcpx_text_fini(&import->text);
    free((void *)import->config.capabilities);
    free((void *)import->config.roots);
    free(import);
}

const char *import_failure(const struct import *import)
{
    return import->failure[0] ? import->failure : NULL;
}

void import_give_up(struct import *import, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(import->failure, sizeof import->failure, format, arguments);
    va_end(arguments);
    import->over = true;
}

/* White space between tokens may hold newlines; on the pipe they would end the message. */
static void flatten(struct mcpx_text *line)
{
    for (size_t i = 0; i < line->len; i++)
        if (line->text[i] == '\n' || line->text[i] == '\r')
            line->text[i] = ' ';
}

enum mcpx_err import_write(struct import *import)
{
    if (import->line.failed)
        return MCPX_ENOMEM;
    flatten(&import->line);
    return import->port.write(import->port.user, import->setup.number,
                              mcpx_text_view(&import->line));
}

void import_abandon(struct import *import, struct import_call *call)
{
    import->port.drop(import->port.user, call->requester.topic, call->envelope);
    import_calls_drop(&import->calls, call);
}

/* An answer the router would not take is replaced by one that says so. */
static enum mcpx_err answer_too_large(struct import *import, const struct import_call *call,
                                      size_t len)
{
    size_t max = import->port.message_max(import->port.user, call->requester.topic);
    struct mcpx_text message = {0}, data = {0};

    bridge_add_too_big(&message, "the answer", len, max);
    bridge_add_too_big_data(&data, len, max);
    mcpx_text_reset(&import->text);
    bridge_add_error(&import->text, call->rpc_id, BRIDGE_UNAVAILABLE, mcpx_text_view(&message),
                     mcpx_text_view(&data));
    import_say(import, "%.*s by %.*s: %s", (int)call->method.len, call->method.text,
               (int)call->requester.id.len, call->requester.id.text,
               message.text ? message.text : "too large");
    import->text.failed |= message.failed || data.failed;
    mcpx_text_fini(&message);
    mcpx_text_fini(&data);
    if (import->text.failed)
        return MCPX_ENOMEM;
    return import->port.respond(import->port.user, call->requester.topic, call->envelope,
                                mcpx_text_view(&import->text));
}

/* Instead of the answer the requester gets a sentence, which may still fit. */
static enum mcpx_err answer_too_many(struct import *import, const struct import_call *call)
{
    mcpx_text_reset(&import->text);
    bridge_add_error(&import->text, call->rpc_id, BRIDGE_UNAVAILABLE,
                     MCPX_SLICE("too many answers wait to be sent to the router"),
                     (struct mcpx_slice){0});
    if (import->text.failed)
        return MCPX_ENOMEM;
    return import->port.respond(import->port.user, call->requester.topic, call->envelope,
                                mcpx_text_view(&import->text));
}

void import_answer(struct import *import, struct import_call *call, struct mcpx_slice message)
{
    enum mcpx_err err = import->port.respond(import->port.user, call->requester.topic,
                                             call->envelope, message);

    if (err == MCPX_ETOOBIG)
        err = answer_too_large(import, call, message.len);
    else if (err == MCPX_ELIMIT)
        err = answer_too_many(import, call);
    if (err)
        import_say(import, "the answer to %.*s for %.*s cannot be sent: %s",
                   (int)call->method.len, call->method.text, (int)call->requester.id.len,
                   call->requester.id.text, mcpx_strerror(err));
    if (err)
        import_abandon(import, call);
    else
        import_calls_drop(&import->calls, call);
}

void import_refuse(struct import *import, struct import_call *call, int code,
                   const char *message, struct mcpx_slice data)
{
    mcpx_text_reset(&import->text);
    bridge_add_error(&import->text, call->rpc_id, code, mcpx_slice_of(message), data);
    if (import->text.failed) {
        import_say(import, "out of memory: a request stays unanswered");
        import_abandon(import, call);
        return;
    }
    import_answer(import, call, mcpx_text_view(&import->text));
}

void import_refuse_for_trouble(struct import *import, struct import_call *call)
{
    import_refuse(import, call, BRIDGE_UNAVAILABLE,
                  import->trouble.text ? import->trouble.text : "the server is not ready",
                  mcpx_text_view(&import->trouble_data));
}

/* Requests the bridge answers for the server. Returns true when this was one. */
static bool answer_instead(struct import *import, struct import_call *call)
{
    struct mcpx_slice result = {0};

    if (mcpx_slice_equal(call->method, MCPX_SLICE("initialize"))) {
        result = mcpx_text_view(&import->greeting);
    } else if (mcpx_slice_equal(call->method, MCPX_SLICE("resources/unsubscribe")) &&
               import_subs_others(&import->subs, call->context, call->requester)) {
        /* Others still want to hear of it, and the server knows only one client. */
        import_subs_remove(&import->subs, call->context, call->requester);
        result = MCPX_SLICE("{}");
    } else {
        return false;
    }
    mcpx_text_reset(&import->text);
    bridge_add_result(&import->text, call->rpc_id, result);
    import_answer(import, call, mcpx_text_view(&import->text));
    return true;
}

void import_forward(struct import *import, struct import_call *call, struct mcpx_now now)
{
    enum mcpx_err err;

    if (answer_instead(import, call))
        return;
    mcpx_text_reset(&import->line);
    import_add_request(&import->line, mcpx_text_view(&call->payload), call->id,
                       import->era == IMPORT_MODERN ? import->version : NULL,
                       import->config.capabilities);
    err = import_write(import);
    if (err == MCPX_OK) {
        call->written = true;
        import_calls_release(&import->calls, call);
        import_calls_defer(&import->calls, call, now.mono_ms + import->config.request_ms);
        return;
    }
    import_refuse(import, call, BRIDGE_UNAVAILABLE,
                  err == MCPX_ELIMIT   ? "the server does not read its input"
                  : err == MCPX_ENOMEM ? "the bridge is out of memory"
                                       : "the server is gone",
                  (struct mcpx_slice){0});
}

static void on_request(struct import *import, size_t topic, const struct mcpx_event *event,
                       struct mcpx_now now)
{
    struct mcpx_slice params = event->rpc->params;
    const char *fault = import_params_fault(params);
    struct import_call draft = {
        .purpose = IMPORT_PARTICIPANT,
        .deadline_ms = now.mono_ms + import->config.wait_ms,
        .envelope = event->envelope->id,
        .requester = {topic, event->envelope->from},
        .rpc_id = event->rpc->id,
        .token = mcpx_json_get(mcpx_json_get(params, "_meta"), "progressToken"),
        .method = event->rpc->method,
        .context = event->rpc->context};
    struct import_call *call = import_calls_add(&import->calls, &draft);

    if (!call) {
        import_say(import, "out of memory: a request stays unanswered");
        import->port.drop(import->port.user, topic, draft.envelope);
        return;
    }
    if (fault)
        import_refuse(import, call, BRIDGE_BAD_PARAMS, fault, (struct mcpx_slice){0});
    else if (!import_who_may_have(call->holder->calls, import->calls.count,
                                  import->config.calls_max) ||
             !import_calls_hold(&import->calls, call, event->rpc->text))
        import_refuse(import, call, BRIDGE_UNAVAILABLE,
                      "you have as many requests under way as the bridge has room for",
                      (struct mcpx_slice){0});
    else if (import_is_ready(import))
        import_forward(import, call, now);
    else if (import->over)
        import_refuse_for_trouble(import, call);
    else if (!import_who_may_have(call->holder->held, import->calls.held,
                                  import->config.wait_bytes))
        import_refuse(import, call, BRIDGE_UNAVAILABLE,
                      "the server is not ready, and too many bytes of yours wait for it",
                      (struct mcpx_slice){0});
}

/* Only who asked may cancel; the envelope's correlation and the JSON-RPC id both count. */
static struct import_call *meant_by(const struct import *import, size_t topic,
                                    const struct mcpx_event *event)
{
    return import_calls_meant(
        &import->calls, (struct import_who){topic, event->envelope->from},
        event->envelope->correlation_id, mcpx_json_get(event->rpc->params, "requestId"));
}

bool import_is_waiting(const struct import *import, size_t topic,
                       const struct mcpx_event *event)
{
    return meant_by(import, topic, event) != NULL;
}

static void on_cancelled(struct import *import, size_t topic, const struct mcpx_event *event)
{
    const struct mcpx_rpc *rpc = event->rpc;
    struct import_call *call = meant_by(import, topic, event);
    char number[24];

    if (!call)
        return;
    if (call->written) {
        snprintf(number, sizeof number, "%lld", (long long)call->id);
        mcpx_text_reset(&import->line);
        import_add_with_param(&import->line, rpc->text,
                              rpc->params.text ? rpc->params : MCPX_SLICE("{}"), "requestId",
                              mcpx_slice_of(number));
        import_write(import);
    }
    import_abandon(import, call);
}

static void on_notification(struct import *import, size_t topic,
                            const struct mcpx_event *event)
{
    struct mcpx_slice method = event->rpc->method;

    /* Not a guest's business: the greeting is ours, and roots are the operator's to state. */
    if (mcpx_slice_equal(method, MCPX_SLICE("notifications/initialized")) ||
        mcpx_slice_equal(method, MCPX_SLICE("notifications/roots/list_changed")))
        return;
    if (mcpx_slice_equal(method, MCPX_SLICE("notifications/cancelled"))) {
        on_cancelled(import, topic, event);
        return;
    }
    if (!import_is_ready(import))
        return;
    /* Progress is a matter of somebody's question; from others it is noise, or a lie. */
    if (mcpx_slice_equal(method, MCPX_SLICE("notifications/progress")) && !event->own.text)
        return;
    mcpx_text_reset(&import->line);
    import_add_with_jsonrpc(&import->line, event->rpc->text);
    import_write(import);
}

/* A request whose kind lies is not executed; who sent it to us alone learns why. */
static void on_violation(struct import *import, size_t topic, const struct mcpx_event *event)
{
    const struct mcpx_envelope *envelope = event->envelope;
    struct mcpx_slice id = {0}, self = import->port.self(import->port.user, topic);
    char kind[MCPX_KIND_MAX + 32];
    char reason[200];
    const struct mcpx_fault *fault = &event->fault;
    struct mcpx_draft draft = {.type = kind, .to_count = 1};

    import_say(import, "ignored a message of %.*s: %s", envelope ? (int)envelope->from.len : 7,
               envelope ? envelope->from.text : "unknown",
               mcpx_violation_text(event->violation));
    if (!envelope || !mcpx_slice_equal(envelope->kind.type, MCPX_SLICE("mcp/request")) ||
        envelope->to_count != 1 || !mcpx_slice_equal(envelope->to[0], self))
        return;
    id = mcpx_json_get(envelope->payload, "id");
    if (mcpx_json_type(id) != MCPX_JSON_STRING && mcpx_json_type(id) != MCPX_JSON_NUMBER)
        return;
    snprintf(kind, sizeof kind, "mcp/response:%.*s", (int)envelope->kind.method.len,
             envelope->kind.method.text);
    if (fault->reason)
        snprintf(reason, sizeof reason, "%s%s%s", fault->field ? fault->field : "",
                 fault->field && *fault->field ? ": " : "", fault->reason);
    else
        snprintf(reason, sizeof reason, "%s", mcpx_violation_text(event->violation));
    mcpx_text_reset(&import->text);
    bridge_add_error(&import->text, id, BRIDGE_KIND, mcpx_slice_of(reason),
                     (struct mcpx_slice){0});
    draft.to = &envelope->from;
    draft.correlation_id = envelope->id;
    draft.payload = mcpx_text_view(&import->text);
    if (!import->text.failed)
        import->port.send(import->port.user, topic, &draft, NULL);
}

static void on_refused(struct import *import, const struct mcpx_event *event)
{
    char reason[300];

    snprintf(reason, sizeof reason, "%.*s", (int)event->reason.len,
             event->reason.text ? event->reason.text : "");
    import_say(import, "the router refused what we sent: %s", reason);
    if (event->tag)
        import_ask_failed(import, event->tag, BRIDGE_NO_METHOD, reason);
}

/* Nobody is subscribed any more: the server need not watch it. */
static void unsubscribe(struct import *import, const struct import_sub *sub)
{
    if (import_is_ready(import) && !import_subs_others(&import->subs, sub->uri, sub->who)) {
        mcpx_text_reset(&import->text);
        mcpx_json_add_member(&import->text, "uri", sub->uri);
        import_era_request(import, IMPORT_HOUSEKEEPING, "resources/unsubscribe",
                           mcpx_text_view(&import->text));
    }
    import_subs_remove(&import->subs, sub->uri, sub->who);
}

/* A participant that is gone hears no updates, and answers no question. */
void import_left(struct import *import, struct import_who who)
{
    const struct import_sub *sub;

    while ((sub = import_subs_of(&import->subs, who)) != NULL)
        unsubscribe(import, sub);
    import_ask_left(import, who);
}

/* We are in that topic no longer: nobody there is answered. */
static void on_topic_gone(struct import *import, size_t topic)
{
    struct import_call *call;

    while ((call = import_calls_of_topic(&import->calls, topic)) != NULL) {
        if (call->written)
            import_cancel(import, call, "the topic is gone");
        import_abandon(import, call);
    }
    import_left(import, (struct import_who){topic, {0}});
}

bool import_is_in_use(const struct import *import)
{
    return import->calls.holder_count > 0 || import->subs.count > 0 || import->asks.count > 0;
}

void import_event(struct import *import, size_t topic, const struct mcpx_event *event,
                  struct mcpx_now now)
{
    switch (event->type) {
    case MCPX_EVENT_REQUEST:
        on_request(import, topic, event, now);
        break;
    case MCPX_EVENT_NOTIFICATION:
        on_notification(import, topic, event);
        break;
    case MCPX_EVENT_RESPONSE:
        import_ask_answered(import, event->tag, event->rpc->text);
        break;
    case MCPX_EVENT_EXPIRED:
        import_ask_failed(import, event->tag, BRIDGE_TIMED_OUT, "nobody answered in time");
        break;
    case MCPX_EVENT_REFUSED:
        on_refused(import, event);
        break;
    case MCPX_EVENT_VIOLATION:
        on_violation(import, topic, event);
        break;
    case MCPX_EVENT_PRESENCE:
        if (event->presence == MCPX_PRESENCE_LEAVE)
            import_left(import, (struct import_who){topic, event->participant});
        break;
    case MCPX_EVENT_LEFT:
        if (event->retry_ms < 0)
            on_topic_gone(import, topic);
        break;
    default:
        break;
    }
}
