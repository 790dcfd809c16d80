/*
 * file_stamp.c - the time of a file is not enough: two versions may share it, and a copy that keeps
 * times (cp -p) brings an old one. The time of its inode cannot be set back.
 */
#include "router/policy/file_stamp.h"

#include <sys/stat.h>

static int64_t nanoseconds(struct timespec at)
{
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

struct file_stamp file_stamp_take(const char *path)
{
    struct stat status;

    if (stat(path, &status))
        return (struct file_stamp){0};
    return (struct file_stamp){nanoseconds(status.st_mtim), nanoseconds(status.st_ctim),
                               status.st_ino, (uint64_t)status.st_size};
}

bool file_stamp_equals(const struct file_stamp *one, const struct file_stamp *other)
{
    return one->modified_ns == other->modified_ns && one->changed_ns == other->changed_ns &&
           one->number == other->number && one->bytes == other->bytes;
}
