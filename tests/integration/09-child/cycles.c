/*
 * A thousand starts and ends leave no process, no descriptor and no memory behind. What breaks
 * here is a bridge that runs for months beside a server that crashes every few minutes.
 */
#include "tests/support/child_story.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

static struct story story;

static void end(void)
{
    story_end(&story);
}

TestSuite(child_cycles, .fini = end);

enum { CYCLES = 1000, WARM = 20, SLACK_BYTES = 16384, MANY = 40 };

/* What a cycle does depends on its number: the ways to end, with and without descendants. */
static void cycle(int i)
{
    story_prepare(&story, i % 10 == 9 ? "orphan" : "echo", NULL);
    story_start(&story);
    if (i % 5 == 4)
        mcpx_child_stop(story.child); /* before anything is known of it */
    else {
        cr_assert(story_say(&story, "hello") == MCPX_OK);
        story_until(&story, "line hello\n");
    }
    if (i % 3 == 0)
        mcpx_child_kill(story.child);
    if (i % 3 == 1 && story.report.pid)
        kill(story.report.pid, SIGTERM);
    story_end(&story);
    cr_assert(story_left(&story) == 0, "cycle %d", i);
}

Test(child_cycles, a_thousand_leave_nothing_behind, .timeout = 280)
{
    size_t before_bytes = 0, after_bytes;
    int i, before = 0;

    for (i = 0; i < CYCLES; i++) {
        if (i == WARM) {
            before_bytes = mallinfo2().uordblks;
            before = story_descriptors();
        }
        cycle(i);
    }
    after_bytes = mallinfo2().uordblks;
    cr_expect_eq(story_descriptors(), before);
    cr_expect_eq(story_children(), 0);
    cr_expect(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "no process, no zombie");
    cr_expect(after_bytes <= before_bytes + SLACK_BYTES, "%zu bytes before, %zu after",
              before_bytes, after_bytes);
}

static int downs;

static void count_downs(struct story *one)
{
    if (one->report.state != MCPX_CHILD_DOWN)
        return;
    mcpx_text_reset(&one->told);
    if (++downs == MANY)
        mcpx_child_stop(one->child);
}

/* The same child, brought back many times. */
Test(child_cycles, restarting_leaves_nothing_behind, .timeout = 280)
{
    int before, during;

    cycle(0); /* libuv keeps two descriptors from its first loop on */
    before = story_descriptors();
    story_prepare(&story, "orphan_exit", "1");
    story.config.restart = true;
    story.config.backoff_ms = 1;
    story.hook = count_downs;
    downs = 0;
    story_start(&story);
    story_until(&story, "STOPPED exited with code 1\n");
    during = story_children();
    story_end(&story);
    cr_expect_eq(downs, MANY);
    cr_expect_eq(during, 0);
    cr_expect_eq(story_descriptors(), before);
    cr_expect_eq(story_children(), 0);
}
