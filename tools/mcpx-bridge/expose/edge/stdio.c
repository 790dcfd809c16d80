/*
 * stdio.c - standard input and output on the loop. Streams are libuv's; a file, which no poll
 * can wait for, is read in the thread pool and written at once. Output is never dropped: what a
 * client does not read waits, and meanwhile its own requests wait in their pipe.
 */
#include "tools/mcpx-bridge/expose/edge/run.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

enum { READ_SIZE = 65536 };

struct expose_stdio {
    struct expose_stdio_config config;
    struct mcpx_lines lines;
    bool is_file_in, is_file_out;
    bool reading, closing, ended, failed;
    size_t open; /* handles and requests that keep this alive */
    uv_pipe_t in, out;
    uv_fs_t read;
    char bytes[READ_SIZE];
};

struct write {
    uv_write_t request;
    struct expose_stdio *stdio;
    size_t len;
    char bytes[];
};

static void release(struct expose_stdio *stdio)
{
    if (--stdio->open || !stdio->closing)
        return;
    mcpx_lines_fini(&stdio->lines);
    free(stdio);
}

static void end(struct expose_stdio *stdio)
{
    if (stdio->ended || stdio->closing)
        return;
    stdio->ended = true;
    stdio->config.on_end(stdio->config.user);
}

/* ---- input ---- */

static void take(struct expose_stdio *stdio, const char *bytes, size_t len)
{
    struct mcpx_slice line;
    enum mcpx_err err;

    mcpx_lines_feed(&stdio->lines, (struct mcpx_slice){bytes, len});
    while (!stdio->closing && mcpx_lines_next(&stdio->lines, &line, &err)) {
        if (err == MCPX_OK)
            stdio->config.on_line(stdio->config.user, line);
        else
            stdio->config.on_overlong(stdio->config.user, line);
    }
}

/* A last line without its end is a line too. */
static void finish(struct expose_stdio *stdio)
{
    take(stdio, "\n", 1);
    end(stdio);
}

static void lend_buffer(uv_handle_t *handle, size_t wanted, uv_buf_t *out)
{
    struct expose_stdio *stdio = handle->data;

    (void)wanted;
    *out = uv_buf_init(stdio->bytes, READ_SIZE);
}

static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *buffer)
{
    struct expose_stdio *stdio = stream->data;

    if (len > 0)
        take(stdio, buffer->base, (size_t)len);
    if (len >= 0)
        return;
    uv_read_stop(stream);
    stdio->reading = false;
    finish(stdio);
}

static void read_file(struct expose_stdio *stdio);

static void on_file_read(uv_fs_t *request)
{
    struct expose_stdio *stdio = request->data;
    ssize_t len = request->result;

    uv_fs_req_cleanup(request);
    stdio->reading = false;
    if (!stdio->closing && len > 0) {
        take(stdio, stdio->bytes, (size_t)len);
        read_file(stdio);
    } else if (!stdio->closing) {
        finish(stdio);
    }
    release(stdio);
}

static void read_file(struct expose_stdio *stdio)
{
    uv_buf_t buffer = uv_buf_init(stdio->bytes, READ_SIZE);

    if (stdio->closing || stdio->reading)
        return;
    stdio->read.data = stdio;
    stdio->open++;
    stdio->reading = true;
    uv_fs_read(stdio->config.loop, &stdio->read, STDIN_FILENO, &buffer, 1, -1, on_file_read);
}

/* ---- output ---- */

static void fail(struct expose_stdio *stdio, int error)
{
    if (stdio->failed || stdio->closing)
        return;
    stdio->failed = true;
    stdio->config.on_failed(stdio->config.user, error);
}

/* A file that takes nothing (a full disk) would else look like a client that hears everything. */
static void write_file(struct expose_stdio *stdio, const char *bytes, size_t len)
{
    while (len > 0 && !stdio->failed) {
        ssize_t written = write(STDOUT_FILENO, bytes, len);

        if (written < 0 && errno != EINTR)
            fail(stdio, errno);
        if (written > 0) {
            bytes += written;
            len -= (size_t)written;
        }
    }
}

static void on_written(uv_write_t *request, int status)
{
    struct write *write = request->data;
    struct expose_stdio *stdio = write->stdio;

    free(write);
    if (status < 0 && status != UV_EPIPE && status != UV_ECONNRESET && status != UV_ECANCELED)
        fail(stdio, -status);
    else if (status < 0)
        end(stdio);
    else if (!stdio->reading && !stdio->is_file_in && !stdio->ended && !stdio->closing &&
             expose_stdio_unwritten(stdio) < EXPOSE_STDIO_UNWRITTEN_MAX)
        stdio->reading = uv_read_start((uv_stream_t *)&stdio->in, lend_buffer, on_read) == 0;
    release(stdio);
}

void expose_stdio_write(struct expose_stdio *stdio, struct mcpx_slice line)
{
    struct write *write;
    uv_buf_t buffer;

    if (stdio->closing)
        return;
    write = malloc(sizeof *write + line.len + 1);
    write->stdio = stdio;
    write->len = line.len + 1;
    memcpy(write->bytes, line.text, line.len);
    write->bytes[line.len] = '\n';
    if (stdio->is_file_out) {
        write_file(stdio, write->bytes, write->len);
        free(write);
        return;
    }
    write->request.data = write;
    buffer = uv_buf_init(write->bytes, (unsigned)write->len);
    stdio->open++;
    if (uv_write(&write->request, (uv_stream_t *)&stdio->out, &buffer, 1, on_written) != 0) {
        free(write);
        end(stdio);
        release(stdio);
        return;
    }
    if (stdio->reading && !stdio->is_file_in &&
        expose_stdio_unwritten(stdio) >= EXPOSE_STDIO_UNWRITTEN_MAX) {
        uv_read_stop((uv_stream_t *)&stdio->in);
        stdio->reading = false;
    }
}

size_t expose_stdio_unwritten(const struct expose_stdio *stdio)
{
    return stdio->is_file_out
               ? 0
               : uv_stream_get_write_queue_size((const uv_stream_t *)&stdio->out);
}

/* ---- from beginning to end ---- */

static void on_closed(uv_handle_t *handle)
{
    release(handle->data);
}

static bool open_stream(struct expose_stdio *stdio, uv_pipe_t *pipe, int descriptor)
{
    uv_pipe_init(stdio->config.loop, pipe, 0);
    pipe->data = stdio;
    stdio->open++;
    return uv_pipe_open(pipe, descriptor) == 0;
}

enum mcpx_err expose_stdio_new(const struct expose_stdio_config *config,
                               struct expose_stdio **out)
{
    struct expose_stdio *stdio = calloc(1, sizeof *stdio);
    bool fine;

    stdio->config = *config;
    stdio->lines.max = config->line_max;
    stdio->is_file_in = uv_guess_handle(STDIN_FILENO) == UV_FILE;
    stdio->is_file_out = uv_guess_handle(STDOUT_FILENO) == UV_FILE;
    stdio->open = 1;
    fine = stdio->is_file_out || open_stream(stdio, &stdio->out, STDOUT_FILENO);
    fine = (stdio->is_file_in || open_stream(stdio, &stdio->in, STDIN_FILENO)) && fine;
    if (fine && stdio->is_file_in)
        read_file(stdio);
    else if (fine)
        fine = uv_read_start((uv_stream_t *)&stdio->in, lend_buffer, on_read) == 0;
    if (!fine) {
        expose_stdio_close(stdio);
        return MCPX_ESYSTEM;
    }
    stdio->reading = true;
    *out = stdio;
    return MCPX_OK;
}

void expose_stdio_close(struct expose_stdio *stdio)
{
    if (!stdio)
        return;
    stdio->closing = true;
    if (!stdio->is_file_in)
        uv_close((uv_handle_t *)&stdio->in, on_closed);
    if (!stdio->is_file_out)
        uv_close((uv_handle_t *)&stdio->out, on_closed);
    release(stdio);
}
