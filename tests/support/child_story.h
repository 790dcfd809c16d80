/*
 * child_story.h - a child, a loop, and all that was told, as one text: what a test reads.
 */
#ifndef SUPPORT_CHILD_STORY_H
#define SUPPORT_CHILD_STORY_H

#include <mcpx/child.h>
#include <mcpx/text.h>
#include <sys/types.h>
#include <uv.h>

enum { STORY_PATIENCE_MS = 60000, STORY_PIDS_MAX = 128 };

/**
 * told     one line per event: "STARTING", "RUNNING", "line TEXT", "overlong BEGINNING (LENGTH)",
 *          "DOWN TEXT", "FAILED TEXT", "STOPPED TEXT"; a line longer than 80 bytes as its length
 * report   the last one; its text is not kept
 * pids     those named by lines "escaped PID" and "forked PID"
 * hook     called for every state, before anything else; may be NULL
 */
struct story {
    uv_loop_t loop;
    struct mcpx_child_config config;
    struct mcpx_child *child;
    struct mcpx_text told;
    struct mcpx_child_report report;
    size_t lines;
    pid_t pids[STORY_PIDS_MAX];
    size_t pid_count;
    void (*hook)(struct story *story);
};

/** Makes a loop and a configuration of `odd_server MODE NUMBER`, to be changed before the start. */
void story_prepare(struct story *story, const char *mode, const char *number);

/** Starts the child; story_begin is both. */
void story_start(struct story *story);
void story_begin(struct story *story, const char *mode, const char *number);

/** Runs the loop until `text` was told; fails the test when that takes too long. */
void story_until(struct story *story, const char *text);

/** Runs the loop until as many lines have come. */
void story_until_lines(struct story *story, size_t lines);

/** True when `text` was told so far. */
bool story_tells(const struct story *story, const char *text);

/** Writes a line. */
enum mcpx_err story_say(struct story *story, const char *line);

/** Ends the child, if any, at once, frees everything, and checks that the loop is empty. */
void story_end(struct story *story);

/** How many of `pids` still exist, as zombies or alive. */
size_t story_left(const struct story *story);

/** Open descriptors of this process, and its children, supervisors and zombies included. */
int story_descriptors(void);
int story_children(void);

/** Whose child a process is; -1 when it is gone. */
pid_t story_parent(long pid);

/** Path of the odd server. */
char *story_program(void);

#endif
