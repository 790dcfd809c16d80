/*
 * child_output.c - the two pipes a child writes to, cut into lines: one stream for our program,
 * the other, labelled, for people. Both are read a piece at a time, so that a child that floods
 * one takes no more than its turn of the loop.
 */
#include "lib/core/format.h"
#include "lib/edge/child_state.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

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
        child->on_fact(child, MX_FACT_RUNNING);
        if (!err && config->on_line)
            config->on_line(config->user, line);
        else if (err && config->on_overlong)
            config->on_overlong(config->user, line);
    }
}

/* Whether a write of PIPE_BUF bytes would wait for who reads our standard error. */
static bool would_wait(void)
{
    struct pollfd wait = {.fd = STDERR_FILENO, .events = POLLOUT};

    return poll(&wait, 1, 0) == 0;
}

/* Writes a line, or as much of it as can be; returns what was written. */
static size_t show_line(struct mcpx_slice line)
{
    size_t done = 0;

    while (done < line.len && !would_wait()) {
        size_t len = line.len - done < PIPE_BUF ? line.len - done : PIPE_BUF;
        ssize_t put = mx_child_port_write(STDERR_FILENO, line.text + done, len);

        if (put <= 0)
            break;
        done += (size_t)put;
    }
    return done;
}

/* Lines that were lost are told of before the next one that is written. */
static bool report_lost(struct mcpx_child *child)
{
    struct mcpx_text text = {0};
    bool told;

    if (!child->unshown)
        return true;
    mx_format(&text,
              "[%s] lines missing here, because nobody read them or they were too many: "
              "%s\n",
              child->config.name, child->unshown);
    told = !text.failed && show_line(mcpx_text_view(&text)) > 0;
    if (told)
        child->unshown = 0;
    mcpx_text_fini(&text);
    return told;
}

static bool is_too_much(struct mcpx_child *child, size_t len)
{
    int64_t now_ms = (int64_t)uv_now(child->config.loop);

    if (mx_bucket_wait_ms(&child->shown, shown_rate, len, now_ms) > 0)
        return true;
    mx_bucket_spend(&child->shown, shown_rate, len, now_ms);
    return false;
}

/* Nobody waits for who reads our standard error: what it does not take is lost, and counted. */
static void show(struct mcpx_child *child, const struct mcpx_text *text)
{
    size_t at = 0;

    while (at < text->len) {
        const char *end = memchr(text->text + at, '\n', text->len - at);
        size_t len = (size_t)(end - (text->text + at)) + 1;

        if (is_too_much(child, len) || !report_lost(child) ||
            show_line((struct mcpx_slice){text->text + at, len}) < len)
            child->unshown++;
        at += len;
    }
}

static void show_errors(struct mcpx_child *child, struct mcpx_slice bytes)
{
    struct mcpx_text text = {0};
    struct mcpx_slice line;
    enum mcpx_err err;

    mcpx_lines_feed(&child->errors, bytes);
    while (mcpx_lines_next(&child->errors, &line, &err))
        if (line.len)
            mx_child_label(&text, child->config.name, line, err != MCPX_OK);
    show(child, &text);
    mcpx_text_fini(&text);
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
        child->on_fact(child, MX_FACT_SILENT);
}

/* As much as there is now and no more: somebody else may have been handed the pipe. */
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
        show_errors(child, MCPX_SLICE("\n")); /* last words without an end */
}
