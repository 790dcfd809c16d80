/*
 * stream.c - libuv tells the outcome of each write and of the end, also when the connection was
 * closed meanwhile; a text is kept until then. All streams read into one buffer: what came is
 * handled before the next one is read.
 */
#include "tools/mcpx-bridge/edge/stream.h"

#include "tools/common/command.h"

#include <stdlib.h>

enum { BUFFER_SIZE = 65536 };

/* A text on its way out. */
struct parcel {
    uv_write_t write;
    struct mcpx_text text;
};

void stream_init(struct stream *stream, uv_loop_t *loop, const struct stream_calls *calls,
                 void *owner)
{
    *stream = (struct stream){.calls = calls, .owner = owner};
    uv_tcp_init(loop, &stream->tcp);
    stream->tcp.data = stream;
}

int stream_accept(struct stream *stream, uv_tcp_t *listener)
{
    int err = uv_accept((uv_stream_t *)listener, (uv_stream_t *)&stream->tcp);

    if (!err)
        stream_open(stream);
    return err;
}

void stream_open(struct stream *stream)
{
    stream->is_connected = true;
    uv_tcp_nodelay(&stream->tcp, 1);
}

/* ---- reading ---- */

static void on_alloc(uv_handle_t *handle, size_t wanted, uv_buf_t *buf)
{
    static char buffer[BUFFER_SIZE];

    (void)handle;
    (void)wanted;
    *buf = uv_buf_init(buffer, sizeof buffer);
}

static void on_read(uv_stream_t *handle, ssize_t len, const uv_buf_t *buf)
{
    struct stream *stream = handle->data;

    if (len < 0 && len != UV_EOF) {
        stream->calls->broken(stream);
        return;
    }
    if (len == UV_EOF) {
        stream->has_ended = true;
        stream->is_reading = false;
    }
    if (len != 0)
        stream->calls->bytes(stream,
                             (struct mcpx_slice){buf->base, len > 0 ? (size_t)len : 0});
}

void stream_read(struct stream *stream, bool wanted)
{
    wanted = wanted && stream->is_connected && !stream->has_ended;
    if (wanted == stream->is_reading || stream->is_closed)
        return;
    stream->is_reading = wanted;
    if (wanted)
        uv_read_start((uv_stream_t *)&stream->tcp, on_alloc, on_read);
    else
        uv_read_stop((uv_stream_t *)&stream->tcp);
}

/* ---- writing ---- */

static void on_written(uv_write_t *write, int status)
{
    struct parcel *parcel = (struct parcel *)write;
    struct stream *stream = write->handle->data;

    mcpx_text_fini(&parcel->text);
    free(parcel);
    if (stream->is_closed)
        return;
    if (status < 0)
        stream->calls->broken(stream);
    else
        stream->calls->written(stream);
}

bool stream_write(struct stream *stream, struct mcpx_text *text)
{
    struct parcel *parcel;
    uv_buf_t buf;

    if (!text->len || !stream->is_connected || stream->is_shut)
        return true;
    if (text_whole(text).len > UINT32_MAX)
        return false;
    parcel = malloc(sizeof *parcel);
    parcel->text = *text;
    *text = (struct mcpx_text){0};
    buf = uv_buf_init(parcel->text.text, (unsigned)parcel->text.len);
    if (uv_write(&parcel->write, (uv_stream_t *)&stream->tcp, &buf, 1, on_written) == 0)
        return true;
    mcpx_text_fini(&parcel->text);
    free(parcel);
    return false;
}

size_t stream_unwritten(const struct stream *stream)
{
    return uv_stream_get_write_queue_size((const uv_stream_t *)&stream->tcp);
}

/* ---- the end ---- */

static void on_shut(uv_shutdown_t *request, int status)
{
    struct stream *stream = request->handle->data;

    (void)status;
    stream->is_down = true;
    if (!stream->is_closed)
        stream->calls->written(stream);
}

void stream_shut(struct stream *stream)
{
    if (stream->is_shut)
        return;
    stream->is_shut = true;
    stream->is_down = !stream->is_connected ||
                      uv_shutdown(&stream->shutdown, (uv_stream_t *)&stream->tcp, on_shut) < 0;
}

static void on_closed(uv_handle_t *handle)
{
    struct stream *stream = handle->data;

    stream->calls->closed(stream);
}

void stream_close(struct stream *stream)
{
    stream->is_closed = true;
    uv_close((uv_handle_t *)&stream->tcp, on_closed);
}
