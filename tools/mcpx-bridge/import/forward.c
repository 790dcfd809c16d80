/*
 * forward.c - requests of participants on their way to the server. Some are answered without it,
 * some wait: until it is ready, or until its tools are known.
 */
#include "tools/mcpx-bridge/bridge.h"
#include "tools/mcpx-bridge/import/import.h"

bool import_is_shared(struct mcpx_slice method)
{
    static const char *const methods[] = {
        "initialize",   "ping",           "server/discover",         "tools/list",
        "prompts/list", "resources/list", "resources/templates/list"};

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (mcpx_slice_equal(method, mcpx_slice_of(methods[i])))
            return true;
    return false;
}

/* Requests the bridge answers for the server. Returns true when this was one. */
static bool answer_instead(struct import *import, struct bridge_call *call)
{
    struct mcpx_text own = {0};
    struct mcpx_slice result = {0};

    if (import_terms_add_own(import, call->method, &own)) {
        result = mcpx_text_view(&own);
    } else if (mcpx_slice_equal(call->method, MCPX_SLICE("initialize"))) {
        result = mcpx_text_view(&import->greeting);
    } else if (mcpx_slice_equal(call->method, MCPX_SLICE("resources/unsubscribe")) &&
               import_subs_others(&import->subs, call->context, call->who)) {
        /* Others still want to hear of it, and the server knows only one client. */
        import_subs_remove(&import->subs, call->context, call->who);
        result = MCPX_SLICE("{}");
    } else {
        return false;
    }
    mcpx_text_reset(&import->text);
    bridge_add_result(&import->text, call->id, result);
    mcpx_text_fini(&own);
    import_answer(import, call);
    return true;
}

void import_write_failed(struct import *import, int64_t id, enum mcpx_err err)
{
    struct bridge_call *call = bridge_calls_find(&import->calls, id);

    if (!call)
        return;
    if (call->purpose != IMPORT_PARTICIPANT)
        bridge_calls_drop(&import->calls, call);
    else
        import_refuse(import, call, MCPX_CAUSE_UNAVAILABLE,
                      err == MCPX_ELIMIT ? "the server does not read its input"
                                         : "the server is gone: it reads no more",
                      (struct mcpx_slice){0});
}

void import_forward(struct import *import, struct bridge_call *call, struct mcpx_now now)
{
    struct mcpx_slice payload = mcpx_text_view(&call->payload);

    if (answer_instead(import, call))
        return;
    if (import_is_under_terms(import, call->method) &&
        !import_terms_admit(import, call, &payload)) {
        import_answer(import, call);
        return;
    }
    mcpx_text_reset(&import->line);
    import_add_request(&import->line, payload, call->number,
                       import->era == IMPORT_MODERN ? import->version : NULL,
                       import->config->capabilities);
    import_write(import, call->number);
    call->written = true;
    bridge_calls_release(&import->calls, call);
    bridge_calls_defer(&import->calls, call, now.mono_ms + import->config->request_ms);
}

bool import_takes(const struct import *import, struct mcpx_slice method)
{
    return import_is_ready(import) &&
           !(import_is_under_terms(import, method) && import_tools_are_coming(&import->tools));
}

void import_forward_waiting(struct import *import, struct mcpx_now now)
{
    for (struct bridge_call *call = import->calls.first, *next; call; call = next) {
        next = call->next; /* the call may be gone afterwards */
        if (call->purpose == IMPORT_PARTICIPANT && !call->written &&
            import_takes(import, call->method))
            import_forward(import, call, now);
    }
}

/*
 * A participant's call ends: with an answer, with an error of ours, or in silence. What the router
 * would not take is replaced by a sentence that says so, so that nobody waits in vain.
 */

void import_abandon(struct import *import, struct bridge_call *call)
{
    if (import_is_under_terms(import, call->method))
        import_terms_abandon(import, call);
    import_want_drop(import, call->who.topic, call->came_in);
    bridge_calls_drop(&import->calls, call);
}

void import_answer(struct import *import, struct bridge_call *call)
{
    struct bridge_row row = {.action = {.type = BRIDGE_RESPOND,
                                        .topic = call->who.topic,
                                        .about = call->came_in,
                                        .text = text_whole(&import->text)},
                             .who = call->who.id,
                             .method = call->method};

    import_want(import, row);
    if (import->text.len > call->holder->longest)
        call->holder->longest = import->text.len;
    bridge_calls_drop(&import->calls, call);
}

/* The error of what cannot be sent, in the words of the terms where there are some. */
static void add_error(struct import *import, const struct bridge_row *row,
                      enum mcpx_cause cause, struct mcpx_slice message, struct mcpx_slice data)
{
    struct mcpx_slice id = mcpx_json_get(row->action.text, "id");

    if (import_is_under_terms(import, row->method))
        import_terms_add_failure(&import->text, id, cause, data);
    else
        bridge_add_error(&import->text, id, BRIDGE_UNAVAILABLE, message, data);
}

static void add_too_large(struct import *import, const struct bridge_row *row)
{
    size_t max = import->setup.shared->topics[row->action.topic].message_max;
    struct mcpx_text message = {0}, data = {0};

    bridge_add_too_big(&message, "the answer", row->action.text.len, max);
    bridge_add_too_big_data(&data, row->action.text.len, max);
    add_error(import, row, MCPX_CAUSE_OUTPUT_SIZE, mcpx_text_view(&message),
              mcpx_text_view(&data));
    import_say(import, "%.*s by %.*s: %s", (int)row->method.len, row->method.text,
               (int)row->who.len, row->who.text, message.text ? message.text : "too large");
    mcpx_text_fini(&message);
    mcpx_text_fini(&data);
}

/* The requester gets a sentence instead, which may still fit. False when there is none. */
static bool add_substitute(struct import *import, const struct bridge_row *row,
                           enum mcpx_err err)
{
    mcpx_text_reset(&import->text);
    if (row->is_substitute || (err != MCPX_ETOOBIG && err != MCPX_ELIMIT))
        return false;
    if (err == MCPX_ETOOBIG)
        add_too_large(import, row);
    else
        add_error(import, row, MCPX_CAUSE_EXHAUSTED,
                  MCPX_SLICE("too many answers wait to be sent (--answers-max)"),
                  (struct mcpx_slice){0});
    return true;
}

void import_answer_failed(struct import *import, const struct bridge_row *row,
                          enum mcpx_err err)
{
    struct bridge_row substitute = *row;

    if (add_substitute(import, row, err)) {
        substitute.action.text = text_whole(&import->text);
        substitute.is_substitute = true;
        import_want(import, substitute);
        return;
    }
    import_say(import, "the answer to %.*s for %.*s cannot be sent: %s", (int)row->method.len,
               row->method.text, (int)row->who.len, row->who.text, mcpx_strerror(err));
    import_want_drop(import, row->action.topic, row->action.about);
}

void import_refuse(struct import *import, struct bridge_call *call, enum mcpx_cause cause,
                   const char *message, struct mcpx_slice data)
{
    mcpx_text_reset(&import->text);
    if (import_is_under_terms(import, call->method))
        import_terms_refuse(import, call, cause, mcpx_slice_of(message), data);
    else
        bridge_add_error(&import->text, call->id, bridge_code_of(cause),
                         mcpx_slice_of(message), data);
    import_answer(import, call);
}

void import_refuse_for_outage(struct import *import, struct bridge_call *call)
{
    import_refuse(import, call, MCPX_CAUSE_UNAVAILABLE,
                  import->outage.text ? import->outage.text : "the server is not ready",
                  mcpx_text_view(&import->outage_data));
}

void import_turn_away(struct import *import, size_t topic, const struct mcpx_event *event,
                      const char *message)
{
    struct bridge_row row = {
        .action = {.type = BRIDGE_RESPOND, .topic = topic, .about = event->envelope->id},
        .who = event->envelope->from,
        .method = event->rpc->method,
        .is_substitute = true};

    mcpx_text_reset(&import->text);
    if (import_is_under_terms(import, event->rpc->method))
        import_terms_turn_away(import, topic, event, mcpx_slice_of(message));
    else
        bridge_add_error(&import->text, event->rpc->id, BRIDGE_UNAVAILABLE,
                         mcpx_slice_of(message), (struct mcpx_slice){0});
    row.action.text = text_whole(&import->text);
    import_want(import, row);
}
