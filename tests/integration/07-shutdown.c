/*
 * The ends: signals, exit statuses, and a command line that says what is wrong. What breaks here
 * is every restart, and the supervisor that reads the exit status. Protocol: section 6 (1001),
 * configuration: how programs are started.
 */
#include "tests/support/outside.h"
#include "tests/support/rude_client.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct daemon router;

/* A shutdown may take longer than daemon_wait is patient: what ends within that ends at once. */
static const char patient[] = "{\"limits\":{\"drain_s\":600}}";

Test(shutdown, a_router_without_clients_ends_at_once, .timeout = 120)
{
    daemon_start(&router, patient, 0);
    cr_expect_eq(daemon_stop(&router), 0);
}

Test(shutdown, under_load_every_client_is_told_1001_and_the_status_is_0, .timeout = 120)
{
    enum { MANY = 60 };
    static struct rude many[MANY];
    char name[32];
    int i, j;

    daemon_start_default(&router);
    for (i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "c%d", i);
        rude_join(&many[i], &router, name, "room", "&history=0");
    }
    for (j = 0; j < 50; j++)
        for (i = 0; i < MANY; i += 10) {
            snprintf(name, sizeof name, "m%d-%d", i, j);
            rude_chat(&many[i], name, "{\"t\":\"load\"}");
        }
    kill(router.pid, SIGTERM);
    for (i = 0; i < MANY; i++) {
        int code = rude_close_code(&many[i]);

        cr_expect_eq(code, 1001, "client %d: %d", i, code);
        rude_frame(&many[i], CLOSE, "\x03\xe9", 2);
    }
    for (i = 0; i < MANY; i++)
        rude_shut(&many[i]);
    cr_expect_eq(daemon_wait(&router), 0);
}

/* Neither one who does not answer, nor one who does not read, nor one who has not said what he
 * wants, holds it up for longer than configured. */
Test(shutdown, stubborn_clients_do_not_hold_it_up, .timeout = 120)
{
    struct rude silent = {0}, stuck, incomplete, a = {0};
    static char payload[4000];
    long start_ms;
    char id[32];
    int i;

    daemon_start(&router,
                 "{\"limits\":{\"drain_s\":1,\"messages_per_minute\":0,"
                 "\"bytes_per_minute\":0,\"connects_per_s\":0}}",
                 0);
    rude_open_narrow(&stuck, &router, 4096);
    rude_join(&stuck, &router, "stuck", "room", "");
    rude_join(&silent, &router, "silent", "room", "");
    rude_join(&a, &router, "a", "room", "");
    rude_open(&incomplete, &router, 0);
    rude_say(&incomplete, "GET /livez HTTP/1.1\r\n");
    snprintf(payload, sizeof payload, "{\"t\":\"%3900d\"}", 1);
    for (i = 0; i < 2000; i++) {
        snprintf(id, sizeof id, "m%d", i);
        rude_chat(&a, id, payload);
        snprintf(id, sizeof id, "\"m%d\"", i);
        cr_assert(rude_expect(&a, id, NULL));
    }
    start_ms = support_now_ms();
    kill(router.pid, SIGTERM);
    cr_expect_eq(rude_close_code(&a), 1001);
    cr_expect_eq(daemon_wait(&router), 0);
    cr_expect(support_now_ms() - start_ms < 30000, "%ld", support_now_ms() - start_ms);
    rude_shut(&silent);
    rude_shut(&stuck);
    rude_shut(&incomplete);
    rude_shut(&a);
}

Test(shutdown, a_second_signal_ends_it_at_once, .timeout = 120)
{
    struct rude silent = {0};

    daemon_start(&router, patient, 0);
    rude_join(&silent, &router, "silent", "room", "");
    kill(router.pid, SIGTERM);
    cr_expect_eq(rude_close_code(&silent), 1001); /* and does not answer */
    kill(router.pid, SIGINT);
    cr_expect_eq(daemon_wait(&router), 0);
    rude_shut(&silent);
}

/* A supervisor that repeats itself reads the status of a router that stopped as asked. */
Test(shutdown, signals_up_to_the_end_change_no_status, .timeout = 120)
{
    struct pollfd end = {.events = 0}; /* of its output only the end is waited for */

    daemon_start(&router, patient, 0);
    end.fd = router.out;
    do
        kill(router.pid, SIGTERM);
    while (poll(&end, 1, 0) == 0);
    cr_expect_eq(daemon_wait(&router), 0);
}

Test(shutdown, while_draining_nobody_is_let_in, .timeout = 120)
{
    struct rude silent = {0}, late;
    int connected;

    daemon_start(&router, patient, 0);
    rude_join(&silent, &router, "silent", "room", "");
    kill(router.pid, SIGTERM);
    cr_expect_eq(rude_close_code(&silent), 1001);
    connected = rude_try_open(&late, &router, 0);
    cr_expect(!connected, "the listener is closed");
    rude_shut(&late);
    rude_shut(&silent);
    cr_expect_eq(daemon_stop(&router), 0);
}

Test(shutdown, hup_is_noted_and_changes_nothing, .timeout = 120)
{
    struct rude a = {0};

    daemon_start_default(&router);
    rude_join(&a, &router, "a", "room", "");
    kill(router.pid, SIGHUP);
    cr_assert(daemon_logs(&router, "event=reloaded"));
    rude_chat(&a, "after", "{}");
    cr_expect(rude_expect(&a, "\"id\":\"after\"", NULL));
    rude_shut(&a);
    cr_expect_eq(daemon_stop(&router), 0);
}

/* A reload waited for whoever writes into the pipe, and so did TERM. */
Test(shutdown, a_pipe_in_place_of_the_configuration_holds_up_nothing, .timeout = 120)
{
    daemon_start(&router, patient, 0);
    unlink(router.config);
    cr_assert_eq(mkfifo(router.config, 0600), 0);
    kill(router.pid, SIGHUP);
    cr_expect(daemon_logs(&router, "it is a pipe; expected a regular file"));
    cr_expect_eq(daemon_stop(&router), 0);
}

/* Nobody has asked for so many connections; who has is told that they cannot be had. */
Test(shutdown, few_descriptors_are_told_to_who_wants_more, .timeout = 120)
{
    static const struct {
        const char *config;
        bool warns;
    } rows[] = {{"{\"limits\":{\"drain_s\":600}}", false},
                {"{\"limits\":{\"connections\":20000}}", true},
                {"{\"limits\":{\"connections\":0}}", false}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        daemon_start(&router, rows[i].config, 1024);
        cr_expect_eq(daemon_logged(&router, "few_descriptors"), rows[i].warns, "%s",
                     rows[i].config);
        cr_expect_eq(daemon_stop(&router), 0);
    }
}

/* Runs the program with one line of arguments and returns its exit status. */
static int run(const char *arguments, char *output, size_t size)
{
    char command[8192];

    snprintf(command, sizeof command, "%s %s 2>&1", daemon_program(), arguments);
    return command_run(command, output, size);
}

Test(shutdown, the_command_line_says_what_is_wrong, .timeout = 120)
{
    static const struct {
        const char *arguments;
        int status;
        const char *holds;
    } rows[] = {
        {"--help", 0, "Exit status"},
        {"--version", 0, "mcpx-router 0."},
        {"--nonsense", 2, "usage: mcpx-router"},
        {"--chekc --dev", 2, "did you mean --check?"},
        {"stray", 2, "mcpx-router: stray: unknown argument"},
        {"stray", 2, "usage: mcpx-router"},
        {"--config", 2, "usage: mcpx-router"},
        {"--config /nonexistent.json", 2, "/nonexistent.json"},
        {"--listen nonsense", 2, "nonsense"},
        {"--dev --check", 0, "configuration is valid\n"},
        {"--dev --check", 0, "\nbound: connections: 20000, of one participant: 2000\n"},
        {"--dev --check", 0, "\nneed: bytes of memory: "},
        {"--dev --check", 0, "\nneed: file descriptors: 21280 at most, "},
        {"--check --listen nonsense", 2, "nonsense"},
        {"--dev --listen 0.0.0.0:0", 2, "loopback"},
    };
    static char output[65536];
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        int status = run(rows[i].arguments, output, sizeof output);

        cr_expect_eq(status, rows[i].status, "%s: %d\n%s", rows[i].arguments, status, output);
        cr_expect(strstr(output, rows[i].holds) != NULL, "%s: %s", rows[i].arguments, output);
    }
}

Test(shutdown, one_address_too_many_is_named, .timeout = 120)
{
    static char output[65536];
    char arguments[4096] = "--check";
    size_t len = strlen(arguments);

    for (int i = 1; i <= 17; i++)
        len += (size_t)snprintf(arguments + len, sizeof arguments - len,
                                " --listen 127.0.0.1:%d", i);
    cr_expect_eq(run(arguments, output, sizeof output), 2, "%s", output);
    cr_expect(strstr(output, "--listen 127.0.0.1:17: expected at most 16"), "%s", output);
}

/* Whoever starts a second one reads what to do. */
Test(shutdown, an_address_in_use_is_named_with_what_to_do, .timeout = 120)
{
    char arguments[128], port[16], output[4096];

    daemon_start(&router, patient, 0);
    snprintf(port, sizeof port, "%d", router.port[0]);
    snprintf(arguments, sizeof arguments, "--dev --listen 127.0.0.1:%s", port);
    cr_expect_eq(run(arguments, output, sizeof output), 1, "%s", output);
    cr_expect(strstr(output, port) && strstr(output, "in use"), "%s", output);
    cr_expect(strstr(output, "another program listens there, perhaps another mcpx-router: end "
                             "it, or choose another port with --listen HOST:PORT"),
              "%s", output);
    cr_expect(strstr(output, "refused") == NULL, "one line says it: %s", output);
    cr_expect_eq(daemon_stop(&router), 0);
}
