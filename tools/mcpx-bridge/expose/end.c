/*
 * end.c - the end of a call. Whoever ends one for the client ends what hangs on it: the questions
 * of its server, and the resource that it was to watch.
 */
#include "tools/mcpx-bridge/expose/end.h"

#include "tools/mcpx-bridge/bridge.h"
#include "tools/mcpx-bridge/expose/ask.h"
#include "tools/mcpx-bridge/expose/state.h"
#include "tools/mcpx-bridge/expose/tell.h"
#include "tools/mcpx-bridge/expose/terms.h"
#include "tools/mcpx-bridge/expose/watch.h"

void expose_end(struct expose *x, struct expose_call *call)
{
    expose_terms_abandon(x, call);
    expose_ask_over(x, call);
    expose_calls_remove(&x->calls, call);
}

/* What a code of ours is under terms. */
static enum mcpx_cause cause_of(int code)
{
    if (code == BRIDGE_TIMED_OUT)
        return MCPX_CAUSE_TIMEOUT;
    return code == BRIDGE_NOT_ALLOWED ? MCPX_CAUSE_DENIED : MCPX_CAUSE_UNAVAILABLE;
}

void expose_fail(struct expose *x, struct expose_call *call, int code,
                 struct mcpx_slice message)
{
    if (call->purpose == EXPOSE_FOR_CLIENT) {
        if (call->admitted)
            expose_terms_fail(x, call, cause_of(code), message, (struct mcpx_slice){0});
        else
            expose_tell_error(x, call->id, code, message);
        expose_unwatch(x, call);
    }
    expose_end(x, call);
}
