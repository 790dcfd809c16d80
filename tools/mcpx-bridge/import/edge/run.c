/*
 * run.c - the loop, the sockets and the processes of an import; what to do is decided in the core,
 * and done after every input. The order of an ending is fixed here: first the servers stop, so that
 * the answers to their callers still go out, then the connections are closed.
 */
#include "lib/edge/timer.h"
#include "tools/common/command.h"
#include "tools/common/visible.h"
#include "tools/mcpx-bridge/edge/loop.h"
#include "tools/mcpx-bridge/import/pool.h"

#include <mcpx/child.h>

#include <stdlib.h>
#include <uv.h>

/* How long the last answers may take to leave. */
enum { CLOSE_MS = 2000 };

/** Our connection to one topic. `over`: it has ended for good. */
struct topic_connection {
    struct edge *edge;
    size_t number;
    struct renewal renewal; /* has the client */
    bool over;
};

/** A server's process. */
struct process {
    struct edge *edge;
    size_t number;
    struct mcpx_child *child;
};

struct edge {
    struct import_job *job;
    uv_loop_t loop;
    struct loop_handles handles;
    struct import_pool *pool;
    struct mx_log_files *files;
    struct topic_connection *connections;
    struct process *processes;
    size_t open, running; /* topics not over, processes not fully ended */
    bool ending;
    int status;
};

static struct mcpx_session *session_of(const struct topic_connection *connection)
{
    return mcpx_client_session(connection->renewal.client);
}

/* ---- the ending ---- */

static void check_over(struct edge *edge)
{
    if (!edge->ending || edge->running > 0)
        return;
    for (size_t i = 0; i < edge->job->topic_count; i++)
        mcpx_client_close(edge->connections[i].renewal.client, CLOSE_MS);
    if (edge->open == 0)
        uv_stop(&edge->loop);
}

/* The first cause of the ending decides the exit code. */
static void end(struct edge *edge, int status)
{
    if (edge->ending)
        return;
    edge->ending = true;
    edge->status = status;
    for (size_t i = 0; i < import_pool_size(edge->pool); i++)
        if (edge->processes[i].child)
            mcpx_child_stop(edge->processes[i].child);
    check_over(edge);
}

/* ---- actions of the core ---- */

static void on_line(void *user, struct mcpx_slice line);
static void on_overlong(void *user, struct mcpx_slice beginning);
static void on_state(void *user, const struct mcpx_child_report *report);

/* Lines of its standard error begin with the server's name, and with its owner, if it has one. */
static enum mcpx_err start_process(struct edge *edge, size_t server, struct mcpx_slice owner)
{
    struct process *process = &edge->processes[server];
    enum mcpx_err err;
    mx_scoped_text name = {0};
    struct mcpx_child_config config = {.argv = edge->job->argv,
                                       .line_max = edge->job->line_max,
                                       .restart = true, /* the core may stop it */
                                       .loop = &edge->loop,
                                       .on_line = on_line,
                                       .on_overlong = on_overlong,
                                       .on_state = on_state,
                                       .user = process};

    if (edge->ending)
        return MCPX_ECLOSED;
    mcpx_text_puts(&name, edge->job->name);
    if (owner.text) {
        mcpx_text_puts(&name, " for ");
        text_visible_short(&name, owner, 100);
    }
    config.name = name.text;
    mcpx_child_free(process->child);
    *process = (struct process){.edge = edge, .number = server};
    err = mcpx_child_new(&config, &process->child);
    edge->running += err == MCPX_OK;
    return err;
}

static void act(struct edge *edge, const struct bridge_action *action,
                struct bridge_outcome *outcome)
{
    struct mcpx_child *child = edge->processes[action->server].child;

    switch (action->type) {
    case BRIDGE_WRITE:
        outcome->err = child ? mcpx_child_write(child, action->text) : MCPX_ECLOSED;
        break;
    case BRIDGE_KILL:
        mcpx_child_kill(child);
        break;
    case BRIDGE_START:
        outcome->err = start_process(edge, action->server, action->about);
        break;
    case BRIDGE_STOP:
        mcpx_child_stop(child);
        break;
    default:
        loop_act(edge->connections[action->topic].renewal.client, action, outcome);
        break;
    }
    memory_checked(outcome->err);
}

/* A call is recorded before its server receives it. */
static void act_on_all(struct edge *edge)
{
    const struct bridge_action *action;

    records_write(edge->files, import_pool_calls(edge->pool));
    while ((action = import_pool_next(edge->pool, mx_clock_now())) != NULL) {
        struct bridge_outcome outcome = {0};

        act(edge, action, &outcome);
        import_pool_done(edge->pool, &outcome, mx_clock_now());
        records_write(edge->files, import_pool_calls(edge->pool));
    }
}

static void on_timer(uv_timer_t *timer);

static void after_input(struct edge *edge)
{
    int64_t now = mx_clock_now().mono_ms, deadline;
    const char *failure;

    act_on_all(edge);
    deadline = import_pool_deadline(edge->pool);
    failure = import_pool_failure(edge->pool);
    if (failure && !edge->ending) {
        complain("%s", failure);
        end(edge, STATUS_FAILED);
    }
    if (deadline == INT64_MAX)
        uv_timer_stop(&edge->handles.timer);
    else
        uv_timer_start(&edge->handles.timer, on_timer,
                       deadline > now ? (uint64_t)(deadline - now) : 0, 0);
}

static void on_timer(uv_timer_t *timer)
{
    struct edge *edge = timer->data;

    import_pool_tick(edge->pool, mx_clock_now());
    after_input(edge);
}

static void on_signal(void *user)
{
    end(user, STATUS_OK);
}

/* ---- inputs ---- */

/* " from TOPIC" where there are several. */
static void add_topic(const struct topic_connection *connection, const char *word,
                      struct mcpx_text *out)
{
    if (connection->edge->job->topic_count == 1)
        return;
    mcpx_text_puts(out, word);
    text_visible_short(out, mcpx_slice_of(connection->renewal.where->client.topic), 100);
}

static void on_left(struct topic_connection *connection, const struct mcpx_event *event)
{
    mx_scoped_text visible = {0};

    text_visible_short(&visible, event->reason, 300);
    if (!visible.len)
        mcpx_text_puts(&visible, "the connection broke");
    add_topic(connection, "; topic ", &visible);
    if (event->retry_ms >= 0) {
        complain("not connected: %s (%d); next attempt in %.1f s", visible.text, event->code,
                 (double)event->retry_ms / 1000);
        return;
    }
    if (!connection->edge->ending)
        complain("the router closed the connection for good: %s (%d)", visible.text,
                 event->code);
    connection->over = true;
    connection->edge->open--;
}

static void on_joined(struct topic_connection *connection, const struct mcpx_event *event)
{
    const char *outage = import_pool_outage(connection->edge->pool);
    mx_scoped_text visible = {0};

    text_visible(&visible, mcpx_session_id(session_of(connection)));
    add_topic(connection, ", topic ", &visible);
    complain("joined as %s%s%s%s", visible.text, event->resumed ? ", nothing was missed" : "",
             outage ? "; " : "", outage ? outage : "");
}

static bool may(const struct mcpx_session *session, struct mcpx_slice text)
{
    struct mcpx_kind kind;
    struct mcpx_question question = {.kind = &kind, .wall_ms = mx_clock_now().wall_ms};

    return mcpx_kind_parse(text, &kind, NULL) == MCPX_OK &&
           mcpx_session_may(session, &question);
}

/* Without these grants calls work, but some messages are silently missing: so this warns early. */
static void warn_of_grants(const struct mcpx_session *session)
{
    static const struct {
        const char *kind, *grant, *without;
    } rows[] = {
        {"mcp/response:tools/call", "mcp/response:*", "participants get no answers"},
        {"mcp/request:notifications/progress", "mcp/request:notifications/*",
         "participants get no progress and no changes"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!may(session, mcpx_slice_of(rows[i].kind)))
            complain("this participant has no grant for %s: %s; grant \"%s\"", rows[i].kind,
                     rows[i].without, rows[i].grant);
}

/* The first or a later welcome: it has our id, our grants and the router's limits. */
static void on_welcome(struct topic_connection *connection, const struct mcpx_event *event)
{
    const struct mcpx_session *session = session_of(connection);

    warn_of_grants(session);
    import_pool_joined(connection->edge->pool, connection->number, mcpx_session_id(session),
                       mcpx_session_message_max(session),
                       mcpx_json_get(event->envelope->payload, "limits"));
}

static void on_event(void *user, struct mcpx_client *client, const struct mcpx_event *event)
{
    struct topic_connection *connection = user;
    struct edge *edge = connection->edge;
    bool is_end = event->type == MCPX_EVENT_LEFT && event->retry_ms < 0;
    int code = event->code;

    (void)client;
    renewal_look(&connection->renewal, &edge->loop, event);
    if (event->type == MCPX_EVENT_LEFT)
        on_left(connection, event);
    else if (event->type == MCPX_EVENT_JOINED)
        on_joined(connection, event);
    if (event->type == MCPX_EVENT_JOINED || event->type == MCPX_EVENT_GRANTS)
        on_welcome(connection, event);
    import_pool_event(edge->pool, connection->number, event, mx_clock_now());
    after_input(edge);
    if (is_end && edge->open == 0)
        end(edge, loop_left_status(code));
    if (is_end)
        check_over(edge);
}

static void on_line(void *user, struct mcpx_slice line)
{
    struct process *process = user;

    import_pool_line(process->edge->pool, process->number, line, mx_clock_now());
    after_input(process->edge);
}

static void on_overlong(void *user, struct mcpx_slice beginning)
{
    struct process *process = user;

    import_pool_overlong(process->edge->pool, process->number, beginning);
    after_input(process->edge);
}

static void on_state(void *user, const struct mcpx_child_report *report)
{
    struct process *process = user;

    if (report->state == MCPX_CHILD_STOPPED || report->state == MCPX_CHILD_FAILED)
        process->edge->running--;
    import_pool_state(process->edge->pool, process->number, report, mx_clock_now());
    after_input(process->edge);
    check_over(process->edge);
}

/* ---- from beginning to end ---- */

static int start_client(struct edge *edge, size_t number)
{
    struct topic_connection *connection = &edge->connections[number];
    struct mcpx_client_config config = edge->job->topics[number].client;

    *connection = (struct topic_connection){.edge = edge, .number = number};
    config.routing = "all";
    config.history = 0;
    config.loop = &edge->loop;
    config.on_event = on_event;
    config.user = connection;
    connection->renewal = (struct renewal){.where = &edge->job->topics[number]};
    return connection_start(&config, &connection->renewal.client);
}

static int start(struct edge *edge)
{
    int status = STATUS_OK;
    enum mcpx_err err;

    for (size_t i = 0; status == STATUS_OK && i < edge->job->topic_count; i++)
        status = start_client(edge, i);
    if (status != STATUS_OK)
        return status;
    err = memory_checked(start_process(edge, 0, (struct mcpx_slice){0}));
    if (err == MCPX_OK)
        return STATUS_OK;
    return fail_with(STATUS_FAILED, "cannot start %s: %s", edge->job->argv[0],
                     mcpx_strerror(err));
}

/* ---- queries of the core ---- */

static bool could(const void *user, size_t topic, struct mcpx_slice participant,
                  const struct mcpx_kind *kind)
{
    const struct edge *edge = user;

    return mcpx_session_could(session_of(&edge->connections[topic]), participant, kind);
}

static bool unsent(const void *user, size_t topic, size_t *count, size_t *bytes)
{
    const struct edge *edge = user;
    const struct topic_connection *connection = &edge->connections[topic];

    *count = mcpx_session_unsent_count(session_of(connection));
    *bytes = mcpx_session_unsent_bytes(session_of(connection));
    return !edge->ending && !connection->over;
}

static int run_pool(struct edge *edge)
{
    struct import_config config = edge->job->import;
    int status;

    config.topics = edge->job->topic_count;
    config.view = (struct import_view){edge, could, loop_instant, loop_chance, unsent};
    edge->pool = import_pool_new(&config);
    edge->open = edge->job->topic_count;
    edge->connections = calloc(edge->open, sizeof *edge->connections);
    edge->processes = calloc(import_pool_size(edge->pool), sizeof *edge->processes);
    edge->files = records_open(edge->job->import.terms);
    status = start(edge);
    if (status != STATUS_OK)
        return status;
    uv_run(&edge->loop, UV_RUN_DEFAULT);
    return edge->status;
}

int import_run(struct import_job *job)
{
    struct edge edge = {.job = job};
    int status;

    if (uv_loop_init(&edge.loop))
        return fail_with(STATUS_FAILED, "cannot have an event loop");
    loop_handles_start(&edge.handles, &edge.loop, on_signal, &edge);
    status = run_pool(&edge);
    for (size_t i = 0; i < job->topic_count; i++) {
        mcpx_client_free(edge.connections[i].renewal.client);
        edge.connections[i].renewal.client = NULL;
    }
    loop_handles_close(&edge.handles);
    uv_run(&edge.loop, UV_RUN_DEFAULT);
    for (size_t i = 0; i < import_pool_size(edge.pool); i++)
        mcpx_child_free(edge.processes[i].child);
    uv_loop_close(&edge.loop);
    free(edge.connections);
    free(edge.processes);
    import_pool_free(edge.pool);
    mx_log_files_close(edge.files);
    return status;
}
