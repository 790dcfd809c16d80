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

int answer_send(struct lws *wsi, struct mcpx_text *answer)
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
    struct mcpx_text answer = {0};
    int result;

    http_problem(err, detail, &answer);
    result = answer_send(wsi, &answer);
    mcpx_text_fini(&answer);
    return result;
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

int answer_refuse(struct lws *wsi, const struct answer_status *why)
{
    struct mcpx_text answer = {0}, body = {0};
    int result;

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
    result = answer_send(wsi, &answer);
    mcpx_text_fini(&body);
    mcpx_text_fini(&answer);
    return result;
}
