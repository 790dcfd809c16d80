/*
 * link.c - two sockets and a passage between them. After every callback the function settle()
 * decides three things: what to write, which side to read, and whether the link is over. So no
 * callback needs to know what another one did. A side is not read while more than QUEUE_MAX
 * bytes wait for the other; without that bound an agent that hangs would fill the guard's
 * memory with the topic.
 */

#include "lib/json/json_write.h"
#include "tools/common/command.h"
#include "tools/mcpx-bridge/guard/edge/server.h"
#include "tools/mcpx-bridge/guard/passage.h"

#include <stdio.h>
#include <stdlib.h>

enum { QUEUE_MAX = 262144, LINGER_MS = 5000 };

/*
 * connected   it can be written to
 * reading     it is being read
 * ended       it sends nothing more
 * shut        it will be told that nothing more comes
 * down        it was told so
 */
struct side {
    uv_tcp_t tcp;
    uv_shutdown_t shutdown;
    bool connected, reading, ended, shut, down;
};

struct guard_link {
    struct guard_server *server;
    struct guard_link *next, **back;
    struct side agent, router;
    struct guard_passage *passage;
    uv_getaddrinfo_t resolve;
    struct addrinfo *addresses, *candidate;
    uv_connect_t connect;
    uv_timer_t timer; /* ends the waiting for an answer, later the lingering */
    bool resolving, replacing, lingering, noted, broken;
    int open; /* handles and requests not finished */
};

/* A text on its way out. */
struct parcel {
    uv_write_t write;
    struct mcpx_text text;
};

static void settle(struct guard_link *link);

/* ---- the end ---- */

static void release(struct guard_link *link)
{
    if (--link->open)
        return;
    uv_freeaddrinfo(link->addresses);
    guard_passage_free(link->passage);
    free(link);
}

static void on_closed(uv_handle_t *handle)
{
    release(handle->data);
}

void guard_link_break(struct guard_link *link)
{
    link->broken = true;
    *link->back = link->next;
    if (link->next)
        link->next->back = link->back;
    if (link->resolving)
        uv_cancel((uv_req_t *)&link->resolve);
    uv_close((uv_handle_t *)&link->agent.tcp, on_closed);
    if (!link->replacing)
        uv_close((uv_handle_t *)&link->router.tcp, on_closed);
    uv_close((uv_handle_t *)&link->timer, on_closed);
}

static void on_linger(uv_timer_t *timer)
{
    guard_link_break(timer->data);
}

/* The router or the agent hangs: without this timer both sides would stay open without end. */
static void on_late(uv_timer_t *timer)
{
    struct guard_link *link = timer->data;

    guard_passage_give_up(link->passage);
    settle(link);
}

/* ---- writing ---- */

static void on_written(uv_write_t *write, int status)
{
    struct parcel *parcel = (struct parcel *)write;
    struct guard_link *link = write->handle->data;

    mcpx_text_fini(&parcel->text);
    free(parcel);
    if (link->broken)
        return;
    if (status < 0)
        guard_link_break(link);
    else
        settle(link);
}

/* Writes the text to the side. Returns false when the connection cannot go on. */
static bool put(struct side *side, struct mcpx_text *text)
{
    struct parcel *parcel;
    uv_buf_t buf;

    if (!text->len || !side->connected || side->shut)
        return true;
    if (text_whole(text).len > UINT32_MAX)
        return false;
    parcel = malloc(sizeof *parcel);
    parcel->text = *text;
    *text = (struct mcpx_text){0};
    buf = uv_buf_init(parcel->text.text, (unsigned)parcel->text.len);
    if (uv_write(&parcel->write, (uv_stream_t *)&side->tcp, &buf, 1, on_written) < 0) {
        mcpx_text_fini(&parcel->text);
        free(parcel);
        return false;
    }
    return true;
}

static void on_shut(uv_shutdown_t *request, int status)
{
    struct guard_link *link = request->handle->data;
    struct side *side = request == &link->agent.shutdown ? &link->agent : &link->router;

    (void)status;
    side->down = true;
    if (!link->broken)
        settle(link);
}

/* What was written before this still arrives. */
static void shut(struct side *side)
{
    if (side->shut)
        return;
    side->shut = true;
    side->down = !side->connected ||
                 uv_shutdown(&side->shutdown, (uv_stream_t *)&side->tcp, on_shut) < 0;
}

/* ---- reading ---- */

static void on_alloc(uv_handle_t *handle, size_t wanted, uv_buf_t *buf)
{
    struct guard_link *link = handle->data;

    (void)wanted;
    *buf = uv_buf_init(link->server->buffer, sizeof link->server->buffer);
}

static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *buf)
{
    struct guard_link *link = stream->data;
    struct side *side =
        stream == (uv_stream_t *)&link->agent.tcp ? &link->agent : &link->router;
    struct mcpx_slice bytes = {buf->base, len > 0 ? (size_t)len : 0};

    if (len < 0 && len != UV_EOF) {
        guard_link_break(link);
        return;
    }
    if (len == UV_EOF) {
        side->ended = true;
        side->reading = false;
    } else if (side == &link->agent) {
        guard_passage_from_agent(link->passage, bytes);
    } else {
        guard_passage_from_router(link->passage, bytes);
    }
    settle(link);
}

static bool has_room(const struct side *side)
{
    return uv_stream_get_write_queue_size((const uv_stream_t *)&side->tcp) < QUEUE_MAX;
}

static void read_or_not(struct side *side, bool wanted)
{
    wanted = wanted && side->connected && !side->ended;
    if (wanted == side->reading)
        return;
    side->reading = wanted;
    if (wanted)
        uv_read_start((uv_stream_t *)&side->tcp, on_alloc, on_read);
    else
        uv_read_stop((uv_stream_t *)&side->tcp);
}

/* ---- the whole ---- */

static bool is_over(const struct guard_link *link)
{
    return link->router.ended || guard_passage_end(link->passage);
}

/*
 * From now on bytes of the agent are read and dropped: closing with unread bytes could destroy
 * what the agent has not read yet.
 */
static void start_lingering(struct guard_link *link)
{
    const char *why = guard_passage_end(link->passage);

    if (why && !link->noted)
        guard_note(link->server, "broken_off", "connection broken off: %s", why);
    link->noted = true;
    shut(&link->agent);
    shut(&link->router);
    if (!link->lingering)
        uv_timer_start(&link->timer, on_linger, LINGER_MS, 0);
    link->lingering = true;
}

static void settle(struct guard_link *link)
{
    bool over;

    if (!put(&link->agent, guard_passage_to_agent(link->passage)) ||
        !put(&link->router, guard_passage_to_router(link->passage))) {
        guard_link_break(link);
        return;
    }
    over = is_over(link);
    if (over)
        start_lingering(link);
    else if (!guard_passage_is_waiting(link->passage))
        uv_timer_stop(&link->timer);
    if (link->agent.ended &&
        (over ? link->agent.down : guard_passage_needs_agent(link->passage))) {
        guard_link_break(link);
        return;
    }
    if (!over && link->agent.ended && link->router.connected)
        shut(&link->router);
    read_or_not(&link->agent,
                over || (guard_passage_wants_agent(link->passage) && has_room(&link->router) &&
                         guard_passage_to_router(link->passage)->len < QUEUE_MAX));
    read_or_not(&link->router, !over && has_room(&link->agent));
}

/* ---- the beginning ---- */

static void fail_to_connect(struct guard_link *link, int err)
{
    const struct guard_address *router = &link->server->options->router;
    struct mcpx_text *out = guard_passage_to_agent(link->passage);
    struct mcpx_text body = {0};

    mx_format(&body,
              "{\"title\":\"Bad Gateway\",\"status\":502,\"code\":\"unreachable\","
              "\"detail\":\"the guard cannot connect to the router: %s\"}",
              uv_strerror(err));
    mx_format(out,
              "HTTP/1.1 502 Bad Gateway\r\nContent-Type: application/problem+json\r\n"
              "Connection: close\r\nContent-Length: %s\r\n\r\n%s",
              body.len, &body);
    mcpx_text_fini(&body);
    guard_note(link->server, "unreachable", "cannot connect to %s port %d: %s", router->host,
               router->port, uv_strerror(err));
    link->router.ended = true;
    settle(link);
}

static void on_connected(uv_connect_t *connect, int status);

/* Tries the next address; each needs a socket of its own, so a failed one is replaced. */
static void try_candidate(struct guard_link *link)
{
    int err = uv_tcp_connect(&link->connect, &link->router.tcp, link->candidate->ai_addr,
                             on_connected);

    if (err < 0)
        fail_to_connect(link, err);
}

static void on_replaced(uv_handle_t *handle)
{
    struct guard_link *link = handle->data;

    link->replacing = false;
    if (link->broken) {
        release(link);
        return;
    }
    uv_tcp_init(&link->server->loop, &link->router.tcp);
    link->router.tcp.data = link;
    try_candidate(link);
}

static void on_connected(uv_connect_t *connect, int status)
{
    struct guard_link *link = connect->handle->data;

    if (link->broken)
        return;
    if (status < 0 && link->candidate->ai_next) {
        link->candidate = link->candidate->ai_next;
        link->replacing = true;
        uv_close((uv_handle_t *)&link->router.tcp, on_replaced);
        return;
    }
    if (status < 0) {
        fail_to_connect(link, status);
        return;
    }
    link->router.connected = true;
    uv_tcp_nodelay(&link->router.tcp, 1);
    settle(link);
}

static void on_resolved(uv_getaddrinfo_t *resolve, int status, struct addrinfo *addresses)
{
    struct guard_link *link = resolve->data;

    link->resolving = false;
    link->addresses = addresses;
    link->candidate = addresses;
    if (!link->broken && status < 0)
        fail_to_connect(link, status);
    else if (!link->broken)
        try_candidate(link);
    release(link);
}

static int start(struct guard_link *link)
{
    const struct guard_address *router = &link->server->options->router;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    char port[8];
    int err =
        uv_accept((uv_stream_t *)&link->server->listener, (uv_stream_t *)&link->agent.tcp);

    if (err < 0)
        return err;
    link->agent.connected = true;
    uv_tcp_nodelay(&link->agent.tcp, 1);
    snprintf(port, sizeof port, "%d", router->port);
    link->resolve.data = link;
    err = uv_getaddrinfo(&link->server->loop, &link->resolve, on_resolved, router->host, port,
                         &hints);
    if (err < 0)
        return err;
    link->resolving = true;
    link->open++;
    return 0;
}

static void enter(struct guard_link *link)
{
    struct guard_server *server = link->server;

    uv_tcp_init(&server->loop, &link->agent.tcp);
    uv_tcp_init(&server->loop, &link->router.tcp);
    uv_timer_init(&server->loop, &link->timer);
    link->agent.tcp.data = link->router.tcp.data = link->timer.data = link;
    link->open = 3;
    link->next = server->links;
    link->back = &server->links;
    if (link->next)
        link->next->back = &link->next;
    server->links = link;
    if (server->options->timeout_ms)
        uv_timer_start(&link->timer, on_late, server->options->timeout_ms, 0);
}

enum mcpx_err guard_link_accept(struct guard_server *server)
{
    struct guard_passage_config config = {server->asked, server->options->message_max,
                                          guard_left_out, server};
    struct guard_link *link = calloc(1, sizeof *link);

    link->passage = guard_passage_new(&config);
    link->server = server;
    enter(link);
    if (start(link) < 0) {
        guard_link_break(link);
        return MCPX_ESYSTEM;
    }
    settle(link);
    return MCPX_OK;
}
