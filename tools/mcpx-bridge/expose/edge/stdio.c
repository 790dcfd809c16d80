/*
 * stdio.c - standard input and output on the loop. Streams are libuv's; a file cannot be polled, so
 * it is read in the thread pool and written at once. Output is never dropped: unread output waits,
 * and meanwhile the client's own requests wait in their pipe.
 */
#include "tools/mcpx-bridge/expose/edge/transport.h"

#include <mcpx/lines.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

enum { READ_SIZE = 65536 };

/** `ended`: no more input is read. A file's stream leaves its pipe closed. */
struct expose_stdio {
    struct expose_transport transport;
    struct mcpx_lines lines;
    bool is_file_in, is_file_out;
    bool ended, failed, is_reading; /* a read of the file is under way */
    uv_pipe_t in, out;
    uv_fs_t read;
    char bytes[READ_SIZE];
};

struct write {
    uv_write_t request;
    char bytes[];
};

/* ---- input ---- */

static void take(struct expose_stdio *stdio, const char *bytes, size_t len)
{
    struct mcpx_slice line;
    enum mcpx_err err;

    mcpx_lines_feed(&stdio->lines, (struct mcpx_slice){bytes, len});
    while (mcpx_lines_next(&stdio->lines, &line, &err)) {
        if (err == MCPX_OK)
            stdio->transport.on_line(stdio->transport.user, line);
        else
            stdio->transport.on_overlong(stdio->transport.user, line);
    }
}

/* Ends the input. A last line without newline is a line as well. */
static void finish(struct expose_stdio *stdio)
{
    take(stdio, "\n", 1);
    stdio->ended = true;
    stdio->transport.on_end(stdio->transport.user);
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
    finish(stdio);
}

static int read_more(struct expose_stdio *stdio);

static void on_file_read(uv_fs_t *request)
{
    struct expose_stdio *stdio = request->data;
    ssize_t len = request->result;

    uv_fs_req_cleanup(request);
    stdio->is_reading = false;
    if (stdio->ended)
        return;
    if (len > 0)
        take(stdio, stdio->bytes, (size_t)len);
    else
        finish(stdio);
    read_more(stdio);
}

/* Reads on, unless input has ended or too much output waits. Returns 0, or an error of libuv. */
static int read_more(struct expose_stdio *stdio)
{
    uv_buf_t buffer = uv_buf_init(stdio->bytes, READ_SIZE);

    if (stdio->ended || stdio->is_reading ||
        expose_stdio_unwritten(stdio) >= EXPOSE_STDIO_UNWRITTEN_MAX)
        return 0;
    if (!stdio->is_file_in)
        return uv_read_start((uv_stream_t *)&stdio->in, lend_buffer, on_read);
    stdio->is_reading = true;
    return uv_fs_read(stdio->transport.loop, &stdio->read, STDIN_FILENO, &buffer, 1, -1,
                      on_file_read);
}

/* ---- output ---- */

static void fail(struct expose_stdio *stdio, int error)
{
    if (!stdio->failed)
        stdio->transport.on_failed(stdio->transport.user, error);
    stdio->failed = true;
}

/* Reports a failed write, as on a full disk: otherwise all output would seem to arrive. */
static void write_file(struct expose_stdio *stdio, struct mcpx_slice bytes)
{
    while (bytes.len > 0 && !stdio->failed) {
        ssize_t written = write(STDOUT_FILENO, bytes.text, bytes.len);

        if (written < 0 && errno != EINTR)
            fail(stdio, errno);
        if (written > 0) {
            bytes.text += written;
            bytes.len -= (size_t)written;
        }
    }
}

static void on_written(uv_write_t *request, int status)
{
    struct expose_stdio *stdio = request->handle->data;

    free(request); /* with its bytes */
    if (status < 0 && status != UV_EPIPE && status != UV_ECONNRESET && status != UV_ECANCELED)
        fail(stdio, -status);
    else if (status < 0)
        stdio->transport.on_end(stdio->transport.user);
    else
        read_more(stdio);
}

void expose_stdio_write(struct expose_stdio *stdio, struct mcpx_slice line)
{
    struct write *write;
    uv_buf_t buffer;

    if (stdio->is_file_out) {
        write_file(stdio, line);
        write_file(stdio, MCPX_SLICE("\n"));
        return;
    }
    write = malloc(sizeof *write + line.len + 1);
    memcpy(write->bytes, line.text, line.len);
    write->bytes[line.len] = '\n';
    buffer = uv_buf_init(write->bytes, (unsigned)line.len + 1);
    if (uv_write(&write->request, (uv_stream_t *)&stdio->out, &buffer, 1, on_written) != 0) {
        free(write);
        stdio->transport.on_end(stdio->transport.user);
    }
    if (!stdio->is_file_in && expose_stdio_unwritten(stdio) >= EXPOSE_STDIO_UNWRITTEN_MAX)
        uv_read_stop((uv_stream_t *)&stdio->in);
}

size_t expose_stdio_unwritten(const struct expose_stdio *stdio)
{
    return uv_stream_get_write_queue_size((const uv_stream_t *)&stdio->out);
}

/* ---- from beginning to end ---- */

static bool open_stream(struct expose_stdio *stdio, uv_pipe_t *pipe, int descriptor,
                        bool *is_file)
{
    *is_file = uv_guess_handle(descriptor) == UV_FILE;
    uv_pipe_init(stdio->transport.loop, pipe, 0);
    pipe->data = stdio;
    return *is_file || uv_pipe_open(pipe, descriptor) == 0;
}

enum mcpx_err expose_stdio_new(const struct expose_transport *transport,
                               struct expose_stdio **out)
{
    struct expose_stdio *stdio = calloc(1, sizeof *stdio);
    bool fine;

    *out = stdio;
    stdio->transport = *transport;
    stdio->lines.max = EXPOSE_LINE_MAX;
    stdio->read.data = stdio;
    fine = open_stream(stdio, &stdio->out, STDOUT_FILENO, &stdio->is_file_out);
    fine = open_stream(stdio, &stdio->in, STDIN_FILENO, &stdio->is_file_in) && fine;
    return fine && read_more(stdio) == 0 ? MCPX_OK : MCPX_ESYSTEM;
}

void expose_stdio_close(struct expose_stdio *stdio)
{
    if (!stdio)
        return;
    stdio->ended = true;
    uv_close((uv_handle_t *)&stdio->in, NULL);
    uv_close((uv_handle_t *)&stdio->out, NULL);
    mcpx_lines_fini(&stdio->lines);
}
