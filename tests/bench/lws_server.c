/*
 * lws_server.c - libwebsockets by itself: takes WebSocket connections and does nothing with them.
 * What a connection to it keeps in memory is what no server on libwebsockets can do without; the
 * router's own share is what it keeps beyond. Settings are the router's.
 */
#include <libwebsockets.h>
#include <stdio.h>
#include <stdlib.h>

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t len)
{
    (void)wsi;
    (void)reason;
    (void)user;
    (void)in;
    (void)len;
    return 0;
}

int main(void)
{
    static const struct lws_protocols protocols[] = {
        {.name = "mcpx", .callback = on_event, .rx_buffer_size = 16384},
        {.name = NULL},
    };
    struct lws_context_creation_info info = {.protocols = protocols,
                                             .iface = "127.0.0.1",
                                             .options = LWS_SERVER_OPTION_LIBUV,
                                             .pt_serv_buf_size = 32768};
    struct lws_context *context;
    struct lws_vhost *vhost;

    lws_set_log_level(LLL_ERR, NULL);
    info.options |= LWS_SERVER_OPTION_EXPLICIT_VHOSTS;
    context = lws_create_context(&info);
    vhost = context ? lws_create_vhost(context, &info) : NULL;
    if (!vhost)
        return EXIT_FAILURE;
    printf("listening ws://127.0.0.1:%d/\n", lws_get_vhost_listen_port(vhost));
    fflush(stdout);
    while (lws_service(context, 0) >= 0)
        continue;
    lws_context_destroy(context);
    return EXIT_SUCCESS;
}
