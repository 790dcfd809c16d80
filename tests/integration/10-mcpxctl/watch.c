/*
 * What breaks for whom: somebody watches a topic and misses a message, takes a lie for the truth,
 * or cannot end the program as programs are ended. Protocol: section 5.
 */
#include "stage.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(watch, .init = stage_set_up, .fini = stage_tear_down, .timeout = 300);

Test(watch, a_watch_shows_what_passes_its_filters)
{
    static char shown[OUTPUT_MAX];
    char people[32], programs[32];
    pid_t watch = start_watch("--as eye --count 3 --from ann", people), raw;
    int status;

    cr_assert_eq(run("mcpxctl say one --as ann"), 0);
    cr_assert_eq(run("mcpxctl call echo '{\"a\":1}' --to fs --as bob"), 0);
    cr_assert_eq(run("mcpxctl call echo '{\"a\":2}' --to fs --as ann"), 0);
    cr_assert_eq(run("mcpxctl say two --as ann"), 0);
    cr_assert_eq(waitpid(watch, &status, 0), watch);
    cr_expect_eq(WEXITSTATUS(status), 0);
    read_file(people);
    cr_expect_not_null(strstr(output, "ann joins\n"), "%s", output);
    cr_expect_not_null(strstr(output, "  ann -> everyone  chat  one\n"), "%s", output);
    cr_expect_not_null(strstr(output, "  ann -> fs  mcp/request:tools/call:echo  {\"a\":2}\n"),
                       "%s", output);
    cr_expect_not_null(strstr(output, "chat  two\n"), "%s", output);
    cr_expect_null(strstr(output, "bob"), "%s", output);

    raw =
        start_watch("--as eye --json --kind mcp/response:tools/call:echo --count 1", programs);
    cr_assert_eq(run("mcpxctl say three --as ann"), 0);
    cr_assert_eq(run("mcpxctl call echo '{\"a\":3}' --to fs --as ann"), 0);
    cr_assert_eq(waitpid(raw, &status, 0), raw);
    read_file(programs);
    cr_expect_not_null(strstr(output, "\"kind\":\"mcp/response:tools/call:echo\""), "%s",
                       output);
    snprintf(shown, sizeof shown, "%s", output);
    cr_assert_eq(run("mcpxctl history --limit 1 --json --as ann"), 0);
    cr_expect_str_eq(shown, output);
}

/* Of much that was said, somebody wants to see the last of what one person said. */
Test(watch, the_history_shown_is_that_of_what_was_asked_for)
{
    static const char *const lines[] = {
        "mcpxctl say one --as ann", "mcpxctl say two --as ann", "mcpxctl say three --as bob",
        "mcpxctl say four --as ann", "mcpxctl call echo '{}' --to fs --as ann"};

    for (size_t i = 0; i < COUNT(lines); i++)
        cr_assert_eq(run(lines[i]), 0, "%s", output);
    cr_assert_eq(run("mcpxctl watch --history 2 --kind chat --from ann --count 2 --as eye"
                     " 2>/dev/null | sed 's/.*  chat  //'"),
                 0);
    cr_expect_str_eq(output, "two\nfour\n");
    cr_assert_eq(run("mcpxctl watch --history 9 --kind chat --count 4 --as eye"
                     " 2>/dev/null | sed 's/.*  chat  //'"),
                 0);
    cr_expect_str_eq(output, "one\ntwo\nthree\nfour\n");
}

/* Who looks away when it is said misses it for good. */
Test(watch, that_there_is_no_router_is_said_again)
{
    expect("mcpxctl watch --as ann --url ws://127.0.0.1:1 --wait 10.5 2>&1", 5,
           "still not connected: cannot connect to 127.0.0.1:1: connection refused; trying");
}

Test(watch, signals_and_lost_readers_end_it_as_they_should)
{
    char file[32];
    pid_t watch = start_watch("--as eye", file);
    int status, pipes[2];

    kill(watch, SIGINT);
    cr_assert_eq(waitpid(watch, &status, 0), watch);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 130);
    unlink(file);

    cr_assert_eq(run("mcpxctl say one --as ann"), 0);
    cr_assert_eq(pipe(pipes), 0);
    close(pipes[0]);
    watch = fork();
    if (watch == 0) {
        char program[4096];

        snprintf(program, sizeof program, "%s/bin/mcpxctl", getenv("MCPX_BINARY_DIR"));
        signal(SIGPIPE, SIG_DFL);
        dup2(pipes[1], STDOUT_FILENO);
        execl(program, "mcpxctl", "history", "--as", "ann", (char *)NULL);
        _exit(127);
    }
    close(pipes[1]);
    cr_assert_eq(waitpid(watch, &status, 0), watch);
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
}

Test(watch, an_interrupted_call_is_cancelled)
{
    char program[4096];
    pid_t call;
    int status;

    snprintf(program, sizeof program, "%s/bin/mcpxctl", getenv("MCPX_BINARY_DIR"));
    call = fork();
    if (call == 0) {
        execl(program, "mcpxctl", "call", "slow", "--to", "fs", "--as", "ann", (char *)NULL);
        _exit(127);
    }
    do
        cr_assert_eq(run("mcpxctl history --kind mcp/request:tools/call:slow --as bob"), 0);
    while (!output[0]);
    kill(call, SIGINT);
    cr_assert_eq(waitpid(call, &status, 0), call);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 130);
    expect("mcpxctl call seen --to fs --as ann", 0, "1\n");
}

Test(watch, a_watch_and_what_is_said_in_another_window_share_an_id)
{
    char file[32];
    pid_t watch = start_watch("--as eye --count 1", file);
    int status;

    cr_assert_eq(run("mcpxctl say hello --as eye"), 0);
    cr_assert_eq(waitpid(watch, &status, 0), watch);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    unlink(file);
}
