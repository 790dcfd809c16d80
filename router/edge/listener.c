/*
 * listener.c - libwebsockets keeps the sockets: it has the loop's handles and reports which can be
 * read or written. TLS, HTTP and frames are ours (ADR 0009, ADR 0015), so there is one context, one
 * vhost, one protocol in the raw role. Connections over a limit get a short answer and never reach
 * libwebsockets. Rejected: its own listener. It binds all interfaces when one address is named,
 * spins when descriptors run out, and cannot be stopped; ours is a poll handle per socket.
 */
#define _GNU_SOURCE /* accept4 */
#include "router/edge/edge_parts.h"

#include "lib/json/json_write.h"
#include "lib/wire/tls.h"
#include "router/connection/connection.h"
#include "router/connection/loop_budget.h"
#include "router/connection/refusal.h"
#include "router/http/forwarded.h"
#include "router/http/http_reply.h"
#include "router/http/rate_limits.h"

#include <errno.h>
#include <fcntl.h>
#include <libwebsockets.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

/* ---- libwebsockets; its callback only dispatches ---- */

static int dispatch(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t len)
{
    struct connection *connection = lws_get_opaque_user_data(wsi);

    (void)user;
    if (!connection) /* libwebsockets' own, or not attached yet */
        return 0;
    switch (reason) {
    case LWS_CALLBACK_RAW_RX:
        dispatch_bytes(connection, in, len);
        return connection->state == DEAD ? -1 : 0;
    case LWS_CALLBACK_RAW_WRITEABLE:
        return wire_writable(connection);
    case LWS_CALLBACK_RAW_CLOSE:
        connection_depart(connection, CLOSE_LOST, (struct mcpx_slice){0});
        return 0;
    case LWS_CALLBACK_WSI_DESTROY:
        lws_set_opaque_user_data(wsi, NULL);
        http_server_end(connection);
        connection_free(connection);
        return 0;
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

/* Gives `fd` to libwebsockets. Its address was charged `looks` (rate_limits_looks). */
static void adopt(const struct listener *listener, int fd, struct address address,
                  uint64_t looks)
{
    struct edge *edge = listener->edge;
    struct connection *connection;
    lws_sock_file_fd_type descriptor = {.sockfd = fd};
    struct lws *wsi =
        lws_adopt_descriptor_vhost(edge->vhost, LWS_ADOPT_SOCKET, descriptor, "mcpx", NULL);

    if (!wsi)
        return; /* the socket is closed */
    connection = connection_new(edge, wsi, address);
    if (connection)
        connection->looks = looks;
    if (connection && listener->tls)
        connection->tls = mx_tls_new(edge->tls.room, edge->tls.files.context, NULL);
    if (!connection || (listener->tls && !connection->tls))
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

/* ---- listeners ---- */

enum { BACKLOG = 1024, PAUSE_MS = 100, HEAD_MAX = 16384, HOST_SIZE = 64, PORT_SIZE = 112 };

/* Reads the request first: closing with unread bytes would reset the connection and lose the
 * answer. */
static void refuse_and_close(int fd)
{
    MX_SCOPED(http_reply_fini) struct http_reply problem = {.err = MCPX_ECONNECTS};
    mx_scoped_text answer = {0};
    char head[HEAD_MAX];

    http_reply_write(&problem, &answer);
    if (!answer.failed && recv(fd, head, sizeof head, MSG_DONTWAIT) != 0)
        send(fd, answer.text, answer.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(fd, SHUT_WR);
    close(fd);
}

static void take(const struct listener *listener, int fd, struct address address)
{
    struct edge *edge = listener->edge;
    struct address from = address_shared(address);
    uint64_t looks = 0;
    char remote[ADDRESS_TEXT_SIZE];
    int on = 1;

    /* A proxy is not charged for its clients (proxies.c). */
    if (!forwarded_is_trusted(edge->config, address) &&
        !rate_limits_admits(edge->api.rates, from, edge_now(edge)))
        looks = listener->tls ? RATE_LIMITS_TLS_LOOK : 1;
    if (looks == 0 || rate_limits_looks(edge->api.rates, from, looks, edge_now(edge))) {
        evict_for_another(edge);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        adopt(listener, fd, address, looks);
        return;
    }
    refusal_note_attempt(edge, from, address_text(from, remote));
    if (listener->tls)
        close(fd); /* a handshake costs too much for a refusal */
    else
        refuse_and_close(fd);
}

static void on_connection(uv_poll_t *poll, int status, int events);

static void on_reopen(uv_timer_t *timer)
{
    struct edge *edge = timer->data;

    for (size_t i = 0; i < edge->listener_count; i++)
        uv_poll_start(&edge->listeners[i].poll, UV_READABLE, on_connection);
}

/* Descriptors or memory have run out: the waiting connection would wake the loop again at once. */
static void pause_all(struct edge *edge, int error)
{
    if (log_permits(&edge->accept_log, edge_now(edge).mono_ms))
        LOG(LOG_ERROR, "accept_paused", log_string("reason", strerror(error)));
    for (size_t i = 0; i < edge->listener_count; i++)
        uv_poll_stop(&edge->listeners[i].poll);
    uv_timer_start(&edge->reopen, on_reopen, PAUSE_MS, 0);
}

static void on_connection(uv_poll_t *poll, int status, int events)
{
    struct listener *listener = poll->data;
    union {
        struct sockaddr any;
        struct sockaddr_storage room;
    } from;
    uint64_t began_ns = clock_ns();
    socklen_t len;
    int fd;

    (void)status;
    (void)events;
    while (clock_ns() - began_ns < LOOP_BUDGET_OTHERS_NS) {
        memset(&from, 0, sizeof from);
        len = sizeof from;
        fd = accept4(listener->fd, &from.any, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            take(listener, fd, address_whole(&from.any));
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            pause_all(listener->edge, errno);
        if (errno != EINTR && errno != ECONNABORTED)
            return;
    }
}

/* Returns the address family. The port of a Unix socket is its path. */
static int name_socket(int fd, char host[HOST_SIZE], char port[PORT_SIZE])
{
    struct sockaddr_storage address = {0};
    socklen_t len = sizeof address;

    getsockname(fd, (struct sockaddr *)&address, &len);
    getnameinfo((struct sockaddr *)&address, len, host, HOST_SIZE, port, PORT_SIZE,
                NI_NUMERICHOST | NI_NUMERICSERV);
    return address.ss_family;
}

static void write_url(struct listener *listener)
{
    char host[HOST_SIZE] = "?", port[PORT_SIZE] = "?";
    int family = name_socket(listener->fd, host, port);
    bool v6 = family == AF_INET6;

    if (family == AF_UNIX)
        snprintf(listener->url, sizeof listener->url, "unix:%s", port);
    else
        snprintf(listener->url, sizeof listener->url, "%s://%s%s%s:%s/ws",
                 listener->tls ? "wss" : "ws", v6 ? "[" : "", host, v6 ? "]" : "", port);
}

/* Takes `fd`. */
static enum mcpx_err add(struct edge *edge, int fd, bool tls)
{
    /* Room was made by the caller: a started poll handle must not move. */
    struct listener *listener = &edge->listeners[edge->listener_count];

    listener->edge = edge;
    listener->fd = fd;
    listener->tls = tls;
    listener->poll.data = listener;
    if (uv_poll_init_socket(&edge->loop, &listener->poll, fd)) {
        close(fd);
        return MCPX_ESYSTEM;
    }
    edge->listener_count++;
    write_url(listener);
    uv_poll_start(&listener->poll, UV_READABLE, on_connection);
    return MCPX_OK;
}

static int open_socket(const struct addrinfo *address)
{
    int on = 1, fd = socket(address->ai_family,
                            address->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address->ai_family == AF_INET6) /* its IPv4 twin has a socket of its own */
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(fd, address->ai_addr, address->ai_addrlen) || listen(fd, BACKLOG)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Returns advice for an error; "" when the reason is enough. */
static const char *advice_for(int error)
{
    if (error == EADDRINUSE)
        return "; another program listens there, perhaps another mcpx-router: end it, or "
               "choose another port with --listen HOST:PORT";
    if (error == EACCES)
        return "; ports below 1024 are for root: choose another one with --listen HOST:PORT";
    return "";
}

static struct addrinfo *resolve(const struct config_listen *where, struct mcpx_text *errors)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV},
                    *found = NULL;
    bool any = strcmp(where->host, "*") == 0 || !*where->host;
    int err;

    err = getaddrinfo(any ? NULL : where->host, where->port, &hints, &found);
    if (err)
        mx_format(errors, "cannot listen on %s port %s: %s\n", where->host, where->port,
                  gai_strerror(err));
    return err ? NULL : found;
}

/* Opens a listener per address of a name. An address that the machine lacks may be left out. */
static enum mcpx_err open_found(struct edge *edge, const struct config_listen *where,
                                const struct addrinfo *found, struct mcpx_text *errors)
{
    bool may_lack = found->ai_next || edge->config->listen_default;
    size_t before = edge->listener_count;
    enum mcpx_err err = MCPX_OK;

    for (; found && !err; found = found->ai_next) {
        int fd = open_socket(found), why = errno;

        if (fd >= 0) {
            err = add(edge, fd, where->tls);
            continue;
        }
        mx_format(errors, "cannot listen on %s port %s: %s%s\n", where->host, where->port,
                  strerror(why), advice_for(why));
        /* Containers often have no IPv6; the operator did not ask for it by name. */
        if (!may_lack || (why != EADDRNOTAVAIL && why != EAFNOSUPPORT))
            return MCPX_ESYSTEM;
        LOG(LOG_INFO, "address_left_out", log_string("host", where->host),
            log_string("reason", strerror(why)));
    }
    if (!err && edge->listener_count == before && !edge->config->listen_default)
        err = MCPX_ESYSTEM;
    return err;
}

/* True for loopback. The configuration has checked its addresses, but not sockets handed over. */
static bool is_local(int fd)
{
    char host[HOST_SIZE] = "", port[PORT_SIZE];

    return name_socket(fd, host, port) == AF_UNIX || strncmp(host, "127.", 4) == 0 ||
           strcmp(host, "::1") == 0;
}

/* A socket handed over speaks TLS when the settings name its port with tls://. */
static bool is_tls(const struct edge *edge, int fd)
{
    const struct config *config = edge->config;
    char host[HOST_SIZE] = "", port[PORT_SIZE] = "";

    (void)name_socket(fd, host, port);
    for (size_t i = 0; i < config->listen_count; i++)
        if (config->listen[i].tls && strcmp(config->listen[i].port, port) == 0)
            return true;
    return false;
}

/* False for other sockets that a unit may name: a datagram socket, or one connection. */
static bool accepts(int fd)
{
    int type = 0, accepting = 0;
    socklen_t size = sizeof type;

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM &&
           getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepting, &size) == 0 && accepting;
}

static enum mcpx_err take_activated(struct edge *edge, int count, struct mcpx_text *errors)
{
    enum mcpx_err err = MCPX_OK;

    edge->listeners = calloc((size_t)count, sizeof *edge->listeners);
    if (!edge->listeners)
        return MCPX_ENOMEM;
    for (int i = 0; i < count && !err; i++) {
        int fd = SD_LISTEN_FDS_START + i;

        if (!accepts(fd)) {
            mx_format(errors,
                      "socket %s of those that systemd hands over takes no connections; "
                      "expected ListenStream= and Accept=no in the .socket unit\n",
                      i + 1);
            return MCPX_ESYSTEM;
        }
        if (edge->config->dev && !is_local(fd)) {
            mcpx_text_puts(errors, "a socket handed over is not on loopback, which --dev "
                                   "needs, because it hands out tokens to everyone\n");
            return MCPX_ESYSTEM;
        }
        fcntl(fd, F_SETFL, O_NONBLOCK);
        err = add(edge, fd, is_tls(edge, fd));
    }
    return err;
}

/* Resolves all addresses before anything is opened. Returns the number of listeners. */
static size_t resolve_all(const struct config *config, struct addrinfo **found,
                          struct mcpx_text *errors)
{
    const struct addrinfo *at;
    size_t count = 0;

    for (size_t i = 0; i < config->listen_count; i++) {
        found[i] = resolve(&config->listen[i], errors);
        for (at = found[i]; at; at = at->ai_next)
            count++;
    }
    return count;
}

enum mcpx_err listener_open_all(struct edge *edge, struct mcpx_text *errors)
{
    const struct config *config = edge->config;
    enum mcpx_err err = MCPX_OK;
    struct addrinfo **found;
    size_t count;
    int activated = sd_listen_fds(1);

    if (activated > 0)
        return take_activated(edge, activated, errors);
    found = calloc(config->listen_count + 1, sizeof *found);
    if (!found)
        return MCPX_ENOMEM;
    count = resolve_all(config, found, errors);
    edge->listeners = calloc(count + 1, sizeof *edge->listeners);
    if (!edge->listeners)
        err = MCPX_ENOMEM;
    for (size_t i = 0; i < config->listen_count; i++) {
        if (!err && !found[i])
            err = MCPX_ESYSTEM;
        if (!err)
            err = open_found(edge, &config->listen[i], found[i], errors);
        if (found[i])
            freeaddrinfo(found[i]);
    }
    free(found);
    return err || edge->listener_count ? err : MCPX_ESYSTEM;
}

static void on_listener_closed(uv_handle_t *handle)
{
    close(((struct listener *)handle->data)->fd);
}

void listener_close_all(struct edge *edge)
{
    uv_timer_stop(&edge->reopen);
    for (size_t i = 0; i < edge->listener_count; i++)
        if (!uv_is_closing((uv_handle_t *)&edge->listeners[i].poll))
            uv_close((uv_handle_t *)&edge->listeners[i].poll, on_listener_closed);
}
