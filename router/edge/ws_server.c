/*
 * ws_server.c - libwebsockets as the keeper of sockets: it has the loop's handles, tells what can
 * be read and written. TLS, HTTP and frames are ours (ADR 0009, ADR 0015); so there is one context,
 * one vhost, one protocol in the raw role, and no listener. The callback only dispatches.
 */
#include "router/edge/ws_server.h"
#include "router/edge/connection.h"
#include "router/edge/dispatch.h"
#include "router/edge/edge_tls.h"
#include "router/edge/http_server.h"
#include "router/edge/proxies.h"
#include "router/edge/wire.h"

#include <libwebsockets.h>

static int on_bytes(struct connection *connection, char *bytes, size_t len)
{
    dispatch_bytes(connection, bytes, len);
    return connection->state == DEAD ? -1 : 0;
}

static int on_closed(struct connection *connection)
{
    connection_depart(connection, close_cause_lost());
    return 0;
}

static int on_destroy(struct connection *connection)
{
    lws_set_opaque_user_data(connection->wsi, NULL);
    http_server_end(connection);
    connection_free(connection);
    return 0;
}

static int dispatch(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t len)
{
    struct connection *connection = connection_of(wsi);

    (void)user;
    if (!connection) /* libwebsockets' own, or not attached yet */
        return 0;
    switch (reason) {
    case LWS_CALLBACK_RAW_RX:
        return on_bytes(connection, in, len);
    case LWS_CALLBACK_RAW_WRITEABLE:
        return wire_writable(connection);
    case LWS_CALLBACK_RAW_CLOSE:
        return on_closed(connection);
    case LWS_CALLBACK_WSI_DESTROY:
        return on_destroy(connection);
    default:
        return 0;
    }
}

static const struct lws_protocols protocols[] = {{"mcpx", dispatch, 0, READ_SIZE, 0, NULL, 0},
                                                 {NULL, NULL, 0, 0, 0, NULL, 0}};

enum mcpx_err ws_server_open(struct edge *edge)
{
    void *loops[] = {&edge->loop};
    struct lws_context_creation_info info = {0};

    lws_set_log_level(LLL_ERR | LLL_WARN, log_lws);
    info.options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_EXPLICIT_VHOSTS;
    info.foreign_loops = loops;
    info.pcontext = &edge->lws;
    info.port = CONTEXT_PORT_NO_LISTEN_SERVER;
    info.protocols = protocols;
    info.server_string = "mcpx-router"; /* it asserts that there is one */
    info.pt_serv_buf_size = READ_SIZE + LWS_PRE;
    edge->lws = lws_create_context(&info);
    if (edge->lws)
        edge->vhost = lws_create_vhost(edge->lws, &info);
    return edge->vhost ? MCPX_OK : MCPX_ESYSTEM;
}

void ws_server_adopt(const struct listener *listener, int fd, struct address origin,
                     uint64_t looks)
{
    struct edge *edge = listener->edge;
    struct connection *connection;
    lws_sock_file_fd_type descriptor = {.sockfd = fd};
    struct lws *wsi =
        lws_adopt_descriptor_vhost(edge->vhost, LWS_ADOPT_SOCKET, descriptor, "mcpx", NULL);

    if (!wsi)
        return; /* the socket is closed */
    connection = connection_new(edge, wsi, origin);
    if (connection)
        connection->looks = looks;
    if (!connection || (listener->tls && !edge_tls_begin(connection)))
        lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
    else
        proxies_begin(connection);
    edge->wake_lws = true;
}

void ws_server_wake(struct edge *edge)
{
    if (edge->wake_lws && edge->lws)
        lws_cancel_service(edge->lws);
    edge->wake_lws = false;
}

void ws_server_close(struct edge *edge)
{
    if (edge->lws)
        lws_context_destroy(edge->lws);
}

void ws_server_free(struct edge *edge)
{
    if (edge->lws)
        lws_context_destroy(edge->lws);
    edge->lws = NULL;
}
