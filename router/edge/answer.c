/*
 * answer.c - one request, one answer, one write. A second request on the connection was refused:
 * what stands between two requests is where the readers of HTTP disagree.
 * Includes answer.h, wire.h, http_head.h.
 */
#include "router/edge/answer.h"

#include "lib/core/http_head.h"
#include "router/edge/wire.h"

#include <stdio.h>
#include <time.h>

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

void answer_send(struct connection *connection, struct mcpx_text *answer)
{
    struct mcpx_text whole = {0};

    compose_whole(connection, answer, &whole);
    connection_answered(connection);
    if (whole.failed || !wire_write(connection, whole.text, whole.len))
        connection_kill(connection);
    else
        wire_finish(connection);
    mcpx_text_fini(&whole);
}

void answer_problem(struct connection *connection, enum mcpx_err err, const char *detail)
{
    struct mcpx_text answer = {0};

    http_problem(err, detail, &answer);
    answer_send(connection, &answer);
    mcpx_text_fini(&answer);
}

static void compose(const struct answer_status *why, struct mcpx_text *body)
{
    mcpx_text_puts(body, "{\"type\":\"about:blank\",\"title\":\"");
    mcpx_text_puts(body, why->title);
    mcpx_text_puts(body, "\",\"status\":");
    mcpx_text_number(body, why->status);
    mcpx_text_puts(body, ",\"detail\":\"");
    mcpx_text_puts(body, why->detail);
    mcpx_text_puts(body, "\",\"code\":\"bad_request\",\"error\":\"");
    mcpx_text_puts(body, why->detail);
    mcpx_text_puts(body, "\"}");
}

void answer_refuse(struct connection *connection, const struct answer_status *why)
{
    struct mcpx_text answer = {0}, body = {0};

    compose(why, &body);
    mcpx_text_puts(&answer, "HTTP/1.1 ");
    mcpx_text_number(&answer, why->status);
    mcpx_text_puts(&answer, " ");
    mcpx_text_puts(&answer, why->title);
    mcpx_text_puts(&answer, "\r\n");
    mcpx_text_puts(&answer, why->header);
    mcpx_text_puts(&answer, "Content-Type: application/problem+json\r\nContent-Length: ");
    mcpx_text_number(&answer, (int64_t)body.len);
    mcpx_text_puts(&answer, "\r\nConnection: close\r\nCache-Control: no-store\r\n"
                            "X-Content-Type-Options: nosniff\r\nVary: Origin\r\n\r\n");
    mcpx_text_slice(&answer, mcpx_text_view(&body));
    answer.failed = answer.failed || body.failed;
    answer_send(connection, &answer);
    mcpx_text_fini(&body);
    mcpx_text_fini(&answer);
}

void answer_fault(struct connection *connection, const struct mx_http_fault *fault)
{
    struct answer_status why = {fault->status, fault->title, "", fault->detail};

    answer_refuse(connection, &why);
}
