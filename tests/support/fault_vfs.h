/*
 * fault_vfs.h - SQLite's file system with a disk that fails: writes that find no room, syncs that
 * are lost. Registered under the name FAULT_VFS; may be changed while threads use it.
 */
#ifndef TEST_FAULT_VFS_H
#define TEST_FAULT_VFS_H

#define FAULT_VFS "mcpx-fault"

enum fault_vfs_fault {
    FAULT_NONE,
    FAULT_NO_ROOM, /* a write finds no room: SQLITE_FULL */
    FAULT_WRITE,   /* a write fails: SQLITE_IOERR_WRITE */
    FAULT_SYNC,    /* a sync fails: SQLITE_IOERR_FSYNC. What was written may be there or not */
    FAULT_LARGE,   /* a file has `after` KiB, and finds no more room: SQLITE_FULL */
    FAULT_READ,    /* a read fails: SQLITE_IOERR_READ */
};

/** Makes it known to SQLite. */
void fault_vfs_register(void);

/**
 * From now on every operation that the fault concerns fails, after `after` that succeed.
 *
 * behind   only on files whose names end so ("-wal"; "" = all)
 */
void fault_vfs_set(enum fault_vfs_fault fault, int after, const char *behind);

#endif
