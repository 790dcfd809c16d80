/*
 * child_spawn.c - pipes, an environment, and a fork with every signal blocked, so that no handler
 * of the owner runs in the warden. All descriptors are close-on-exec from the moment they exist:
 * other threads may execute programs at any time.
 *
 * Refused: uv_spawn. It waits for the process it started and knows of no descendants.
 */
#define _GNU_SOURCE /* pipe2 */
#include "lib/edge/child_spawn.h"
#include "lib/edge/child_warden.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

extern char **environ;

static const char mark_name[] = "MCPX_CHILD=";

/* Ends by name: the owner's and the program's, in the order of enum mx_child_end. */
struct ends {
    int ours[MX_END_COUNT];
    int theirs[MX_END_COUNT];
};

static void close_all(int *fds)
{
    int kept = errno;

    for (int i = 0; i < MX_END_COUNT; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    errno = kept;
}

static bool open_pipe(int *reads, int *writes)
{
    int pipes[2];

    if (pipe2(pipes, O_CLOEXEC))
        return false;
    *reads = pipes[0];
    *writes = pipes[1];
    return true;
}

static bool open_errors(struct ends *ends, bool discard)
{
    if (!discard)
        return open_pipe(&ends->ours[MX_END_ERRORS], &ends->theirs[MX_END_ERRORS]);
    ends->theirs[MX_END_ERRORS] = open("/dev/null", O_WRONLY | O_CLOEXEC);
    return ends->theirs[MX_END_ERRORS] >= 0;
}

static bool open_ends(struct ends *ends, bool discard)
{
    int pair[2];

    for (int i = 0; i < MX_END_COUNT; i++)
        ends->ours[i] = ends->theirs[i] = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return false;
    ends->ours[MX_END_CONTROL] = pair[0];
    ends->theirs[MX_END_CONTROL] = pair[1];
    return open_pipe(&ends->theirs[MX_END_INPUT], &ends->ours[MX_END_INPUT]) &&
           open_pipe(&ends->ours[MX_END_OUTPUT], &ends->theirs[MX_END_OUTPUT]) &&
           open_errors(ends, discard);
}

static bool make_mark(char *mark)
{
    unsigned long long random;

    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return false;
    snprintf(mark, MX_REAP_MARK_SIZE, "%s%016llx", mark_name, random);
    return true;
}

/* Ours with the mark first and no other; the array is given, its strings are borrowed. */
static char **make_environment(char *mark)
{
    size_t count = 0, len = 0, i;
    char **all;

    while (environ && environ[count])
        count++;
    all = calloc(count + 2, sizeof *all);
    if (!all)
        return NULL;
    all[len++] = mark;
    for (i = 0; i < count; i++)
        if (strncmp(environ[i], mark_name, sizeof mark_name - 1) != 0)
            all[len++] = environ[i];
    return all;
}

static pid_t fork_warden(const struct mx_warden_task *task)
{
    sigset_t all, before;
    pid_t pid;
    int kept;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid = fork();
    if (pid == 0)
        mx_warden_run(task);
    kept = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = kept;
    return pid;
}

enum mcpx_err mx_child_spawn(char *const *argv, const char *cwd, bool discard,
                             struct mx_spawned *out)
{
    struct mx_spawned made = {0};
    char **environment = make_environment(made.mark);
    enum mcpx_err err = MCPX_ESYSTEM;
    struct mx_warden_task task;
    struct ends ends;

    if (!environment)
        return MCPX_ENOMEM;
    if (!open_ends(&ends, discard) || !make_mark(made.mark))
        goto out;
    task = (struct mx_warden_task){argv,
                                   environment,
                                   cwd,
                                   ends.theirs[MX_END_INPUT],
                                   ends.theirs[MX_END_OUTPUT],
                                   ends.theirs[MX_END_ERRORS],
                                   ends.theirs[MX_END_CONTROL],
                                   getpid()};
    made.warden = fork_warden(&task);
    if (made.warden < 0)
        goto out;
    memcpy(made.fds, ends.ours, sizeof made.fds);
    *out = made;
    err = MCPX_OK;
out:
    close_all(ends.theirs);
    if (err)
        close_all(ends.ours);
    free(environment);
    return err;
}
