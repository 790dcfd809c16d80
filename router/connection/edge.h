/*
 * edge.h - the state of one running router, shared by the files of router/connection and
 * router/edge.
 */
#ifndef EDGE_EDGE_H
#define EDGE_EDGE_H

#include "router/api/http_api.h"
#include "router/connection/errand.h"
#include "router/connection/tls_files.h"
#include "router/http/rate_limits.h"
#include "router/process/log.h"
#include "router/process/process.h"
#include "router/store/commit/stage.h"
#include <uv.h>

/** Free space on the disks of store and audit, for the metrics (store_turn.c). */
struct disk_watch {
    struct errand errand;
    struct mcpx_text store, audit; /* paths; empty = off */
    struct disk_figures known;     /* the last answer */
    struct disk_figures found;     /* the answer of the thread */
};

/** TLS of all listeners; zeroed when no listener has it. */
struct edge_tls {
    struct mx_tls_room *room;
    struct tls_files files; /* for new connections */
    bool lists_ended;       /* logged: all CRLs of a CA have expired */
    struct tls_figures figures;
    struct errand errand; /* reads `files` again into `watch` (tls_files.h) */
    struct tls_watch *watch;
};

struct mx_tls_room;
struct tls_watch;
struct reload;
struct store;
struct lws_context;
struct lws_vhost;

/**
 * Bounds and times without a setting.
 *
 * UNAUTHENTICATED_MAX   connections that are not upgraded; above it, the network with most of them
 *                       loses one
 * REQUEST_MS            how long such a connection may wait for its answer
 * LAST_REQUEST_MS       the same while the router stops
 * REFUSAL_MS            delay of the answer to an address above its rate limit
 * ANSWER_MS             how long a client may accept no bytes of its answer
 * LINGER_MS             between the last byte sent and the end, for the client to close first
 * WELCOME_DELAY_MS      between the 101 and the welcome: some clients lose what comes with the 101
 * LEAVE_MS              how long a peer may take to answer a close frame
 * FULL_LEAVE_MS         the same behind a full output buffer, for the client to read it first
 * TICK_MS               longest wait of the housekeeping timer
 * INCOMPLETE_MS         time of a message from its first piece to its last
 * BUFFERS_MAX           memory of all incomplete messages; as much again for all output buffers
 *                       (bounds_buffers)
 * DEFERRED_MAX          memory of all input kept for a later iteration (loop_budget.h)
 * MESSAGE_MOST          the largest possible message: sizes in a topic's log have 32 bits
 * TLS_BYTES             TLS memory of a connection: its state, measured as 16 KiB, and either a
 *                       certificate chain or an incomplete record
 * READ_SIZE             most bytes of one read, into one buffer for all connections
 */
enum {
    UNAUTHENTICATED_MAX = 1024,
    REQUEST_MS = 10000,
    LAST_REQUEST_MS = 250,
    REFUSAL_MS = 1000,
    ANSWER_MS = 10000,
    LINGER_MS = 2000,
    WELCOME_DELAY_MS = 5,
    LEAVE_MS = 5000,
    FULL_LEAVE_MS = 30000,
    TICK_MS = 1000,
    INCOMPLETE_MS = 30000,
    BUFFERS_MAX = 64 << 20,
    DEFERRED_MAX = 64 << 20,
    MESSAGE_MOST = 512 << 20,
    TLS_BYTES = 49152,
    READ_SIZE = 98304
};

/** A listening socket; with `tls`, its connections are under TLS. */
struct listener {
    struct edge *edge;
    uv_poll_t poll;
    int fd;
    bool tls;
    char url[240];
};

/**
 * Connections that wait for the hub (loop_budget.h).
 *
 * asking     how many of them, from the first on, are still to be asked
 */
struct waiters {
    struct link all;
    size_t count, asking;
    uint64_t waits;   /* hub_waits when asking all of them last began */
    int64_t asked_ms; /* mono_ms at that time */
};

/**
 * One router, on one thread.
 *
 * all, count                every connection; how many there are
 * room                      most connections that leave descriptors for all else
 * leaving                   connections in LEAVING, the oldest first
 * unauthenticated_all       connections not upgraded yet, the oldest first; `unauthenticated`
 *                           counts them by network
 * welcoming                 members whose welcome is held back, the oldest first
 * waiting, deferred         connections with input kept for a later iteration, the oldest first;
 *                           bytes of memory of all such input
 * request_log               quotas of log lines about refused requests, by address; message_log:
 *                           about refused messages, by participant
 * late_at_ms                mono_ms when evict_late last walked all connections
 * stopping, stop_at_ms      after the first SIGTERM; mono_ms of the forced end
 * settle_until_ms           mono_ms until which all clients stay for pending envelopes; 0 = do not
 *                           wait
 */
struct edge {
    uv_loop_t loop;
    struct clock clock;
    struct config *config;
    struct hub *hub;
    struct http_api api; /* owns `tickets`, `changes` and `rates` */
    struct process process;
    struct systemd_notify notify;
    struct lws_context *lws;
    struct lws_vhost *vhost;
    struct listener *listeners;
    size_t listener_count;
    struct link all, welcoming, leaving, unauthenticated_all;
    struct mx_holders unauthenticated;
    size_t count, room;
    /* Bytes of incomplete messages, by participant; incomplete_all has their connections, the
     * message that began first at the head. */
    struct mx_holders incomplete;
    /* Bytes of all output buffers; `full` has their connections, ordered by the time when they
     * last accepted bytes. */
    size_t unsent;
    struct link incomplete_all, full, waiting;
    size_t deferred;
    /* The number of the loop iteration; time used in it by connections without a participant in the
     * hub. */
    uint64_t turn, others_ns;
    struct mx_histogram turns; /* how long they took */
    struct mcpx_text pongs;    /* frames to be sent to the connection being read */
    struct edge_tls tls;       /* TLS */
    /* `store`, `wake_store`: store and audit, and how their threads wake the loop; `store` is NULL
     * when both are off. */
    struct store *store;
    uv_async_t wake_store;
    enum stage_state store_state, audit_state; /* the last ones logged */
    /* Connections that wait for the hub; pending connections, counted by participant; members with
     * a join not stored yet, the earliest first. */
    struct waiters waiters;
    struct mx_holders pending_connections;
    struct link joining;
    struct disk_watch disks;      /* asks for free space */
    struct signatures signatures; /* of tokens, being verified */
    struct key_watch keys;        /* reads the files of public keys again */
    /* `reload` reads the configuration again (reload.c). `generation` counts changes of
     * configuration and CRLs: a connection remembers the generation of its last check
     * (grant_recheck.c). */
    struct reload *reload;
    uint64_t generation;
    uint64_t remind_before; /* connections checked before it receive the limits again */
    bool reads_paused; /* members are not read, because the hub cannot take their messages */
    uv_prepare_t round;
    uv_idle_t busy;
    uv_timer_t tick, welcome, reopen;
    uv_signal_t signals[3];
    struct log_limit accept_log, refuse_log;
    struct log_share request_log, message_log;
    uint64_t numbered;   /* the number of the latest connection */
    int64_t tick_for_ms; /* hub_due when the timer `tick` was set */
    /* libwebsockets must be woken: a timer of it was set outside its callbacks. */
    bool wake_lws;
    bool stopping;
    int64_t late_at_ms, stop_at_ms, settle_until_ms;
};

/** Returns the largest permitted message: the configured one, at most MESSAGE_MOST. */
static inline size_t bounds_message(const struct config *config)
{
    size_t limit = config->hub.message_bytes;

    return limit && limit < MESSAGE_MOST ? limit : MESSAGE_MOST;
}

/**
 * Returns the memory for all incomplete messages, and again for all output buffers: BUFFERS_MAX, or
 * four of the largest message, so that even the largest messages can arrive.
 */
static inline size_t bounds_buffers(const struct config *config)
{
    size_t most = 4 * bounds_message(config);

    return most > BUFFERS_MAX ? most : BUFFERS_MAX;
}

/** Returns the time of this loop iteration. */
static inline struct mcpx_now edge_now(struct edge *edge)
{
    return clock_now(&edge->clock);
}

#endif
