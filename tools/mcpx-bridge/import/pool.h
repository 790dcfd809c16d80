/*
 * pool.h - the servers of one command and the topics they serve: one server for everybody,
 * or one more for each participant that needs it. As import.h, without sockets and processes.
 */
#ifndef MCPX_BRIDGE_IMPORT_POOL_H
#define MCPX_BRIDGE_IMPORT_POOL_H

#include "tools/mcpx-bridge/import/import.h"

struct import_pool;

/**
 * Makes a pool; `port` is copied. Server 0 serves everybody; its process is the caller's to start.
 * With isolate_max, all it is asked is what is the same for all (initialize, lists); everything
 * else goes to a server of the requester's own, numbered from 1, for which port.start is called.
 *
 * Returns MCPX_OK or MCPX_ENOMEM.
 */
enum mcpx_err import_pool_new(const struct import_config *config,
                              const struct import_port *port, struct import_pool **out);

/** Frees it; whoever waits is answered by nobody. NULL is allowed. */
void import_pool_free(struct import_pool *pool);

/** Highest number of a server and one. */
size_t import_pool_size(const struct import_pool *pool);

/** As import_event. */
void import_pool_event(struct import_pool *pool, size_t topic, const struct mcpx_event *event,
                       struct mcpx_now now);

/** As import_line, import_overlong and import_state, of that server. */
void import_pool_line(struct import_pool *pool, size_t server, struct mcpx_slice line,
                      struct mcpx_now now);
void import_pool_overlong(struct import_pool *pool, size_t server, struct mcpx_slice beginning,
                          struct mcpx_now now);
void import_pool_state(struct import_pool *pool, size_t server,
                       const struct mcpx_child_report *report, struct mcpx_now now);

/** As import_tick and import_deadline. */
void import_pool_tick(struct import_pool *pool, struct mcpx_now now);
int64_t import_pool_deadline(const struct import_pool *pool);

/** As import_failure, of server 0: the others' are told to who waits for them. */
const char *import_pool_failure(const struct import_pool *pool);

#endif
