/*
 * answer.c - a participant's call ends: with an answer, with an error of ours, or in silence. What
 * the router would not take is replaced by a sentence that says so, so that nobody waits in vain.
 */
#include "tools/mcpx-bridge/import/answer.h"

#include "tools/mcpx-bridge/bridge.h"
#include "tools/mcpx-bridge/import/state.h"
#include "tools/mcpx-bridge/import/tell.h"
#include "tools/mcpx-bridge/import/want.h"

void import_abandon(struct import *import, struct import_call *call)
{
    import_want_drop(import, call->requester.topic, call->envelope);
    import_calls_drop(&import->calls, call);
}

/* Wants an answer sent; where there is no memory for that, the request is dropped. */
static void respond(struct import *import, const struct bridge_row *row)
{
    if (!import_want(import, *row))
        import_want_drop(import, row->action.topic, row->action.about);
}

void import_answer(struct import *import, struct import_call *call, struct mcpx_slice message)
{
    struct bridge_row row = {.action = {.type = BRIDGE_RESPOND,
                                        .topic = call->requester.topic,
                                        .about = call->envelope,
                                        .text = message},
                             .who = call->requester.id,
                             .method = call->method};

    respond(import, &row);
    import_calls_drop(&import->calls, call);
}

static void add_too_large(struct import *import, const struct bridge_row *row,
                          struct mcpx_slice id)
{
    size_t max = import->setup.shared->topics[row->action.topic].message_max;
    struct mcpx_text message = {0}, data = {0};

    bridge_add_too_big(&message, "the answer", row->action.text.len, max);
    bridge_add_too_big_data(&data, row->action.text.len, max);
    bridge_add_error(&import->text, id, BRIDGE_UNAVAILABLE, mcpx_text_view(&message),
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
    struct mcpx_slice id = mcpx_json_get(row->action.text, "id");

    mcpx_text_reset(&import->text);
    if (row->is_substitute || (err != MCPX_ETOOBIG && err != MCPX_ELIMIT))
        return false;
    if (err == MCPX_ETOOBIG)
        add_too_large(import, row, id);
    else
        bridge_add_error(&import->text, id, BRIDGE_UNAVAILABLE,
                         MCPX_SLICE("too many answers wait to be sent to the router"),
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

void import_refuse_for_outage(struct import *import, struct import_call *call)
{
    import_refuse(import, call, BRIDGE_UNAVAILABLE,
                  import->outage.text ? import->outage.text : "the server is not ready",
                  mcpx_text_view(&import->outage_data));
}

void import_turn_away(struct import *import, size_t topic, const struct mcpx_event *event,
                      const char *message)
{
    struct bridge_row row = {
        .action = {.type = BRIDGE_RESPOND, .topic = topic, .about = event->envelope->id},
        .who = event->envelope->from,
        .method = event->rpc->method};

    mcpx_text_reset(&import->text);
    bridge_add_error(&import->text, event->rpc->id, BRIDGE_UNAVAILABLE, mcpx_slice_of(message),
                     (struct mcpx_slice){0});
    row.action.text = mcpx_text_view(&import->text);
    if (import->text.failed)
        import_want_drop(import, topic, event->envelope->id);
    else
        respond(import, &row);
}
