/* file.h - reading regular files as a whole, stamps of their content, syncing folders. */
#ifndef MX_FILE_H
#define MX_FILE_H

#include <mcpx/text.h>

#include <stdbool.h>
#include <stdint.h>

/**
 * Opens a file for reading without waiting; anything but a regular file is refused.
 *
 * dir   the folder that `name` starts from, or AT_FDCWD
 * why   on failure the reason: a static sentence, or strerror's; `errno` is set, too
 *
 * Returns a descriptor, or -1.
 */
int mx_file_open(int dir, const char *name, const char **why);

/** Appends a whole file of at most `max` bytes. Returns NULL, or the reason as mx_file_open. */
const char *mx_file_read(const char *path, size_t max, struct mcpx_text *out);

/** Likewise, but /dev/stdin and /dev/fd/N may be pipes; it waits for their data. */
const char *mx_file_read_given(const char *path, size_t max, struct mcpx_text *out);

/**
 * For files that other code reads: false when the path is not a regular file (reading could block),
 * or has more than `max` bytes. True when it does not exist.
 */
bool mx_file_is_bounded(const char *path, size_t max);

/** Writes the names of a folder to the disk; `path` is relative to `dir`. False sets `errno`. */
bool mx_folder_sync(int dir, const char *path);

/** True when all users of the machine may read the file. */
bool mx_file_is_public(const char *path);

/** True when all users of the machine may change the file. */
bool mx_file_is_anybodys(const char *path);

/**
 * Appends `path`, written in the file `beside` and relative to that file's directory; NULL =
 * relative to the working directory.
 */
void mx_path_resolve(const char *path, const char *beside, struct mcpx_text *out);

/**
 * Identifies the content of a file: other content has another stamp; memcmp compares them. All 0
 * when the file does not exist.
 */
struct mx_file_stamp {
    int64_t modified_ns, changed_ns;
    uint64_t number, bytes;
};

/** Returns the stamp of the current content. */
struct mx_file_stamp mx_file_stamp_take(const char *path);

#endif
