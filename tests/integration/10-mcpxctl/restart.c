/*
 * What breaks for whom: an operator approves a call that takes minutes, the router is restarted
 * meanwhile, and whether it was done is never told; or a script waits a minute for a server that
 * went away in the first second. Protocol: sections 5 and 7.
 */
#include "stage.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Tokens that survive a restart: "token-of-ann" and "token-of-fs". */
static const char settled[] =
    "{\"limits\":{\"messages_per_minute\":0,\"bytes_per_minute\":0,\"connects_per_s\":0,"
    "\"drain_s\":1},\"participants\":{"
    "\"ann\":{\"topics\":[\"*\"],\"grants\":[\"*\"],\"token_sha256\":"
    "\"a3656c50c59b9dd17e7b7539929effb20169a63d77b0453e14162984b611c5f8\"},"
    "\"fs\":{\"topics\":[\"*\"],\"grants\":[\"*\"],\"token_sha256\":"
    "\"2948195910f5b64589230333a8c2b54ada9024eb990245f1abf4484cb641ef86\"}}}";

static struct server fs;

static void set_up(void)
{
    char url[64];

    daemon_start(&router, settled, 0);
    snprintf(url, sizeof url, "ws://127.0.0.1:%d", router.port[0]);
    setenv("MCPX_URL", url, 1);
    setenv("MCPX_TOPIC", "room", 1);
    setenv("MCPX_TOKEN", "token-of-ann", 1);
    server_start_with(&fs, &router, "token-of-fs", "room");
}

static void tear_down(void)
{
    server_stop(&fs);
    cr_expect_eq(daemon_stop(&router), 0);
}

TestSuite(restart, .init = set_up, .fini = tear_down, .timeout = 300);

/* Runs a line while the router is restarted, as soon as `kind` is in its history. */
static int run_through_restart(const char *line, const char *kind, int signal)
{
    char look[256];
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        char command[1024];

        snprintf(command, sizeof command, "{ %s; } >/tmp/mcpxctl-restart-%d 2>&1", line,
                 (int)getpid());
        _exit(run(command));
    }
    snprintf(look, sizeof look, "mcpxctl history --as bob --kind %s", kind);
    setenv("MCPX_TOKEN", "", 1);
    do
        cr_assert_eq(run(look), 0);
    while (!output[0]);
    setenv("MCPX_TOKEN", "token-of-ann", 1);
    daemon_restart(&router, settled, signal);
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    snprintf(look, sizeof look, "/tmp/mcpxctl-restart-%d", (int)pid);
    read_file(look);
    return WEXITSTATUS(status);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    for (text = strstr(text, part); text; text = strstr(text + 1, part))
        count++;
    return count;
}

Test(restart, who_waits_is_answered_when_the_router_is_back)
{
    static const struct {
        const char *line, *kind;
        int signal;
        const char *says;
    } rows[] = {
        {"mcpxctl call late --to fs", "mcp/request:tools/call:late", SIGTERM, "better late\n"},
        {"mcpxctl call late --to fs", "mcp/request:tools/call:late", SIGKILL, "better late\n"},
        {"mcpxctl list resources --to fs --timeout 60", "mcp/request:resources/list", SIGTERM,
         "fs  late:than/never\n"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        int status = run_through_restart(rows[i].line, rows[i].kind, rows[i].signal);

        cr_expect_eq(status, 0, "%s exits with %d: %s", rows[i].line, status, output);
        cr_expect_not_null(strstr(output, rows[i].says), "%s says: %s", rows[i].line, output);
        cr_expect_eq(count_of(output, "not connected any more"), 1, "%s", output);
        cr_expect_eq(count_of(output, "\n"), 2, "%s", output);
    }
}

Test(restart, what_was_approved_is_seen_to_its_end)
{
    char id[64], word[128], line[256];
    int status;

    run_for_id(id, "mcpxctl propose late --to fs");
    find_listed("mcpxctl proposals", id, word);
    snprintf(line, sizeof line, "mcpxctl approve %s --yes", word);
    status = run_through_restart(line, "mcp/request:tools/call:late", SIGTERM);
    cr_expect_eq(status, 0, "%d: %s", status, output);
    cr_expect_not_null(strstr(output, "better late\n"), "%s", output);
    cr_expect_eq(count_of(output, "not connected any more"), 1, "%s", output);
}

Test(restart, who_leaves_in_the_middle_is_no_longer_waited_for)
{
    expect("mcpxctl call die --to fs 2>&1", 1, "mcpxctl call: fs left the topic\n");
    server_stop(&fs);
    server_start_with(&fs, &router, "token-of-fs", "room");
    expect("mcpxctl list templates --to fs --timeout 60 2>&1", 1,
           "mcpxctl list: fs left the topic\n");
    server_stop(&fs);
    server_start_with(&fs, &router, "token-of-fs", "room");
    expect("mcpxctl list templates --timeout 60 2>&1", 4, "nobody in the topic answers");
}

/* The server went down with the router and stays away. */
Test(restart, who_does_not_come_back_is_given_up)
{
    char kind[] = "mcp/request:tools/call:slow";
    int status;

    kill(fs.pid, SIGSTOP);
    status = run_through_restart("mcpxctl call slow --to fs", kind, SIGTERM);
    cr_expect_eq(status, 1, "%d: %s", status, output);
    cr_expect_not_null(strstr(output, "fs left the topic\n"), "%s", output);
}
