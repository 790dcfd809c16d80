/*
 * import_edge.c - the loop, the socket and the process of an import; what to do is decided in
 * the core. The order of an ending is fixed here: first the server stops, so that the answers to
 * its callers still go out, then the connection is closed.
 * Includes import_edge.h, loop.h, mcpx/child.h, visible.h, libuv only.
 */
#include "tools/mcpx-bridge/import_edge.h"

#include "tools/common/command.h"
#include "tools/common/visible.h"
#include "tools/mcpx-bridge/loop.h"

#include <mcpx/child.h>

#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

/* How long the last answers may take to leave. */
enum { GOODBYE_MS = 2000 };

struct edge {
    uv_loop_t loop;
    uv_timer_t timer;
    struct loop_signals signals;
    uv_prepare_t round;
    struct mcpx_client *client;
    struct mcpx_child *child;
    struct import *import;
    bool ending;
    bool child_over, client_over;
    int status;
};

/* ---- what the core may do ---- */

static enum mcpx_err port_write(void *user, struct mcpx_slice line)
{
    struct edge *edge = user;

    return edge->child ? mcpx_child_write(edge->child, line) : MCPX_ECLOSED;
}

static void port_kill(void *user)
{
    struct edge *edge = user;

    mcpx_child_kill(edge->child);
}

static enum mcpx_err port_respond(void *user, struct mcpx_slice request,
                                  struct mcpx_slice payload)
{
    struct edge *edge = user;

    return mcpx_client_respond(edge->client, request, payload, NULL);
}

static void port_drop(void *user, struct mcpx_slice request)
{
    struct edge *edge = user;

    mcpx_session_drop(mcpx_client_session(edge->client), request);
}

static enum mcpx_err port_send(void *user, const struct mcpx_draft *draft,
                               struct mcpx_slice *id)
{
    struct edge *edge = user;

    return mcpx_client_send(edge->client, draft, id, NULL);
}

static void port_forget(void *user, struct mcpx_slice id)
{
    struct edge *edge = user;

    mcpx_session_forget(mcpx_client_session(edge->client), id);
}

static bool port_may(void *user, struct mcpx_slice text)
{
    struct edge *edge = user;
    struct mcpx_kind kind;
    struct mcpx_question question = {.kind = &kind, .wall_ms = loop_now().wall_ms};

    return mcpx_kind_parse(text, &kind, NULL) == MCPX_OK &&
           mcpx_session_may(mcpx_client_session(edge->client), &question);
}

static struct mcpx_slice port_self(void *user)
{
    struct edge *edge = user;

    return mcpx_session_id(mcpx_client_session(edge->client));
}

static size_t port_message_max(void *user)
{
    struct edge *edge = user;

    return mcpx_session_message_max(mcpx_client_session(edge->client));
}

static void port_log(void *user, const char *text)
{
    struct mcpx_text visible = {0};

    (void)user;
    text_visible(&visible, mcpx_slice_of(text));
    if (visible.text)
        complain("import", "%s", visible.text);
    mcpx_text_fini(&visible);
}

/* ---- the ending ---- */

static void check_over(struct edge *edge)
{
    if (edge->child_over && !edge->client_over && edge->client)
        mcpx_client_close(edge->client, GOODBYE_MS);
    if (edge->child_over && edge->client_over)
        uv_stop(&edge->loop);
}

/* Whatever ended it first decides the exit code. */
static void end(struct edge *edge, int status)
{
    if (edge->ending)
        return;
    edge->ending = true;
    edge->status = status;
    if (edge->child && !edge->child_over)
        mcpx_child_stop(edge->child);
    else
        edge->child_over = true;
    check_over(edge);
}

static void on_timer(uv_timer_t *timer);

/* After every input: has the core given up, and when does it want to be woken? */
static void after_input(struct edge *edge)
{
    int64_t deadline = import_deadline(edge->import);
    int64_t now = loop_now().mono_ms;
    const char *failure = import_failure(edge->import);

    if (failure && !edge->ending) {
        complain("import", "%s", failure);
        end(edge, STATUS_FAILED);
    }
    if (deadline == INT64_MAX)
        uv_timer_stop(&edge->timer);
    else
        uv_timer_start(&edge->timer, on_timer, deadline > now ? (uint64_t)(deadline - now) : 0,
                       0);
}

static void on_timer(uv_timer_t *timer)
{
    struct edge *edge = timer->data;

    import_tick(edge->import, loop_now());
    after_input(edge);
}

static void on_signal(void *user)
{
    end(user, STATUS_OK);
}

/* ---- inputs ---- */

static void on_left(struct edge *edge, const struct mcpx_event *event)
{
    struct mcpx_text visible = {0};
    const char *reason;

    text_visible_short(&visible, event->reason, 300);
    reason = visible.len ? visible.text : "the connection broke";
    if (event->retry_ms >= 0)
        complain("import", "not connected: %s (%d); next attempt in %.1f s", reason,
                 event->code, (double)event->retry_ms / 1000);
    else if (!edge->ending)
        complain("import", "the router let us go: %s (%d)", reason, event->code);
    mcpx_text_fini(&visible);
    if (event->retry_ms >= 0)
        return;
    edge->client_over = true;
    end(edge, loop_left_status(event->code));
    check_over(edge);
}

/* Without these grants all works but nobody hears of it; that is hard to find out later. */
static void warn_of_grants(struct edge *edge)
{
    static const struct {
        const char *kind, *grant, *without;
    } rows[] = {
        {"mcp/response:tools/call", "mcp/response:*", "nobody gets an answer"},
        {"mcp/request:notifications/progress", "mcp/request:notifications/*",
         "progress and changes are told to nobody"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!port_may(edge, mcpx_slice_of(rows[i].kind)))
            complain("import", "we may not send %s: %s; grant \"%s\"", rows[i].kind,
                     rows[i].without, rows[i].grant);
}

static void on_joined(struct edge *edge, const struct mcpx_event *event)
{
    struct mcpx_slice self = mcpx_session_id(mcpx_client_session(edge->client));
    struct mcpx_text visible = {0};
    bool resumed = event->resumed;

    text_visible(&visible, self);
    complain("import", "joined as %s%s", visible.text ? visible.text : "",
             resumed ? ", nothing was missed" : "");
    mcpx_text_fini(&visible);
    warn_of_grants(edge);
}

static void on_event(void *user, struct mcpx_client *client, const struct mcpx_event *event)
{
    struct edge *edge = user;

    (void)client;
    if (event->type == MCPX_EVENT_LEFT) {
        on_left(edge, event);
    } else if (event->type == MCPX_EVENT_JOINED) {
        on_joined(edge, event);
    } else if (event->type == MCPX_EVENT_GRANTS) {
        warn_of_grants(edge);
    } else {
        import_event(edge->import, event, loop_now());
        after_input(edge);
    }
}

static void on_line(void *user, struct mcpx_slice line)
{
    struct edge *edge = user;

    import_line(edge->import, line, loop_now());
    after_input(edge);
}

static void on_overlong(void *user, struct mcpx_slice beginning)
{
    struct edge *edge = user;

    import_overlong(edge->import, beginning);
}

static void on_state(void *user, const struct mcpx_child_report *report)
{
    struct edge *edge = user;

    import_state(edge->import, report, loop_now());
    if (report->state == MCPX_CHILD_STOPPED || report->state == MCPX_CHILD_FAILED)
        edge->child_over = true;
    after_input(edge);
    if (edge->ending)
        check_over(edge);
}

/* ---- from beginning to end ---- */

static int start_client(struct edge *edge, const struct import_job *job)
{
    struct mcpx_client_config config = job->client;
    struct mcpx_fault fault = {0};
    enum mcpx_err err;

    config.loop = &edge->loop;
    config.on_event = on_event;
    config.user = edge;
    err = mcpx_client_new(&config, &fault, &edge->client);
    if (err == MCPX_OK)
        return STATUS_OK;
    if (err == MCPX_EINVALID)
        complain("import", "%s: %s", fault.field, fault.reason);
    else
        complain("import", "cannot connect: %s", mcpx_strerror(err));
    return err == MCPX_EINVALID ? STATUS_USAGE : STATUS_FAILED;
}

static int start_child(struct edge *edge, const struct import_job *job)
{
    struct mcpx_child_config config = {.argv = job->argv,
                                       .name = job->name,
                                       .line_max = job->line_max,
                                       .restart = true, /* the core says when not */
                                       .loop = &edge->loop,
                                       .on_line = on_line,
                                       .on_overlong = on_overlong,
                                       .on_state = on_state,
                                       .user = edge};
    enum mcpx_err err = mcpx_child_new(&config, &edge->child);

    if (err == MCPX_OK)
        return STATUS_OK;
    complain("import", "cannot start %s: %s", job->argv[0], mcpx_strerror(err));
    return STATUS_FAILED;
}

static void start_handles(struct edge *edge)
{
    uv_timer_init(&edge->loop, &edge->timer);
    edge->timer.data = edge;
    loop_complaints_start(&edge->round, &edge->loop);
    loop_signals_start(&edge->signals, &edge->loop, on_signal, edge);
}

static void close_handles(struct edge *edge)
{
    uv_close((uv_handle_t *)&edge->timer, NULL);
    uv_close((uv_handle_t *)&edge->round, NULL);
    loop_signals_close(&edge->signals);
}

static int run(struct edge *edge, const struct import_job *job)
{
    struct import_port port = {.write = port_write,
                               .kill = port_kill,
                               .respond = port_respond,
                               .drop = port_drop,
                               .send = port_send,
                               .forget = port_forget,
                               .may = port_may,
                               .self = port_self,
                               .message_max = port_message_max,
                               .log = port_log,
                               .user = edge};
    int status;

    if (import_new(&job->import, &port, &edge->import) != MCPX_OK) {
        complain("import", "out of memory");
        return STATUS_FAILED;
    }
    status = start_client(edge, job);
    if (status != STATUS_OK)
        return status;
    status = start_child(edge, job);
    if (status == STATUS_OK) {
        uv_run(&edge->loop, UV_RUN_DEFAULT);
        status = edge->status;
    }
    return status;
}

int import_run(const struct import_job *job)
{
    struct edge edge = {0};
    int status;

    if (uv_loop_init(&edge.loop)) {
        complain("import", "cannot have an event loop");
        return STATUS_FAILED;
    }
    start_handles(&edge);
    status = run(&edge, job);
    mcpx_client_free(edge.client);
    close_handles(&edge);
    uv_run(&edge.loop, UV_RUN_DEFAULT);
    mcpx_child_free(edge.child);
    uv_loop_close(&edge.loop);
    import_free(edge.import);
    return status;
}
