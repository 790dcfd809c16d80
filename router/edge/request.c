/*
 * request.c - what decides about a request must not stand there twice: a proxy might look at the
 * other one.
 */
#include "router/edge/request.h"

static const struct answer_status bad_method = {
    501, "Not Implemented", NULL,
    "the method is not known here; methods have capital letters"};
static const struct answer_status two_fields = {
    400, "Bad Request", NULL,
    "Authorization, Origin and Content-Type may stand there once each"};

static bool knows(struct mcpx_slice method)
{
    static const char *const methods[] = {"GET",   "HEAD",   "POST",   "PUT",
                                          "PATCH", "DELETE", "OPTIONS"};

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (mcpx_slice_equal(method, mcpx_slice_of(methods[i])))
            return true;
    return false;
}

const struct answer_status *request_read(const struct mx_http_head *head,
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
