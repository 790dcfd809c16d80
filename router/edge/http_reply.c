/*
 * http_reply.c - one writer for every answer, so that no answer lacks a header the others have.
 * The body is complete before the first header is written, because Content-Length stands before
 * it; chunked answers were refused, since an answer leaves in one write. No value that a stranger
 * chose reaches a header but the origin, which was checked.
 */
#include "router/edge/http_reply.h"

#include <mcpx/json.h>

/* Seconds after which it makes sense to ask again. */
enum { RETRY_RATE_S = 1, RETRY_BUSY_S = 5 };

void http_reply_fini(struct http_reply *reply)
{
    mcpx_text_fini(&reply->body);
    mcpx_text_fini(&reply->detail);
}

void http_reply_fail(struct http_reply *reply, enum mcpx_err err, const char *detail)
{
    reply->err = err;
    reply->status = 0;
    reply->title = reply->header = NULL;
    mcpx_text_reset(&reply->body);
    mcpx_text_reset(&reply->detail);
    if (detail)
        mcpx_text_puts(&reply->detail, detail);
}

/* RFC 9110 section 15. */
static const char *status_phrase(int status)
{
    static const struct {
        int status;
        const char *phrase;
    } rows[] = {
        {200, "OK"},
        {204, "No Content"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {409, "Conflict"},
        {413, "Content Too Large"},
        {429, "Too Many Requests"},
        {503, "Service Unavailable"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].status == status)
            return rows[i].phrase;
    }
    return "Internal Server Error";
}

static const char *title_of(const struct http_reply *reply, int status)
{
    return reply->title ? reply->title : status_phrase(status);
}

/* RFC 9457; `error` is where clients of the original router look for a sentence. */
static void write_problem(const struct http_reply *reply, int status, struct mcpx_text *body)
{
    struct mcpx_slice detail = mcpx_text_view(&reply->detail);

    if (detail.len == 0)
        detail = mcpx_slice_of(mcpx_strerror(reply->err));
    mcpx_text_puts(body, "{\"type\":\"about:blank\",");
    mcpx_json_add_member(body, "title", mcpx_slice_of(title_of(reply, status)));
    mcpx_text_puts(body, ",\"status\":");
    mcpx_text_number(body, status);
    mcpx_text_add(body, ",", 1);
    mcpx_json_add_member(body, "detail", detail);
    mcpx_text_add(body, ",", 1);
    mcpx_json_add_member(body, "code", mcpx_slice_of(mcpx_error_wire(reply->err)));
    mcpx_text_add(body, ",", 1);
    mcpx_json_add_member(body, "error", detail);
    mcpx_text_add(body, "}", 1);
}

/* A path that answers GET answers HEAD, and every path answers OPTIONS. */
static void write_methods(unsigned methods, struct mcpx_text *out)
{
    if (methods & HTTP_GET)
        mcpx_text_puts(out, "GET, HEAD, ");
    if (methods & HTTP_POST)
        mcpx_text_puts(out, "POST, ");
    mcpx_text_puts(out, "OPTIONS\r\n");
}

static void write_number_header(const char *name, size_t number, struct mcpx_text *out)
{
    mcpx_text_puts(out, name);
    mcpx_text_puts(out, ": ");
    mcpx_text_number(out, (int64_t)number);
    mcpx_text_puts(out, "\r\n");
}

/* Fetch standard, section 3.3; `Vary` for caches that know no better than to keep answers. */
static void write_cors(const struct http_reply *reply, struct mcpx_text *out)
{
    mcpx_text_puts(out, "Vary: Origin\r\n");
    if (!reply->origin.text)
        return;
    mcpx_text_puts(out, "Access-Control-Allow-Origin: ");
    mcpx_text_slice(out, reply->origin);
    mcpx_text_puts(out, "\r\n");
    if (!reply->preflight)
        return;
    mcpx_text_puts(out, "Access-Control-Allow-Methods: ");
    write_methods(reply->allow, out);
    mcpx_text_puts(out, "Access-Control-Allow-Headers: Authorization, Content-Type\r\n"
                        "Access-Control-Max-Age: 600\r\n");
}

static void write_refusal_headers(int status, int64_t wait_ms, struct mcpx_text *out)
{
    if (status == 401)
        mcpx_text_puts(out, "WWW-Authenticate: Bearer\r\n");
    else if (status == 429)
        write_number_header("Retry-After",
                            wait_ms > 0 ? (size_t)(wait_ms + 999) / 1000 : RETRY_RATE_S, out);
    else if (status == 503)
        write_number_header("Retry-After", RETRY_BUSY_S, out);
}

static void write_head(const struct http_reply *reply, int status, size_t len,
                       struct mcpx_text *out)
{
    const char *type = reply->type ? reply->type : "application/json";

    mcpx_text_puts(out, "HTTP/1.1 ");
    mcpx_text_number(out, status);
    mcpx_text_add(out, " ", 1);
    mcpx_text_puts(out, title_of(reply, status));
    mcpx_text_puts(out, "\r\nConnection: close\r\nCache-Control: no-store\r\n"
                        "X-Content-Type-Options: nosniff\r\n");
    write_cors(reply, out);
    write_refusal_headers(status, reply->wait_ms, out);
    if (reply->header)
        mcpx_text_puts(out, reply->header);
    if (reply->allow) {
        mcpx_text_puts(out, "Allow: ");
        write_methods(reply->allow, out);
    }
    /* RFC 9110 section 8.6: a 204 has neither. */
    if (status != 204) {
        mcpx_text_puts(out, "Content-Type: ");
        mcpx_text_puts(out, reply->err ? "application/problem+json" : type);
        mcpx_text_puts(out, "\r\n");
        write_number_header("Content-Length", len, out);
    }
    mcpx_text_puts(out, "\r\n");
}

int http_reply_status(const struct http_reply *reply)
{
    int status = reply->status ? reply->status : mcpx_error_status(reply->err);

    if (!reply->err)
        return reply->preflight ? 204 : 200;
    return status ? status : 500;
}

void http_reply_write(struct http_reply *reply, struct mcpx_text *out)
{
    int status;

    if (reply->body.failed || reply->detail.failed)
        http_reply_fail(reply, MCPX_ENOMEM, NULL);
    status = http_reply_status(reply);
    if (reply->err) {
        mcpx_text_reset(&reply->body);
        write_problem(reply, status, &reply->body);
    }
    write_head(reply, status, reply->body.len, out);
    if (reply->body.failed)
        out->failed = true;
    else if (!reply->head && status != 204)
        mcpx_text_slice(out, mcpx_text_view(&reply->body));
}

void http_problem(enum mcpx_err err, const char *detail, struct mcpx_text *out)
{
    struct http_reply reply = {0};

    http_reply_fail(&reply, err, detail);
    http_reply_write(&reply, out);
    http_reply_fini(&reply);
}
