/*
 * power_vfs.h - SQLite's file system on a machine that loses its power. What was not synced is kept
 * apart: of it the disk has afterwards any part at all, in sectors of 512 bytes. Registered under
 * the name POWER_VFS; may be used by several threads.
 */
#ifndef TEST_POWER_VFS_H
#define TEST_POWER_VFS_H

#include "tests/support/dice.h"

#include <stdbool.h>
#include <stdint.h>

#define POWER_VFS "mcpx-power"

/** Makes it known to SQLite. Nothing is really synced, so that thousands of runs are quick. */
void power_vfs_register(void);

/**
 * Begins anew: files are on the disk as they are, and the power fails after so many steps: writes,
 * syncs, truncations, removals.
 */
void power_vfs_start(uint64_t steps);

/** True once the power has failed. Every operation fails since. */
bool power_vfs_failed(void);

/**
 * The power fails now, unless it has. Files are as the disk has them afterwards: what was synced,
 * and of the rest what `dice` say. Nobody may have them open.
 */
void power_vfs_fail(struct dice *dice);

#endif
