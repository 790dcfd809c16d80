/*
 * serve.c - requests of the client about the room: each tool has its function here.
 */
#include "tools/mcpx-bridge/expose/state.h"

static room_tool *const calls[ROOM_TOOLS] = {
    [ROOM_SEND] = room_send,           [ROOM_HISTORY] = room_history,
    [ROOM_WAIT] = room_wait_for,       [ROOM_WHO] = room_who,
    [ROOM_PROPOSALS] = room_proposals, [ROOM_PROPOSE] = room_propose,
    [ROOM_WITHDRAW] = room_withdraw,   [ROOM_APPROVE] = room_approve,
    [ROOM_REJECT] = room_reject};

static void read_resource(struct expose *x, const struct expose_request *request)
{
    struct room_query query = {.limit = ROOM_SAID_MAX, .newest = true};
    mx_scoped_text lines = {0};

    room_log_write(&x->room.log, &query, "\n", &lines);
    expose_tell_result(x, request,
                       mx_formatted("{\"contents\":[{\"uri\":\"" ROOM_URI "\",\"mimeType\":"
                                    "\"application/x-ndjson\",\"text\":%q}]}",
                                    &lines));
}

/* Serves a request about our resource; false: it is about something else. */
static bool serve_resource(struct expose *x, const struct expose_request *request)
{
    struct mcpx_slice method = request->rpc->method;
    bool on = bridge_is(method, "resources/subscribe") && !x->config.answers_only;
    mx_scoped_text own = {0};

    if (!expose_room_has(x, EXPOSE_RESOURCES,
                         room_argument(request->rpc->params, "uri", &own)) ||
        !(on || bridge_is_any(method, "resources/read", "resources/unsubscribe")))
        return false;
    if (bridge_is(method, "resources/read")) {
        read_resource(x, request);
        return true;
    }
    expose_watch(x, &(struct bridge_call){.method = method, .context = MCPX_SLICE(ROOM_URI)},
                 MCPX_SLICE(ROOM_URI));
    expose_tell_result(x, request, mx_formatted("%s", "{}"));
    return true;
}

bool expose_room_serve(struct expose *x, const struct expose_request *request)
{
    const struct mcpx_rpc *rpc = request->rpc;
    mx_scoped_text own = {0};
    struct mcpx_slice name = room_argument(rpc->params, "name", &own);
    enum room_tools tool = room_tool_find(name);

    if (!x->config.room || !bridge_is(rpc->method, "tools/call"))
        return x->config.room && serve_resource(x, request);
    if (tool == ROOM_TOOLS)
        return false;
    if (!x->was_joined)
        room_refuse(x, request, "%s", "the topic cannot be reached");
    else if (room_tool_is_shown(x, tool))
        calls[tool](x, request, mcpx_json_get(rpc->params, "arguments"));
    else
        expose_tell_error_text(x, rpc->id, BRIDGE_BAD_PARAMS,
                               "the grants, --room or --only leave out the tool %s",
                               expose_quoted(name));
    return true;
}
