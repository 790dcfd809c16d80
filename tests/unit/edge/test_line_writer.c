/*
 * What breaks for whom: a program that lives on a loop says something, nobody reads it, and all
 * whom the program serves wait.
 */
#include "lib/edge/line_writer.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2]; /* to read from, to write to */

static void open_pipe(void)
{
    cr_assert_eq(pipe(ends), 0);
}

static void open_socket(void)
{
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
}

static const struct {
    const char *name;
    void (*open)(void);
} kinds[] = {{"pipe", open_pipe}, {"socket", open_socket}};

static struct mcpx_slice numbered(char buf[64], int number)
{
    return (struct mcpx_slice){buf, (size_t)snprintf(buf, 64, "line %d\n", number)};
}

/* Reads all there is while the line writer writes on; expects lines in order. Returns how many. */
static int read_lines(struct mx_line_writer *writer, int next)
{
    FILE *from = fdopen(dup(ends[0]), "r");
    int number, first = next;
    bool all = false;

    while (!all) {
        all = mx_line_writer_flush(writer);
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        while (fscanf(from, "line %d\n", &number) == 1)
            cr_assert_eq(number, next++);
        clearerr(from);
    }
    fclose(from);
    return next - first;
}

Test(writer, keeps_order_and_bound_and_counts_what_is_lost, .timeout = 60)
{
    enum { MANY = 200000 };
    char buf[64];

    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        struct mx_line_writer writer = {0};
        uint64_t lost;
        int kept;

        kinds[kind].open();
        mx_line_writer_open(&writer, ends[1]);
        for (int i = 0; i < MANY; i++)
            mx_line_writer_put(&writer, numbered(buf, i));
        cr_expect_not(mx_line_writer_flush(&writer), "%s", kinds[kind].name);
        cr_expect_not(mx_line_writer_drain(&writer, 0));
        cr_expect_not(mx_line_writer_may_report_lost(&writer));
        cr_expect_leq(writer.queue.len, MX_LINE_WRITER_MAX);
        lost = writer.lost;
        cr_expect_gt(lost, 0, "%s", kinds[kind].name);
        cr_expect_eq(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0, "it is not ours alone");
        kept = read_lines(&writer, 0);
        cr_expect_eq((uint64_t)kept + lost, MANY, "%s: %d, %d", kinds[kind].name, kept,
                     (int)lost);
        cr_expect(mx_line_writer_may_report_lost(&writer));
        mx_line_writer_put(&writer, numbered(buf, kept)); /* not before it is reported */
        cr_expect_eq(writer.lost, lost + 1);
        writer.lost = 0;
        mx_line_writer_put(&writer, numbered(buf, kept));
        cr_expect_eq(read_lines(&writer, kept), 1);
        cr_expect_eq(writer.lost_ever, lost + 1);
        mx_line_writer_close(&writer);
        cr_expect_eq(writer.lost_ever, lost + 1);
        close(ends[0]);
        close(ends[1]);
    }
}

/* A reader that is slow for ever must not make the queue grow by what it has read. */
Test(writer, gives_room_back_while_it_is_never_empty, .timeout = 60)
{
    static char line[1000], much[4096];
    struct mx_line_writer writer = {0};

    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\n';
    open_pipe();
    mx_line_writer_open(&writer, ends[1]);
    for (int i = 0; i < 20000; i++) {
        mx_line_writer_put(&writer, (struct mcpx_slice){line, sizeof line});
        if (i > 500)
            cr_assert_gt(read(ends[0], much, 1000), 0);
    }
    cr_expect_eq(writer.lost, 0);
    cr_expect_leq(writer.queue.len, MX_LINE_WRITER_MAX);
    mx_line_writer_close(&writer);
}

Test(writer, a_line_longer_than_one_write_arrives_whole)
{
    static char line[300000], got[300001];
    struct mx_line_writer writer = {0};
    size_t len = 0;

    memset(line, 'y', sizeof line);
    line[sizeof line - 1] = '\n';
    open_pipe();
    mx_line_writer_open(&writer, ends[1]);
    mx_line_writer_put(&writer, (struct mcpx_slice){line, sizeof line});
    while (len < sizeof line) {
        ssize_t some;

        mx_line_writer_flush(&writer);
        some = read(ends[0], got + len, sizeof got - len);
        cr_assert_gt(some, 0);
        len += (size_t)some;
    }
    cr_expect(memcmp(line, got, sizeof line) == 0);
    mx_line_writer_close(&writer);
}

Test(writer, what_nobody_can_ever_read_is_lost)
{
    struct mx_line_writer writer = {0};
    char buf[64];

    signal(SIGPIPE, SIG_IGN);
    open_pipe();
    mx_line_writer_open(&writer, ends[1]);
    close(ends[0]);
    mx_line_writer_put(&writer, numbered(buf, 0));
    cr_expect_eq(writer.lost, 1);
    cr_expect(mx_line_writer_flush(&writer));
    cr_expect(mx_line_writer_drain(&writer, 1000));
    mx_line_writer_close(&writer);
}

/* Before it is opened, and when it is a file. */
Test(writer, a_file_takes_everything_at_once)
{
    char path[] = "/tmp/mcpx-outlet-XXXXXX", buf[64], got[256] = "";
    struct mx_line_writer writer = {.fd = mkstemp(path)};

    cr_assert_geq(writer.fd, 0);
    ends[1] = writer.fd;
    mx_line_writer_put(&writer, numbered(buf, 0));
    mx_line_writer_open(&writer, ends[1]);
    mx_line_writer_put(&writer, numbered(buf, 1));
    mx_line_writer_close(&writer);
    mx_line_writer_put(&writer, numbered(buf, 2));
    cr_expect_gt(pread(ends[1], got, sizeof got - 1, 0), 0);
    cr_expect_str_eq(got, "line 0\nline 1\nline 2\n");
    unlink(path);
    close(ends[1]);
}
