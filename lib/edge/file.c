/*
 * file.c - reads files that may change at any time. A writer may replace a file, so all checks use
 * the open descriptor. The modification time does not identify the content: two versions may share
 * it, and a copy that keeps times (cp -p) has an old one. The change time of an inode cannot be set
 * back.
 */
#include "lib/edge/file.h"

#include "lib/json/escape.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns NULL for a regular file, else the reason. */
static const char *judge_sort(int fd)
{
    struct stat status;

    if (fstat(fd, &status))
        return strerror(errno);
    errno = EINVAL;
    if (S_ISFIFO(status.st_mode))
        return "it is a pipe; expected a regular file";
    if (S_ISDIR(status.st_mode))
        return "it is a folder; expected a regular file";
    return S_ISREG(status.st_mode) ? NULL : "it is a device; expected a regular file";
}

int mx_file_open(int dir, const char *name, const char **why)
{
    int fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* else a pipe would wait */
    int error;

    *why = fd < 0 ? strerror(errno) : judge_sort(fd);
    if (fd < 0 || !*why)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* Reads and closes `fd`; returns `why` when it is -1. */
static const char *read_all(int fd, const char *why, size_t max, struct mcpx_text *out)
{
    char chunk[4096];
    ssize_t got;

    if (fd < 0)
        return why;
    while (!why && (got = read(fd, chunk, sizeof chunk)) != 0) {
        if (got > 0)
            mcpx_text_add(out, chunk, (size_t)got);
        if (got < 0 || out->len > max)
            why = got < 0 ? strerror(errno) : "too large";
    }
    close(fd);
    mx_utf8_skip_mark(out);
    return why;
}

/* True for a descriptor that the program was started with; waiting for its data is intended. */
static bool is_handed_over(const char *path)
{
    return strcmp(path, "/dev/stdin") == 0 || strncmp(path, "/dev/fd/", 8) == 0;
}

const char *mx_file_read_given(const char *path, size_t max, struct mcpx_text *out)
{
    int fd = is_handed_over(path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;

    return fd < 0 ? mx_file_read(path, max, out) : read_all(fd, NULL, max, out);
}

const char *mx_file_read(const char *path, size_t max, struct mcpx_text *out)
{
    const char *why;
    int fd = mx_file_open(AT_FDCWD, path, &why);

    return read_all(fd, why, max, out);
}

bool mx_file_is_bounded(const char *path, size_t max)
{
    struct stat status;

    return stat(path, &status) != 0 ||
           (S_ISREG(status.st_mode) && (uint64_t)status.st_size <= max);
}

static bool others_may(const char *path, mode_t what)
{
    struct stat status;

    return stat(path, &status) == 0 && (status.st_mode & what) != 0;
}

bool mx_folder_sync(int dir, const char *path)
{
    int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = fd >= 0 && fsync(fd) == 0;

    if (fd >= 0)
        (void)close(fd);
    return done;
}

bool mx_file_is_public(const char *path)
{
    return others_may(path, S_IROTH);
}

bool mx_file_is_anybodys(const char *path)
{
    return others_may(path, S_IWOTH);
}

void mx_path_resolve(const char *path, const char *beside, struct mcpx_text *out)
{
    const char *slash = beside && *path != '/' ? strrchr(beside, '/') : NULL;

    if (slash)
        mcpx_text_add(out, beside, (size_t)(slash + 1 - beside));
    mcpx_text_puts(out, path);
}

/* ---- which content it was ---- */

static int64_t nanoseconds(struct timespec at)
{
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

struct mx_file_stamp mx_file_stamp_take(const char *path)
{
    struct stat status;

    if (stat(path, &status))
        return (struct mx_file_stamp){0};
    return (struct mx_file_stamp){nanoseconds(status.st_mtim), nanoseconds(status.st_ctim),
                                  status.st_ino, (uint64_t)status.st_size};
}
