/* input.h - a file from the command line, or standard input; and the replacement of a file. */
#ifndef TOOLS_INPUT_H
#define TOOLS_INPUT_H

#include <mcpx/text.h>

#include <stdio.h>

/**
 * Reads all of a file of at most 16 MiB, without a byte order mark.
 *
 * path   NULL or "-" for standard input
 * out    appended to; the caller frees it, on failure too
 *
 * Returns STATUS_OK; STATUS_USAGE, having complained, when it cannot be read or is too long.
 */
int input_read(const char *path, struct mcpx_text *out);

/** A file that is read line by line, however long it is. */
struct input_lines {
    const char *path;
    FILE *stream;
    char *line;
    size_t room;
    int error;
};

/** Opens a file; `path` as above. Returns STATUS_OK, or STATUS_USAGE, having complained. */
int input_lines_open(const char *path, struct input_lines *lines);

/** Lends the next line, without its newline, until the next call. False after the last. */
bool input_lines_next(struct input_lines *lines, struct mcpx_slice *line);

/** Closes it. Returns STATUS_OK; STATUS_USAGE, having complained, when not all of it was read. */
int input_lines_close(struct input_lines *lines);

/** True when the path means standard input: NULL and "-". */
bool input_is_standard(const char *path);

/** The name of a file in complaints. */
const char *input_name(const char *path);

/**
 * Replaces a file: writes a new one beside it, then renames the new one. A reader gets the old one
 * or the new one. Returns STATUS_OK; STATUS_FAILED, having complained.
 */
int input_replace(const char *path, struct mcpx_slice text, unsigned mode);

#endif
