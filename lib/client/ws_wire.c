/*
 * ws_wire.c - the life of a connection: its addresses are looked up and tried one after the other,
 * it is open, it is over. Its libwebsockets context is a guest on somebody's loop: one protocol, no
 * extensions (its compression had memory errors in this release), no proxy from the environment, no
 * log. Getting rid of it takes two calls with turns of the loop in between.
 */
#include "lib/client/ws_wire_state.h"

#include "lib/json/json_write.h"
#include "lib/wire/pem.h"

#include <mcpx/base.h>

#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

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

/* Makes the context. Returns false when it cannot. */
static bool wire_context_open(struct mx_wire *wire)
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

/* Ends the context and, turns of the loop later, frees the wire itself. */
static void wire_context_close(struct mx_wire *wire)
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

static const lws_retry_bo_t no_timers; /* those of libwebsockets: we count ourselves */

static void try_next(void *user);

enum mcpx_err mx_wire_new(uv_loop_t *loop, const struct mx_address *address,
                          const struct mcpx_client_config *config,
                          const struct mx_wire_events *events, void *user,
                          struct mx_wire **out)
{
    struct mx_wire *wire = calloc(1, sizeof *wire);
    bool whole;

    if (!wire)
        return MCPX_ENOMEM;
    wire->loop = loop;
    wire->message_max = MX_MESSAGE_MAX;
    wire->events = events;
    wire->user = user;
    wire->address = *address;
    mx_url_add_host(&wire->host, address);
    if (config->token)
        mx_format(&wire->token, "Bearer %s", config->token);
    mx_format(&wire->ca_file, "%s", config->ca_file);
    mx_format(&wire->cert_file, "%s", config->cert_file);
    mx_format(&wire->key_file, "%s", config->key_file ? config->key_file : config->cert_file);
    whole = !wire->host.failed && !wire->token.failed && !wire->ca_file.failed &&
            !wire->cert_file.failed && !wire->key_file.failed;
    wire->again = whole ? mx_alarm_new(wire->loop, try_next, wire) : NULL;
    if (wire->again && wire_context_open(wire)) {
        *out = wire;
        return MCPX_OK;
    }
    mx_alarm_free(wire->again);
    wire_context_close(wire);
    return whole ? MCPX_ESYSTEM : MCPX_ENOMEM;
}

bool mx_wire_renew(struct mx_wire *wire, const char *token)
{
    struct mcpx_text fresh = {0};

    mx_format(&fresh, "Bearer %s", token);
    if (fresh.failed) {
        mcpx_text_fini(&fresh);
        return false;
    }
    mcpx_text_fini(&wire->token);
    wire->token = fresh;
    return true;
}

bool mx_wire_shows_other(const struct mx_wire *wire, struct mcpx_text *told)
{
    const char *field, *reason = mx_certificate_renewal_fault(wire->tls, wire->cert_file.text,
                                                              wire->key_file.text, &field);
    bool is_key = strcmp(field, "key_file") == 0;

    mx_format(told, "%s: %s", is_key ? &wire->key_file : &wire->cert_file,
              reason ? reason : "it has another certificate now");
    return !reason;
}

static void attempt(struct mx_wire *wire, const char *address)
{
    struct lws_client_connect_info info = {0};

    wire->status = wire->code = 0;
    wire->distrusted = false;
    wire->shaking = wire->foreign = false;
    mx_wire_reason(wire, mcpx_slice_of("it cannot be reached"));
    mcpx_text_reset(&wire->body);
    if (wire->cert_file.len && wire->tls)
        (void)mx_certificate_use(wire->tls, wire->cert_file.text, wire->key_file.text);
    info.context = wire->lws;
    info.address = address;
    info.port = wire->address.port;
    info.path = wire->target.text;
    info.host = wire->host.text;
    /* A redirection would take the token somewhere else. */
    info.ssl_connection =
        LCCSCF_HTTP_NO_FOLLOW_REDIRECT | (wire->address.tls ? LCCSCF_USE_SSL : 0);
    info.local_protocol_name = "mcpx";
    info.opaque_user_data = wire;
    info.retry_and_idle_policy = &no_timers;
    wire->wsi = lws_client_connect_via_info(&info);
    if (!wire->wsi)
        mx_wire_over(wire);
}

static void try_next(void *user)
{
    struct mx_wire *wire = user;
    const struct addrinfo *at = wire->next;
    char address[NI_MAXHOST];

    if (!at)
        return;
    wire->next = at->ai_next;
    if (getnameinfo(at->ai_addr, at->ai_addrlen, address, sizeof address, NULL, 0,
                    NI_NUMERICHOST))
        mx_wire_over(wire);
    else
        attempt(wire, address);
}

/* `found` is NULL on failure, and `why` says why. */
static void on_found(struct mx_wire *wire, struct addrinfo *found, const char *why)
{
    wire->lookup = NULL;
    wire->found = wire->next = found;
    wire->status = wire->code = 0;
    if (found) {
        try_next(wire);
        return;
    }
    mx_wire_reason(wire, mcpx_slice_of(why));
    mx_wire_over(wire);
}

/*
 * libwebsockets asks the resolver from within the loop and everybody waits; libuv asks it on a
 * thread of its own. A question that was put cannot be taken back, so it lives by itself until it
 * is answered.
 */
struct mx_lookup {
    uv_getaddrinfo_t request;
    struct mx_wire *wire; /* NULL: nobody wants to know any more */
};

static void on_answer(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
    struct mx_lookup *lookup = request->data;

    if (lookup->wire)
        on_found(lookup->wire, found, status ? uv_strerror(status) : NULL);
    else
        uv_freeaddrinfo(found);
    free(lookup);
}

static void look_up(struct mx_wire *wire)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct mx_lookup *lookup = calloc(1, sizeof *lookup);

    if (lookup) {
        lookup->request.data = lookup;
        lookup->wire = wire;
    }
    if (!lookup || uv_getaddrinfo(wire->loop, &lookup->request, on_answer, wire->address.host,
                                  NULL, &hints)) {
        free(lookup);
        on_found(wire, NULL, "the resolver cannot be asked");
        return;
    }
    wire->lookup = lookup;
}

static void drop_lookup(struct mx_wire *wire)
{
    if (!wire->lookup)
        return;
    wire->lookup->wire = NULL;
    uv_cancel((uv_req_t *)&wire->lookup->request);
    wire->lookup = NULL;
}

static bool is_numeric(const struct mx_address *address)
{
    unsigned char bytes[16];

    return address->v6 || uv_inet_pton(AF_INET, address->host, bytes) == 0;
}

void mx_wire_connect(struct mx_wire *wire, struct mcpx_slice target)
{
    mcpx_text_reset(&wire->target);
    mcpx_text_slice(&wire->target, target);
    if (wire->target.failed)
        on_found(wire, NULL, "out of memory");
    else if (is_numeric(&wire->address))
        attempt(wire, wire->address.host);
    else
        look_up(wire);
}

void mx_wire_drop(struct mx_wire *wire)
{
    struct lws *wsi = wire->wsi;

    drop_lookup(wire);
    mx_alarm_stop(wire->again);
    mx_wire_forget_addresses(wire);
    mx_wire_detach(wire);
    if (!wsi)
        return;
    lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
    lws_cancel_service(wire->lws); /* its timers are looked at after events only */
}

void mx_wire_free(struct mx_wire *wire)
{
    if (!wire)
        return;
    drop_lookup(wire);
    mx_alarm_free(wire->again);
    mx_wire_forget_addresses(wire);
    mx_wire_detach(wire);
    wire_context_close(wire);
}
