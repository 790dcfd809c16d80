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
    import_write_request(import, call->number, payload);
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
                             .method = call->method,
                             .is_substitute = call->is_turned_away};

    import_want(import, row);
    if (import->text.len > call->holder->longest)
        call->holder->longest = import->text.len;
    bridge_calls_drop(&import->calls, call);
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
