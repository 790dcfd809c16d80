/*
 * glob.h - patterns with `*` for topic names and Origin headers.
 * Includes base.h only.
 */
#ifndef POLICY_GLOB_H
#define POLICY_GLOB_H

#include <mcpx/base.h>

/**
 * True when `pattern` describes the whole of `text`: `*` stands for any bytes, none included;
 * every other byte stands for itself. Never allocates; at worst pattern times text steps.
 */
bool glob_matches(struct mcpx_slice pattern, struct mcpx_slice text);

/** True when one of `count` C strings, as patterns, describes the whole of `text`. */
bool glob_any_matches(char *const *patterns, size_t count, struct mcpx_slice text);

#endif
