/*
 * pool.h - the servers of one command and the topics they serve: one server for everybody,
 * or one more for each participant that needs it. It is all that a driver of an import sees,
 * without sockets and processes: events of the sessions, lines and states of the children and the
 * time go in and are borrowed during the call, actions come out. Nothing calls back.
 */
#ifndef MCPX_BRIDGE_IMPORT_POOL_H
#define MCPX_BRIDGE_IMPORT_POOL_H

#include "tools/common/connect.h"
#include "tools/mcpx-bridge/calls.h"
#include "tools/mcpx-bridge/output.h"

#include <mcpx/child.h>

/* ---- settings ---- */

/**
 * Functions that only query; the pool calls no others. Without contract settings `now` is not
 * needed.
 */
struct import_view {
    const void *user;
    /* True when the grants that the router shows let this participant of a topic send this kind. */
    bool (*could)(const void *user, size_t topic, struct mcpx_slice participant,
                  const struct mcpx_kind *kind);
    /* The clocks, asked at this moment: finer than what an input is told. */
    struct mcpx_instant (*now)(const void *user);
    /* Random bytes; not asked with deterministic ids. NULL: there are none. */
    void (*chance)(const void *user, void *bytes, size_t len);
    /* Counts the unsent messages of a topic's session, and their bytes. False: the session ends, so
     * waiting answers go to it now. NULL: always none. */
    bool (*unsent)(const void *user, size_t topic, size_t *count, size_t *bytes);
};

/** How a server is greeted. */
enum import_protocol {
    IMPORT_PROTOCOL_AUTO,   /* server/discover first, initialize when that fails */
    IMPORT_PROTOCOL_LEGACY, /* initialize, version 2025-11-25 */
    IMPORT_PROTOCOL_MODERN  /* server/discover, version 2026-07-28, and nothing else */
};

/** Client capabilities declared to the server by default. */
#define IMPORT_CAPABILITIES "{\"elicitation\":{},\"sampling\":{}}"

/** Settings; 0 and NULL mean the default. Texts are kept as long as the pool. */
struct import_config {
    size_t topics; /* in how many topics we are; 1 */
    /* How many processes of their own participants may have together; 0: none, one server
     * serves all. One identity may have a quarter of them, one at least. */
    size_t isolate_max;
    int64_t isolate_idle_ms; /* how long such a process lives without anything to do; 600000 */
    /* The client capabilities declared to the server, a JSON object. IMPORT_CAPABILITIES. */
    const char *capabilities;
    /* The operator's answer to roots/list, a JSON object; the capability is then declared. NULL:
     * none. Participants are only asked if `capabilities` has roots. */
    const char *roots;
    /* A question of the server goes to the newest call, also while several participants have
     * one under way; false: it is refused then. */
    bool ask_newest;
    enum import_protocol protocol; /* how the server is greeted */
    /* The end of the server is final; else it restarts. Exception, once: the end of a process that
     * could not handle its first message. */
    bool once;
    /* How long the server may take for a request, counted anew from each progress notification
     * and from the answer to each question of the server; 300000. */
    int64_t request_ms;
    int64_t question_ms; /* how long a participant may take for such a question; 3600000 */
    /* Requests under way at one time; 10000. Of this, wait_bytes and subscriptions a
     * participant may have a quarter (bridge_may_have). */
    size_t calls_max;
    /* How many bytes of requests may wait for a server that is not ready; 64 MiB. */
    size_t wait_bytes;
    /* How many bytes may wait to be sent to one participant, four times that to all of a topic;
     * 16 MiB. */
    size_t answers_max;
    /* Contract settings of tool calls, kept as long as the pool; NULL: none. */
    const struct bridge_terms *terms;
    struct import_view view; /* functions of the driver */
};

/* ---- the pool ---- */

struct import_pool;

/**
 * Makes a pool. Server 0 serves everybody; its process is the caller's to start. With isolate_max
 * it gets only requests with the same answer for all (initialize, lists). All others go to the
 * requester's own server, numbered from 1; BRIDGE_START starts it.
 */
struct import_pool *import_pool_new(const struct import_config *config);

/** Frees it; open requests get no answer. */
void import_pool_free(struct import_pool *pool);

/** One more than the highest number of a server. */
size_t import_pool_size(const struct import_pool *pool);

/**
 * The next action, lent until import_pool_done; NULL when there is none, or when messages wait for
 * their turn (turns.c). After every input the driver must do all actions before the next input.
 */
const struct bridge_action *import_pool_next(struct import_pool *pool, struct mcpx_now now);

/** Reports the action as done; this may lead to more actions. `outcome` is borrowed. */
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

/**
 * Something happened in a topic. A LEFT without another attempt ends that topic: the pool forgets
 * its requests and subscriptions.
 */
void import_pool_event(struct import_pool *pool, size_t topic, const struct mcpx_event *event,
                       struct mcpx_now now);

/** That server wrote a line. */
void import_pool_line(struct import_pool *pool, size_t server, struct mcpx_slice line,
                      struct mcpx_now now);

/**
 * It wrote a line that is too long; `beginning` are its first bytes. The requester gets an error
 * when these bytes hold the id, or when its request is the only one that the server has.
 */
void import_pool_overlong(struct import_pool *pool, size_t server,
                          struct mcpx_slice beginning);

/** Its child's state changed. */
void import_pool_state(struct import_pool *pool, size_t server,
                       const struct mcpx_child_report *report, struct mcpx_now now);

/** Does what is due at this time. */
void import_pool_tick(struct import_pool *pool, struct mcpx_now now);

/** mono_ms at which import_pool_tick is due; INT64_MAX when nothing waits. */
int64_t import_pool_deadline(const struct import_pool *pool);

/**
 * The calls under terms; NULL before the first one. Their records are taken before each action is
 * done (mcpx_calls_next_record), so that a call is recorded before its server receives it.
 */
struct mcpx_calls *import_pool_calls(const struct import_pool *pool);

/**
 * Why the import must end, as a sentence: the program of server 0 cannot be executed, or it refuses
 * initialize. NULL otherwise. When another server fails, its waiting requesters get an error.
 */
const char *import_pool_failure(const struct import_pool *pool);

/** Why server 0 ended, a sentence; NULL when it is ready, or has not ended so far. */
const char *import_pool_outage(const struct import_pool *pool);

/* ---- the whole, with its sockets and its processes, on one loop: edge/run.c. ---- */

/** A command and its topics. Texts are borrowed during import_run. */
struct import_job {
    struct connection topics[WORDS_MAX]; /* where to connect, `topic_count` of them */
    size_t topic_count;
    struct import_config import; /* settings of the core */
    char *const *argv;           /* the server's command line, ended by NULL */
    const char *name;            /* precedes the lines of its standard error */
    size_t line_max;
};

/**
 * Runs until a signal of loop.h, or an end that is final: of server 0, or of the last topic.
 * Complains on standard error.
 *
 * Returns an exit code: STATUS_OK after a signal, STATUS_UNREACHABLE when the router cannot be
 * reached or refuses us, STATUS_USAGE when the settings are at fault, else STATUS_FAILED.
 */
int import_run(struct import_job *job);

#endif
