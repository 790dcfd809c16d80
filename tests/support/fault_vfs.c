/*
 * fault_vfs.c - operations fail while they are counted.
 */
#include "tests/support/fault_vfs.h"

#include "tests/support/watched_vfs.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum fault_vfs_fault armed;
static int left;
static char ending[16];

void fault_vfs_set(enum fault_vfs_fault fault, int after, const char *behind)
{
    (void)pthread_mutex_lock(&lock);
    armed = fault;
    left = after;
    strncpy(ending, behind, sizeof ending - 1);
    (void)pthread_mutex_unlock(&lock);
}

static bool ends_with(const char *name, const char *behind)
{
    size_t len = strlen(name);
    size_t end = strlen(behind);

    return len >= end && strcmp(name + len - end, behind) == 0;
}

static bool fails(const char *name, enum fault_vfs_fault fault)
{
    bool now;

    (void)pthread_mutex_lock(&lock);
    now = armed == fault && ends_with(name, ending) && --left < 0;
    (void)pthread_mutex_unlock(&lock);
    return now;
}

static bool is_beyond(const char *name, sqlite3_int64 end)
{
    bool beyond;

    (void)pthread_mutex_lock(&lock);
    beyond =
        armed == FAULT_LARGE && ends_with(name, ending) && end > (sqlite3_int64)left << 10;
    (void)pthread_mutex_unlock(&lock);
    return beyond;
}

static int on_read(const char *name, int len, sqlite3_int64 at)
{
    (void)len;
    (void)at;
    return fails(name, FAULT_READ) ? SQLITE_IOERR_READ : SQLITE_OK;
}

static int on_write(const char *name, const void *bytes, int len, sqlite3_int64 at)
{
    (void)bytes;
    if (fails(name, FAULT_NO_ROOM) || is_beyond(name, at + len))
        return SQLITE_FULL;
    return fails(name, FAULT_WRITE) ? SQLITE_IOERR_WRITE : SQLITE_OK;
}

static int on_sync(const char *name, int flags)
{
    (void)flags;
    return fails(name, FAULT_SYNC) ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

void fault_vfs_register(void)
{
    static const struct vfs_watch watch = {
        .read = on_read, .write = on_write, .sync = on_sync};
    static struct watched_vfs watched;

    watched_vfs_register(&watched, FAULT_VFS, &watch);
}
