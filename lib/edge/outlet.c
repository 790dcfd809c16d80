/*
 * outlet.c - writes lines that nobody has to read. The reader of standard error may stop (a
 * terminal under Ctrl-S, a host that never looks), and a write(2) would then block the loop.
 * O_NONBLOCK was refused: the flag belongs to all processes that share the descriptor. A thread
 * was refused: a loop that never waits needs none, and its lines would be lost when the program is
 * killed.
 */
#define _DEFAULT_SOURCE /* S_ISSOCK and MSG_DONTWAIT with every C library */
#include "lib/edge/outlet.h"

#include "lib/base/digits.h"
#include "lib/base/rows.h"
#include "lib/edge/alarm.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* CLOSED: as it comes. FILES never wait. ANEW: opened again, for us alone. ASKED: poll(2) first. */
enum way { CLOSED, FILES, ANEW, SOCKET, ASKED };

static enum way way_for(struct mx_outlet *outlet)
{
    struct stat about;
    char path[40];

    outlet->own = -1;
    if (fstat(outlet->fd, &about) != 0)
        return ASKED;
    if (S_ISSOCK(about.st_mode))
        return SOCKET;
    if (!S_ISFIFO(about.st_mode) && !S_ISCHR(about.st_mode))
        return FILES;
    snprintf(path, sizeof path, "/proc/self/fd/%d", outlet->fd);
    outlet->own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return outlet->own >= 0 ? ANEW : ASKED;
}

void mx_outlet_open(struct mx_outlet *outlet, int fd)
{
    outlet->fd = fd;
    outlet->way = way_for(outlet);
}

static bool is_ready(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLOUT};

    return poll(&wait, 1, 0) > 0;
}

/* As write(2), with EAGAIN where it would have to wait. */
static ssize_t try_write(const struct mx_outlet *outlet, const char *text, size_t len)
{
    ssize_t done = -1;

    do {
        switch ((enum way)outlet->way) {
        case SOCKET:
            done = send(outlet->fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL);
            break;
        case ASKED:
            errno = EAGAIN;
            if (is_ready(outlet->fd))
                done = write(outlet->fd, text, len);
            break;
        case ANEW:
            done = write(outlet->own, text, len);
            break;
        default:
            done = write(outlet->fd, text, len);
        }
    } while (done < 0 && errno == EINTR);
    return done;
}

/* Bytes of the whole lines that one write may hold: so lines of several processes do not mix. */
static size_t piece_of(struct mcpx_slice lines)
{
    size_t len = lines.len < PIPE_BUF ? lines.len : PIPE_BUF;

    for (size_t end = len; end > 0; end--)
        if (lines.text[end - 1] == '\n')
            return end;
    return len; /* one line longer than that */
}

static void count_lost(struct mx_outlet *outlet, struct mcpx_slice lines)
{
    uint64_t count = 0;

    for (size_t i = 0; i < lines.len; i++)
        count += lines.text[i] == '\n';
    outlet->lost += count;
    outlet->lost_ever += count;
}

/* Writes what can be written; returns what could not, empty after an error that stays. */
static struct mcpx_slice write_some(struct mx_outlet *outlet, struct mcpx_slice lines)
{
    while (lines.len > 0) {
        ssize_t done = try_write(outlet, lines.text, piece_of(lines));

        if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return lines;
        if (done < 0) {
            count_lost(outlet, lines);
            return (struct mcpx_slice){lines.text, 0};
        }
        lines = mx_behind(lines, (size_t)done);
    }
    return lines;
}

bool mx_outlet_flush(struct mx_outlet *outlet)
{
    struct mcpx_slice waiting;

    if (outlet->queue.len == 0)
        return true;
    waiting =
        (struct mcpx_slice){outlet->queue.text + outlet->at, outlet->queue.len - outlet->at};
    waiting = write_some(outlet, waiting);
    outlet->at = outlet->queue.len - waiting.len;
    mx_forget(&outlet->queue, &outlet->at);
    if (waiting.len > 0)
        return false;
    mcpx_text_fini(&outlet->queue);
    return true;
}

/* After a loss everything is lost until that can be said: it stands where the lines are missing. */
void mx_outlet_put(struct mx_outlet *outlet, struct mcpx_slice lines)
{
    struct mcpx_slice rest = lines;

    if (mx_outlet_flush(outlet) && !outlet->lost)
        rest = write_some(outlet, lines);
    if (rest.len == 0)
        return;
    if (!outlet->lost && outlet->queue.len - outlet->at + rest.len <= MX_OUTLET_MAX &&
        mcpx_text_reserve(&outlet->queue, rest.len))
        mcpx_text_slice(&outlet->queue, rest);
    else
        count_lost(outlet, rest);
}

bool mx_outlet_drain(struct mx_outlet *outlet, int timeout_ms)
{
    int64_t deadline = mx_clock_now().mono_ms + timeout_ms;
    struct pollfd wait = {.fd = outlet->way == ANEW ? outlet->own : outlet->fd,
                          .events = POLLOUT};

    while (!mx_outlet_flush(outlet)) {
        int64_t left = deadline - mx_clock_now().mono_ms;

        if (left <= 0 || poll(&wait, 1, (int)left) <= 0)
            return false;
    }
    return true;
}

void mx_outlet_close(struct mx_outlet *outlet)
{
    mcpx_text_fini(&outlet->queue);
    if (outlet->way == ANEW)
        close(outlet->own);
    *outlet = (struct mx_outlet){.fd = outlet->fd, .lost_ever = outlet->lost_ever};
}
