/*
 * api_reload.c - an administrator asks for a reload. It takes its time, so this only says that it
 * is wanted, and whoever has the connection answers when it is done.
 */
#include "router/edge/api.h"

void api_reload(const struct api_call *call, struct http_reply *reply)
{
    if (!api_may(call, call->grant, "admin/reload", reply))
        return;
    reply->err = MCPX_EOPENING;
    reply->reload = true;
    mcpx_text_slice(&reply->detail, call->grant->identity);
}
