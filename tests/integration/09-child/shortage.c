/*
 * No memory, no descriptors: a start that cannot be had says so and leaves nothing behind, and a
 * child that could not be brought back is brought back when the shortage is over. What breaks here
 * is the bridge that a moment of shortage ends for good.
 */
#include "tests/support/child_story.h"
#include "tests/support/fault_alloc.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static struct story story;

static void end(void)
{
    story_end(&story);
}

TestSuite(child_shortage, .fini = end);

Test(child_shortage, whichever_allocation_fails_nothing_is_left_behind, .timeout = 300)
{
    enum mcpx_err err;
    int before, failures = -1;
    size_t nth = 0;

    story_prepare(&story, "echo", NULL);
    story.config.name = "odd";
    story.config.cwd = "/tmp";
    before = story_descriptors();
    do {
        fault_alloc_arm(++nth);
        err = mcpx_child_new(&story.config, &story.child);
        failures++;
        if (fault_alloc_disarm()) {
            cr_expect_eq(err, MCPX_ENOMEM, "allocation %zu: %s", nth, mcpx_strerror(err));
            cr_expect_eq(story_descriptors(), before, "allocation %zu", nth);
        }
    } while (err);
    cr_expect(failures >= 5, "%d", failures);
    story_until(&story, "RUNNING ");
    story_end(&story);
    cr_expect_eq(story_children(), 0);
}

Test(child_shortage, a_line_that_finds_no_memory_spoils_no_other, .timeout = 300)
{
    static char big[1000001];

    memset(big, 'b', sizeof big - 1);
    story_begin(&story, "echo", NULL);
    cr_expect_eq(story_say(&story, "one"), MCPX_OK);
    fault_alloc_arm(1);
    cr_expect_eq(story_say(&story, big), MCPX_ENOMEM);
    cr_expect(fault_alloc_disarm());
    cr_expect_eq(story_say(&story, "two"), MCPX_OK);
    story_until(&story, "line one\nline two\n");
}

/* For the socket to the supervisor and two pipes, both ends, and /dev/null. */
enum { NEEDED = 7 };

/* At most `more` beyond those that are open: the lowest free one tells where they begin. */
static struct rlimit allow_descriptors(rlim_t more)
{
    struct rlimit before, now;
    int lowest = dup(STDERR_FILENO);

    cr_assert(lowest >= 0 && getrlimit(RLIMIT_NOFILE, &before) == 0);
    close(lowest);
    now = before;
    now.rlim_cur = (rlim_t)lowest + more;
    cr_assert(setrlimit(RLIMIT_NOFILE, &now) == 0);
    return before;
}

Test(child_shortage, without_descriptors_there_is_no_child_and_no_trace, .timeout = 300)
{
    struct mcpx_child *child = NULL;
    struct rlimit before;
    rlim_t more;
    int count;

    story_prepare(&story, "echo", NULL);
    count = story_descriptors();
    for (more = 0; more < NEEDED; more++) {
        before = allow_descriptors(more);
        errno = 0;
        cr_expect_eq(mcpx_child_new(&story.config, &child), MCPX_ESYSTEM, "%d", (int)more);
        cr_expect_eq(errno, EMFILE, "%d", (int)more);
        setrlimit(RLIMIT_NOFILE, &before);
        cr_expect_eq(story_descriptors(), count, "%d", (int)more);
    }
    cr_expect_null(child);
    cr_expect_eq(uv_loop_close(&story.loop), 0);
    cr_expect_eq(story_children(), 0);
}

static struct rlimit enough;
static int downs;

/* The second start finds no descriptors, the third does. */
static void run_short(struct story *one)
{
    if (one->report.state != MCPX_CHILD_DOWN)
        return;
    if (++downs == 1)
        enough = allow_descriptors(0);
    else
        setrlimit(RLIMIT_NOFILE, &enough);
}

Test(child_shortage, a_child_comes_back_when_the_shortage_is_over, .timeout = 300)
{
    story_prepare(&story, "echo", NULL);
    story.config.restart = true;
    story.config.backoff_ms = 1;
    story.hook = run_short;
    downs = 0;
    story_start(&story);
    story_until(&story, "RUNNING ");
    mcpx_child_kill(story.child);
    story_until(&story, "DOWN killed by signal 9 (SIGKILL)\n"
                        "DOWN cannot start a process: Too many open files\nSTARTING \n");
    cr_expect(story_say(&story, "back") == MCPX_OK);
    story_until(&story, "line back\n");
}
