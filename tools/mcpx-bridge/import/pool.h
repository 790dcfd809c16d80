/*
 * pool.h - the servers of one command and the topics they serve: one server for everybody,
 * or one more for each participant that needs it. It is all that a driver of an import sees,
 * without sockets and processes: events of the sessions, lines and states of the children and the
 * time go in and are borrowed during the call, actions come out. Nothing calls back.
 */
#ifndef MCPX_BRIDGE_IMPORT_POOL_H
#define MCPX_BRIDGE_IMPORT_POOL_H

#include "tools/mcpx-bridge/import/config.h"
#include "tools/mcpx-bridge/output.h"

#include <mcpx/child.h>

struct import_pool;

/**
 * Makes a pool. Server 0 serves everybody; its process is the caller's to start. With isolate_max,
 * all it is asked is what is the same for all (initialize, lists); everything else goes to a server
 * of the requester's own, numbered from 1, for which BRIDGE_START is wanted.
 */
struct import_pool *import_pool_new(const struct import_config *config);

/** Frees it; open requests get no answer. NULL is allowed. */
void import_pool_free(struct import_pool *pool);

/** One more than the highest number of a server. */
size_t import_pool_size(const struct import_pool *pool);

/**
 * What is wanted next, lent until import_pool_done; NULL when nothing is, or when messages wait for
 * their turn (turns.h). After every input and before the next one, all that is wanted is to be
 * done.
 */
const struct bridge_action *import_pool_next(struct import_pool *pool, struct mcpx_now now);

/** That was done; what came of it may lead to more. `outcome` is borrowed. */
void import_pool_done(struct import_pool *pool, const struct bridge_outcome *outcome,
                      struct mcpx_now now);

/**
 * The router welcomed us in a topic, for the first time or again: before its JOINED or GRANTS.
 *
 * self          our participant id there
 * message_max   longest envelope that it takes, in bytes; 0 = not known
 * limits        the welcome's raw member of that name; absent: nothing is known
 */
void import_pool_joined(struct import_pool *pool, size_t topic, struct mcpx_slice self,
                        size_t message_max, struct mcpx_slice limits);

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

/**
 * Takes the oldest record of a call under terms, as mcpx_calls_next_record. To be asked before each
 * action is done, so that a call is written down before its server hears of it.
 */
bool import_pool_record(struct import_pool *pool, enum mcpx_record *which,
                        struct mcpx_slice *line);

/**
 * As import_failure, of server 0. A failure of another server is told to the requesters that
 * wait for it.
 */
const char *import_pool_failure(const struct import_pool *pool);

/** As import_outage, of server 0. */
const char *import_pool_outage(const struct import_pool *pool);

#endif
