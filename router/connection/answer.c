/*
 * answer.c - one request, one answer, one write. A second request on the connection was refused,
 * because readers of HTTP disagree about where one request ends and the next begins. A header that
 * decides something must not stand there twice either: a proxy might look at the other one.
 */

#include "lib/base/scoped.h"
#include "lib/wire/http_head.h"
#include "router/connection/connection.h"
#include "router/http/http_reply.h"

static const struct mx_http_fault bad_method = {
    501, "the method is not known here; methods have capital letters", NULL};
static const struct mx_http_fault two_fields = {
    400, "Authorization, Origin and Content-Type may stand there once each", NULL};

static bool knows(struct mcpx_slice method)
{
    static const char *const methods[] = {"GET",   "HEAD",   "POST",   "PUT",
                                          "PATCH", "DELETE", "OPTIONS"};

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (mcpx_slice_equal(method, mcpx_slice_of(methods[i])))
            return true;
    return false;
}

const struct mx_http_fault *request_read(const struct mx_http_head *head,
                                         struct http_request *out)
{
    if (!knows(head->method))
        return &bad_method;
    out->method = head->method;
    out->target = head->target;
    if (mx_http_find(head, "authorization", &out->authorization) > 1 ||
        mx_http_find(head, "origin", &out->origin) > 1 ||
        mx_http_find(head, "content-type", &out->content_type) > 1)
        return &two_fields;
    return NULL;
}

struct mcpx_slice request_path(const struct http_request *request)
{
    struct mcpx_slice path = request->target;
    const char *query = path.len ? memchr(path.text, '?', path.len) : NULL;

    if (query)
        path.len = (size_t)(query - path.text);
    return path;
}

void answer_send(struct connection *connection, struct http_reply *reply)
{
    mx_scoped_text answer = {0};

    reply->head = reply->head || connection->bodiless;
    reply->wall_ms = edge_now(connection->edge).wall_ms;
    http_reply_write(reply, &answer);
    connection_answered(connection);
    if (answer.failed || !wire_write(connection, answer.text, answer.len))
        connection_kill(connection);
    else
        wire_finish(connection);
}

void answer_problem(struct connection *connection, enum mcpx_err err, const char *detail)
{
    MX_SCOPED(http_reply_fini) struct http_reply reply = {0};

    http_reply_fail(&reply, err, detail);
    answer_send(connection, &reply);
}

void answer_refuse(struct connection *connection, const struct mx_http_fault *why)
{
    MX_SCOPED(http_reply_fini) struct http_reply reply = {0};

    http_reply_fail(&reply, MCPX_EREQUEST, why->detail);
    reply.status = why->status;
    reply.header = why->header;
    answer_send(connection, &reply);
}
