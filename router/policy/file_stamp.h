/*
 * file_stamp.h - whether a file that is read while the router runs has become another one.
 */
#ifndef POLICY_FILE_STAMP_H
#define POLICY_FILE_STAMP_H

#include <stdbool.h>
#include <stdint.h>

/** Which content of a file it was: another one has another stamp. All 0 when there is no file. */
struct file_stamp {
    int64_t modified_ns, changed_ns;
    uint64_t number, bytes;
};

/** What is there now? */
struct file_stamp file_stamp_take(const char *path);

/** True when both are of the same content. */
bool file_stamp_equals(const struct file_stamp *one, const struct file_stamp *other);

#endif
