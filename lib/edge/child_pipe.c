/*
 * child_pipe.c - our ends of a child's pipes. Lines for the child wait in one bounded text while
 * its pipe is full; nothing is allocated per line. Its output is cut into lines for our program.
 * Its standard error becomes labelled lines for people, without escape sequences, because they may
 * reach a terminal. Each pipe is read a piece at a time, so a flooding child cannot hold up the
 * loop.
 *
 * Rejected: uv_write. It may write later, and a write to a closed pipe raises SIGPIPE. By default
 * the signal ends the program, and a library must not change that. Here the signal is blocked
 * during the call and taken back.
 */
#include "lib/edge/child_state.h"

#include "lib/base/rows.h"
#include "lib/json/escape.h"
#include "lib/json/json_write.h"
#include "lib/protocol/grammar.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void on_port_closed(uv_handle_t *handle)
{
    struct mcpx_child *child = handle->data;

    if (--child->handles == 0)
        child->facts->over(child);
}

void mx_child_port_close(struct mcpx_child *child, enum mx_child_end end)
{
    struct mx_child_port *port = &child->ports[end];

    if (port->fd < 0)
        return;
    uv_close((uv_handle_t *)&port->poll, on_port_closed);
    close(port->fd);
    port->fd = -1;
}

/* write(2) without SIGPIPE, also where this process does not ignore the signal. */
static ssize_t child_port_write(int fd, const char *bytes, size_t len)
{
    const struct timespec now = {0, 0};
    sigset_t broken, before, pending;
    bool was_pending;
    ssize_t done;
    int err;

    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken, &before);
    sigpending(&pending);
    was_pending = sigismember(&pending, SIGPIPE) == 1;
    do
        done = write(fd, bytes, len);
    while (done < 0 && errno == EINTR);
    err = errno;
    if (done < 0 && err == EPIPE && !was_pending)
        while (sigtimedwait(&broken, NULL, &now) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = err;
    return done;
}

static const struct {
    int number;
    const char *name;
} signals[] = {{SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},
               {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},
               {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"},
               {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
               {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},
               {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"}};

static const char *signal_name(int number)
{
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (signals[i].number == number)
            return signals[i].name;
    return "another signal";
}

static void describe_fault(struct mcpx_child *child)
{
    const struct mx_child_run *run = &child->run;
    char why[128] = "unknown error";
    char *text = child->text;

    (void)strerror_r(run->fault, why, sizeof why);
    if (run->step == MX_STEP_PROGRAM)
        snprintf(text, sizeof child->text, "cannot execute '%.120s': %s",
                 child->config.argv[0], why);
    else if (run->step == MX_STEP_FOLDER)
        snprintf(text, sizeof child->text, "cannot enter the directory '%.120s': %s",
                 child->config.cwd, why);
    else
        snprintf(text, sizeof child->text, "cannot start a process: %s", why);
}

void mx_child_describe(struct mcpx_child *child)
{
    const struct mx_child_run *run = &child->run;
    int number = WIFSIGNALED(run->status) ? WTERMSIG(run->status) : 0;
    char *text = child->text;
    size_t len;

    if (run->fault)
        describe_fault(child);
    else if (child->state == MCPX_CHILD_STARTING || child->state == MCPX_CHILD_RUNNING)
        snprintf(text, sizeof child->text, "is %s",
                 child->state == MCPX_CHILD_RUNNING ? "running" : "starting");
    else if (!run->ended)
        snprintf(text, sizeof child->text, "was killed with the process that looked after it");
    else if (run->closed && number == SIGKILL)
        snprintf(text, sizeof child->text, "closed its output");
    else if (number)
        snprintf(text, sizeof child->text, "killed by signal %d (%s)", number,
                 signal_name(number));
    else
        snprintf(text, sizeof child->text, "exited with code %d", WEXITSTATUS(run->status));
    len = strlen(text);
    if (run->left) /* they are another user's, or the kernel holds them */
        snprintf(text + len, sizeof child->text - len,
                 "; %zu of its processes cannot be killed", run->left);
}

/* Appends a line of standard error for a terminal or log: "[name] line\n". Bytes of control
 * characters (not tab) and invalid UTF-8 become \xNN; `cut` adds "...". */
static void child_label(struct mcpx_text *out, const char *name, struct mcpx_slice line,
                        bool cut)
{
    const char *end = line.text + line.len, *start = line.text;
    size_t len;

    mx_format(out, "[%s] ", name);
    for (const char *at = start; at < end; at += len) {
        bool is_text = (len = mx_utf8_sequence((const void *)at, (const void *)end)) > 0;

        len += !is_text;
        if (is_text && (*at == '\t' || mx_control_find((struct mcpx_slice){at, len}) > 0))
            continue;
        mcpx_text_add(out, start, (size_t)(at - start));
        start = at + len;
        for (size_t i = 0; i < len; i++)
            mx_hex_add(out, "\\x", (unsigned char)at[i], 2);
    }
    mcpx_text_add(out, start, (size_t)(end - start));
    mcpx_text_puts(out, cut ? "...\n" : "\n");
}

enum { QUEUE_DEFAULT = 64 << 20, QUEUE_KEPT = 65536 };

void mx_child_input_fini(struct mcpx_child *child)
{
    mcpx_text_fini(&child->queue);
    child->written = 0;
}

static void on_writable(uv_poll_t *poll, int status, int events)
{
    struct mcpx_child *child = poll->data;

    (void)events;
    if (status < 0) { /* the child has closed its input */
        mx_child_input_fini(child);
        mx_child_port_close(child, MX_END_INPUT);
        return;
    }
    mx_child_input_flush(child);
}

void mx_child_input_flush(struct mcpx_child *child)
{
    struct mx_child_port *port = &child->ports[MX_END_INPUT];
    struct mcpx_text *queue = &child->queue;
    size_t left = queue->len - child->written;

    if (port->fd < 0)
        return;
    while (left) {
        ssize_t done = child_port_write(port->fd, queue->text + child->written, left);

        if (done < 0)
            break;
        child->written += (size_t)done;
        left -= (size_t)done;
    }
    if (left && errno != EAGAIN) {
        mx_child_input_fini(child);
        mx_child_port_close(child, MX_END_INPUT);
        return;
    }
    mx_forget(queue, &child->written);
    if (!queue->len && queue->size > QUEUE_KEPT)
        mcpx_text_fini(queue);
    if (left)
        uv_poll_start(&port->poll, UV_WRITABLE, on_writable);
    else if (child->stopping)
        mx_child_port_close(child, MX_END_INPUT);
    else if (uv_is_active((uv_handle_t *)&port->poll)) /* else a needless system call */
        uv_poll_stop(&port->poll);
}

enum mcpx_err mcpx_child_write(struct mcpx_child *child, struct mcpx_slice line)
{
    struct mcpx_text *queue = &child->queue;
    size_t waiting = queue->len - child->written;
    size_t max = child->config.queue_max ? child->config.queue_max : QUEUE_DEFAULT;

    if (child->stopping || child->ports[MX_END_INPUT].fd < 0 ||
        (child->state != MCPX_CHILD_STARTING && child->state != MCPX_CHILD_RUNNING))
        return MCPX_ECLOSED;
    if (line.len && memchr(line.text, '\n', line.len))
        return MCPX_EINVALID;
    if (line.len >= max || waiting > max - line.len - 1)
        return MCPX_ELIMIT;
    if (!mcpx_text_reserve(queue, line.len + 1)) {
        queue->failed = false; /* the lines that wait are whole */
        return MCPX_ENOMEM;
    }
    mcpx_text_slice(queue, line);
    mcpx_text_add(queue, "\n", 1);
    mx_child_input_flush(child);
    return child->ports[MX_END_INPUT].fd < 0 ? MCPX_ECLOSED : MCPX_OK;
}

enum { LINE_DEFAULT = 64 << 20, ERROR_LINE_MAX = 4096 };

/* Bytes of standard error that are shown: 100 KB a second, 1 MB at once. */
static const struct mx_rate shown_rate = {6000000, 1000000};

void mx_child_output_init(struct mcpx_child *child)
{
    child->output.max = child->config.line_max ? child->config.line_max : LINE_DEFAULT;
    child->errors.max = ERROR_LINE_MAX;
}

void mx_child_output_fini(struct mcpx_child *child)
{
    mcpx_lines_fini(&child->output);
    mcpx_lines_fini(&child->errors);
}

static void tell_lines(struct mcpx_child *child, struct mcpx_slice bytes)
{
    const struct mcpx_child_config *config = &child->config;
    struct mcpx_slice line;
    enum mcpx_err err;

    mcpx_lines_feed(&child->output, bytes);
    while (mcpx_lines_next(&child->output, &line, &err)) {
        child->facts->running(child);
        if (!err && config->on_line)
            config->on_line(config->user, line);
        else if (err && config->on_overlong)
            config->on_overlong(config->user, line);
    }
}

/* True when a write of PIPE_BUF bytes to our standard error would block. */
static bool would_wait(void)
{
    struct pollfd wait = {.fd = STDERR_FILENO, .events = POLLOUT};

    return poll(&wait, 1, 0) == 0;
}

/* Writes as much of a line as standard error takes; returns the bytes written. */
static size_t show_line(struct mcpx_slice line)
{
    size_t done = 0;

    while (done < line.len && !would_wait()) {
        size_t len = line.len - done < PIPE_BUF ? line.len - done : PIPE_BUF;
        ssize_t put = child_port_write(STDERR_FILENO, line.text + done, len);

        if (put <= 0)
            break;
        done += (size_t)put;
    }
    return done;
}

/* Reports lost lines before the next line. Returns false when that cannot be written. */
static bool report_lost(struct mcpx_child *child)
{
    mx_scoped_text text = {0};

    if (!child->unshown)
        return true;
    mx_format(&text,
              "[%s] lines are missing here, because they were too many or their reader was "
              "slow: %s\n",
              child->config.name, child->unshown);
    if (text.failed || show_line(mcpx_text_view(&text)) <= 0)
        return false;
    child->unshown = 0;
    return true;
}

/* Writing to our standard error never blocks: lines that it does not take are lost, and counted. */
static void show(struct mcpx_child *child, const struct mcpx_text *text)
{
    int64_t now_ms = (int64_t)uv_now(child->config.loop);
    size_t at = 0;

    while (at < text->len) {
        const char *end = memchr(text->text + at, '\n', text->len - at);
        size_t len = (size_t)(end - (text->text + at)) + 1;

        if (!mx_bucket_take(&child->shown, shown_rate, len, now_ms) || !report_lost(child) ||
            show_line((struct mcpx_slice){text->text + at, len}) < len)
            child->unshown++;
        at += len;
    }
}

static void show_errors(struct mcpx_child *child, struct mcpx_slice bytes)
{
    mx_scoped_text text = {0};
    struct mcpx_slice line;
    enum mcpx_err err;

    mcpx_lines_feed(&child->errors, bytes);
    while (mcpx_lines_next(&child->errors, &line, &err))
        if (line.len)
            child_label(&text, child->config.name, line, err != MCPX_OK);
    show(child, &text);
}

/* Returns what read(2) does. */
static ssize_t read_piece(struct mcpx_child *child, enum mx_child_end end, size_t max)
{
    size_t size = max < sizeof child->piece ? max : sizeof child->piece;
    ssize_t got = read(child->ports[end].fd, child->piece, size);
    struct mcpx_slice bytes = {child->piece, got > 0 ? (size_t)got : 0};

    if (got > 0 && end == MX_END_OUTPUT)
        tell_lines(child, bytes);
    else if (got > 0)
        show_errors(child, bytes);
    return got;
}

void mx_child_output_read(struct mcpx_child *child, enum mx_child_end end)
{
    ssize_t got = read_piece(child, end, sizeof child->piece);

    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    mx_child_port_close(child, end);
    if (end == MX_END_OUTPUT)
        child->facts->silent(child);
}

/* Reads no more than the pipe holds now: another process may have inherited its write end. */
static void drain(struct mcpx_child *child, enum mx_child_end end)
{
    int left = 0;

    if (child->ports[end].fd < 0 || ioctl(child->ports[end].fd, FIONREAD, &left))
        return;
    while (left > 0) {
        ssize_t got = read_piece(child, end, (size_t)left);

        if (got <= 0)
            return;
        left -= (int)got;
    }
}

void mx_child_output_drain(struct mcpx_child *child)
{
    drain(child, MX_END_OUTPUT);
    drain(child, MX_END_ERRORS);
    if (child->config.name)
        show_errors(child, MCPX_SLICE("\n")); /* ends a last line without one */
}
