/*
 * ws_wire_lws.c - a libwebsockets context that is a guest on somebody's loop: one protocol, no
 * extensions (its compression had memory errors in this release), no proxy from the environment,
 * no log. Getting rid of it takes two calls with turns of the loop in between.
 */
#include "lib/edge/ws_wire_state.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Receive and service buffers below 16 KiB hang the loop under TLS. The packet size bounds one
 * write: less than a message would cut it into slices, each copied. TURNS_TO_CLOSE: connections
 * close in the first turn, timers in the second.
 */
enum {
    RX_BUFFER_SIZE = 65536,
    SERVICE_BUFFER_SIZE = 131072,
    HEADER_SIZE = 16384,
    TX_PACKET_SIZE = 16 << 20,
    DESCRIPTORS = 16,
    TIMEOUT_S = 20,
    TURNS_TO_CLOSE = 4
};

static const struct lws_protocols protocols[] = {
    {"mcpx", mx_wire_dispatch, 0, RX_BUFFER_SIZE, 0, NULL, TX_PACKET_SIZE},
    {NULL, NULL, 0, 0, 0, NULL, 0}};

static void on_handle(uv_handle_t *handle, void *user)
{
    struct stat about;
    uv_os_fd_t fd;

    if (uv_handle_get_type(handle) == UV_POLL && uv_fileno(handle, &fd) == 0 &&
        fstat(fd, &about) == 0 && !S_ISSOCK(about.st_mode))
        *(int *)user = fd;
}

bool mx_wire_context_open(struct mx_wire *wire)
{
    void *loops[] = {wire->loop};
    struct lws_context_creation_info info = {0};

    lws_set_log_level(0, NULL);
    info.options = LWS_SERVER_OPTION_LIBUV;
    if (wire->address.tls)
        info.options |= LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
    if (wire->ca_file.len) {
        info.options |= LWS_SERVER_OPTION_DISABLE_OS_CA_CERTS;
        info.client_ssl_ca_filepath = wire->ca_file.text;
    }
    info.foreign_loops = loops;
    info.pcontext = &wire->lws;
    info.user = wire;
    info.port = CONTEXT_PORT_NO_LISTEN;
    info.protocols = protocols;
    info.alpn = "http/1.1";
    info.http_proxy_address = "none:0"; /* else http_proxy would be asked, even for loopback */
    info.pt_serv_buf_size = SERVICE_BUFFER_SIZE;
    info.max_http_header_data2 = HEADER_SIZE;
    info.timeout_secs = TIMEOUT_S;
    info.connect_timeout_secs = TIMEOUT_S;
    info.fd_limit_per_thread = DESCRIPTORS;
    wire->lws = lws_create_context(&info);
    /* Handles are walked in the order of their making: the last that is polled, and is no socket
     * as those that 4.3 learns of routes by, is its event pipe. */
    wire->pipe_fd = -1;
    if (wire->lws)
        uv_walk(wire->loop, on_handle, &wire->pipe_fd);
    return wire->lws != NULL;
}

static void release(struct mx_wire *wire)
{
    mcpx_text_fini(&wire->host);
    mcpx_text_fini(&wire->token);
    mcpx_text_fini(&wire->ca_file);
    mcpx_text_fini(&wire->cert_file);
    mcpx_text_fini(&wire->key_file);
    mcpx_text_fini(&wire->target);
    mcpx_text_fini(&wire->message);
    mcpx_text_fini(&wire->out);
    mcpx_text_fini(&wire->body);
    free(wire);
}

static void on_lingered(uv_handle_t *handle)
{
    release(handle->data);
}

static void on_turn(uv_idle_t *idle)
{
    struct mx_wire *wire = idle->data;

    if (++wire->turns < TURNS_TO_CLOSE)
        return;
    lws_context_destroy(wire->lws);
    if (wire->pipe_left)
        close(wire->pipe_fd);
    uv_close((uv_handle_t *)idle, on_lingered);
}

/*
 * libwebsockets 4.1 closes the event pipe's number twice: at once, and again when libuv has let go
 * of it, when it may belong to somebody who opened a file in between. Until then it is ours.
 */
static void occupy(int fd)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int taken;

    if (null < 0 || null == fd)
        return;
    taken = fcntl(null, F_DUPFD_CLOEXEC, fd);
    if (taken >= 0 && taken != fd)
        close(taken);
    close(null);
}

void mx_wire_context_close(struct mx_wire *wire)
{
    if (!wire->lws) {
        release(wire);
        return;
    }
    lws_context_destroy(wire->lws);
    wire->pipe_left = fcntl(wire->pipe_fd, F_GETFD) >= 0;
    if (wire->pipe_fd >= 0 && !wire->pipe_left)
        occupy(wire->pipe_fd);
    uv_idle_init(wire->loop, &wire->linger);
    wire->linger.data = wire;
    uv_idle_start(&wire->linger, on_turn);
}
