/*
 * watched_vfs.h - SQLite's file system with somebody in between, who is asked before each operation
 * that matters to a disk.
 */
#ifndef TEST_WATCHED_VFS_H
#define TEST_WATCHED_VFS_H

#include <sqlite3.h>

/** What `sync` answers when nothing is to be synced in truth. */
enum { WATCH_DONE = -1 };

/**
 * Each answers SQLITE_OK, and the operation goes on, or the code that it fails with. `name` is the
 * file's. Called from any thread. Any may be NULL.
 */
struct vfs_watch {
    int (*open)(const char *name, int flags);
    int (*read)(const char *name, int len, sqlite3_int64 at);
    int (*write)(const char *name, const void *bytes, int len, sqlite3_int64 at);
    int (*truncate)(const char *name, sqlite3_int64 size);
    int (*sync)(const char *name, int flags);
    int (*remove)(const char *name);
};

/** The file system. Static memory, zero-initialised. */
struct watched_vfs {
    sqlite3_vfs vfs;
    sqlite3_vfs *under;
    const struct vfs_watch *watch;
};

/** Makes it known to SQLite by a name. */
void watched_vfs_register(struct watched_vfs *watched, const char *name,
                          const struct vfs_watch *watch);

#endif
