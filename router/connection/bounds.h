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

/** What is taken where the size of the memory is unknown; and the least that is taken elsewhere. */
enum { BOUNDS_LOG_BYTES = 1 << 30, BOUNDS_LOG_BYTES_MIN = 16 << 20 };

/** The largest message that is received: the configured one, at most MESSAGE_MOST. */
size_t bounds_message(const struct config *config);

/**
 * Memory that all messages that have begun to arrive may take, and again as much what sockets have
 * not taken: BUFFERS_MAX, or four of the largest message, because who configures larger messages
 * has to be able to receive them.
 */
size_t bounds_buffers(const struct config *config);

/** File descriptors for all connections that there may be, and for everything else. */
uint64_t bounds_descriptors(const struct config *config);

/** So many connections there may be with that many descriptors. */
size_t bounds_room(uint64_t descriptors);

/**
 * What there is.
 *
 * memory        as machine_memory says
 * descriptors   that this process may have; 0 = not known
 * taken         memory of this process, with the configuration read
 */
struct means {
    uint64_t memory, descriptors, taken;
};

/**
 * Appends what all bounds together come to, what there is of it, and what takes how much of the
 * memory: three lines for --check. After bounds_settle.
 */
void bounds_write_needs(const struct config *config, const struct means *means,
                        struct mcpx_text *out);

/** Appends the bounds, a line each, for --check. After bounds_settle. */
void bounds_write(const struct config *config, struct mcpx_text *out);

#endif
