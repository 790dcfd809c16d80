/*
 * end.c - the end of a call. Whoever ends one for the client ends what hangs on it: the questions of
 * its server, and the resource that it was to watch.
 */
#include "tools/mcpx-bridge/expose/end.h"

#include "tools/mcpx-bridge/expose/ask.h"
#include "tools/mcpx-bridge/expose/state.h"
#include "tools/mcpx-bridge/expose/tell.h"
#include "tools/mcpx-bridge/expose/watch.h"

void expose_end(struct expose *x, struct expose_call *call)
{
    expose_ask_over(x, call);
    expose_calls_remove(&x->calls, call);
}

void expose_fail(struct expose *x, struct expose_call *call, int code,
                 struct mcpx_slice message)
{
    if (call->purpose == EXPOSE_FOR_CLIENT) {
        expose_tell_error(x, call->id, code, message);
        expose_unwatch(x, call);
    }
    expose_end(x, call);
}
