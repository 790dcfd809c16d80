/*
 * answer.c - libwebsockets 4.1.6 has a use-after-free behind every second request on one
 * connection and spins on answers written in parts; so there is neither. A body larger than
 * what the kernel buffers would need both, hence the bounded pages of the HTTP API.
 * Includes answer.h, libwebsockets.
 */
#include "router/edge/answer.h"

#include <libwebsockets.h>
#include <sys/socket.h>

enum { SOCKET_BUFFER_SPARE = 65536 };

int answer_send(struct lws *wsi, struct mx_strbuf *answer)
{
    int size = (int)answer->len + SOCKET_BUFFER_SPARE;

    if (answer->failed || !answer->len)
        return -1;
    /* A request for more than the kernel permits is granted in part: fine. */
    setsockopt(lws_get_socket_fd(wsi), SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    lws_write(wsi, (unsigned char *)answer->text, answer->len, LWS_WRITE_HTTP);
    return -1;
}

int answer_problem(struct lws *wsi, enum mcpx_err err, const char *detail)
{
    struct mx_strbuf answer = {0};
    int result;

    http_problem(err, detail, &answer);
    result = answer_send(wsi, &answer);
    mx_strbuf_fini(&answer);
    return result;
}

static void compose(const struct answer_status *why, struct mx_strbuf *body)
{
    mx_strbuf_puts(body, "{\"type\":\"about:blank\",\"title\":\"");
    mx_strbuf_puts(body, why->title);
    mx_strbuf_puts(body, "\",\"status\":");
    mx_strbuf_number(body, why->status);
    mx_strbuf_puts(body, ",\"detail\":\"");
    mx_strbuf_puts(body, why->detail);
    mx_strbuf_puts(body, "\",\"code\":\"bad_request\",\"error\":\"");
    mx_strbuf_puts(body, why->detail);
    mx_strbuf_puts(body, "\"}");
}

int answer_refuse(struct lws *wsi, const struct answer_status *why)
{
    struct mx_strbuf answer = {0}, body = {0};
    int result;

    compose(why, &body);
    mx_strbuf_puts(&answer, "HTTP/1.1 ");
    mx_strbuf_number(&answer, why->status);
    mx_strbuf_puts(&answer, " ");
    mx_strbuf_puts(&answer, why->title);
    mx_strbuf_puts(&answer, "\r\n");
    mx_strbuf_puts(&answer, why->header);
    mx_strbuf_puts(&answer, "Content-Type: application/problem+json\r\nContent-Length: ");
    mx_strbuf_number(&answer, (int64_t)body.len);
    mx_strbuf_puts(&answer, "\r\nConnection: close\r\nCache-Control: no-store\r\n"
                            "X-Content-Type-Options: nosniff\r\nVary: Origin\r\n\r\n");
    mx_strbuf_slice(&answer, mx_strbuf_text(&body));
    answer.failed = answer.failed || body.failed;
    result = answer_send(wsi, &answer);
    mx_strbuf_fini(&body);
    mx_strbuf_fini(&answer);
    return result;
}
