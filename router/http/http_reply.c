/*
 * http_reply.c - one writer for every response, so that all have the same headers. The body is
 * complete before the first header is written, because Content-Length stands before it. Rejected:
 * chunked responses, because a response is sent in one write. The only client's value in a header
 * is the origin, checked before.
 */
#include "router/http/http_reply.h"

#include "lib/base/digits.h"
#include "lib/json/json_write.h"
#include "lib/wire/http_head.h"
#include "router/hub/topic/stats.h"
#include "router/policy/grants/grant.h"

#include <stdio.h>
#include <time.h>

/* Seconds until a retry makes sense. */
enum { RETRY_RATE_S = 1, RETRY_BUSY_S = 5 };

void http_reply_fini(struct http_reply *reply)
{
    mcpx_text_fini(&reply->body);
    mcpx_text_fini(&reply->detail);
    mcpx_text_fini(&reply->scratch);
    grant_unref(reply->grant);
}

bool http_reply_fail(struct http_reply *reply, enum mcpx_err err, const char *detail)
{
    reply->err = err;
    reply->status = 0;
    reply->header = NULL;
    mcpx_text_reset(&reply->body);
    mcpx_text_reset(&reply->detail);
    if (detail)
        mcpx_text_puts(&reply->detail, detail);
    return false;
}

static void write_reasons(const struct http_reply *reply, struct mcpx_text *body)
{
    size_t max = sizeof reply->reasons / sizeof *reply->reasons;

    for (size_t i = 0; i < max && reply->reasons[i]; i++)
        mx_format(body, i > 0 ? ",%q" : ",\"reasons\":[%q", reply->reasons[i]);
    if (reply->reasons[0])
        mcpx_text_puts(body, "]");
}

/* RFC 9457; `error` is for clients of the original router. */
static void write_problem(const struct http_reply *reply, int status, struct mcpx_text *body)
{
    mx_scoped_text sentence = {0};
    struct mcpx_slice detail = mcpx_text_view(&reply->detail);

    if (detail.len == 0) {
        bool is_rate = reply->err == MCPX_ECONNECTS; /* it is named by its setting */

        sentence = mx_formatted(is_rate ? "%s (%s)" : "%s%s", mcpx_strerror(reply->err),
                                is_rate ? cap_setting(CAP_CONNECTS) : "");
        detail = mcpx_text_view(&sentence);
    }
    mx_format(body,
              "{\"type\":\"about:blank\",\"title\":%q,\"status\":%s,\"detail\":%q,"
              "\"code\":%q,\"error\":%q",
              mx_http_phrase(status), status, detail, mcpx_error_wire(reply->err), detail);
    write_reasons(reply, body);
    mcpx_text_puts(body, "}");
    body->failed |= sentence.failed;
}

/* A path that answers GET answers HEAD, and every path answers OPTIONS. */
static void write_methods(unsigned methods, struct mcpx_text *out)
{
    if (methods & HTTP_GET)
        mcpx_text_puts(out, "GET, HEAD, ");
    if (methods & HTTP_POST)
        mcpx_text_puts(out, "POST, ");
    if (methods & HTTP_DELETE)
        mcpx_text_puts(out, "DELETE, ");
    mcpx_text_puts(out, "OPTIONS\r\n");
}

/* Fetch standard, section 3.3; `Vary` for caches that keep responses anyway. */
static void write_cors(const struct http_reply *reply, struct mcpx_text *out)
{
    mcpx_text_puts(out, "Vary: Origin\r\n");
    if (!reply->origin.text)
        return;
    mx_format(out, "Access-Control-Allow-Origin: %s\r\n", reply->origin);
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
        mx_format(out, "Retry-After: %s\r\n",
                  wait_ms > 0 ? (wait_ms + 999) / 1000 : RETRY_RATE_S);
    else if (status == 503)
        mx_format(out, "Retry-After: %s\r\n", RETRY_BUSY_S);
}

/* RFC 9110 section 6.6.1: servers with a clock send a date. */
static void write_date(int64_t wall_ms, struct mcpx_text *out)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm at = {0};
    char line[64];

    gmtime_r(&seconds, &at);
    snprintf(line, sizeof line, "Date: %.3s, %02d %.3s %d %02d:%02d:%02d GMT\r\n",
             days + (size_t)at.tm_wday * 3, at.tm_mday, months + (size_t)at.tm_mon * 3,
             at.tm_year + 1900, at.tm_hour, at.tm_min, at.tm_sec);
    mcpx_text_puts(out, line);
}

static void write_head(const struct http_reply *reply, int status, size_t len,
                       struct mcpx_text *out)
{
    const char *type = reply->type ? reply->type : "application/json";

    mx_format(out, "HTTP/1.1 %s %s\r\n", status, mx_http_phrase(status));
    if (reply->wall_ms)
        write_date(reply->wall_ms, out);
    mcpx_text_puts(out, "Connection: close\r\nCache-Control: no-store\r\n"
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
    if (status != 204)
        mx_format(out, "Content-Type: %s\r\nContent-Length: %s\r\n",
                  reply->err ? "application/problem+json" : type, len);
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

/*
 * Reads request targets without regard for their meaning. All decoded bytes go into one buffer
 * whose size is known beforehand (decoding never grows a text), so slices of it can be handed
 * around. Rejected: a map of all parameters, because a client without a token could fill memory
 * with a thousand of them; a caller names the few that it understands.
 */

enum { NAME_MAX_LEN = 16 };

bool http_target_parse(struct mcpx_slice raw, struct http_target *out)
{
    if (raw.len == 0 || raw.text[0] != '/')
        return false;
    for (size_t i = 0; i < raw.len; i++) {
        unsigned char byte = (unsigned char)raw.text[i];

        if (byte <= 0x20 || byte == 0x7f)
            return false;
    }
    out->query = raw;
    out->path = mx_cut_at(&out->query, '?');
    return true;
}

/* Undoes percent-encoding. Returns the number of bytes; SIZE_MAX for a malformed text, and without
 * enough room. */
static size_t decode(struct mcpx_slice raw, enum http_plus plus, char *out, size_t room)
{
    size_t len = 0, taken;

    for (size_t at = 0; at < raw.len; at += taken, len++) {
        if (len == room)
            return SIZE_MAX;
        taken = mx_percent_read((struct mcpx_slice){raw.text + at, raw.len - at}, &out[len]);
        if (taken == 1 && out[len] == '%')
            return SIZE_MAX;
        if (taken == 1 && out[len] == '+' && plus == HTTP_PLUS_SPACE)
            out[len] = ' ';
    }
    return len;
}

bool http_decode(struct mcpx_slice raw, enum http_plus plus, struct mcpx_text *scratch,
                 struct mcpx_slice *out)
{
    char *text;
    size_t len;

    if (!mcpx_text_reserve(scratch, raw.len + 1))
        return false;
    text = scratch->text + scratch->len;
    len = decode(raw, plus, text, raw.len);
    if (len == SIZE_MAX)
        return false;
    *out = (struct mcpx_slice){text, len};
    scratch->len += len;
    return true;
}

/*
 * Names are decoded before they are compared: "t%6Fpic" is `topic` to every other reader of
 * query strings, and two of them must not name two topics.
 */
static struct http_param *find_param(struct mcpx_slice raw, struct http_param *params,
                                     size_t count)
{
    char name[NAME_MAX_LEN];
    size_t len = decode(raw, HTTP_PLUS_SPACE, name, sizeof name);

    for (size_t i = 0; len != SIZE_MAX && i < count; i++)
        if (mcpx_slice_equal((struct mcpx_slice){name, len}, mcpx_slice_of(params[i].name)))
            return &params[i];
    return NULL;
}

static bool param_fits(struct http_param *param)
{
    size_t len = param->value.len;

    if (param->type == HTTP_NUMBER)
        return mx_decimal_read(param->value, param->most, &param->number) &&
               param->number >= param->least;
    return !param->most || (len >= param->least && len <= param->most);
}

static bool refuse_param(const struct http_param *param, const char *why,
                         struct http_reply *reply)
{
    http_reply_fail(reply, param->type == HTTP_TOPIC ? MCPX_ETOPIC : MCPX_EREQUEST,
                    param->name);
    mcpx_text_puts(&reply->detail, why);
    return false;
}

bool http_params_read(struct mcpx_slice query, struct http_param *params, size_t count,
                      struct http_reply *reply)
{
    while (query.len > 0) { /* a name alone has an empty value */
        struct mcpx_slice value = mx_cut_at(&query, '&');
        struct http_param *param = find_param(mx_cut_at(&value, '='), params, count);

        if (!param)
            continue;
        if (param->value.text)
            return refuse_param(param, " is given twice", reply);
        if (!http_decode(value, HTTP_PLUS_SPACE, &reply->scratch, &param->value))
            return refuse_param(param, " has malformed percent-encoding", reply);
    }
    for (size_t i = 0; i < count; i++) {
        if (!params[i].value.text && params[i].required)
            return refuse_param(&params[i], " is required", reply);
        if (params[i].value.text && !param_fits(&params[i]))
            return http_reply_fail(reply, MCPX_EREQUEST, params[i].must);
    }
    return true;
}
