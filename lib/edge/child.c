/*
 * child.c - the states of a child and the one timer that moves it between them. One timer is
 * enough, because each state waits for one thing. The files below report facts about the process
 * and know nothing of states. The owner is told each state when it is entered, from the loop;
 * STOPPED and FAILED only when the child has no handle left on it.
 */
#include "lib/edge/child_state.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

/* SETTLE_MS: a program that writes nothing counts as running after this. LINGER_MS: how long a
 * program may live after its output closed, as every ending program does for a moment.
 * SUPERVISOR_MS: how long a supervisor may take to kill everything alone. ROUND_MS, ROUNDS_MAX: how
 * often the owner then helps. */
enum {
    SETTLE_MS = 100,
    LINGER_MS = 100,
    SUPERVISOR_MS = 500,
    ROUND_MS = 50,
    ROUNDS_MAX = 10,
    STOP_DEFAULT_MS = 2000,
    BACKOFF_DEFAULT_MS = 500,
    DOUBLINGS_MAX = 6,
    PROVEN_MS = 60000
};

static void tell(struct mcpx_child *child, enum mcpx_child_state state, int64_t retry_ms)
{
    const struct mx_child_run *run = &child->run;
    struct mcpx_child_report report = {state, 0, -1, 0, retry_ms, child->text};
    bool is_there = state == MCPX_CHILD_STARTING || state == MCPX_CHILD_RUNNING;

    child->state = state;
    if (!run->fault)
        report.pid = run->pid;
    if (!run->fault && !is_there && run->ended) {
        report.code = WIFEXITED(run->status) ? WEXITSTATUS(run->status) : -1;
        report.signal = WIFSIGNALED(run->status) ? WTERMSIG(run->status) : 0;
    }
    mx_child_describe(child);
    if (child->config.on_state)
        child->config.on_state(child->config.user, &report);
}

static uint64_t stop_ms(const struct mcpx_child *child)
{
    return child->config.stop_ms > 0 ? (uint64_t)child->config.stop_ms : STOP_DEFAULT_MS;
}

static void is_running(struct mcpx_child *child)
{
    if (child->state != MCPX_CHILD_STARTING)
        return;
    if (!child->stopping)
        uv_timer_stop(&child->timer);
    tell(child, MCPX_CHILD_RUNNING, -1);
}

static void on_settled(uv_timer_t *timer)
{
    is_running(timer->data);
}

static void is_executed(struct mcpx_child *child)
{
    child->run.executed_ms = uv_now(child->config.loop);
    if (!child->stopping && child->state == MCPX_CHILD_STARTING &&
        child->ports[MX_END_OUTPUT].fd >= 0)
        uv_timer_start(&child->timer, on_settled, SETTLE_MS, 0);
}

static void on_lingering(uv_timer_t *timer)
{
    struct mcpx_child *child = timer->data;

    mx_child_run_hear(child);
    if (child->run.ended)
        return; /* after a pause of the machine, timers run first */
    child->run.closed = true;
    mx_child_run_order(child, MX_ORDER_KILL);
}

static void is_silent(struct mcpx_child *child)
{
    if (!child->stopping && !child->run.ended && !child->run.gone)
        uv_timer_start(&child->timer, on_lingering, LINGER_MS, 0);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct mcpx_child *child = handle->data;

    tell(child, child->stopping ? MCPX_CHILD_STOPPED : MCPX_CHILD_FAILED, -1);
}

/* Closes the timer, the last handle; then the last state is told. */
static void conclude(struct mcpx_child *child)
{
    if (!uv_is_closing((uv_handle_t *)&child->timer))
        uv_close((uv_handle_t *)&child->timer, on_timer_closed);
}

static void on_retry(uv_timer_t *timer)
{
    struct mcpx_child *child = timer->data;

    child->state = MCPX_CHILD_STARTING;
    if (mx_child_run_start(child) && !child->handles)
        child->facts->over(child);
}

/* Returns the milliseconds before the next start; they double up to DOUBLINGS_MAX times. */
static int64_t next_pause(struct mcpx_child *child)
{
    int64_t first =
        child->config.backoff_ms > 0 ? child->config.backoff_ms : BACKOFF_DEFAULT_MS;
    uint64_t began = child->run.executed_ms;

    if (began && uv_now(child->config.loop) - began >= PROVEN_MS)
        child->pauses = 0;
    if (child->pauses < DOUBLINGS_MAX)
        return first << child->pauses++;
    return first << DOUBLINGS_MAX;
}

static void release(struct mcpx_child *child)
{
    char *const *argv = child->config.argv;

    for (size_t i = 0; argv && argv[i]; i++)
        free(argv[i]);
    free((void *)argv);
    free((void *)child->config.cwd);
    free((void *)child->config.name);
    mx_child_input_fini(child);
    mx_child_output_fini(child);
    free(child);
}

static void is_over(struct mcpx_child *child)
{
    bool hopeless = child->run.fault && child->run.step != MX_STEP_PROCESS;
    int64_t pause = -1;

    if (child->abandoned) {
        release(child);
        return;
    }
    if (child->stopping || hopeless) {
        conclude(child);
        return;
    }
    if (child->config.restart)
        pause = next_pause(child);
    tell(child, MCPX_CHILD_DOWN, pause);
    if (child->stopping || pause < 0)
        conclude(child);
    else
        uv_timer_start(&child->timer, on_retry, (uint64_t)pause, 0);
}

/* The supervisor hangs, or may not kill a process. Kills all others, at last the supervisor. */
static void on_supervisor_due(uv_timer_t *timer)
{
    struct mcpx_child *child = timer->data;
    siginfo_t info;

    child->run.left = mx_reap_descendants(child->run.supervisor);
    if (++child->run.rounds < ROUNDS_MAX)
        uv_timer_start(timer, on_supervisor_due, ROUND_MS, 0);
    else if (waitid(P_PID, (id_t)child->run.supervisor, &info, WEXITED | WNOHANG | WNOWAIT) ==
             0)
        kill(child->run.supervisor, SIGKILL); /* not reaped, so the id is still ours */
}

static void on_kill_due(uv_timer_t *timer)
{
    mx_child_run_order(timer->data, MX_ORDER_KILL);
    uv_timer_start(timer, on_supervisor_due, SUPERVISOR_MS, 0);
}

static void is_ended(struct mcpx_child *child)
{
    uv_timer_stop(&child->timer); /* the supervisor kills the rest unasked */
    if (child->stopping)
        uv_timer_start(&child->timer, on_supervisor_due, stop_ms(child) + SUPERVISOR_MS, 0);
}

static void is_forked(struct mcpx_child *child)
{
    tell(child, MCPX_CHILD_STARTING, -1);
}

static void on_term_due(uv_timer_t *timer)
{
    struct mcpx_child *child = timer->data;

    mx_child_run_order(child, MX_ORDER_TERM);
    mx_child_port_close(child, MX_END_INPUT);
    uv_timer_start(timer, on_kill_due, stop_ms(child) - stop_ms(child) / 4, 0);
}

void mcpx_child_stop(struct mcpx_child *child)
{
    if (child->stopping || child->state == MCPX_CHILD_FAILED)
        return;
    child->stopping = true;
    if (child->state == MCPX_CHILD_DOWN) {
        conclude(child);
        return;
    }
    mx_child_input_flush(child);
    uv_update_time(child->config.loop); /* the owner may have been busy elsewhere */
    if (child->run.gone)
        return;
    if (child->run.ended)
        is_ended(child);
    else
        uv_timer_start(&child->timer, on_term_due, stop_ms(child) / 4, 0);
}

void mcpx_child_kill(struct mcpx_child *child)
{
    mx_child_run_order(child, MX_ORDER_KILL);
}

static bool copy_argv(struct mcpx_child *child, char *const *argv)
{
    size_t count = 0;
    char **copy;

    while (argv[count])
        count++;
    copy = calloc(count + 1, sizeof *copy);
    child->config.argv = copy;
    if (!copy)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!(copy[i] = strdup(argv[i])))
            return false;
    return true;
}

static bool copy_config(struct mcpx_child *child, const struct mcpx_child_config *config)
{
    child->config = *config;
    child->config.cwd = config->cwd ? strdup(config->cwd) : NULL;
    child->config.name = config->name ? strdup(config->name) : NULL;
    return copy_argv(child, config->argv) && !child->config.cwd == !config->cwd &&
           !child->config.name == !config->name;
}

static const struct mx_child_facts facts = {.forked = is_forked,
                                            .executed = is_executed,
                                            .running = is_running,
                                            .silent = is_silent,
                                            .ended = is_ended,
                                            .over = is_over};

enum mcpx_err mcpx_child_new(const struct mcpx_child_config *config, struct mcpx_child **out)
{
    struct mcpx_child *child;
    enum mcpx_err err;
    int kept;

    if (!config->loop || !config->argv || !config->argv[0])
        return MCPX_EINVALID;
    child = calloc(1, sizeof *child);
    if (!child)
        return MCPX_ENOMEM;
    for (int end = 0; end < MX_END_COUNT; end++)
        child->ports[end].fd = -1;
    child->facts = &facts;
    child->state = MCPX_CHILD_STARTING;
    err = copy_config(child, config) ? mx_child_run_start(child) : MCPX_ENOMEM;
    if (err) {
        kept = errno;
        child->abandoned = true;
        if (!child->handles)
            release(child);
        errno = kept;
        return err;
    }
    uv_timer_init(config->loop, &child->timer);
    child->timer.data = child;
    uv_update_time(config->loop);
    *out = child;
    return MCPX_OK;
}

void mcpx_child_free(struct mcpx_child *child)
{
    if (child)
        release(child);
}
