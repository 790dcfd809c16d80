/*
 * answer.c - a participant's call ends: with an answer, with an error of ours, or in silence. What
 * the router would not take is replaced by a sentence that says so, so that nobody waits in vain.
 */

#include "tools/mcpx-bridge/bridge.h"
#include "tools/mcpx-bridge/import/state.h"
#include "tools/mcpx-bridge/import/tell.h"

void import_abandon(struct import *import, struct import_call *call)
{
    if (import_is_under_terms(import, call->method))
        import_terms_abandon(import, call);
    import_want_drop(import, call->requester.topic, call->envelope);
    import_calls_drop(&import->calls, call);
}

/* Wants an answer sent; where there is no memory for that, the request is dropped. */
static void respond(struct import *import, const struct bridge_row *row)
{
    if (!import_want(import, *row))
        import_want_drop(import, row->action.topic, row->action.about);
}

void import_answer(struct import *import, struct import_call *call)
{
    struct bridge_row row = {.action = {.type = BRIDGE_RESPOND,
                                        .topic = call->requester.topic,
                                        .about = call->envelope,
                                        .text = mcpx_text_view(&import->text)},
                             .who = call->requester.id,
                             .method = call->method};

    if (import->text.failed) {
        import_say(import, "out of memory: a request stays unanswered");
        import_abandon(import, call);
        return;
    }
    respond(import, &row);
    if (import->text.len > call->holder->longest)
        call->holder->longest = import->text.len;
    import_calls_drop(&import->calls, call);
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
    import->text.failed |= message.failed || data.failed;
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
    return !import->text.failed;
}

void import_answer_failed(struct import *import, const struct bridge_row *row,
                          enum mcpx_err err)
{
    struct bridge_row substitute = *row;

    if (add_substitute(import, row, err)) {
        substitute.action.text = mcpx_text_view(&import->text);
        substitute.is_substitute = true;
        respond(import, &substitute);
        return;
    }
    import_say(import, "the answer to %.*s for %.*s cannot be sent: %s", (int)row->method.len,
               row->method.text, (int)row->who.len, row->who.text, mcpx_strerror(err));
    import_want_drop(import, row->action.topic, row->action.about);
}

/* What a cause is without terms. */
static int code_of(enum mcpx_cause cause)
{
    switch (cause) {
    case MCPX_CAUSE_INPUT:
        return BRIDGE_BAD_PARAMS;
    case MCPX_CAUSE_TIMEOUT:
        return BRIDGE_TIMED_OUT;
    default:
        return BRIDGE_UNAVAILABLE;
    }
}

void import_refuse(struct import *import, struct import_call *call, enum mcpx_cause cause,
                   const char *message, struct mcpx_slice data)
{
    mcpx_text_reset(&import->text);
    if (import_is_under_terms(import, call->method))
        import_terms_refuse(import, call, cause, mcpx_slice_of(message), data);
    else
        bridge_add_error(&import->text, call->rpc_id, code_of(cause), mcpx_slice_of(message),
                         data);
    import_answer(import, call);
}

void import_refuse_for_outage(struct import *import, struct import_call *call)
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
    row.action.text = mcpx_text_view(&import->text);
    if (import->text.failed)
        import_want_drop(import, topic, event->envelope->id);
    else
        respond(import, &row);
}
