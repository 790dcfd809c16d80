/*
 * glob.h - patterns with `*` for topic names, Origin headers and names of tools.
 */
#ifndef MX_GLOB_H
#define MX_GLOB_H

#include <mcpx/base.h>

/**
 * True when `pattern` describes the whole of `text`: `*` stands for any bytes, none included;
 * every other byte stands for itself. Never allocates; at worst pattern times text steps.
 */
bool mx_glob_matches(struct mcpx_slice pattern, struct mcpx_slice text);

/** True when one of `count` C strings, as patterns, describes the whole of `text`. */
bool mx_glob_any_matches(char *const *patterns, size_t count, struct mcpx_slice text);

#endif
