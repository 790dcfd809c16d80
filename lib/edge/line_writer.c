/*
 * line_writer.c - writes lines without waiting for a reader. The reader of standard error may stop
 * (a terminal under Ctrl-S, a host that never reads), and a write(2) would then block the loop.
 * Rejected: O_NONBLOCK; the flag applies to all processes that share the descriptor. Rejected: a
 * thread; a loop that never waits does not need one, and its lines would be lost when the program
 * is killed.
 */
#define _DEFAULT_SOURCE /* S_ISSOCK and MSG_DONTWAIT with every C library */
#include "lib/edge/line_writer.h"

#include "lib/base/digits.h"
#include "lib/base/rows.h"
#include "lib/edge/timer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* CLOSED, FILES: a plain write(2). ANEW: opened again, for us alone. ASKED: poll(2) first. */
enum way { CLOSED, FILES, ANEW, SOCKET, ASKED };

static enum way way_for(struct mx_line_writer *writer)
{
    struct stat about;
    char path[40];

    writer->own = -1;
    if (fstat(writer->fd, &about) != 0)
        return ASKED;
    if (S_ISSOCK(about.st_mode))
        return SOCKET;
    if (!S_ISFIFO(about.st_mode) && !S_ISCHR(about.st_mode))
        return FILES;
    snprintf(path, sizeof path, "/proc/self/fd/%d", writer->fd);
    writer->own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return writer->own >= 0 ? ANEW : ASKED;
}

void mx_line_writer_open(struct mx_line_writer *writer, int fd)
{
    writer->fd = fd;
    writer->way = way_for(writer);
}

static bool is_ready(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLOUT};

    return poll(&wait, 1, 0) > 0;
}

/* As write(2), but EAGAIN instead of waiting, except when CLOSED. */
static ssize_t try_write(const struct mx_line_writer *writer, const char *text, size_t len)
{
    ssize_t done = -1;

    do {
        switch ((enum way)writer->way) {
        case SOCKET:
            done = send(writer->fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL);
            break;
        case ASKED:
            errno = EAGAIN;
            if (is_ready(writer->fd))
                done = write(writer->fd, text, len);
            break;
        case ANEW:
            done = write(writer->own, text, len);
            break;
        default:
            done = write(writer->fd, text, len);
        }
    } while (done < 0 && errno == EINTR);
    return done;
}

/* Bytes of whole lines for one atomic write, so lines of several processes do not mix. */
static size_t piece_of(struct mcpx_slice lines)
{
    size_t len = lines.len < PIPE_BUF ? lines.len : PIPE_BUF;

    for (size_t end = len; end > 0; end--)
        if (lines.text[end - 1] == '\n')
            return end;
    return len; /* one line longer than that */
}

static void count_lost(struct mx_line_writer *writer, struct mcpx_slice lines)
{
    uint64_t count = 0;

    for (size_t i = 0; i < lines.len; i++)
        count += lines.text[i] == '\n';
    writer->lost += count;
    writer->lost_ever += count;
}

/* Writes as much as it can and returns the rest, which is empty after a lasting error. */
static struct mcpx_slice write_some(struct mx_line_writer *writer, struct mcpx_slice lines)
{
    while (lines.len > 0) {
        ssize_t done = try_write(writer, lines.text, piece_of(lines));

        if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return lines;
        if (done < 0) {
            count_lost(writer, lines);
            return (struct mcpx_slice){lines.text, 0};
        }
        lines = mx_behind(lines, (size_t)done);
    }
    return lines;
}

bool mx_line_writer_flush(struct mx_line_writer *writer)
{
    struct mcpx_slice waiting = mx_behind(mcpx_text_view(&writer->queue), writer->at);

    if (waiting.len == 0)
        return true;
    waiting = write_some(writer, waiting);
    writer->at = writer->queue.len - waiting.len;
    mx_forget(&writer->queue, &writer->at);
    if (waiting.len > 0)
        return false;
    mcpx_text_fini(&writer->queue);
    return true;
}

/* After a loss all lines are lost until it is reported, so the report stands in their place. */
void mx_line_writer_put(struct mx_line_writer *writer, struct mcpx_slice lines)
{
    struct mcpx_slice rest = lines;

    if (mx_line_writer_flush(writer) && !writer->lost)
        rest = write_some(writer, lines);
    if (rest.len == 0)
        return;
    if (!writer->lost && writer->queue.len - writer->at + rest.len <= MX_LINE_WRITER_MAX &&
        mcpx_text_reserve(&writer->queue, rest.len))
        mcpx_text_slice(&writer->queue, rest);
    else
        count_lost(writer, rest);
}

bool mx_line_writer_drain(struct mx_line_writer *writer, int timeout_ms)
{
    int64_t deadline = mx_clock_now().mono_ms + timeout_ms;
    struct pollfd wait = {.fd = writer->way == ANEW ? writer->own : writer->fd,
                          .events = POLLOUT};

    while (!mx_line_writer_flush(writer)) {
        int64_t left = deadline - mx_clock_now().mono_ms;

        if (left <= 0 || poll(&wait, 1, (int)left) <= 0)
            return false;
    }
    return true;
}

void mx_line_writer_close(struct mx_line_writer *writer)
{
    mcpx_text_fini(&writer->queue);
    if (writer->way == ANEW)
        close(writer->own);
    *writer = (struct mx_line_writer){.fd = writer->fd, .lost_ever = writer->lost_ever};
}
