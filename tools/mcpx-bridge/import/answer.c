/*
 * answer.c - a participant's call ends: with an answer, with an error of ours, or in silence. What
 * the router would not take is replaced by a sentence that says so, so that nobody waits in vain.
 */
#include "tools/mcpx-bridge/import/answer.h"

#include "tools/mcpx-bridge/bridge.h"
#include "tools/mcpx-bridge/import/state.h"
#include "tools/mcpx-bridge/import/tell.h"

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

void import_turn_away(const struct import_port *port, size_t topic,
                      const struct mcpx_event *event, const char *message)
{
    struct mcpx_text text = {0};

    bridge_add_error(&text, event->rpc->id, BRIDGE_UNAVAILABLE, mcpx_slice_of(message),
                     (struct mcpx_slice){0});
    if (text.failed ||
        port->respond(port->user, topic, event->envelope->id, mcpx_text_view(&text)))
        port->drop(port->user, topic, event->envelope->id);
    mcpx_text_fini(&text);
}
