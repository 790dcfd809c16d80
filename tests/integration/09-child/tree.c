/*
 * Descendants: a server is often a launcher (npx, uvx, a shell) and what it launched is what
 * holds the port, the lock, the memory. Nothing of it may outlive the child, whoever its parent is
 * by then, and nothing else may be hit.
 */
#define _GNU_SOURCE /* SYS_pidfd_open */
#include "lib/edge/timer.h"
#include "tests/support/child_story.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct story story;

static void end(void)
{
    story_end(&story);
}

TestSuite(child_tree, .fini = end);

/* However the child ends, those who left its session, its environment and their parent end, too. */
Test(child_tree, an_orphan_in_a_session_of_its_own_ends_with_the_child, .timeout = 200)
{
    static const struct {
        const char *mode, *end;
    } rows[] = {{"orphan", "stop"},
                {"orphan", "kill"},
                {"orphan", "crash"},
                {"orphan_exit", "of itself"}};
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        story_begin(&story, rows[i].mode, "0");
        story_until(&story, "line escaped");
        if (strcmp(rows[i].mode, "orphan") == 0) {
            story_until(&story, "line ready\n");
            cr_expect_eq(story_left(&story), 1, "%s: it lives", rows[i].end);
        }
        if (strcmp(rows[i].end, "stop") == 0)
            mcpx_child_stop(story.child);
        if (strcmp(rows[i].end, "kill") == 0)
            mcpx_child_kill(story.child);
        if (strcmp(rows[i].end, "crash") == 0)
            kill(story.report.pid, SIGSEGV);
        story_until(&story, strcmp(rows[i].end, "stop") == 0 ? "STOPPED " : "DOWN ");
        cr_expect_eq(story_left(&story), 0, "%s", rows[i].end);
        story_end(&story);
    }
    cr_expect_eq(story_children(), 0);
}

Test(child_tree, fifty_children_who_ignore_sigterm_end_with_the_child, .timeout = 300)
{
    story_begin(&story, "many", "50");
    story_until(&story, "line ready\n");
    cr_expect_eq(story.pid_count, 50);
    cr_expect_eq(story_left(&story), 50);
    mcpx_child_stop(story.child);
    story_until(&story, "STOPPED exited with code 0\n");
    cr_expect_eq(story_left(&story), 0);
}

Test(child_tree, a_chain_of_sessions_ends_with_the_child, .timeout = 300)
{
    story_begin(&story, "deep", "30");
    story_until(&story, "line ready\n");
    cr_expect_eq(story.pid_count, 30);
    mcpx_child_kill(story.child);
    story_until(&story, "DOWN killed by signal 9 (SIGKILL)\n");
    cr_expect_eq(story_left(&story), 0);
}

/* Thousands a second, each in a session of its own and gone before anybody could look. */
Test(child_tree, one_that_forks_and_ends_all_the_time_is_caught, .timeout = 300)
{
    story_begin(&story, "run_away", NULL);
    story_until(&story, "line ready\n");
    mcpx_child_kill(story.child);
    story_until(&story, "FAILED killed by signal 9 (SIGKILL)\n");
}

/* Two children of one owner, each with an orphan: the end of one is none of the other's. */
Test(child_tree, children_of_one_owner_do_not_touch_each_other, .timeout = 300)
{
    static struct story one, two;

    story_begin(&one, "orphan", NULL);
    story_begin(&two, "orphan", NULL);
    story_until(&one, "line ready\n");
    story_until(&two, "line ready\n");
    mcpx_child_kill(one.child);
    story_until(&one, "FAILED ");
    cr_expect_eq(story_left(&one), 0);
    cr_expect_eq(story_left(&two), 1);
    cr_expect(story_say(&two, "still here") == MCPX_OK);
    story_until(&two, "line still here\n");
    mcpx_child_stop(two.child);
    story_until(&two, "STOPPED ");
    cr_expect_eq(story_left(&two), 0);
    story_end(&one);
    story_end(&two);
}

/* What the owner runs besides, in its own session or another, is not the child's. */
Test(child_tree, other_processes_of_the_owner_live_on, .timeout = 300)
{
    int go[2], status;
    pid_t other;
    char byte;

    cr_assert(pipe(go) == 0);
    other = fork();
    if (other == 0) {
        close(go[1]);
        setsid();
        _exit(read(go[0], &byte, 1) == 1 ? 7 : 1);
    }
    story_begin(&story, "orphan", NULL);
    story_until(&story, "line ready\n");
    mcpx_child_kill(story.child);
    story_until(&story, "FAILED ");
    cr_expect_eq(kill(other, 0), 0);
    cr_expect_eq(story_children(), 1, "the other one, and no warden");
    story_end(&story);
    cr_assert(write(go[1], "x", 1) == 1);
    waitpid(other, &status, 0);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 7, "nobody else waited for it");
    close(go[0]);
    close(go[1]);
}

static pid_t parent_of(pid_t pid)
{
    pid_t parent = story_parent(pid);

    cr_assert_gt(parent, 0);
    return parent;
}

static int watch_process(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);

    cr_assert(fd >= 0, "%d: %s", (int)pid, strerror(errno));
    return fd;
}

static bool has_ended(int fd)
{
    struct pollfd end = {fd, POLLIN, 0};
    bool ended = poll(&end, 1, STORY_PATIENCE_MS) == 1;

    close(fd);
    return ended;
}

/* The machine's last resort when memory is short may choose the supervisor. */
Test(child_tree, a_killed_supervisor_takes_the_child_with_it, .timeout = 300)
{
    size_t i;

    prctl(PR_SET_CHILD_SUBREAPER, 1); /* so that it can be seen that all have ended */
    story_begin(&story, "many", "10");
    story_until(&story, "line ready\n");
    kill(parent_of(story.report.pid), SIGKILL);
    story_until(&story, "DOWN was killed with the process that looked after it\n");
    cr_expect_eq(story.report.code, -1);
    for (i = 0; i < story.pid_count; i++)
        cr_expect_eq(waitpid(story.pids[i], NULL, 0), story.pids[i]);
    cr_expect_eq(waitpid(story.report.pid, NULL, 0), story.report.pid);
    cr_expect_eq(story_left(&story), 0);
}

/* A supervisor that hangs keeps nobody waiting for ever, and nothing alive. */
Test(child_tree, a_stopped_supervisor_does_not_keep_the_child, .timeout = 300)
{
    long began_ms;
    size_t i;

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    story_prepare(&story, "many", "10");
    story.config.stop_ms = 200;
    story_start(&story);
    story_until(&story, "line ready\n");
    kill(parent_of(story.report.pid), SIGSTOP);
    began_ms = mx_clock_now().mono_ms;
    mcpx_child_stop(story.child);
    story_until(&story, "STOPPED was killed with the process that looked after it\n");
    cr_expect_lt(mx_clock_now().mono_ms - began_ms, STORY_PATIENCE_MS / 2);
    for (i = 0; i < story.pid_count; i++)
        waitpid(story.pids[i], NULL, 0);
    cr_expect_eq(story_left(&story), 0);
}

static void tell_pids(int to, const struct story *one)
{
    pid_t more[2] = {one->report.pid, parent_of(one->report.pid)};

    if (write(to, more, sizeof more) != sizeof more ||
        write(to, one->pids, one->pid_count * sizeof *one->pids) < 0)
        _exit(1);
}

/* An owner with two children whose orphans fear nothing; it hands over all process ids. */
_Noreturn static void be_owner(int to)
{
    static struct story one, two;

    story_begin(&one, "orphan", NULL);
    story_begin(&two, "many", "5");
    story_until(&one, "line ready\n");
    story_until(&two, "line ready\n");
    tell_pids(to, &one);
    tell_pids(to, &two);
    close(to);
    for (;;)
        uv_run(&one.loop, UV_RUN_ONCE);
}

/* Nothing the owner could do: it is dead at once. One is killed while it is stopped. */
Test(child_tree, an_owner_killed_with_signal_9_leaves_nothing_running, .timeout = 200)
{
    enum { EXPECTED = 1 + 5 + 2 * 2 };
    pid_t pids[EXPECTED + 1], owner;
    int watched[EXPECTED], pipes[2], stopped;
    size_t got, i;
    FILE *from;

    for (stopped = 0; stopped < 2; stopped++) {
        cr_assert(pipe(pipes) == 0);
        owner = fork();
        if (owner == 0) {
            close(pipes[0]);
            be_owner(pipes[1]);
        }
        close(pipes[1]);
        from = fdopen(pipes[0], "r");
        got = from ? fread(pids, sizeof *pids, EXPECTED + 1, from) : 0;
        cr_assert(got == EXPECTED, "%zu", got);
        fclose(from);
        for (i = 0; i < EXPECTED; i++)
            watched[i] = watch_process(pids[i]);
        if (stopped)
            kill(owner, SIGSTOP);
        kill(owner, SIGKILL);
        waitpid(owner, NULL, 0);
        for (i = 0; i < EXPECTED; i++)
            cr_expect(has_ended(watched[i]), "process %zu of the owner lives on", i);
    }
}
