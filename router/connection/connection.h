/*
 * connection.h - one accepted socket from its first byte to its last: as an HTTP request, a
 * WebSocket, a member of a topic.
 */
#ifndef EDGE_CONNECTION_H
#define EDGE_CONNECTION_H

#include "lib/wire/frames.h"
#include "lib/wire/http_head.h"
#include "router/connection/edge.h"
#include "router/hub/log/list.h"
#include <mcpx/error.h>

struct exchange;
struct signing;
struct waiter;
struct mx_tls;
struct lws;

/**
 * UNAUTHENTICATED   speaks HTTP and is not answered yet
 * ANSWERED          is answered over HTTP; its further input is discarded
 * PENDING_CONNECTION   a WebSocket that waits for admission to its topic
 * MEMBER            a WebSocket with a peer in the hub
 * LEAVING           a close frame was written or received; further input is discarded
 * DEAD              libwebsockets was told to destroy it
 */
enum connection_state { UNAUTHENTICATED, ANSWERED, PENDING_CONNECTION, MEMBER, LEAVING, DEAD };

/* Fan-out reads the first members of each connection: they share one cache line. */

/**
 * peer           its end in the hub; NULL before its admission and after it has left
 * tls            its TLS session; NULL = plain text
 * fd             the socket of `wsi`
 * full           the socket accepts no more; `unsent` has the rest
 * finished       nothing more will be written (wire_finish)
 * bodiless       the request is HEAD
 * held           its input is not read (loop_budget_hold)
 * replaces       it replaces another connection once its join is stored
 * ended          the client has ended its input over TLS, or broken it
 * deadline_ms    mono_ms of its end unless its state changes before; 0 = never
 * in_all         link in edge->all
 * in_welcoming   link in edge->welcoming while the welcome of a member is held back
 * from           client address as quotas count it (forwarded.h); `address` is the whole one
 * via_proxy      a trusted proxy has opened it and not reported the client address yet
 * wants_proxy_head   a PROXY head must come next; `proxy_head` is its part that has arrived
 * since_ms       wall clock at which it became a member
 * in_unauthenticated   link in edge->unauthenticated_all until it is upgraded
 * exchange       the HTTP request in progress; NULL = none
 * waiter         while it waits for the hub; NULL else
 * signing        while the signature of its token is verified; NULL else
 * looks          charge to its address for a check beyond the rate (rate_limits_looks); 0 = none
 * is_refused     it has no valid credential; the answer is sent at its deadline
 * in_joining     link in edge->joining
 * in_leaving     link in edge->leaving
 * frames         the parser of a member's input
 * extra_charge   control frames since they were last charged
 * unsent         output buffer, from `unsent_at` on; in edge->full until it is empty
 * unsent_counted   bytes of its memory, as counted in edge->unsent
 * took_ms        mono_ms when the kernel last accepted some of it, or its first byte was kept
 * progress       bytes of an answer that the kernel accepted since its deadline last moved
 * deferred       input kept for a later iteration (loop_budget.h); the connection is in
 *                edge->waiting while it may go on
 * opened         its leading bytes that TLS has already decrypted
 * deferred_counted   bytes of its memory, as counted in edge->deferred
 * message_size   bytes of an incomplete message, as counted in edge->incomplete
 * generation     edge->generation at the last check of its grant
 * number         its number since the start of the router, for the log
 * left_out       refused messages without a log line since the last such line
 * message_due_ms   mono_ms by which the rest must arrive; 0 = no incomplete message
 */
struct connection {
    struct edge *edge;
    struct lws *wsi;
    struct peer *peer;
    struct mx_tls *tls;
    int fd;
    enum connection_state state;
    bool full, finished, bodiless, held, replaces, ended, is_refused;
    bool via_proxy, wants_proxy_head;
    int64_t deadline_ms;
    struct link in_all, in_welcoming;
    struct address from, address;
    struct mcpx_text proxy_head;
    int64_t since_ms;
    struct link in_unauthenticated;
    struct exchange *exchange;
    struct waiter *waiter;
    struct signing *signing;
    uint64_t looks;
    struct link in_joining, in_leaving;
    struct mx_frames frames;
    size_t extra_charge;
    struct mcpx_text unsent;
    size_t unsent_at, unsent_counted, progress;
    int64_t took_ms;
    struct link in_full, in_incomplete, in_waiting;
    struct mcpx_text deferred;
    size_t opened, deferred_counted;
    size_t message_size;
    int64_t message_due_ms;
    uint64_t generation;
    uint64_t number;
    uint64_t left_out;
};

/** True while its welcome is held back, and with it all output of the hub. */
static inline bool connection_is_welcoming(const struct connection *connection)
{
    return !list_is_empty(&connection->in_welcoming);
}

/** The log field with the identity of an instance; none for the participant itself. */
static inline struct log_field log_identity(const struct peer *peer)
{
    struct mcpx_slice identity = peer_grant(peer)->identity;

    return log_text(mcpx_slice_equal(identity, peer_id(peer)) ? NULL : "identity", identity);
}

/** The log field with the number of a connection. */
static inline struct log_field log_connection(const struct connection *connection)
{
    return log_number("connection", (int64_t)connection->number);
}

/** The log field with the number of missing lines about refused messages; none for 0. */
static inline struct log_field log_left_out(const struct connection *connection)
{
    return log_number(connection->left_out ? "left_out" : NULL, (int64_t)connection->left_out);
}

/**
 * Attaches a new unauthenticated connection to a new socket, as its opaque data. It is freed with
 * the socket (connection_free).
 *
 * address   its whole address
 *
 * Returns NULL when memory runs out.
 */
struct connection *connection_new(struct edge *edge, struct lws *wsi, struct address address);

/**
 * Frees the connection of a closed socket; its peer leaves before, if it has not left. After
 * http_server_end.
 */
void connection_free(struct connection *connection);

/** Counts it for its network until it is upgraded. Returns false when memory runs out. */
bool connection_unauthenticated_add(struct connection *connection);

/** Counts it so no longer; harmless when it is not counted. */
void connection_unauthenticated_remove(struct connection *connection);

/** Returns its whole address as text, for the log. Lent until the next call. */
const char *connection_remote(const struct connection *connection);

/** The client address of a connection given to hub_admit, and the time when it joined. */
void connection_origin_of(const void *connection, struct connection_origin *out);

/** Makes it a member: `peer` is its end in the hub. Its welcome waits WELCOME_DELAY_MS. */
void connection_join(struct connection *connection, struct peer *peer);

/** The connection is upgraded and becomes a pending connection. */
void connection_wait(struct connection *connection);

/** Its answer begins. The connection ends when it accepts no bytes of it for ANSWER_MS. */
void connection_answered(struct connection *connection);

/**
 * Its further input is discarded. The router ends it in `wait_ms` unless the client closes it
 * before.
 */
void connection_leave(struct connection *connection, int64_t wait_ms);

/** The code of an end without a close frame: RFC 6455 section 7.1.5. */
enum { CLOSE_LOST = 1006 };

/**
 * Its peer leaves the topic. The log has the reason: the client closed the connection or was lost,
 * or the hub disconnected it before. Harmless without a peer.
 *
 * code      of the client's close frame; CLOSE_LOST when none came
 * payload   of that frame, its code first
 */
void connection_depart(struct connection *connection, int code, struct mcpx_slice payload);

/** Ends the connection without a close frame, soon but not within this call. */
void connection_kill(struct connection *connection);

/* ---- output ---- */

/**
 * Writes bytes behind the output buffer. Until the buffer is empty, the connection is not read: a
 * client must receive before it may send.
 *
 * Returns false when the socket is broken or memory has run out; the caller ends the connection.
 */
bool wire_write(struct connection *connection, const char *bytes, size_t len);

/** The same without encryption, also under TLS. */
bool wire_pass(struct connection *connection, struct mcpx_slice bytes);

/** Writes a close frame, without a payload for MX_CLOSE_NONE. As wire_write. */
bool wire_close(struct connection *connection, int code, const char *reason);

/** The socket accepts bytes again. Returns 0, or -1 for libwebsockets to close it. */
int wire_writable(struct connection *connection);

/**
 * Ends the output: once all is sent, our side is shut. Input is discarded until the client shuts
 * its side, or LINGER_MS have passed. Rejected: closing at once; the kernel could drop bytes before
 * the client has read them.
 */
void wire_finish(struct connection *connection);

/** Discards the output buffer. */
void wire_drop(struct connection *connection);

/* ---- incomplete messages. Protocol: section 7. ---- */

/**
 * Counts the memory of a member's incomplete message, and from its first piece on its time. When
 * all of them exceed bounds_buffers, the participant with most of it loses its oldest one. The
 * connection of that message is disconnected (1008).
 */
void incomplete_count(struct connection *connection);

/**
 * Frees the connection's incomplete message, if there is one, and counts it no longer. The rest of
 * the message is discarded as it arrives.
 */
void incomplete_end(struct connection *connection);

/** Disconnects the connection when its message has taken INCOMPLETE_MS. */
void incomplete_watch(struct connection *connection, struct mcpx_now now);

/* ---- connections through proxies ---- */

/** A connection begins. A trusted proxy must report its client address first. */
void proxies_begin(struct connection *connection);

/**
 * Takes bytes of a connection that must begin with a PROXY head. Returns true when the head is read
 * and more follows: `bytes` and `len` are the rest. The client address is charged then, and refused
 * as in listener.c.
 */
bool proxies_take(struct connection *connection, char **bytes, size_t *len);

/** The same for the head of a request. Returns false when the client address was refused. */
bool proxies_take_head(struct connection *connection, const struct mx_http_head *head);

#endif
