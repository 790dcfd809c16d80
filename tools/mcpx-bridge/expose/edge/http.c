/*
 * http.c - start and end of the HTTP server, and the way of an answer to its waiting client.
 * Rejected: to look up the name of an address. A name can lead to another address later, and every
 * client that reaches the socket acts as the participant.
 */
#include "tools/mcpx-bridge/expose/edge/http.h"

#include "lib/base/digits.h"
#include "lib/json/json_write.h"
#include "tools/mcpx-bridge/expose/edge/post.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>

enum { BACKLOG = 128, HOST_MAX = 16 };

/* ---- answers ---- */

/*
 * A body that is not a message has no number of ours, and its own id may be the number of another
 * request. The server refuses it before any other output, so the first answer is for it.
 */
static struct http_client *asker_of(const struct expose_http *http, struct mcpx_slice line)
{
    struct http_client *current = http->current;
    int64_t number;

    if (!expose_post_answers(line, &number))
        return NULL;
    if (current && current->stage == HTTP_WAITING && !current->number)
        return current;
    for (size_t i = 0; i < http->count && number > 0; i++)
        if (http->clients[i]->stage == HTTP_WAITING && http->clients[i]->number == number)
            return http->clients[i];
    return NULL;
}

void expose_http_write(struct expose_http *http, struct mcpx_slice line)
{
    struct http_client *client = asker_of(http, line);
    struct mcpx_text answer = {0};

    if (!client)
        return;
    if (client->number)
        answer = expose_post_answer(line, mcpx_text_view(&client->id));
    else
        mcpx_text_slice(&answer, line);
    http_client_answer(client, expose_post_status(line, client->wants_events), &answer);
}

void expose_http_end(struct expose_http *http)
{
    if (!http)
        return;
    http->is_ending = true;
    for (size_t i = http->count; i-- > 0;)
        if (http->clients[i]->stage == HTTP_WAITING)
            http_client_refuse(http->clients[i], 503, "the bridge is ending");
}

size_t expose_http_unwritten(const struct expose_http *http)
{
    size_t count = 0;

    for (size_t i = 0; http && i < http->count; i++)
        count += http->clients[i]->stage == HTTP_ANSWERING ? 1 : 0;
    return count;
}

/* ---- addresses ---- */

bool expose_http_address(const char *text, struct sockaddr_storage *out)
{
    struct sockaddr_in *four = (struct sockaddr_in *)out;
    const char *colon = strrchr(text, ':');
    char host[HOST_MAX] = "";
    uint64_t port;

    if (!colon || !expose_post_is_loopback(mcpx_slice_of(text)) || colon[-1] == ':' ||
        !mx_decimal_read(mcpx_slice_of(colon + 1), UINT16_MAX, &port))
        return false;
    if (*text == '[')
        return uv_ip6_addr("::1", (int)port, (struct sockaddr_in6 *)out) == 0;
    memcpy(host, text, (size_t)(colon - text));
    return uv_ip4_addr(host, (int)port, four) == 0 ||
           uv_ip4_addr("127.0.0.1", (int)port, four) == 0; /* localhost */
}

void expose_http_add_url(const struct expose_http *http, struct mcpx_text *out)
{
    struct sockaddr_storage name = {0};
    const struct sockaddr_in *four = (const struct sockaddr_in *)&name;
    char host[INET_ADDRSTRLEN] = "[::1]";
    int len = sizeof name;

    uv_tcp_getsockname(&http->listener, (struct sockaddr *)&name, &len);
    if (name.ss_family == AF_INET)
        inet_ntop(AF_INET, &four->sin_addr, host, sizeof host);
    /* The port has the same place in both families. */
    mx_format(out, "http://%s:%s/mcp", host, (int)ntohs(four->sin_port));
}

/* ---- from beginning to end ---- */

static void on_connection(uv_stream_t *listener, int status)
{
    if (status == 0)
        http_client_accept(listener->data);
}

int expose_http_new(const struct expose_transport *transport,
                    const struct sockaddr_storage *address, struct expose_http **out)
{
    struct expose_http *http = calloc(1, sizeof *http);
    int err;

    *out = http;
    http->transport = *transport;
    uv_tcp_init(transport->loop, &http->listener);
    http->listener.data = http;
    err = uv_tcp_bind(&http->listener, (const struct sockaddr *)address, 0);
    return err ? err : uv_listen((uv_stream_t *)&http->listener, BACKLOG, on_connection);
}

void expose_http_close(struct expose_http *http)
{
    if (!http)
        return;
    expose_http_end(http);
    while (http->count)
        http_client_cut(http->clients[0]);
    uv_close((uv_handle_t *)&http->listener, NULL);
}
