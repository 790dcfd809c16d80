/*
 * power_vfs.c - beside each file stands what the disk has of it for certain, and all that was done
 * to it since. A sync brings the second into the first; when the power fails, dice do, in part.
 */
#include "tests/support/power_vfs.h"

#include "tests/support/watched_vfs.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECTOR = 512, FILES_MAX = 16 };

/* A change that was not synced: bytes at a place, or without bytes a new size. */
struct change {
    char *bytes;
    size_t at, len;
};

struct disk_file {
    char name[200];
    char *bytes;
    size_t len, room;
    struct change *changes;
    size_t count, size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct disk_file files[FILES_MAX];
static size_t file_count;
static uint64_t step, last_step;
static bool failed;

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

/* ---- what the disk has ---- */

static void resize(struct disk_file *file, size_t len)
{
    if (len > file->room) {
        file->room = len + len / 2 + 4096;
        file->bytes = must(realloc(file->bytes, file->room));
    }
    if (len > file->len)
        memset(file->bytes + file->len, 0, len - file->len);
    file->len = len;
}

static void put(struct disk_file *file, const struct change *change, size_t from, size_t len)
{
    if (change->at + from + len > file->len)
        resize(file, change->at + from + len);
    memcpy(file->bytes + change->at + from, change->bytes + from, len);
}

static void forget_changes(struct disk_file *file)
{
    for (size_t i = 0; i < file->count; i++)
        free(file->changes[i].bytes);
    file->count = 0;
}

static void bring_in(struct disk_file *file)
{
    for (size_t i = 0; i < file->count; i++)
        if (file->changes[i].bytes)
            put(file, &file->changes[i], 0, file->changes[i].len);
        else
            resize(file, file->changes[i].at);
    forget_changes(file);
}

/* Some of the sectors that a change covers: up to one place, or any. */
static void bring_in_part(struct disk_file *file, const struct change *change,
                          struct dice *dice)
{
    bool is_torn_once = dice_hits(dice, 2);
    bool comes = true;
    size_t end = 0;

    if (!change->bytes) {
        resize(file, change->at);
        return;
    }
    for (size_t from = 0; from < change->len; from = end) {
        end = ((change->at + from) / SECTOR + 1) * SECTOR - change->at;
        end = end < change->len ? end : change->len;
        comes = is_torn_once ? comes && !dice_hits(dice, 6) : dice_hits(dice, 2);
        if (comes)
            put(file, change, from, end - from);
    }
}

/* way: 1 = all changes reach the disk whole, 2 = only some, 3 = and they are torn */
static void bring_in_some(struct disk_file *file, const struct change *change, size_t way,
                          struct dice *dice)
{
    if (way > 1 && dice_hits(dice, 3))
        return;
    if (way == 3)
        bring_in_part(file, change, dice);
    else if (change->bytes)
        put(file, change, 0, change->len);
    else
        resize(file, change->at);
}

static void read_disk(struct disk_file *file)
{
    FILE *stream = fopen(file->name, "rb");
    char bytes[65536];
    size_t len;

    while (stream && (len = fread(bytes, 1, sizeof bytes, stream)) > 0)
        put(file, &(struct change){bytes, file->len, len}, 0, len);
    if (stream)
        (void)fclose(stream);
}

static void write_disk(const struct disk_file *file)
{
    FILE *stream = must(fopen(file->name, "wb"));

    if (fwrite(file->bytes ? file->bytes : "", 1, file->len, stream) != file->len ||
        fclose(stream) != 0)
        abort();
}

static struct disk_file *find(const char *name)
{
    for (size_t i = 0; i < file_count; i++)
        if (strcmp(files[i].name, name) == 0)
            return &files[i];
    return NULL;
}

static void forget(struct disk_file *file)
{
    forget_changes(file);
    free(file->changes);
    free(file->bytes);
    *file = files[--file_count];
    memset(&files[file_count], 0, sizeof files[file_count]);
}

static void note(const char *name, const void *bytes, size_t at, size_t len)
{
    struct disk_file *file = find(name);

    if (!file)
        return;
    if (file->count == file->size) {
        file->size = file->size * 2 + 16;
        file->changes = must(realloc(file->changes, file->size * sizeof *file->changes));
    }
    file->changes[file->count] = (struct change){bytes ? must(malloc(len)) : NULL, at, len};
    if (bytes)
        memcpy(file->changes[file->count].bytes, bytes, len);
    file->count++;
}

/* ---- the watch ---- */

/* Takes the lock for a step. False, without it, when there is no power. */
static bool begin_step(void)
{
    (void)pthread_mutex_lock(&lock);
    if (!failed && step++ < last_step)
        return true;
    failed = true;
    (void)pthread_mutex_unlock(&lock);
    return false;
}

static int end_step(int code)
{
    (void)pthread_mutex_unlock(&lock);
    return code;
}

static int on_open(const char *name, int flags)
{
    (void)pthread_mutex_lock(&lock);
    (void)flags;
    if (failed || file_count == FILES_MAX)
        return end_step(SQLITE_CANTOPEN);
    if (name[0] != '\0' && !find(name)) {
        struct disk_file *file = &files[file_count++];

        strncpy(file->name, name, sizeof file->name - 1);
        read_disk(file);
    }
    return end_step(SQLITE_OK);
}

static int on_read(const char *name, int len, sqlite3_int64 at)
{
    (void)name;
    (void)len;
    (void)at;
    (void)pthread_mutex_lock(&lock);
    return end_step(failed ? SQLITE_IOERR_READ : SQLITE_OK);
}

static int on_write(const char *name, const void *bytes, int len, sqlite3_int64 at)
{
    if (!begin_step())
        return SQLITE_IOERR_WRITE;
    note(name, bytes, (size_t)at, (size_t)len);
    return end_step(SQLITE_OK);
}

static int on_truncate(const char *name, sqlite3_int64 size)
{
    if (!begin_step())
        return SQLITE_IOERR_TRUNCATE;
    note(name, NULL, (size_t)size, 0);
    return end_step(SQLITE_OK);
}

static int on_sync(const char *name, int flags)
{
    struct disk_file *file;

    (void)flags;
    if (!begin_step())
        return SQLITE_IOERR_FSYNC;
    file = find(name);
    if (file)
        bring_in(file);
    return end_step(WATCH_DONE);
}

static int on_remove(const char *name)
{
    struct disk_file *file;

    if (!begin_step())
        return SQLITE_IOERR_DELETE;
    file = find(name);
    if (file)
        forget(file);
    return end_step(SQLITE_OK);
}

void power_vfs_register(void)
{
    static const struct vfs_watch watch = {on_open,     on_read, on_write,
                                           on_truncate, on_sync, on_remove};
    static struct watched_vfs watched;

    watched_vfs_register(&watched, POWER_VFS, &watch);
}

void power_vfs_start(uint64_t steps)
{
    (void)pthread_mutex_lock(&lock);
    while (file_count > 0)
        forget(&files[0]);
    step = 0;
    last_step = steps;
    failed = false;
    (void)pthread_mutex_unlock(&lock);
}

bool power_vfs_failed(void)
{
    bool now;

    (void)pthread_mutex_lock(&lock);
    now = failed;
    (void)pthread_mutex_unlock(&lock);
    return now;
}

void power_vfs_fail(struct dice *dice)
{
    size_t way = dice_below(dice, 4);

    (void)pthread_mutex_lock(&lock);
    failed = true;
    for (size_t i = 0; i < file_count; i++) {
        char memory[sizeof files[i].name + 4];

        for (size_t n = 0; n < files[i].count && way > 0; n++)
            bring_in_some(&files[i], &files[i].changes[n], way, dice);
        (void)snprintf(memory, sizeof memory, "%.*s-shm", (int)sizeof files[i].name - 1,
                       files[i].name);
        (void)unlink(memory);
        if (access(files[i].name, F_OK) == 0)
            write_disk(&files[i]);
    }
    (void)pthread_mutex_unlock(&lock);
}
