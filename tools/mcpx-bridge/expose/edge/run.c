/*
 * run.c - the loop, the socket and the door for clients of an expose, which are standard streams or
 * HTTP; what to do is decided in the core. Standard output belongs to the protocol alone:
 * everything for people goes to standard error. The end has an order: what the client waits for is
 * taken back, the connection is closed, and the last lines are written.
 */
#include "tools/mcpx-bridge/expose/edge/run.h"

#include "lib/base/ident.h"
#include "lib/edge/alarm.h"
#include "tools/common/command.h"
#include "tools/mcpx-bridge/edge/loop.h"
#include "tools/mcpx-bridge/expose/edge/http.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

enum {
    CLOSE_MS = 2000, /* how long the last messages may take to leave */
    DRAIN_MS = 3500  /* how long answers are waited for when input has ended */
};

struct edge {
    uv_loop_t loop;
    struct loop_handles handles;
    struct expose_stdio *stdio; /* one of the two is NULL */
    struct expose_http *http;
    struct expose *expose;
    struct renewal renewal;
    struct mx_journal *journal;
    int64_t leave_ms; /* mono_ms at which to leave; INT64_MAX = not yet */
    char nonce[13];
    bool leaving;
    bool was_joined, was_refused;
    bool has_failed; /* standard output cannot be written */
    int status;
};

/* ---- what the core asks ---- */

static struct mcpx_session *session_of(const void *user)
{
    const struct edge *edge = user;

    return mcpx_client_session(edge->renewal.client);
}

static bool may(const void *user, const struct mcpx_question *question)
{
    return mcpx_session_may(session_of(user), question);
}

static bool could(const void *user, struct mcpx_slice participant,
                  const struct mcpx_kind *kind)
{
    return mcpx_session_could(session_of(user), participant, kind);
}

static size_t message_max(const void *user)
{
    return mcpx_session_message_max(session_of(user));
}

static bool is_behind(const void *user)
{
    const struct edge *edge = user;

    return edge->stdio && expose_stdio_unwritten(edge->stdio) > EXPOSE_STDIO_UNWRITTEN_MAX;
}

static bool roster(const void *user, size_t index, struct mcpx_slice *id)
{
    struct mcpx_participant participant;

    if (index >= mcpx_session_participant_count(session_of(user)))
        return false;
    mcpx_session_participant(session_of(user), index, &participant);
    *id = participant.id;
    return true;
}

/* ---- what the core wants ---- */

/* Bytes, or answers: 0 when nothing is left. */
static size_t unwritten(const struct edge *edge)
{
    return edge->stdio ? expose_stdio_unwritten(edge->stdio)
                       : expose_http_unwritten(edge->http);
}

/* A call is written down before its server hears of it. */
static void act_on_all(struct edge *edge)
{
    const struct bridge_action *action;

    records_write(edge->journal, expose_calls(edge->expose));
    while ((action = expose_next(edge->expose)) != NULL) {
        struct bridge_outcome outcome = {0};

        if (action->type == BRIDGE_WRITE && edge->http)
            expose_http_write(edge->http, action->text);
        else if (action->type == BRIDGE_WRITE)
            expose_stdio_write(edge->stdio, action->text);
        else
            loop_act("expose", edge->renewal.client, action, &outcome);
        memory_checked(outcome.err);
        expose_done(edge->expose, &outcome, mx_clock_now());
        records_write(edge->journal, expose_calls(edge->expose));
    }
}

/* ---- the end ---- */

/* Whatever ended it first decides the exit code. */
static void leave(struct edge *edge, int status)
{
    if (edge->leaving)
        return;
    edge->leaving = true;
    edge->status = status;
    expose_leave(edge->expose, mx_clock_now());
    act_on_all(edge);
    mcpx_client_close(edge->renewal.client, CLOSE_MS);
}

static void on_timer(uv_timer_t *timer);

/* After every input: what is to be done, and when does somebody want to be woken? */
static void after_input(struct edge *edge)
{
    int64_t now = mx_clock_now().mono_ms, due;

    act_on_all(edge);
    due = expose_deadline(edge->expose);
    if (edge->has_failed)
        leave(edge, STATUS_FAILED);
    if (!edge->leaving && edge->leave_ms != INT64_MAX &&
        (edge->leave_ms <= now || expose_is_idle(edge->expose)))
        leave(edge, !edge->was_joined && edge->was_refused ? STATUS_UNREACHABLE : STATUS_OK);
    if (edge->leaving)
        return;
    due = edge->leave_ms < due ? edge->leave_ms : due;
    if (due == INT64_MAX)
        uv_timer_stop(&edge->handles.timer);
    else
        uv_timer_start(&edge->handles.timer, on_timer, due > now ? (uint64_t)(due - now) : 0,
                       0);
}

static void on_timer(uv_timer_t *timer)
{
    struct edge *edge = timer->data;

    if (!edge->leaving)
        expose_tick(edge->expose, mx_clock_now());
    after_input(edge);
}

static void on_signal(void *user)
{
    leave(user, STATUS_OK);
}

/* ---- inputs ---- */

static void on_line(void *user, struct mcpx_slice line)
{
    struct edge *edge = user;

    if (edge->leaving)
        return;
    expose_line(edge->expose, line, mx_clock_now());
    after_input(edge);
}

static void on_overlong(void *user, struct mcpx_slice beginning)
{
    struct edge *edge = user;

    if (edge->leaving)
        return;
    expose_overlong(edge->expose, beginning);
    after_input(edge);
}

/* Told in the middle of writing, perhaps; to leave is for afterwards. */
static void look_soon(struct edge *edge)
{
    if (!edge->leaving)
        uv_timer_start(&edge->handles.timer, on_timer, 0, 0);
}

static void on_end(void *user)
{
    struct edge *edge = user;

    if (edge->leave_ms == INT64_MAX)
        edge->leave_ms = mx_clock_now().mono_ms + DRAIN_MS;
    look_soon(edge);
}

static void on_failed(void *user, int error)
{
    struct edge *edge = user;

    edge->has_failed = true;
    complain("expose", "cannot write to standard output: %s", strerror(error));
    look_soon(edge);
}

/* The connection is gone for good: answer what waits, then end. */
static void on_final(struct edge *edge, const struct mcpx_event *event)
{
    mx_scoped_text sentence = {0};

    if (!edge->leaving) {
        edge->leaving = true;
        edge->status = loop_left_status(event->code);
        mcpx_text_puts(&sentence, "the topic cannot be reached: ");
        mcpx_text_slice(&sentence, event->reason);
        expose_abandon(edge->expose, mcpx_text_view(&sentence));
    }
    uv_stop(&edge->loop);
}

static void on_event(void *user, struct mcpx_client *client, const struct mcpx_event *event)
{
    struct edge *edge = user;
    bool final = event->type == MCPX_EVENT_LEFT && event->retry_ms < 0;

    (void)client;
    renewal_look(&edge->renewal, &edge->loop, event);
    edge->was_joined |= event->type == MCPX_EVENT_JOINED;
    edge->was_refused |= event->type == MCPX_EVENT_LEFT;
    if (!edge->leaving) {
        expose_event(edge->expose, event, mx_clock_now());
        act_on_all(edge);
    }
    if (final)
        on_final(edge, event);
    after_input(edge);
}

/* ---- from beginning to end ---- */

static int start_client(struct edge *edge, const struct expose_job *job)
{
    struct mcpx_client_config config = job->client;

    config.loop = &edge->loop;
    config.on_event = on_event;
    config.user = edge;
    edge->renewal = (struct renewal){.verb = "expose", .where = job->where};
    return renewal_start(&edge->renewal, &config);
}

static void start_core(struct edge *edge, const struct expose_job *job)
{
    struct expose_view view = {edge,        may,       could,        roster,
                               message_max, is_behind, loop_instant, loop_chance};
    struct expose_config config = job->expose;
    unsigned char random[sizeof edge->nonce / 2];

    loop_chance(NULL, random, sizeof random);
    loop_chance(NULL, &config.key, sizeof config.key);
    mx_hex_format(random, sizeof random, edge->nonce);
    config.nonce = edge->nonce;
    edge->expose = expose_new(&config, &view);
}

static int start_stdio(struct edge *edge, const struct expose_door *door)
{
    enum mcpx_err err = expose_stdio_new(door, &edge->stdio);

    return err ? fail_with(STATUS_FAILED, "expose", "cannot read standard input: %s",
                           mcpx_strerror(err))
               : STATUS_OK;
}

static int start_http(struct edge *edge, const struct expose_door *door,
                      const struct sockaddr_storage *address)
{
    mx_scoped_text url = {0};
    int err = expose_http_new(door, address, &edge->http);

    if (err)
        return fail_with(
            STATUS_FAILED, "expose", "cannot listen on port %d: %s%s",
            ntohs(((const struct sockaddr_in *)address)->sin_port), uv_strerror(err),
            err == UV_EADDRINUSE
                ? "; end the program that does, or give --http another port, 0 for any"
                : "");
    expose_http_add_url(edge->http, &url);
    if (printf("listening %s\n", url.text) < 0 || fflush(stdout) != 0)
        complain("expose", "cannot write to standard output: %s", strerror(errno));
    return STATUS_OK;
}

static int start_door(struct edge *edge, const struct expose_job *job)
{
    struct expose_door door = {&edge->loop, edge, on_line, on_overlong, on_end, on_failed};

    return job->http ? start_http(edge, &door, job->http) : start_stdio(edge, &door);
}

static void on_late(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

/* Lines that are on their way are written, but nobody is waited for who does not read. */
static void write_last_lines(struct edge *edge)
{
    uint64_t began = uv_now(&edge->loop);

    uv_timer_start(&edge->handles.timer, on_late, CLOSE_MS, 0);
    while (unwritten(edge) > 0 && uv_now(&edge->loop) - began < CLOSE_MS)
        uv_run(&edge->loop, UV_RUN_ONCE);
}

static void stop(struct edge *edge)
{
    struct mcpx_client *client = edge->renewal.client;

    edge->renewal.client = NULL;
    mx_journal_close(edge->journal);
    expose_free(edge->expose);
    mcpx_client_free(client);
    expose_http_end(edge->http);
    write_last_lines(edge);
    expose_stdio_close(edge->stdio);
    expose_http_close(edge->http);
    loop_handles_close(&edge->handles);
    uv_run(&edge->loop, UV_RUN_DEFAULT);
    uv_loop_close(&edge->loop);
    free(edge->stdio);
    free(edge->http);
}

/* A standard stream that is closed would give its number to the loop's own descriptors. */
static void open_streams(void)
{
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
            return;
}

int expose_run(const struct expose_job *job)
{
    struct edge edge = {.leave_ms = INT64_MAX};
    int status;

    open_streams();
    if (uv_loop_init(&edge.loop))
        return fail_with(STATUS_FAILED, "expose", "cannot have an event loop");
    loop_handles_start(&edge.handles, &edge.loop, on_signal, &edge);
    edge.journal = records_open("expose", job->expose.terms);
    start_core(&edge, job);
    status = start_client(&edge, job);
    if (status == STATUS_OK)
        status = start_door(&edge, job);
    if (status == STATUS_OK) {
        uv_run(&edge.loop, UV_RUN_DEFAULT);
        status = edge.status;
    }
    edge.leaving = true;
    stop(&edge);
    return status;
}
