/*
 * answer.c - one request, one answer, one write. A second request on the connection was refused,
 * because readers of HTTP disagree about where one request ends and the next begins. A header that
 * decides something must not stand there twice either: a proxy might look at the other one.
 */

#include "lib/wire/http_head.h"
#include "router/connection/connection.h"
#include "router/http/http_reply.h"

#include <stdio.h>
#include <time.h>

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

/* RFC 9110 section 9.3.2: an answer to HEAD has no content, whatever it says. */
static size_t length_without_body(const struct mcpx_text *answer)
{
    const char *end = answer->len ? strstr(answer->text, "\r\n\r\n") : NULL;

    return end ? (size_t)(end - answer->text) + 4 : answer->len;
}

/* RFC 9110 section 6.6.1: who has a clock says when. */
static void write_date(struct mcpx_now now, struct mcpx_text *out)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t seconds = (time_t)(now.wall_ms / 1000);
    struct tm at = {0};
    char line[64];

    gmtime_r(&seconds, &at);
    snprintf(line, sizeof line, "Date: %.3s, %02d %.3s %d %02d:%02d:%02d GMT\r\n",
             days + (size_t)at.tm_wday * 3, at.tm_mday, months + (size_t)at.tm_mon * 3,
             at.tm_year + 1900, at.tm_hour, at.tm_min, at.tm_sec);
    mcpx_text_puts(out, line);
}

/* The date stands behind the status line; the rest as it was written. */
static void compose_whole(const struct connection *connection, const struct mcpx_text *answer,
                          struct mcpx_text *out)
{
    const char *line = answer->len ? strstr(answer->text, "\r\n") : NULL;
    size_t len = connection->bodiless ? length_without_body(answer) : answer->len;
    size_t begin = line ? (size_t)(line - answer->text) + 2 : 0;

    out->failed = answer->failed || !line;
    mcpx_text_add(out, answer->text, begin);
    write_date(edge_now(connection->edge), out);
    mcpx_text_add(out, answer->text + begin, len - begin);
}

void answer_send(struct connection *connection, struct http_reply *reply)
{
    struct mcpx_text answer = {0}, whole = {0};

    http_reply_write(reply, &answer);
    compose_whole(connection, &answer, &whole);
    connection_answered(connection);
    if (whole.failed || !wire_write(connection, whole.text, whole.len))
        connection_kill(connection);
    else
        wire_finish(connection);
    mcpx_text_fini(&answer);
    mcpx_text_fini(&whole);
}

void answer_problem(struct connection *connection, enum mcpx_err err, const char *detail)
{
    struct http_reply reply = {0};

    http_reply_fail(&reply, err, detail);
    answer_send(connection, &reply);
    http_reply_fini(&reply);
}

void answer_refuse(struct connection *connection, const struct mx_http_fault *why)
{
    struct http_reply reply = {0};

    http_reply_fail(&reply, MCPX_EREQUEST, why->detail);
    reply.status = why->status;
    reply.header = why->header;
    answer_send(connection, &reply);
    http_reply_fini(&reply);
}
