/*
 * child_reap.h - finding in /proc what belongs to a child, and killing it.
 */
#ifndef EDGE_CHILD_REAP_H
#define EDGE_CHILD_REAP_H

#include <stddef.h>
#include <sys/types.h>

/** How long a mark is at most, with its NUL: "MCPX_CHILD=" and sixteen digits. */
enum { MX_REAP_MARK_SIZE = 32 };

/**
 * Sends SIGKILL to every process that descends from `ancestor`, once. Who is orphaned meanwhile is
 * found by the next call. Returns how many there were, the dead not counted. Safe after a fork in a
 * program with threads.
 */
size_t mx_reap_descendants(pid_t ancestor);

/**
 * Sends SIGKILL to every process of the session `session` (0 = none) and to every process that was
 * executed with the environment entry `mark`. Returns how many there were, the dead not counted.
 */
size_t mx_reap_marked(pid_t session, const char *mark);

#endif
