/*
 * slow_disk.c - preloaded into a program, it is the disk that the program believes to have. The
 * file that MCPX_SLOW_DISK names says what kind of disk, and may be changed at any time:
 *
 *     delay MS   each sync takes 0 to MS milliseconds, by chance
 *     hang       a sync ends once the file says something else
 *     fail       a sync fails (EIO)
 *     lie        a sync does nothing, and says that it was done
 *     hold       reading, by other threads than the first, goes on once the file says something
 *                else
 *     mute       stat and statvfs, by any thread, end once the file says something else
 *
 * Any other word, or no file: the disk as it is.
 */
#define _GNU_SOURCE /* RTLD_NEXT, gettid, pread64 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define REPLACED __attribute__((visibility("default")))

/* The first word of the file, and the number behind it. */
static bool disk_is(const char *word, unsigned *number)
{
    const char *path = getenv("MCPX_SLOW_DISK");
    char text[64] = "", found[16] = "";
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t len = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;

    *number = 0;
    if (fd >= 0)
        close(fd);
    if (len <= 0)
        return false;
    sscanf(text, "%15s %u", found, number);
    return strcmp(found, word) == 0;
}

static void pass(unsigned ms)
{
    struct timespec span = {ms / 1000, (long)(ms % 1000) * 1000000};

    nanosleep(&span, NULL);
}

static void hang_while(const char *word)
{
    unsigned number;

    while (disk_is(word, &number))
        pass(5);
}

/* True when the sync is over, with `result`. */
static bool ends_early(int *result)
{
    unsigned number, chance = 0;

    *result = 0;
    if (disk_is("lie", &number))
        return true;
    if (disk_is("fail", &number)) {
        errno = EIO;
        *result = -1;
        return true;
    }
    hang_while("hang");
    if (disk_is("delay", &number) &&
        getrandom(&chance, sizeof chance, 0) == (ssize_t)sizeof chance)
        pass(chance % (number + 1));
    return false;
}

static int sync_by(const char *name, int fd)
{
    int (*real)(int) = NULL;
    int result;

    if (ends_early(&result))
        return result;
    *(void **)&real = dlsym(RTLD_NEXT, name);
    return real(fd);
}

REPLACED int fdatasync(int fd)
{
    return sync_by("fdatasync", fd);
}

REPLACED int fsync(int fd)
{
    return sync_by("fsync", fd);
}

static ssize_t read_by(const char *name, int fd, void *bytes, size_t len, off64_t at)
{
    ssize_t (*real)(int, void *, size_t, off64_t) = NULL;

    if (getpid() != gettid())
        hang_while("hold");
    *(void **)&real = dlsym(RTLD_NEXT, name);
    return real(fd, bytes, len, at);
}

REPLACED ssize_t pread(int fd, void *bytes, size_t len, off_t at)
{
    return read_by("pread", fd, bytes, len, at);
}

REPLACED ssize_t pread64(int fd, void *bytes, size_t len, off64_t at)
{
    return read_by("pread64", fd, bytes, len, at);
}

REPLACED int stat(const char *path, struct stat *about)
{
    int (*real)(const char *, struct stat *) = NULL;

    hang_while("mute");
    *(void **)&real = dlsym(RTLD_NEXT, "stat");
    return real(path, about);
}

REPLACED int statvfs(const char *path, struct statvfs *about)
{
    int (*real)(const char *, struct statvfs *) = NULL;

    hang_while("mute");
    *(void **)&real = dlsym(RTLD_NEXT, "statvfs");
    return real(path, about);
}
