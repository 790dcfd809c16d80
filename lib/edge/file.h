/*
 * file.h - regular files that are read as a whole, and which content it was.
 */
#ifndef MX_FILE_H
#define MX_FILE_H

#include <mcpx/text.h>

#include <stdbool.h>
#include <stdint.h>

/**
 * Opens a file to be read; waits for nobody: what is no regular file is refused.
 *
 * dir   the folder that `name` starts from, or AT_FDCWD
 * why   on failure a static sentence, or strerror's, that says why not; `errno` is set, too
 *
 * Returns a descriptor, or -1.
 */
int mx_file_open(int dir, const char *name, const char **why);

/** Appends the whole of a file of at most `max` bytes. Returns NULL, or `why` of mx_file_open. */
const char *mx_file_read(const char *path, size_t max, struct mcpx_text *out);

/** Likewise; but /dev/stdin and /dev/fd/N, handed over, may be pipes, which are waited for. */
const char *mx_file_read_given(const char *path, size_t max, struct mcpx_text *out);

/**
 * For files that others read: false when it is no regular file, whose end has not to be waited for,
 * or has more than `max` bytes. True when there is none.
 */
bool mx_file_is_bounded(const char *path, size_t max);

/** True when everybody on the machine may read the file. */
bool mx_file_is_public(const char *path);

/** True when everybody on the machine may change the file. */
bool mx_file_is_anybodys(const char *path);

/**
 * Appends `path` as one means it who writes it into the file `beside`: relative to its directory;
 * NULL = to the working directory.
 */
void mx_path_resolve(const char *path, const char *beside, struct mcpx_text *out);

/**
 * Which content of a file it was: another one has another stamp; memcmp compares them. All 0 when
 * there is no file.
 */
struct mx_file_stamp {
    int64_t modified_ns, changed_ns;
    uint64_t number, bytes;
};

/** What is there now? */
struct mx_file_stamp mx_file_stamp_take(const char *path);

#endif
