/*
 * bounds.h - what a configuration comes to on this machine.
 */
#ifndef EDGE_BOUNDS_H
#define EDGE_BOUNDS_H

#include "router/policy/config/config.h"

/**
 * Replaces limits.log_bytes 0 by a quarter of the memory there is. Where the system does not say
 * how much that is, it becomes BOUNDS_LOG_BYTES.
 *
 * memory    as machine_memory says
 */
void bounds_settle(struct config *config, uint64_t memory);

/** The bound where the size of the memory is unknown, and the smallest bound elsewhere. */
enum { BOUNDS_LOG_BYTES = 1 << 30, BOUNDS_LOG_BYTES_MIN = 16 << 20 };

/** File descriptors for all connections that there may be, and for everything else. */
uint64_t bounds_descriptors(const struct config *config);

/** Returns how many connections that many descriptors allow. */
size_t bounds_room(uint64_t descriptors);

/** What there is. */
struct machine_limits {
    uint64_t memory;      /* as machine_memory says */
    uint64_t descriptors; /* that this process may have; 0 = not known */
    uint64_t taken;       /* memory of this process, with the configuration read */
};

/**
 * Appends what all bounds together come to, what there is of it, and what takes how much of the
 * memory: three lines for --check. After bounds_settle.
 */
void bounds_write_needs(const struct config *config, const struct machine_limits *machine,
                        struct mcpx_text *out);

/** Appends the bounds, a line each, for --check. After bounds_settle. */
void bounds_write(const struct config *config, struct mcpx_text *out);

/**
 * Looks at the files and folders of TLS, store and audit.
 *
 * errors   a line is appended for each that cannot be used: setting, path, what was found; and one
 *          for a certificate or key that can be used and is surely not meant
 * found    a line is appended for a certificate: its names, and when it ends
 *
 * Returns true when all can.
 */
bool paths_check(const struct config *config, struct mcpx_text *errors,
                 struct mcpx_text *found);

#endif
