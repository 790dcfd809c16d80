/*
 * pool.h - the servers of one command and the topics they serve: one server for everybody,
 * or one more for each participant that needs it. It is all that a driver of an import sees,
 * without sockets and processes: events of the sessions, lines and states of the children and the
 * time go in and are borrowed during the call, actions come out. Nothing calls back.
 */
#ifndef MCPX_BRIDGE_IMPORT_POOL_H
#define MCPX_BRIDGE_IMPORT_POOL_H

#include "lib/base/bucket.h"
#include "lib/base/holders.h"
#include "tools/mcpx-bridge/import/config.h"

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
 * The calls under terms; NULL before the first one. Their records are taken before each action is
 * done (mcpx_calls_next_record), so that a call is written down before its server hears of it.
 */
struct mcpx_calls *import_pool_calls(const struct import_pool *pool);

/**
 * As import_failure, of server 0. A failure of another server is told to the requesters that
 * wait for it.
 */
const char *import_pool_failure(const struct import_pool *pool);

/** Why server 0 has gone, a sentence; NULL when it is ready, or has not gone so far. */
const char *import_pool_outage(const struct import_pool *pool);

/*
 * ---- messages that wait to be given to a session: a queue for each receiver, which take
 * turns. A receiver is a participant, all its instances together, or everybody.
 */

/** Those of one topic. */
struct import_turns_of {
    struct mx_holders held; /* bytes that wait, by receiver */
    /* What each receiver is sent first: half of what the router takes. */
    struct mx_buckets shares;
    /* `rate`, `sent`: all that the router takes, and what of it is left. */
    struct mx_rate rate;
    struct mx_bucket sent;
    uint64_t worth; /* what a message costs of that besides its bytes */
    /* Of a ring of queues; the one behind it is next. NULL: nothing waits. */
    struct import_turn *last;
    /* mono_ms before which nothing may go; INT64_MAX: it is not time that is waited for. */
    int64_t due_ms;
};

/** Those of all topics, `count` of them. */
struct import_turns {
    const struct import_shared *shared;
    struct import_turns_of *topics;
    size_t count;
};

/**
 * Makes them.
 *
 * cap      bytes that may wait for one receiver, four times that for all in a topic; 0: 16 MiB
 * shared   kept; its view and key
 */
void import_turns_init(struct import_turns *turns, size_t topics, size_t cap,
                       const struct import_shared *shared);

/** Frees what waits. */
void import_turns_fini(struct import_turns *turns);

/**
 * What the router lets us send in a topic: its welcome's raw member "limits"; absent: anything.
 * One receiver gets half of it for sure: of the bytes, and for each message as many more as go with
 * it. It gets what nobody else uses of the other half, too.
 */
void import_turns_limit(struct import_turns *turns, size_t topic, struct mcpx_slice limits);

/**
 * True when no more should be asked for a participant: so many of its requests are under way, and
 * if their answers and one more are as long as `longest`, or as the longest of what waits, more
 * waits then than may.
 */
bool import_turns_are_full(const struct import_turns *turns, size_t topic,
                           struct mcpx_slice participant, size_t under_way, uint64_t longest);

/**
 * Takes out what is to be done next: a row of the output that is no message, a message that may go
 * now, or one that is given up; NULL when there is none. Messages of the output get in line. Where
 * too much waits for a receiver, its oldest notification is dropped for another, and the output is
 * told so, once; an answer or a question is given up, and where too much waits for all, so is the
 * oldest message of the receiver that has most. A substitute finds room for as much once more.
 */
struct bridge_row *import_turns_next(struct import_turns *turns, struct bridge_output *output,
                                     int64_t now_ms);

/** mono_ms at which import_turns_next is due; INT64_MAX when it is not time that is waited for. */
int64_t import_turns_deadline(const struct import_turns *turns);

#endif
