/*
 * Ways in which a child ends, and what its owner is told about each. What breaks here is every
 * bridge to a server on standard input and output: one that waits for the dead, restarts the
 * living, or blames the wrong cause.
 */
#include "lib/edge/timer.h"
#include "tests/support/child_story.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct story story;

static void end(void)
{
    story_end(&story);
}

TestSuite(child_ends, .fini = end);

Test(child_ends, each_end_is_told_with_its_cause, .timeout = 200)
{
    static const struct {
        const char *mode, *number, *told;
        int code, signal;
    } rows[] = {
        {"exit", "0", "DOWN exited with code 0\n", 0, 0},
        {"exit", "3", "DOWN exited with code 3\n", 3, 0},
        {"exit", "255", "DOWN exited with code 255\n", 255, 0},
        {"signal", "9", "DOWN killed by signal 9 (SIGKILL)\n", -1, 9},
        {"signal", "11", "DOWN killed by signal 11 (SIGSEGV)\n", -1, 11},
        {"signal", "16", "DOWN killed by signal 16 (another signal)\n", -1, 16},
        {"mute", NULL, "DOWN closed its output\n", -1, 9},
        {"no such mode", NULL, "DOWN exited with code 2\n", 2, 0},
    };
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        story_begin(&story, rows[i].mode, rows[i].number);
        story_until(&story, "FAILED ");
        cr_expect(story_tells(&story, rows[i].told), "%s: %s", rows[i].told, story.told.text);
        cr_expect_eq(story.report.code, rows[i].code, "%s", rows[i].told);
        cr_expect_eq(story.report.signal, rows[i].signal, "%s", rows[i].told);
        cr_expect_eq(story.report.retry_ms, -1, "%s", rows[i].told);
        cr_expect(story.report.pid > 0 && kill(story.report.pid, 0) && errno == ESRCH);
        story_end(&story);
    }
}

Test(child_ends, the_states_come_in_their_order, .timeout = 300)
{
    story_begin(&story, "echo", NULL);
    cr_expect(story_say(&story, "hello") == MCPX_OK, "written before it runs");
    story_until(&story, "line hello\n");
    mcpx_child_stop(story.child);
    mcpx_child_stop(story.child);
    cr_expect_eq(story_say(&story, "late"), MCPX_ECLOSED);
    story_until(&story, "STOPPED ");
    cr_expect_str_eq(story.told.text, "STARTING \nRUNNING \nline hello\n"
                                      "STOPPED exited with code 0\n");
}

Test(child_ends, one_that_says_nothing_is_running_after_a_moment, .timeout = 300)
{
    story_begin(&story, "echo", NULL);
    story_until(&story, "RUNNING ");
    cr_expect_eq(story.lines, 0);
}

/* What a library does in each process that is forked: libuv closes descriptors by number. */
static void close_what_was_mine(void)
{
    for (int fd = 4; fd < 32; fd++)
        close(fd);
}

Test(child_ends, what_cannot_be_executed_has_failed_and_is_not_tried_again, .timeout = 300)
{
    static char *missing[] = {"no-such-program-anywhere", NULL};
    static char *folder[] = {"/", NULL};
    static const struct {
        char **argv;
        const char *cwd, *told;
    } rows[] = {
        {missing, NULL,
         "FAILED cannot execute 'no-such-program-anywhere': No such file or directory\n"},
        {folder, NULL, "FAILED cannot execute '/': Permission denied\n"},
        {missing, "/no/such/folder",
         "FAILED cannot enter the directory '/no/such/folder': No such file or directory\n"},
    };
    size_t i;

    cr_assert_eq(pthread_atfork(NULL, NULL, close_what_was_mine), 0);
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        story_prepare(&story, "", NULL);
        story.config.argv = rows[i].argv;
        story.config.cwd = rows[i].cwd;
        story.config.restart = true;
        story_start(&story);
        story_until(&story, "FAILED ");
        cr_expect(story_tells(&story, rows[i].told), "%s: %s", rows[i].told, story.told.text);
        cr_expect_not(story_tells(&story, "DOWN"), "%s", rows[i].told);
        cr_expect_eq(story.report.pid, 0, "%s", rows[i].told);
        cr_expect_eq(story_say(&story, "x"), MCPX_ECLOSED, "%s", rows[i].told);
        story_end(&story);
    }
}

Test(child_ends, a_child_without_program_or_loop_is_refused)
{
    static char *none[] = {NULL};
    struct mcpx_child *child = NULL;

    story_prepare(&story, "echo", NULL);
    story.config.argv = none;
    cr_expect_eq(mcpx_child_new(&story.config, &child), MCPX_EINVALID);
    story.config.argv = NULL;
    cr_expect_eq(mcpx_child_new(&story.config, &child), MCPX_EINVALID);
    story_prepare(&story, "echo", NULL);
    story.config.loop = NULL;
    cr_expect_eq(mcpx_child_new(&story.config, &child), MCPX_EINVALID);
    cr_expect_null(child);
    mcpx_child_free(NULL);
}

/* Each within its time, and the stubborn ones not before it. */
Test(child_ends, stopping_ends_the_stubborn_in_time, .timeout = 200)
{
    static const struct {
        const char *mode, *said, *told;
        int64_t stop_ms;
        long least_ms;
    } rows[] = {
        {"echo", "", "STOPPED exited with code 0\n", 40000, 0},
        {"ignore_eof", "line ignores", "STOPPED killed by signal 15 (SIGTERM)\n", 16000, 4000},
        {"ignore_term", "line ignores", "STOPPED killed by signal 9 (SIGKILL)\n", 400, 400},
        {"close_input", "line closed", "STOPPED killed by signal 15 (SIGTERM)\n", 16000, 4000},
        {"stop", "line stops", "STOPPED killed by signal ", 400, 100},
        {"stop_handle_term", "line stops", "STOPPED exited with code 43\n", 16000, 4000},
    };
    long began_ms, took_ms;
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        story_prepare(&story, rows[i].mode, NULL);
        story.config.stop_ms = rows[i].stop_ms;
        story_start(&story);
        story_until(&story, "RUNNING ");
        story_until(&story, rows[i].said);
        began_ms = mx_clock_now().mono_ms;
        mcpx_child_stop(story.child);
        story_until(&story, "STOPPED ");
        took_ms = mx_clock_now().mono_ms - began_ms;
        cr_expect(story_tells(&story, rows[i].told), "%s: %s", rows[i].told, story.told.text);
        cr_expect(took_ms + 20 >= rows[i].least_ms, "%s: %ld ms", rows[i].mode, took_ms);
        story_end(&story);
    }
}

Test(child_ends, killing_one_that_hangs_brings_it_back, .timeout = 300)
{
    pid_t first;

    story_prepare(&story, "stop", NULL);
    story.config.restart = true;
    story.config.backoff_ms = 1;
    story_start(&story);
    story_until(&story, "line stops itself\n");
    first = story.report.pid;
    mcpx_child_kill(story.child);
    story_until(&story, "DOWN killed by signal 9 (SIGKILL)\nSTARTING \nRUNNING \n");
    cr_expect_neq(story.report.pid, first);
}

static int64_t pauses[10];
static size_t pause_count;

static void keep_pause(struct story *one)
{
    if (one->report.state == MCPX_CHILD_DOWN && pause_count < 10)
        pauses[pause_count++] = one->report.retry_ms;
    if (pause_count == 10)
        mcpx_child_stop(one->child);
}

Test(child_ends, pauses_double_up_to_64_times_the_first, .timeout = 300)
{
    static const int64_t expected[10] = {1, 2, 4, 8, 16, 32, 64, 64, 64, 64};
    size_t i;

    story_prepare(&story, "exit", "1");
    story.config.restart = true;
    story.config.backoff_ms = 1;
    story.hook = keep_pause;
    pause_count = 0;
    story_start(&story);
    story_until(&story, "STOPPED exited with code 1\n");
    for (i = 0; i < 10; i++)
        cr_expect_eq(pauses[i], expected[i], "%zu: %ld", i, (long)pauses[i]);
}

Test(child_ends, stopping_while_it_pauses_needs_no_waiting, .timeout = 300)
{
    story_prepare(&story, "exit", "1");
    story.config.restart = true;
    story.config.backoff_ms = 3600000;
    story_start(&story);
    story_until(&story, "DOWN exited with code 1\n");
    cr_expect_eq(story.report.retry_ms, 3600000);
    mcpx_child_kill(story.child);
    mcpx_child_stop(story.child);
    story_until(&story, "STOPPED exited with code 1\n");
}

static void stop_at_once(struct story *one)
{
    if (one->report.state == MCPX_CHILD_STARTING)
        mcpx_child_stop(one->child);
}

/* Before the loop has run, and while it tells of the start. */
Test(child_ends, stopping_is_possible_at_any_moment, .timeout = 300)
{
    story_prepare(&story, "ignore_eof", NULL);
    story.config.stop_ms = 100;
    story_start(&story);
    mcpx_child_stop(story.child);
    story_until(&story, "STOPPED ");
    story_end(&story);
    story_prepare(&story, "ignore_eof", NULL);
    story.config.stop_ms = 100;
    story.hook = stop_at_once;
    story_start(&story);
    story_until(&story, "STOPPED ");
    story_end(&story);
    story_begin(&story, "echo", NULL);
    mcpx_child_kill(story.child);
    story_until(&story, "FAILED killed by signal 9 (SIGKILL)\n");
}

Test(child_ends, a_program_begins_with_a_clean_slate, .timeout = 300)
{
    sigset_t some;

    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    sigprocmask(SIG_BLOCK, &some, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    cr_assert(dup2(STDERR_FILENO, 77) == 77); /* a descriptor somebody leaks */
    story_prepare(&story, "describe", NULL);
    story.config.cwd = "/tmp";
    story_start(&story);
    story_until_lines(&story, 7);
    cr_expect_str_eq(story.told.text, "STARTING \nRUNNING \nline descriptors 3\n"
                                      "line leads its session 1\nline leads its group 1\n"
                                      "line signal at the parent's death 9\n"
                                      "line signals blocked or not default 0\n"
                                      "line /tmp\nline marked\n");
}
