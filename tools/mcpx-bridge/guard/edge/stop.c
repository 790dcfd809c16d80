/*
 * stop.c - the end of a guard. Several callers may ask for it; it happens once. Connections are
 * broken off, because an agent that goes on without a guard would believe unchecked messages.
 */
#include "tools/mcpx-bridge/guard/edge/stop.h"

#include "tools/mcpx-bridge/guard/edge/link.h"
#include "tools/mcpx-bridge/guard/edge/server.h"

void guard_stop(struct guard_server *server)
{
    if (server->stopping)
        return;
    server->stopping = true;
    uv_close((uv_handle_t *)&server->listener, NULL);
    uv_close((uv_handle_t *)&server->round, NULL);
    for (int i = 0; i < GUARD_SIGNALS; i++)
        uv_close((uv_handle_t *)&server->signals[i], NULL);
    if (server->has_command)
        uv_close((uv_handle_t *)&server->command, NULL);
    while (server->links)
        guard_link_break(server->links);
}
