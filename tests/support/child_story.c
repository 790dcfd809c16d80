/*
 * child_story.c - every callback becomes a line of text; tests wait for lines. A deadline only
 * says when a test has failed.
 */
#include "tests/support/child_story.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Time to end is ample, so that a busy machine changes no story; tests about it say less. */
enum { SHORT_LINE = 80, STOP_MS = 40000 };

char *story_program(void)
{
    static char path[4096];
    const char *folder = getenv("MCPX_BINARY_DIR");

    snprintf(path, sizeof path, "%s/tests/odd_server", folder ? folder : "build");
    return path;
}

static void note(struct story *story, const char *what, const char *text, size_t len)
{
    mcpx_text_puts(&story->told, what);
    mcpx_text_add(&story->told, text, len);
    mcpx_text_puts(&story->told, "\n");
}

static void on_line(void *user, struct mcpx_slice line)
{
    struct story *story = user;
    char text[SHORT_LINE + 1];
    int pid;

    story->lines++;
    if (line.len > SHORT_LINE || memchr(line.text, '\0', line.len)) {
        snprintf(text, sizeof text, "of %zu bytes", line.len);
        note(story, "line ", text, strlen(text));
        return;
    }
    memcpy(text, line.text, line.len);
    text[line.len] = '\0';
    note(story, "line ", text, line.len);
    if ((sscanf(text, "escaped %d", &pid) == 1 || sscanf(text, "forked %d", &pid) == 1) &&
        story->pid_count < STORY_PIDS_MAX)
        story->pids[story->pid_count++] = pid;
}

static void on_overlong(void *user, struct mcpx_slice beginning)
{
    char text[64];

    snprintf(text, sizeof text, "%.4s (%zu)", beginning.text, beginning.len);
    note(user, "overlong ", text, strlen(text));
}

static void on_state(void *user, const struct mcpx_child_report *report)
{
    static const char *const names[] = {"STOPPED ", "STARTING ", "RUNNING ", "DOWN ",
                                        "FAILED "};
    struct story *story = user;

    story->report = *report;
    story->report.text = NULL;
    if (report->state == MCPX_CHILD_STARTING || report->state == MCPX_CHILD_RUNNING)
        note(story, names[report->state], "", 0);
    else
        note(story, names[report->state], report->text, strlen(report->text));
    if (story->hook)
        story->hook(story);
}

void story_prepare(struct story *story, const char *mode, const char *number)
{
    static char *argv[4];

    *story = (struct story){0};
    cr_assert(uv_loop_init(&story->loop) == 0);
    argv[0] = story_program();
    argv[1] = (char *)mode;
    argv[2] = (char *)number;
    story->config = (struct mcpx_child_config){.argv = argv,
                                               .stop_ms = STOP_MS,
                                               .loop = &story->loop,
                                               .on_line = on_line,
                                               .on_overlong = on_overlong,
                                               .on_state = on_state,
                                               .user = story};
}

void story_start(struct story *story)
{
    enum mcpx_err err = mcpx_child_new(&story->config, &story->child);

    cr_assert(err == MCPX_OK, "%s: %s", mcpx_strerror(err), strerror(errno));
}

void story_begin(struct story *story, const char *mode, const char *number)
{
    story_prepare(story, mode, number);
    story_start(story);
}

bool story_tells(const struct story *story, const char *text)
{
    return story->told.text && strstr(story->told.text, text);
}

static void on_patience(uv_timer_t *timer)
{
    *(bool *)timer->data = true;
}

/* One turn of the loop, which wakes up for the deadline, too. */
static void turn(struct story *story, bool *late)
{
    cr_assert(!*late, "in vain after:\n%s", story->told.text ? story->told.text : "");
    uv_run(&story->loop, UV_RUN_ONCE);
}

static void run_until(struct story *story, const char *text, size_t lines)
{
    bool late = false;
    uv_timer_t timer;

    uv_timer_init(&story->loop, &timer);
    timer.data = &late;
    uv_timer_start(&timer, on_patience, STORY_PATIENCE_MS, 0);
    while (text ? !story_tells(story, text) : story->lines < lines)
        turn(story, &late);
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(&story->loop, UV_RUN_NOWAIT);
}

void story_until(struct story *story, const char *text)
{
    run_until(story, text, 0);
}

void story_until_lines(struct story *story, size_t lines)
{
    run_until(story, NULL, lines);
}

enum mcpx_err story_say(struct story *story, const char *line)
{
    return mcpx_child_write(story->child, mcpx_slice_of(line));
}

void story_end(struct story *story)
{
    if (!story->child)
        return;
    if (story->report.state != MCPX_CHILD_STOPPED || !story_tells(story, "STOPPED ")) {
        mcpx_child_stop(story->child);
        mcpx_child_kill(story->child);
        if (!story_tells(story, "FAILED "))
            story_until(story, "STOPPED ");
    }
    cr_expect(uv_loop_close(&story->loop) == 0, "a handle is left on the loop");
    mcpx_child_free(story->child);
    story->child = NULL;
    mcpx_text_fini(&story->told);
}

size_t story_left(const struct story *story)
{
    size_t i, left = 0;

    for (i = 0; i < story->pid_count; i++)
        left += kill(story->pids[i], 0) == 0 || errno != ESRCH;
    return left;
}

int story_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;

    cr_assert(folder != NULL);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

pid_t story_parent(long pid)
{
    char path[300], text[512], *at;
    FILE *file;
    size_t len;
    int parent = 0;

    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    file = fopen(path, "r");
    len = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[len] = '\0';
    at = strrchr(text, ')');
    return at && sscanf(at + 1, " %*c %d", &parent) == 1 ? parent : -1;
}

int story_children(void)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    int count = 0;

    cr_assert(folder != NULL);
    while ((entry = readdir(folder)))
        count += story_parent(atol(entry->d_name)) == getpid();
    closedir(folder);
    return count;
}
