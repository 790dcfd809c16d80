/*
 * ws_server.c - one context, one vhost, one protocol, no listener, no extensions. With a second
 * protocol any client could choose it by name; compression had its share of memory errors in
 * this release; HTTP/2 and raw sockets are refused where they come up. The callback only
 * dispatches. TLS, when it comes, is three fields of the vhost below.
 * Includes all of the folder that handles callbacks, libwebsockets.
 */
#include "router/edge/ws_server.h"
#include "router/edge/connection.h"
#include "router/edge/flush.h"
#include "router/edge/http_server.h"
#include "router/edge/receive.h"
#include "router/edge/upgrade.h"

#include <libwebsockets.h>

/*
 * Receive and service buffers below 16 KiB hang the loop under TLS. The packet size bounds one
 * write: less than a message would cut it into slices, each copied.
 */
enum {
    RX_BUFFER_SIZE = 98304,
    SERVICE_BUFFER_SIZE = 262144,
    HEADER_SIZE = 16384,
    TX_PACKET_SIZE = 4 << 20,
    TIMEOUT_S = 6
};

static int on_closed(struct connection *connection)
{
    connection_depart(connection);
    return 0;
}

static int on_destroy(struct connection *connection)
{
    lws_set_opaque_user_data(connection->wsi, NULL);
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
    case LWS_CALLBACK_HTTP:
        return http_server_head(connection);
    case LWS_CALLBACK_HTTP_BODY:
        return http_server_body(connection, in, len);
    case LWS_CALLBACK_HTTP_BODY_COMPLETION:
        return http_server_complete(connection);
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return upgrade_confirm(connection);
    case LWS_CALLBACK_ESTABLISHED:
        return upgrade_established(connection);
    case LWS_CALLBACK_RECEIVE:
        return receive_piece(connection, in, len);
    case LWS_CALLBACK_RECEIVE_PONG:
        return receive_pong(connection);
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
        return receive_close(connection);
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return flush_writable(connection);
    case LWS_CALLBACK_WS_SERVER_DROP_PROTOCOL:
    case LWS_CALLBACK_CLOSED:
        return on_closed(connection);
    case LWS_CALLBACK_WSI_DESTROY:
        return on_destroy(connection);
    case LWS_CALLBACK_RAW_ADOPT: /* CONNECT makes a raw socket of a request */
    case LWS_CALLBACK_RAW_RX:
        return -1;
    default:
        return 0;
    }
}

/* Memory per session is asked for only because libwebsockets announces the beginning of a close
 * (DROP_PROTOCOL) to sessions that have some. */
static const struct lws_protocols protocols[] = {
    {"mcpx", dispatch, sizeof(void *), RX_BUFFER_SIZE, 0, NULL, TX_PACKET_SIZE},
    {NULL, NULL, 0, 0, 0, NULL, 0}};

enum mcpx_err ws_server_open(struct edge *edge)
{
    void *loops[] = {&edge->loop};
    struct lws_context_creation_info info = {0};

    lws_set_log_level(LLL_ERR | LLL_WARN, log_lws);
    info.options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_EXPLICIT_VHOSTS;
    info.foreign_loops = loops;
    info.pcontext = &edge->lws;
    info.uid = -1;
    info.gid = -1;
    info.port = CONTEXT_PORT_NO_LISTEN_SERVER;
    info.protocols = protocols;
    info.alpn = "http/1.1";
    info.server_string = "mcpx-router"; /* it asserts that there is one */
    info.pt_serv_buf_size = SERVICE_BUFFER_SIZE;
    info.max_http_header_data2 = HEADER_SIZE;
    info.timeout_secs = TIMEOUT_S;
    info.timeout_secs_ah_idle = TIMEOUT_S;
    info.keepalive_timeout = TIMEOUT_S;
    edge->lws = lws_create_context(&info);
    if (edge->lws)
        edge->vhost = lws_create_vhost(edge->lws, &info);
    return edge->vhost ? MCPX_OK : MCPX_ESYSTEM;
}

void ws_server_adopt(struct edge *edge, int fd, struct address from)
{
    struct lws *wsi = lws_adopt_socket_vhost(edge->vhost, fd);

    if (!wsi)
        return; /* the socket is closed */
    if (!connection_new(edge, wsi, from))
        lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
    edge->kick = true; /* adoption set a timer */
}

void ws_server_kick(struct edge *edge)
{
    if (edge->kick && edge->lws)
        lws_cancel_service(edge->lws);
    edge->kick = false;
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
