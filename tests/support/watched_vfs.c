/*
 * watched_vfs.c - every call goes to the file system that SQLite uses otherwise, after the watch
 * was asked.
 */
#include "tests/support/watched_vfs.h"

#include <string.h>

struct file {
    sqlite3_file base;
    const struct vfs_watch *watch;
    char name[200];
    sqlite3_file *real; /* behind this struct */
};

/* The name as the watch knows it, and its answer; SQLITE_OK where it does not care. */
#define ASK(file, method, ...)                                                                \
    (((struct file *)(file))->watch->method                                                   \
         ? ((struct file *)(file))->watch->method(((struct file *)(file))->name, __VA_ARGS__) \
         : SQLITE_OK)

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct file *)file)->real;
}

#define REAL(file, method) (real_of(file)->pMethods->method)

static int on_close(sqlite3_file *file)
{
    return REAL(file, xClose)(real_of(file));
}

static int on_read(sqlite3_file *file, void *out, int len, sqlite3_int64 at)
{
    int code = ASK(file, read, len, at);

    return code ? code : REAL(file, xRead)(real_of(file), out, len, at);
}

static int on_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
    int code = ASK(file, write, bytes, len, at);

    return code ? code : REAL(file, xWrite)(real_of(file), bytes, len, at);
}

static int on_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int code = ASK(file, truncate, size);

    return code ? code : REAL(file, xTruncate)(real_of(file), size);
}

static int on_sync(sqlite3_file *file, int flags)
{
    int code = ASK(file, sync, flags);

    if (code == WATCH_DONE)
        return SQLITE_OK;
    return code ? code : REAL(file, xSync)(real_of(file), flags);
}

static int on_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return REAL(file, xFileSize)(real_of(file), size);
}

static int on_lock(sqlite3_file *file, int level)
{
    return REAL(file, xLock)(real_of(file), level);
}

static int on_unlock(sqlite3_file *file, int level)
{
    return REAL(file, xUnlock)(real_of(file), level);
}

static int on_check(sqlite3_file *file, int *out)
{
    return REAL(file, xCheckReservedLock)(real_of(file), out);
}

static int on_control(sqlite3_file *file, int op, void *argument)
{
    return REAL(file, xFileControl)(real_of(file), op, argument);
}

static int on_sector(sqlite3_file *file)
{
    return REAL(file, xSectorSize)(real_of(file));
}

static int on_traits(sqlite3_file *file)
{
    return REAL(file, xDeviceCharacteristics)(real_of(file));
}

static int on_map(sqlite3_file *file, int page, int size, int extend, void volatile **out)
{
    return REAL(file, xShmMap)(real_of(file), page, size, extend, out);
}

static int on_map_lock(sqlite3_file *file, int offset, int count, int flags)
{
    return REAL(file, xShmLock)(real_of(file), offset, count, flags);
}

static void on_barrier(sqlite3_file *file)
{
    REAL(file, xShmBarrier)(real_of(file));
}

static int on_unmap(sqlite3_file *file, int remove)
{
    return REAL(file, xShmUnmap)(real_of(file), remove);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = on_close,
    .xRead = on_read,
    .xWrite = on_write,
    .xTruncate = on_truncate,
    .xSync = on_sync,
    .xFileSize = on_size,
    .xLock = on_lock,
    .xUnlock = on_unlock,
    .xCheckReservedLock = on_check,
    .xFileControl = on_control,
    .xSectorSize = on_sector,
    .xDeviceCharacteristics = on_traits,
    .xShmMap = on_map,
    .xShmLock = on_map_lock,
    .xShmBarrier = on_barrier,
    .xShmUnmap = on_unmap,
};

static int on_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *out, int flags,
                   int *flags_out)
{
    struct file *file = (struct file *)out;
    const struct watched_vfs *watched = vfs->pAppData;
    int code;

    memset(file, 0, sizeof *file);
    file->watch = watched->watch;
    strncpy(file->name, name ? name : "", sizeof file->name - 1);
    file->real = (sqlite3_file *)(file + 1);
    code = ASK(file, open, flags);
    if (code == SQLITE_OK)
        code = watched->under->xOpen(watched->under, name, file->real, flags, flags_out);
    if (file->real->pMethods)
        file->base.pMethods = &methods;
    return code;
}

static int on_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    const struct watched_vfs *watched = vfs->pAppData;
    int code = watched->watch->remove ? watched->watch->remove(name) : SQLITE_OK;

    return code ? code : watched->under->xDelete(watched->under, name, sync);
}

void watched_vfs_register(struct watched_vfs *watched, const char *name,
                          const struct vfs_watch *watch)
{
    watched->under = sqlite3_vfs_find(NULL);
    watched->watch = watch;
    watched->vfs = *watched->under;
    watched->vfs.zName = name;
    watched->vfs.szOsFile = (int)sizeof(struct file) + watched->under->szOsFile;
    watched->vfs.pAppData = watched;
    watched->vfs.xOpen = on_open;
    watched->vfs.xDelete = on_delete;
    (void)sqlite3_vfs_register(&watched->vfs, 0);
}
