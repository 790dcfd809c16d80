/*
 * http.c - what the guard needs to know of a head that the library has read. The guard changes
 * no field, so the router reads exactly what the agent wrote. The router uses the same reader,
 * so both always see the same requests.
 */
#include "tools/mcpx-bridge/guard/http.h"

const char *guard_http_request(struct mcpx_slice head, struct guard_request *out)
{
    struct mx_http_head read;
    const struct mx_http_fault *fault = mx_http_request_read(head, &read);

    if (fault)
        return fault->detail;
    if (mx_http_lists(&read, "upgrade", "websocket") && read.length)
        return "a request for a WebSocket has a body";
    out->upgrade = mx_http_lists(&read, "upgrade", "websocket");
    out->body = read.length;
    return NULL;
}

const char *guard_http_answer(struct mcpx_slice head, int *status)
{
    struct mx_http_head read;
    const struct mx_http_fault *fault = mx_http_answer_read(head, &read);
    struct mcpx_slice extensions;

    if (fault)
        return fault->detail;
    if (read.status == 101 && mx_http_find(&read, "sec-websocket-extensions", &extensions))
        return "the router agreed on a WebSocket extension; the guard cannot read its frames";
    *status = read.status;
    return NULL;
}
