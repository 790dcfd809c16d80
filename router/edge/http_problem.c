/*
 * http_problem.c - the refusal of a connection attempt, before anything is known of the request
 * but that it is refused. It is the same answer as an API call's, made by the same writer.
 * Includes http_api.h and http_reply.h.
 */
#include "router/edge/http_api.h"
#include "router/edge/http_reply.h"

void http_problem(enum mcpx_err err, const char *detail, struct mcpx_text *out)
{
    struct http_reply reply = {0};

    http_reply_fail(&reply, err, detail);
    http_reply_write(&reply, out);
    http_reply_fini(&reply);
}
