/*
 * forward.c - requests of participants on their way to the server. Some are answered without it,
 * some wait: until it is ready, or until its tools are known.
 */
#include "tools/mcpx-bridge/import/input.h"

#include "tools/mcpx-bridge/bridge.h"
#include "tools/mcpx-bridge/import/state.h"
#include "tools/mcpx-bridge/import/tell.h"

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
static bool answer_instead(struct import *import, struct import_call *call)
{
    struct mcpx_text own = {0};
    struct mcpx_slice result = {0};

    if (import_terms_add_own(import, call->method, &own)) {
        result = mcpx_text_view(&own);
    } else if (mcpx_slice_equal(call->method, MCPX_SLICE("initialize"))) {
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
    import->text.failed |= own.failed;
    mcpx_text_fini(&own);
    import_answer(import, call);
    return true;
}

void import_write_failed(struct import *import, int64_t id, enum mcpx_err err)
{
    struct import_call *call = import_calls_find(&import->calls, id);

    if (!call)
        return;
    if (call->purpose != IMPORT_PARTICIPANT)
        import_calls_drop(&import->calls, call);
    else
        import_refuse(import, call,
                      err == MCPX_ENOMEM ? MCPX_CAUSE_EXHAUSTED : MCPX_CAUSE_UNAVAILABLE,
                      err == MCPX_ELIMIT   ? "the server does not read its input"
                      : err == MCPX_ENOMEM ? "the bridge is out of memory"
                                           : "the server is gone",
                      (struct mcpx_slice){0});
}

void import_forward(struct import *import, struct import_call *call, struct mcpx_now now)
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
    import_add_request(&import->line, payload, call->id,
                       import->era == IMPORT_MODERN ? import->version : NULL,
                       import->config.capabilities);
    if (!import_write(import, call->id)) {
        import_write_failed(import, call->id, MCPX_ENOMEM);
        return;
    }
    call->written = true;
    import_calls_release(&import->calls, call);
    import_calls_defer(&import->calls, call, now.mono_ms + import->config.request_ms);
}

bool import_takes(const struct import *import, struct mcpx_slice method)
{
    return import_is_ready(import) &&
           !(import_is_under_terms(import, method) && import_tools_are_coming(&import->tools));
}

void import_forward_waiting(struct import *import, struct mcpx_now now)
{
    struct import_call *call;

    for (int64_t last = 0; (call = import_calls_after(&import->calls, last)) != NULL;) {
        last = call->id; /* the call may be gone afterwards */
        if (call->purpose == IMPORT_PARTICIPANT && !call->written &&
            import_takes(import, call->method))
            import_forward(import, call, now);
    }
}
