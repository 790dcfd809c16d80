/*
 * link.c - two sockets and a connection between them. After every callback the function settle()
 * decides three things: bytes to write, sides to read, and the end of the link. So no callback
 * needs to know what another one did. A side is not read while more than QUEUE_MAX bytes wait for
 * the other; else a hanging agent would fill the guard's memory with the topic.
 */
#include "lib/edge/stream.h"
#include "lib/edge/timer.h"
#include "tools/mcpx-bridge/guard/edge/server.h"

#include <stdlib.h>

enum { QUEUE_MAX = 262144, LINGER_MS = 5000 };

struct guard_link {
    struct guard_server *server;
    struct guard_link *next, **back;
    struct mx_stream agent, router;
    struct guard_connection *connection;
    struct mx_timer *timer; /* ends the waiting for an answer, later the lingering */
    bool lingering, noted;
};

static void settle(struct guard_link *link);

/* ---- the end ---- */

void guard_link_break(struct guard_link *link)
{
    *link->back = link->next;
    if (link->next)
        link->next->back = link->back;
    mx_stream_close(&link->agent);
    mx_stream_close(&link->router);
    mx_timer_free(link->timer);
    guard_connection_free(link->connection);
    free(link);
}

/* The router or the agent hangs: without this both sides would stay open without end. */
static void on_late(void *user)
{
    struct guard_link *link = user;

    if (link->lingering) {
        guard_link_break(link);
        return;
    }
    guard_connection_give_up(link->connection);
    settle(link);
}

/* ---- the sockets ---- */

static void on_bytes(struct mx_stream *stream, struct mcpx_slice bytes)
{
    struct guard_link *link = stream->owner;

    if (bytes.len && stream == &link->agent)
        guard_connection_from_agent(link->connection, bytes);
    else if (bytes.len)
        guard_connection_from_router(link->connection, bytes);
    settle(link);
}

static void on_changed(struct mx_stream *stream)
{
    settle(stream->owner);
}

static bool has_room(const struct mx_stream *stream)
{
    return mx_stream_unwritten(stream) < QUEUE_MAX;
}

/* ---- the whole ---- */

/*
 * From now on bytes of the agent are read and dropped: closing with unread bytes could destroy
 * what the agent has not read yet.
 */
static void start_lingering(struct guard_link *link)
{
    const char *why = link->connection->end;

    if (why && !link->noted)
        guard_note(link->server, "broken_off", "connection broken off: %s", why);
    link->noted = true;
    mx_stream_shut(&link->agent);
    mx_stream_shut(&link->router);
    if (!link->lingering)
        mx_timer_set(link->timer, LINGER_MS);
    link->lingering = true;
}

static void settle(struct guard_link *link)
{
    bool over;

    if (!mx_stream_write(&link->agent, &link->connection->to_agent) ||
        !mx_stream_write(&link->router, &link->connection->to_router)) {
        guard_link_break(link);
        return;
    }
    over = link->router.has_ended || link->connection->end;
    if (over)
        start_lingering(link);
    else if (!guard_connection_is_waiting(link->connection))
        mx_timer_stop(link->timer);
    if (link->agent.has_ended &&
        (over ? link->agent.is_down : guard_connection_needs_agent(link->connection))) {
        guard_link_break(link);
        return;
    }
    if (!over && link->agent.has_ended && link->router.is_open)
        mx_stream_shut(&link->router);
    mx_stream_read(&link->agent, over || (guard_connection_wants_agent(link->connection) &&
                                          has_room(&link->router) &&
                                          link->connection->to_router.len < QUEUE_MAX));
    mx_stream_read(&link->router, !over && has_room(&link->agent));
}

/* ---- the beginning ---- */

static void on_left_out(void *user, enum guard_verdict verdict,
                        const struct guard_judge *judge)
{
    struct guard_server *server = user;
    struct mcpx_text line = {0};

    server->counts[verdict]++;
    if ((guard_verdicts[verdict].routine && !server->verbose) ||
        !loop_may_log(mcpx_slice_of(guard_verdicts[verdict].name)))
        return;
    guard_log_left_out(&line, server->json, verdict, judge);
    guard_log_print(line);
}

static void fail_to_connect(struct guard_link *link, const char *why)
{
    const struct guard_address *router = &link->server->router;
    mx_scoped_text body =
        mx_formatted("{\"title\":\"Bad Gateway\",\"status\":502,\"code\":\"unreachable\","
                     "\"detail\":\"the guard cannot connect to the router: %s\"}",
                     why);

    mx_format(&link->connection->to_agent,
              "HTTP/1.1 502 Bad Gateway\r\nContent-Type: application/problem+json\r\n"
              "Connection: close\r\nContent-Length: %s\r\n\r\n%s",
              body.len, &body);
    guard_note(link->server, "unreachable", "cannot connect to %s port %s: %s", router->host,
               router->port, why);
    link->router.has_ended = true;
    settle(link);
}

static void on_broken(struct mx_stream *stream, const char *why)
{
    struct guard_link *link = stream->owner;

    if (stream == &link->router && !stream->is_open)
        fail_to_connect(link, why);
    else
        guard_link_break(link);
}

bool guard_link_accept(struct guard_server *server)
{
    static const struct mx_stream_calls calls = {on_changed, on_bytes, on_changed, on_broken};
    const struct guard_address *router = &server->router;
    struct guard_connection_config config = {&server->asked, server->message_max, on_left_out,
                                             server};
    struct guard_link *link = calloc(1, sizeof *link);
    struct sockaddr_storage from;
    int err;

    link->connection = guard_connection_new(&config);
    link->server = server;
    link->next = server->links;
    link->back = &server->links;
    if (link->next)
        link->next->back = &link->next;
    server->links = link;
    mx_stream_init(&link->agent, &server->loop, &calls, link);
    mx_stream_init(&link->router, &server->loop, &calls, link);
    link->timer = mx_timer_new(&server->loop, on_late, link);
    if (server->timeout_ms)
        mx_timer_set(link->timer, server->timeout_ms);
    err = mx_stream_accept(&link->agent, &server->listener, &from);
    if (!err)
        err = mx_stream_connect(&link->router, router->host, router->port, NULL);
    if (err < 0)
        guard_link_break(link);
    else
        settle(link);
    return err >= 0;
}
