/*
 * http_reply.c - one writer for every answer, so that no answer lacks a header the others have.
 * The body is complete before the first header is written, because Content-Length stands before
 * it; chunked answers were refused, since an answer leaves in one write. No value that a stranger
 * chose reaches a header but the origin, which was checked.
 * Includes http_reply.h, layers 0 and 1.
 */
#include "router/edge/http_reply.h"

#include "lib/core/json.h"

/* Seconds after which it makes sense to ask again. */
enum { RETRY_RATE_S = 1, RETRY_BUSY_S = 5 };

void http_reply_fini(struct http_reply *reply)
{
    mx_strbuf_fini(&reply->body);
    mx_strbuf_fini(&reply->detail);
}

void http_reply_fail(struct http_reply *reply, enum mcpx_err err, const char *detail)
{
    reply->err = err;
    mx_strbuf_reset(&reply->body);
    mx_strbuf_reset(&reply->detail);
    if (detail)
        mx_strbuf_puts(&reply->detail, detail);
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

/* RFC 9457; `error` is where clients of the original router look for a sentence. */
static void write_problem(const struct http_reply *reply, int status, struct mx_strbuf *body)
{
    struct mcpx_slice detail = mx_strbuf_text(&reply->detail);

    if (detail.len == 0)
        detail = mcpx_slice_of(mcpx_strerror(reply->err));
    mx_strbuf_puts(body, "{\"type\":\"about:blank\",");
    mx_json_member(body, "title", mcpx_slice_of(status_phrase(status)));
    mx_strbuf_puts(body, ",\"status\":");
    mx_strbuf_number(body, status);
    mx_strbuf_add(body, ",", 1);
    mx_json_member(body, "detail", detail);
    mx_strbuf_add(body, ",", 1);
    mx_json_member(body, "code", mcpx_slice_of(mcpx_error_wire(reply->err)));
    mx_strbuf_add(body, ",", 1);
    mx_json_member(body, "error", detail);
    mx_strbuf_add(body, "}", 1);
}

/* A path that answers GET answers HEAD, and every path answers OPTIONS. */
static void write_methods(unsigned methods, struct mx_strbuf *out)
{
    if (methods & HTTP_GET)
        mx_strbuf_puts(out, "GET, HEAD, ");
    if (methods & HTTP_POST)
        mx_strbuf_puts(out, "POST, ");
    if (methods & HTTP_DELETE)
        mx_strbuf_puts(out, "DELETE, ");
    mx_strbuf_puts(out, "OPTIONS\r\n");
}

static void write_number_header(const char *name, size_t number, struct mx_strbuf *out)
{
    mx_strbuf_puts(out, name);
    mx_strbuf_puts(out, ": ");
    mx_strbuf_number(out, (int64_t)number);
    mx_strbuf_puts(out, "\r\n");
}

/* Fetch standard, section 3.3; `Vary` for caches that know no better than to keep answers. */
static void write_cors(const struct http_reply *reply, struct mx_strbuf *out)
{
    mx_strbuf_puts(out, "Vary: Origin\r\n");
    if (!reply->origin.text)
        return;
    mx_strbuf_puts(out, "Access-Control-Allow-Origin: ");
    mx_strbuf_slice(out, reply->origin);
    mx_strbuf_puts(out, "\r\n");
    if (!reply->preflight)
        return;
    mx_strbuf_puts(out, "Access-Control-Allow-Methods: ");
    write_methods(reply->allow, out);
    mx_strbuf_puts(out, "Access-Control-Allow-Headers: Authorization, Content-Type\r\n"
                        "Access-Control-Max-Age: 600\r\n");
}

static void write_refusal_headers(int status, struct mx_strbuf *out)
{
    if (status == 401)
        mx_strbuf_puts(out, "WWW-Authenticate: Bearer\r\n");
    else if (status == 429)
        write_number_header("Retry-After", RETRY_RATE_S, out);
    else if (status == 503)
        write_number_header("Retry-After", RETRY_BUSY_S, out);
}

static void write_head(const struct http_reply *reply, int status, size_t len,
                       struct mx_strbuf *out)
{
    const char *type = reply->type ? reply->type : "application/json";

    mx_strbuf_puts(out, "HTTP/1.1 ");
    mx_strbuf_number(out, status);
    mx_strbuf_add(out, " ", 1);
    mx_strbuf_puts(out, status_phrase(status));
    mx_strbuf_puts(out, "\r\nConnection: close\r\nCache-Control: no-store\r\n"
                        "X-Content-Type-Options: nosniff\r\n");
    write_cors(reply, out);
    write_refusal_headers(status, out);
    if (reply->allow) {
        mx_strbuf_puts(out, "Allow: ");
        write_methods(reply->allow, out);
    }
    /* RFC 9110 section 8.6: a 204 has neither. */
    if (status != 204) {
        mx_strbuf_puts(out, "Content-Type: ");
        mx_strbuf_puts(out, reply->err ? "application/problem+json" : type);
        mx_strbuf_puts(out, "\r\n");
        write_number_header("Content-Length", len, out);
    }
    mx_strbuf_puts(out, "\r\n");
}

static int reply_status(const struct http_reply *reply)
{
    int status = reply->err ? mcpx_error_status(reply->err) : reply->status;

    if (status == 0)
        status = reply->err ? 500 : 200;
    return reply->preflight && !reply->err ? 204 : status;
}

void http_reply_write(struct http_reply *reply, struct mx_strbuf *out)
{
    int status;

    if (reply->body.failed || reply->detail.failed)
        http_reply_fail(reply, MCPX_ENOMEM, NULL);
    status = reply_status(reply);
    if (reply->err) {
        mx_strbuf_reset(&reply->body);
        write_problem(reply, status, &reply->body);
    }
    write_head(reply, status, reply->body.len, out);
    if (reply->body.failed)
        out->failed = true;
    else if (!reply->head && status != 204)
        mx_strbuf_slice(out, mx_strbuf_text(&reply->body));
}
