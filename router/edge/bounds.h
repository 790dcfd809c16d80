/*
 * bounds.h - what a configuration comes to on this machine. Includes config.h.
 */
#ifndef EDGE_BOUNDS_H
#define EDGE_BOUNDS_H

#include "router/policy/config.h"

/**
 * Replaces limits.log_bytes 0 by a quarter of the memory there is. Where the system does not say how
 * much that is, it becomes BOUNDS_LOG_BYTES.
 *
 * memory    as machine_memory says
 */
void bounds_settle(struct config *config, uint64_t memory);

/** What is taken for a quarter of a memory of unknown size; nothing less than the other is taken. */
enum { BOUNDS_LOG_BYTES = 1 << 30, BOUNDS_LOG_BYTES_MIN = 16 << 20 };

/** Appends the bounds, a line each, for --check. After bounds_settle. */
void bounds_write(const struct config *config, struct mcpx_text *out);

#endif
