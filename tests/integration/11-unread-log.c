/*
 * Standard error is a pipe, and whoever should read it does not. What breaks for whom: everybody in
 * every topic waits for a log collector that hangs, or for a terminal under Ctrl-S.
 */
#include "tests/support/rude_client.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGES = 12000, ROUND = 100 };

static const char loud[] =
    "{\"log\":{\"level\":\"debug\"},\"limits\":{\"messages_per_minute\":0,"
    "\"bytes_per_minute\":0,\"connects_per_s\":0,\"drain_s\":1}}";

static int pipes[2];
static struct daemon router;

/* A full pipe; its flags are as they were, for all who have it. */
static void start(void)
{
    static char much[65536];
    int flags;

    memset(much, 'x', sizeof much);
    cr_assert(pipe(pipes) == 0);
    flags = fcntl(pipes[1], F_GETFL);
    fcntl(pipes[1], F_SETFL, flags | O_NONBLOCK);
    while (write(pipes[1], much, sizeof much) > 0 || write(pipes[1], much, 1) > 0)
        ;
    fcntl(pipes[1], F_SETFL, flags);
    daemon_start_logging(&router, loud, pipes[1]);
}

/* Sends and receives messages, a round at a time. */
static void talk(void)
{
    struct rude ann = {0};
    char id[32], part[48];

    rude_join(&ann, &router, "ann", "room", "&history=0");
    for (int i = 1; i <= MESSAGES; i++) {
        snprintf(id, sizeof id, "m%d", i);
        rude_chat(&ann, id, "{}");
        snprintf(part, sizeof part, "\"id\":\"%s\"", id);
        if (i % ROUND == 0)
            cr_assert(rude_expect(&ann, part, NULL), "%s", id);
    }
    rude_shut(&ann);
}

static struct mcpx_slice get_metrics(struct rude *rude)
{
    rude_open(rude, &router, 0);
    rude_say(rude, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    return rude_drain(rude);
}

/* Reads the log until this stands in it, and returns what follows there. */
static const char *read_until(const char *text)
{
    static char log[8 << 20];
    static size_t len;
    const char *found;

    while (!(found = strstr(log, text)) || !strchr(found, '\n')) {
        struct pollfd wait = {.fd = pipes[0], .events = POLLIN};
        ssize_t got;

        cr_assert_gt(poll(&wait, 1, DAEMON_PATIENCE_MS), 0, "no \"%s\" in %zu bytes", text,
                     len);
        got = read(pipes[0], log + len, sizeof log - 1 - len);
        cr_assert_gt(got, 0);
        len += (size_t)got;
    }
    return found + strlen(text);
}

Test(unread_log, traffic_goes_on_and_what_is_lost_is_counted, .timeout = 300)
{
    struct rude client;
    struct mcpx_slice metrics;
    long long lost = 0, told = 0;
    const char *at;

    start();
    talk();
    metrics = get_metrics(&client);
    at = strstr(metrics.text, "\nmcpx_log_lost_lines_total ");
    cr_assert_not_null(at, "%.*s", (int)metrics.len, metrics.text);
    cr_expect_eq(sscanf(at, "\nmcpx_log_lost_lines_total %lld", &lost), 1);
    cr_expect_gt(lost, 1000);
    rude_shut(&client);
    read_until("event=ready ");
    at = read_until(" event=log_lost lines=");
    cr_expect_eq(sscanf(at, "%lld", &told), 1);
    cr_expect(told >= lost, "%lld of %lld", told, lost);
    cr_expect_eq(daemon_stop(&router), 0);
    read_until("event=stopped ");
}

Test(unread_log, it_ends_all_the_same, .timeout = 300)
{
    long start_ms;

    start();
    talk();
    start_ms = support_now_ms();
    cr_expect_eq(daemon_stop(&router), 0);
    cr_expect_lt(support_now_ms() - start_ms, 30000);
}
