/*
 * input.h - a file from the command line, or standard input.
 */
#ifndef TOOLS_INPUT_H
#define TOOLS_INPUT_H

#include <mcpx/text.h>

/** The most bytes that are read. */
enum { INPUT_MAX = 16 << 20 };

/**
 * Reads all of a file.
 *
 * path   NULL or "-" for standard input
 * out    appended to; the caller frees it, on failure too
 *
 * Returns STATUS_OK; STATUS_USAGE, having complained, when it cannot be read or is too long;
 * STATUS_FAILED, having complained, when memory was short.
 */
int input_read(const char *verb, const char *path, struct mcpx_text *out);

/** True for what stands for standard input: NULL and "-". */
bool input_is_standard(const char *path);

/** What a complaint about such a file calls it. */
const char *input_name(const char *path);

#endif
