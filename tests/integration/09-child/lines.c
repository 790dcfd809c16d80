/*
 * What goes in and what comes out: lines whole, in order, bounded, and never a signal for the
 * owner. What breaks here is a bridge that loses a server's last answer, that a flood or a line
 * without end takes down, or whose terminal a server can write escape sequences to.
 */
#include "tests/support/child_story.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct story story;

static void end(void)
{
    story_end(&story);
}

TestSuite(child_lines, .fini = end);

Test(child_lines, garbage_is_cut_at_newlines_and_passed_on, .timeout = 300)
{
    story_begin(&story, "garbage", NULL);
    cr_assert(story_say(&story, "after") == MCPX_OK);
    story_until(&story, "line after\n");
    /* 0..9 and 11..255; then the ends "\n" and "\r\n" of nothing, and not UTF-8 */
    cr_expect(story_tells(&story, "line of 10 bytes\nline of 245 bytes\nline \nline \n"
                                  "line {\"unfinished\nline \xff\xfe\nline after\n"),
              "%s", story.told.text);
}

Test(child_lines, a_line_of_100_megabytes_is_told_once_and_skipped, .timeout = 200)
{
    story_prepare(&story, "long", "100");
    story.config.line_max = 1 << 20;
    story_start(&story);
    story_until(&story, "line after\n");
    cr_expect(story_tells(&story, "RUNNING \noverlong xxxx (256)\nline after\n"), "%s",
              story.told.text);
}

Test(child_lines, without_a_listener_an_overlong_line_is_skipped_in_silence, .timeout = 200)
{
    story_prepare(&story, "long", "2");
    story.config.line_max = 1 << 20;
    story.config.on_overlong = NULL;
    story_start(&story);
    story_until(&story, "RUNNING \nline after\n");
}

Test(child_lines, a_line_as_long_as_the_bound_is_a_line, .timeout = 300)
{
    story_prepare(&story, "long", "1");
    story.config.line_max = 1 << 20;
    story_start(&story);
    story_until(&story, "line of 1048576 bytes\nline after\n");
}

/* An end is told after everything that was written before it; the beginning of a line is none. */
Test(child_lines, what_was_written_before_the_end_is_told_before_it, .timeout = 200)
{
    story_begin(&story, "break_off", NULL);
    story_until(&story, "FAILED ");
    cr_expect_str_eq(story.told.text, "STARTING \nRUNNING \nline one\nline two\n"
                                      "DOWN exited with code 0\nFAILED exited with code 0\n");
    story_end(&story);
    story_begin(&story, "much", "20000");
    story_until(&story, "FAILED ");
    cr_expect_eq(story.lines, 20000);
    cr_expect(story_tells(&story, "line line 19999\nDOWN exited with code 0\n"));
}

/* All is over before the owner looks for the first time; the pipe holds more than one read. */
Test(child_lines, what_the_dead_have_written_is_read, .timeout = 300)
{
    siginfo_t info;

    story_begin(&story, "ahead", "20000");
    cr_assert(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == 0);
    story_until(&story, "FAILED ");
    if (story_tells(&story, "code 77"))
        cr_log_warn("this user may not have large pipes: not tested");
    else
        cr_expect_eq(story.lines, 20000, "%zu", story.lines);
}

Test(child_lines, many_lines_return_whole_and_in_order, .timeout = 200)
{
    enum { MANY = 20000 };
    char line[64];
    int i, missing = 0;

    story_begin(&story, "echo", NULL);
    for (i = 0; i < MANY; i++) {
        snprintf(line, sizeof line, "%d %0*d", i, i % 40 + 1, 0);
        cr_assert(story_say(&story, line) == MCPX_OK);
    }
    story_until_lines(&story, MANY);
    for (i = 0; i < MANY; i += 997) {
        snprintf(line, sizeof line, "\nline %d 0", i);
        missing += !story_tells(&story, line);
    }
    cr_expect_eq(missing, 0);
}

/* What waits when it is stopped is still read, because its input closes behind it. */
Test(child_lines, what_waits_is_written_before_its_input_closes, .timeout = 300)
{
    static char big[1 << 20];

    memset(big, 'b', sizeof big - 1);
    story_prepare(&story, "echo", NULL);
    story_start(&story);
    cr_assert(story_say(&story, big) == MCPX_OK);
    mcpx_child_stop(story.child);
    story_until(&story, "line of 1048575 bytes\nSTOPPED exited with code 0\n");
}

Test(child_lines, one_that_does_not_read_meets_the_bound, .timeout = 300)
{
    static char big[300001];

    memset(big, 'b', sizeof big - 1);
    story_prepare(&story, "ignore_eof", NULL);
    story.config.queue_max = 1000000;
    story_start(&story);
    story_until(&story, "line ignores");
    cr_expect_eq(story_say(&story, "two\nlines"), MCPX_EINVALID);
    cr_expect_eq(story_say(&story, big), MCPX_OK);
    cr_expect_eq(story_say(&story, big), MCPX_OK);
    cr_expect_eq(story_say(&story, big), MCPX_OK);
    cr_expect_eq(story_say(&story, big), MCPX_ELIMIT);
    cr_expect_eq(story_say(&story, ""), MCPX_OK, "a small one still finds room");
}

Test(child_lines, a_line_beyond_the_bound_is_never_accepted, .timeout = 300)
{
    story_prepare(&story, "echo", NULL);
    story.config.queue_max = 6;
    story_start(&story);
    cr_expect_eq(story_say(&story, "123456"), MCPX_ELIMIT);
    cr_expect_eq(story_say(&story, "12345"), MCPX_OK);
    story_until(&story, "line 12345\n");
}

/* With SIGPIPE as it is by default this program would end. */
Test(child_lines, a_closed_input_is_an_error_and_no_signal, .timeout = 300)
{
    enum mcpx_err err;

    signal(SIGPIPE, SIG_DFL);
    story_begin(&story, "close_input", NULL);
    story_until(&story, "line closed its input\n");
    err = story_say(&story, "anybody?");
    cr_expect_eq(err, MCPX_ECLOSED, "%s", mcpx_strerror(err));
    cr_expect_eq(story_say(&story, "anybody?"), MCPX_ECLOSED);
}

static void write_to_the_dead(struct story *one)
{
    if (one->report.state == MCPX_CHILD_DOWN)
        cr_expect_eq(story_say(one, "late"), MCPX_ECLOSED);
}

Test(child_lines, writing_to_one_that_is_gone_is_an_error_and_no_signal, .timeout = 300)
{
    static char big[200000];

    signal(SIGPIPE, SIG_DFL);
    memset(big, 'b', sizeof big - 1);
    story_prepare(&story, "exit", "0");
    story.hook = write_to_the_dead;
    story_start(&story);
    cr_expect_eq(story_say(&story, big), MCPX_OK);
    story_until(&story, "FAILED exited with code 0\n");
}

/* Runs `people` with our standard error in a file, and gives what was in it. */
static size_t people(const char *name, char *text, size_t size)
{
    char path[] = "/tmp/mcpx-test-stderr-XXXXXX";
    int file = mkstemp(path), before = dup(STDERR_FILENO);
    ssize_t len;

    cr_assert(file >= 0 && before >= 0 && dup2(file, STDERR_FILENO) == STDERR_FILENO);
    story_prepare(&story, "people", "0");
    story.config.name = name;
    story_start(&story);
    story_until(&story, "FAILED exited with code 0\n");
    story_end(&story);
    dup2(before, STDERR_FILENO);
    len = pread(file, text, size - 1, 0);
    text[len > 0 ? len : 0] = '\0';
    close(before);
    close(file);
    unlink(path);
    return len > 0 ? (size_t)len : 0;
}

Test(child_lines, standard_error_is_labelled_bounded_and_harmless, .timeout = 300)
{
    static char text[65536], expected[1024];
    int len =
        snprintf(expected, sizeof expected,
                 "[odd] plain\n[odd] \\x1b[31mred\\x1b[0m\ttab\n[odd] \\xc2\\x9bcsi \xc3\xa4\n"
                 "[odd] bell\\x07\\x0dback\n[odd] \\xe2\\x80\\xae\\x9b\n[odd] ");

    memset(expected + len, 'e', 256);
    snprintf(expected + len + 256, sizeof expected - (size_t)len - 256,
             "...\n[odd] last words\n");
    people("odd", text, sizeof text);
    cr_expect_str_eq(text, expected);
    cr_expect_eq(people(NULL, text, sizeof text), 0, "without a name nothing is shown");
}
