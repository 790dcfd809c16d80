/*
 * edge.h - all that one running router owns, shared by the files of this folder and nobody else.
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

/** How much room the disks have on which the store writes, for the metrics (store_turn.c). */
struct disk_watch {
    struct errand errand;
    struct mcpx_text store, audit; /* paths; empty while that is off */
    struct disk_figures known;     /* what was answered last */
    struct disk_figures found;     /* what a thread has found */
};

/** TLS of the addresses that have it; without any, all of it is zero. */
struct edge_tls {
    struct mx_tls_room *room;
    struct tls_files files; /* what new connections are given */
    bool lists_ended;       /* that all lists of an authority have ended was logged */
    struct tls_figures figures;
    struct errand errand; /* reads them again (tls_files.h), what for is in `watch` */
    struct tls_watch *watch;
};

struct connection;
struct mx_tls_room;
struct tls_watch;
struct reload;
struct store;
struct lws_context;
struct lws_vhost;

/**
 * Bounds and times that are not for the administrator to choose.
 *
 * UNAUTHENTICATED_MAX   connections that have not been upgraded; beyond, whoever holds most loses
 *                       one
 * REQUEST_MS            how long one may stay so without being answered
 * LAST_REQUEST_MS       how long one may stay so while the router stops
 * REFUSAL_MS            how long who asks too often waits for being told so
 * ANSWER_MS             how long one may take nothing of its answer
 * LINGER_MS             between the last byte sent and the end, for the other side to close first
 * WELCOME_DELAY_MS      between the 101 and the welcome: some clients lose what comes with the 101
 * LEAVE_MS              how long a peer may take to answer a close frame
 * FULL_LEAVE_MS         the same for one that has stopped reading and has to catch up first
 * TICK_MS               longest wait of the housekeeping timer
 * INCOMPLETE_MS         how long a message may take from its first piece to its last
 * BUFFERS_MAX           memory of all messages that have begun to arrive, of everybody together; as
 *                       much again of all that sockets have not taken yet (bounds_buffers)
 * DEFERRED_MAX          memory of all that was read and waits for its turn (loop_budget.h)
 * MESSAGE_MOST          the largest message there can be: sizes in a topic's log have 32 bits
 * TLS_BYTES             what TLS takes of one connection: its state, measured as 16 KiB, and in
 *                       turn a chain of certificates or a record that is not whole
 * READ_SIZE             most bytes that are read at once, into one buffer for all connections
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

/** Where connections come in; with `tls`, under TLS. */
struct listener {
    struct edge *edge;
    uv_poll_t poll;
    int fd;
    bool tls;
    char url[240];
};

/**
 * Those who wait for the hub (loop_budget.h).
 *
 * asking     how many of them, from the first on, are still to be asked
 */
struct waiters {
    struct link all;
    size_t count, asking;
    uint64_t waits;   /* hub_waits when all of them began to be asked last */
    int64_t asked_ms; /* mono_ms at that time */
};

/**
 * One router, on one thread.
 *
 * all, count                every connection; how many there are
 * room                      how many there may be without taking the descriptors of all else
 * leaving                   those that are leaving, the longest first
 * strangers                 those not upgraded yet, the oldest first; in unauthenticated how many
 *                           of each network
 * welcoming                 members whose welcome is held back, oldest first
 * waiting, deferred         connections with something left of a read that waits for its turn,
 *                           longest first; bytes of memory that takes
 * request_log               lines about refused requests, by address; message_log about refused
 *                           messages, by participant
 * late_at_ms                when evict_late has last walked all connections
 * stopping, stop_at_ms      after the first TERM; when waiting ends
 * settle_until_ms           until then what is pending may be answered, before everybody leaves; 0
 *                           once they do
 */
struct edge {
    uv_loop_t loop;
    struct clock clock;
    struct config *config;
    struct hub *hub;
    struct http_api api; /* owns `tickets`, `changes` and `gate` */
    struct process process;
    struct systemd_notify notify;
    struct lws_context *lws;
    struct lws_vhost *vhost;
    struct listener *listeners;
    size_t listener_count;
    struct link all, welcoming, leaving, strangers;
    struct mx_holders unauthenticated;
    size_t count, room;
    /* Bytes of memory that unfinished messages take, by participant; in incomplete_all the
     * connections they belong to, that began first first. */
    struct mx_holders incomplete;
    /* Bytes of memory that sockets have not taken yet; in full the connections they belong to,
     * the one that took bytes last at the end. */
    size_t unsent;
    struct link incomplete_all, full, waiting;
    size_t deferred;
    /* Counts loop turns; the time that those have cost in this one whom nobody in the hub
     * stands behind. */
    uint64_t turn, others_ns;
    struct mx_histogram turns; /* how long they took */
    struct mcpx_text pongs; /* frames on their way out, of the connection that is being read */
    struct edge_tls tls;    /* TLS */
    /* `store`, `wake_store`: what keeps messages and decisions, and how its threads wake the
     * loop; NULL when the hub keeps all by itself. */
    struct store *store;
    uv_async_t wake_store;
    enum stage_state store_state, audit_state; /* what the log was told of them last */
    /* Those who wait for the hub; how many of each participant wait to be let in; members whose
     * join is not stored yet, in the order in which it was accepted. */
    struct waiters waiters;
    struct mx_holders pending_connections;
    struct link joining;
    struct disk_watch disks;      /* asks how much room there is */
    struct signatures signatures; /* those of tokens that are being verified */
    struct key_watch keys;        /* who reads the files with public keys again */
    /* `reload`, `generation`: who reads the configuration again (reload.c), and how often
     * another one came into force, or other revocation lists: connections know under which they
     * were judged (recheck.c). */
    struct reload *reload;
    uint64_t generation;
    uint64_t remind_before; /* who was judged before that generation is told of limits again */
    bool reads_paused; /* members are not read, because nothing that they say can be taken */
    uv_prepare_t round;
    uv_idle_t busy;
    uv_timer_t tick, welcome, reopen;
    uv_signal_t signals[3];
    struct log_limit accept_log, refuse_log;
    struct log_share request_log, message_log;
    uint64_t numbered;   /* connections there have been: the number of the latest */
    int64_t tick_for_ms; /* what hub_due said when the timer `tick` was set */
    /* Something was handed to libwebsockets' timers from outside its callbacks: it must be
     * woken. */
    bool wake_lws;
    bool stopping;
    int64_t late_at_ms, stop_at_ms, settle_until_ms;
};

/** The largest message that is received: the configured one, at most MESSAGE_MOST. */
static inline size_t bounds_message(const struct config *config)
{
    size_t limit = config->hub.message_bytes;

    return limit && limit < MESSAGE_MOST ? limit : MESSAGE_MOST;
}

/**
 * Memory that all messages that have begun to arrive may take, and again as much what sockets have
 * not taken: BUFFERS_MAX, or four of the largest message, because who configures larger messages
 * has to be able to receive them.
 */
static inline size_t bounds_buffers(const struct config *config)
{
    size_t most = 4 * bounds_message(config);

    return most > BUFFERS_MAX ? most : BUFFERS_MAX;
}

/** The time of this loop turn. */
static inline struct mcpx_now edge_now(struct edge *edge)
{
    return clock_now(&edge->clock);
}

#endif
