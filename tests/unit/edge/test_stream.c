/*
 * What breaks for whom: a guard whose agent is always a little behind would keep all that the agent
 * has ever read, although no more than its bound waits at any time.
 */
#include "lib/edge/stream.h"

#include <criterion/criterion.h>
#include <sys/socket.h>
#include <unistd.h>

/* AHEAD is more than the kernel takes at once, so something waits all the time. */
enum { PIECE = 1 << 16, AHEAD = 1 << 23, ROUNDS = 1024 };

static struct mx_stream stream;
static char piece[PIECE];

static void on_connection(uv_stream_t *listener, int status)
{
    struct sockaddr_storage from;

    cr_assert_eq(status, 0);
    cr_assert_eq(mx_stream_accept(&stream, (uv_tcp_t *)listener, &from), 0);
}

static void on_changed(struct mx_stream *changed)
{
    cr_assert_eq(changed, &stream);
}

static void on_bytes(struct mx_stream *from, struct mcpx_slice bytes)
{
    (void)from;
    cr_assert_fail("%zu bytes came", bytes.len);
}

static void on_broken(struct mx_stream *broken, const char *why)
{
    (void)broken;
    cr_assert_fail("%s", why);
}

static void fill(void)
{
    while (mx_stream_unwritten(&stream) < AHEAD) {
        struct mcpx_text text = {0};

        mcpx_text_add(&text, piece, PIECE);
        cr_assert(mx_stream_write(&stream, &text));
        mcpx_text_fini(&text);
    }
}

Test(stream, forgets_what_was_sent_although_more_waits)
{
    static const struct mx_stream_calls calls = {on_changed, on_bytes, on_changed, on_broken};
    int reader = socket(AF_INET, SOCK_STREAM, 0), len = sizeof(struct sockaddr_in);
    struct sockaddr_in at;
    uv_tcp_t listener;
    uv_loop_t loop;

    uv_loop_init(&loop);
    uv_tcp_init(&loop, &listener);
    uv_ip4_addr("127.0.0.1", 0, &at);
    uv_tcp_bind(&listener, (struct sockaddr *)&at, 0);
    uv_listen((uv_stream_t *)&listener, 1, on_connection);
    uv_tcp_getsockname(&listener, (struct sockaddr *)&at, &len);
    mx_stream_init(&stream, &loop, &calls, NULL);
    cr_assert_eq(connect(reader, (struct sockaddr *)&at, sizeof at), 0);
    while (!stream.is_open)
        uv_run(&loop, UV_RUN_ONCE);
    for (size_t i = 0; i < ROUNDS; i++) {
        fill();
        cr_assert_eq(recv(reader, piece, PIECE, MSG_WAITALL), PIECE);
        uv_run(&loop, UV_RUN_NOWAIT);
    }
    cr_expect_lt(stream.rest.len, 3 * AHEAD);
    mx_stream_close(&stream);
    uv_close((uv_handle_t *)&listener, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect_eq(uv_loop_close(&loop), 0);
    close(reader);
}
