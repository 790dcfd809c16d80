/* bounds.h - bounds of a configuration, and its needs on this machine. */
#ifndef EDGE_BOUNDS_H
#define EDGE_BOUNDS_H

#include "router/policy/config/config.h"

/**
 * Replaces limits.log_bytes 0 by a quarter of the memory, at least BOUNDS_LOG_BYTES_MIN. It becomes
 * BOUNDS_LOG_BYTES when the size of the memory is unknown.
 *
 * memory    as machine_memory returned it
 */
void bounds_settle(struct config *config, uint64_t memory);

/** The bound where the size of the memory is unknown, and the smallest bound elsewhere. */
enum { BOUNDS_LOG_BYTES = 1 << 30, BOUNDS_LOG_BYTES_MIN = 16 << 20 };

/** Returns the file descriptors for all permitted connections and for everything else. */
uint64_t bounds_descriptors(const struct config *config);

/** Returns how many connections that many descriptors allow. */
size_t bounds_room(uint64_t descriptors);

/** The resources of this machine. */
struct machine_limits {
    uint64_t memory;      /* as machine_memory returned it */
    uint64_t descriptors; /* that this process may have; 0 = not known */
    uint64_t taken;       /* memory of this process, with the configuration read */
};

/**
 * Appends three lines for --check: memory needed and present, its parts, file descriptors needed
 * and present. Call it after bounds_settle.
 */
void bounds_write_needs(const struct config *config, const struct machine_limits *machine,
                        struct mcpx_text *out);

/** Appends the bounds, a line each, for --check. Call it after bounds_settle. */
void bounds_write(const struct config *config, struct mcpx_text *out);

/**
 * Looks at the files and folders of TLS, store and audit.
 *
 * errors   one line for each unusable file: setting, path, cause; and one for each likely mistake
 *          in a usable certificate, key or CRL
 * found    one line for the certificate: its names and its end
 *
 * Returns true when all are usable.
 */
bool paths_check(const struct config *config, struct mcpx_text *errors,
                 struct mcpx_text *found);

#endif
