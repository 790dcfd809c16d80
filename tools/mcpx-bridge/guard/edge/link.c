/*
 * link.c - two sockets and a passage between them. After every callback the function settle()
 * decides three things: what to write, which side to read, and whether the link is over. So no
 * callback needs to know what another one did. A side is not read while more than QUEUE_MAX
 * bytes wait for the other; without that bound an agent that hangs would fill the guard's
 * memory with the topic.
 */

#include "lib/edge/alarm.h"
#include "lib/json/json_write.h"
#include "tools/common/command.h"
#include "tools/mcpx-bridge/edge/stream.h"
#include "tools/mcpx-bridge/guard/edge/server.h"

#include <stdio.h>
#include <stdlib.h>

enum { QUEUE_MAX = 262144, LINGER_MS = 5000 };

struct guard_link {
    struct guard_server *server;
    struct guard_link *next, **back;
    struct stream agent, router;
    struct guard_passage *passage;
    uv_getaddrinfo_t resolve;
    struct addrinfo *addresses, *candidate;
    uv_connect_t connect;
    struct mx_alarm *alarm; /* ends the waiting for an answer, later the lingering */
    bool resolving, replacing, lingering, noted, broken;
    int open; /* handles and requests not finished */
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

void guard_link_break(struct guard_link *link)
{
    link->broken = true;
    *link->back = link->next;
    if (link->next)
        link->next->back = link->back;
    if (link->resolving)
        uv_cancel((uv_req_t *)&link->resolve);
    stream_close(&link->agent);
    if (!link->replacing)
        stream_close(&link->router);
    mx_alarm_free(link->alarm);
}

/* The router or the agent hangs: without this both sides would stay open without end. */
static void on_late(void *user)
{
    struct guard_link *link = user;

    if (link->lingering) {
        guard_link_break(link);
        return;
    }
    guard_passage_give_up(link->passage);
    settle(link);
}

/* ---- the sockets ---- */

static void on_bytes(struct stream *stream, struct mcpx_slice bytes)
{
    struct guard_link *link = stream->owner;

    if (bytes.len && stream == &link->agent)
        guard_passage_from_agent(link->passage, bytes);
    else if (bytes.len)
        guard_passage_from_router(link->passage, bytes);
    settle(link);
}

static void on_written(struct stream *stream)
{
    settle(stream->owner);
}

static void on_broken(struct stream *stream)
{
    guard_link_break(stream->owner);
}

static bool has_room(const struct stream *stream)
{
    return stream_unwritten(stream) < QUEUE_MAX;
}

/* ---- the whole ---- */

static bool is_over(const struct guard_link *link)
{
    return link->router.has_ended || guard_passage_end(link->passage);
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
    stream_shut(&link->agent);
    stream_shut(&link->router);
    if (!link->lingering)
        mx_alarm_set(link->alarm, LINGER_MS);
    link->lingering = true;
}

static void settle(struct guard_link *link)
{
    bool over;

    if (!stream_write(&link->agent, guard_passage_to_agent(link->passage)) ||
        !stream_write(&link->router, guard_passage_to_router(link->passage))) {
        guard_link_break(link);
        return;
    }
    over = is_over(link);
    if (over)
        start_lingering(link);
    else if (!guard_passage_is_waiting(link->passage))
        mx_alarm_stop(link->alarm);
    if (link->agent.has_ended &&
        (over ? link->agent.is_down : guard_passage_needs_agent(link->passage))) {
        guard_link_break(link);
        return;
    }
    if (!over && link->agent.has_ended && link->router.is_connected)
        stream_shut(&link->router);
    stream_read(&link->agent,
                over || (guard_passage_wants_agent(link->passage) && has_room(&link->router) &&
                         guard_passage_to_router(link->passage)->len < QUEUE_MAX));
    stream_read(&link->router, !over && has_room(&link->agent));
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
    link->router.has_ended = true;
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

static void on_closed(struct stream *stream);

static const struct stream_calls calls = {on_bytes, on_written, on_broken, on_closed};

static void on_closed(struct stream *stream)
{
    struct guard_link *link = stream->owner;

    if (link->broken) {
        release(link);
        return;
    }
    link->replacing = false;
    stream_init(&link->router, &link->server->loop, &calls, link);
    try_candidate(link);
}

static void on_connected(uv_connect_t *connect, int status)
{
    struct stream *stream = connect->handle->data;
    struct guard_link *link = stream->owner;

    if (link->broken)
        return;
    if (status < 0 && link->candidate->ai_next) {
        link->candidate = link->candidate->ai_next;
        link->replacing = true;
        stream_close(&link->router);
        return;
    }
    if (status < 0) {
        fail_to_connect(link, status);
        return;
    }
    stream_open(&link->router);
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
    int err = stream_accept(&link->agent, &link->server->listener);

    if (err < 0)
        return err;
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

    stream_init(&link->agent, &server->loop, &calls, link);
    stream_init(&link->router, &server->loop, &calls, link);
    link->alarm = mx_alarm_new(&server->loop, on_late, link);
    link->open = 2;
    link->next = server->links;
    link->back = &server->links;
    if (link->next)
        link->next->back = &link->next;
    server->links = link;
    if (server->options->timeout_ms)
        mx_alarm_set(link->alarm, (int64_t)server->options->timeout_ms);
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
