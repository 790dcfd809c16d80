/*
 * child_spawn.h - a warden and its child, just started.
 */
#ifndef EDGE_CHILD_SPAWN_H
#define EDGE_CHILD_SPAWN_H

#include "lib/edge/child_reap.h"

#include <mcpx/error.h>

/** The owner's ends, in the order of struct mx_spawned's `fds`. */
enum mx_child_end {
    MX_END_CONTROL, /* to the warden: orders out, news in */
    MX_END_INPUT,
    MX_END_OUTPUT,
    MX_END_ERRORS,
    MX_END_COUNT
};

/**
 * warden   process id, to be waited for once the control socket has closed
 * fds      ours, close-on-exec; MX_END_ERRORS is -1 when that output is discarded
 * mark     entry of the environment that only this child's descendants have
 */
struct mx_spawned {
    pid_t warden;
    int fds[MX_END_COUNT];
    char mark[MX_REAP_MARK_SIZE];
};

/**
 * Starts a warden that starts the program; how that goes, the control socket tells.
 *
 * argv      borrowed
 * cwd       borrowed; may be NULL
 * discard   its standard error goes to /dev/null
 *
 * Returns MCPX_OK with everything in `out` given; MCPX_ENOMEM; MCPX_ESYSTEM, errno tells.
 */
enum mcpx_err mx_child_spawn(char *const *argv, const char *cwd, bool discard,
                             struct mx_spawned *out);

#endif
