/*
 * connection.h - one accepted socket: what is known of it, and its life from the first byte to the
 * last, whatever it becomes.
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
 * UNAUTHENTICATED   speaks HTTP and was not answered yet
 * ANSWERED          was answered over HTTP: nothing it sends counts any more
 * PENDING_CONNECTION             a WebSocket whose participant waits to be let in
 * MEMBER            a WebSocket with a peer in the hub
 * LEAVING           a close frame was written or received: nothing it sends counts any more
 * DEAD              libwebsockets was told to destroy it
 */
enum connection_state { UNAUTHENTICATED, ANSWERED, PENDING_CONNECTION, MEMBER, LEAVING, DEAD };

/* What a round of fan-out reads of each connection stands first, in one cache line. */

/**
 * peer           the hub's end; NULL before it was admitted and after it departed
 * tls            what is between the socket and the rest; NULL = nothing
 * fd             the socket of `wsi`
 * full           the socket takes no more; `unsent` has the rest
 * finished       nothing more will be written (wire_finish)
 * bodiless       the request is HEAD
 * held           nothing is read from it (loop_budget_hold)
 * replaces       it takes the place of another one, once its join is stored
 * ended          the client has said that it says nothing more
 * deadline_ms    mono_ms at which the connection is cut unless its state changed; 0 = never
 * in_all         link in edge->all
 * in_welcoming   link in edge->welcoming while the welcome of a member is held back
 * from           where it comes from, as it counts (forwarded.h); `origin` is the whole address
 * via_proxy      it is from a trusted proxy, which has not said yet whom it is for
 * wants_proxy_head   what comes next is a PROXY head; `proxy_head` has what has come of it
 * since_ms       wall clock at which it became a member
 * in_strangers   link in edge->strangers while it is not upgraded
 * exchange       the HTTP request that is on its way; NULL else
 * waiter         while it waits for the hub; NULL else
 * signing        while the signature of its token is verified; NULL else
 * looks          what its address was charged for a look at it (rate_limits_looks); 0 without
 * is_refused     it has shown no good credential, and is told so at its deadline
 * in_joining     link in edge->joining
 * in_leaving     link in edge->leaving
 * frames         what a member sends
 * extras         control frames since they were last charged
 * unsent         what the kernel did not take, from `unsent_at` on; in edge->full while it is
 *                not empty
 * unsent_counted how much of edge->unsent is its memory
 * took_ms        when the kernel last took any of it, or it began to be kept
 * progress       bytes of an answer that were taken since its deadline was last moved
 * deferred       what was read and waits for a later iteration (loop_budget.h); in edge->waiting
 *                while it may go on
 * opened         how much of it was sealed by TLS and no longer is: the beginning
 * deferred_counted   how much of edge->deferred is its memory
 * message_size   how much of edge->unfinished is the memory of an unfinished message
 * generation     edge->generation when its grant was judged last
 * number         which one it is since the router began; the log names it by this
 * left_out       refused messages that no line was written about, since the last one that was
 * message_due_ms mono_ms by which the rest has to arrive; 0 = no message is unfinished
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
    struct address from, origin;
    struct mcpx_text proxy_head;
    int64_t since_ms;
    struct link in_strangers;
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

/** Is its welcome held back, and all else that the hub has for it? */
static inline bool connection_is_welcoming(const struct connection *connection)
{
    return !list_is_empty(&connection->in_welcoming);
}

/** The field of a log line that says whose instance a peer is; none for the participant itself. */
static inline struct log_field log_identity(const struct peer *peer)
{
    struct mcpx_slice identity = peer_grant(peer)->identity;

    return log_text(mcpx_slice_equal(identity, peer_id(peer)) ? NULL : "identity", identity);
}

/** The field of a log line that says which connection it is about. */
static inline struct log_field log_connection(const struct connection *connection)
{
    return log_number("connection", (int64_t)connection->number);
}

/** The field that says how many lines about refused messages are missing; none when none are. */
static inline struct log_field log_left_out(const struct connection *connection)
{
    return log_number(connection->left_out ? "left_out" : NULL, (int64_t)connection->left_out);
}

/**
 * Attaches a new connection, not authenticated, to a socket just adopted, as its opaque data. It is
 * freed with the socket (connection_free).
 *
 * origin   the whole address that it comes from
 *
 * Returns NULL when memory runs out.
 */
struct connection *connection_new(struct edge *edge, struct lws *wsi, struct address origin);

/**
 * The socket is gone: the peer departs if it has not, and the connection is freed. After
 * http_server_end.
 */
void connection_free(struct connection *connection);

/** It has a place among those not upgraded yet. False when memory runs out. */
bool connection_take_place(struct connection *connection);

/** It has none any more; harmless when it had none. */
void connection_leave_place(struct connection *connection);

/** The other side's address as text, for the log. Lent until the next call. */
const char *connection_remote(const struct connection *connection);

/** Where a connection, given to hub_admit, comes from and since when. */
void connection_locate(const void *connection, struct connection_origin *out);

/** It becomes a member: `peer` is its end in the hub. Its welcome waits WELCOME_DELAY_MS. */
void connection_join(struct connection *connection, struct peer *peer);

/** It was upgraded, and its participant waits to be let in. */
void connection_wait(struct connection *connection);

/** Its request is being answered. It is cut ANSWER_MS after it last took bytes of the answer. */
void connection_answered(struct connection *connection);

/**
 * From here on nothing counts that it sends. It is cut at the deadline `wait_ms` from now
 * unless the other side closes first.
 */
void connection_leave(struct connection *connection, int64_t wait_ms);

/** The code of an end without a close frame: RFC 6455 section 7.1.5. */
enum { CLOSE_LOST = 1006 };

/**
 * The participant is gone for the others, and the log says why: its client has closed the
 * connection or was lost, unless the hub has closed it before. Harmless when it had no peer.
 *
 * code      of the client's close frame; CLOSE_LOST when none came
 * payload   of that frame, its code first
 */
void connection_depart(struct connection *connection, int code, struct mcpx_slice payload);

/** Cuts the connection without a word, soon but not from within this call. */
void connection_kill(struct connection *connection);

/* ---- what leaves a connection ---- */

/**
 * Writes bytes, behind what is kept already. While anything is kept nothing is read either: who
 * does not listen need not talk.
 *
 * Returns false when the socket is broken or memory has run out; the caller cuts the connection.
 */
bool wire_write(struct connection *connection, const char *bytes, size_t len);

/** The same for bytes that are to leave as they are, also under TLS. */
bool wire_pass(struct connection *connection, struct mcpx_slice bytes);

/** Writes a close frame, without a payload for MX_CLOSE_NONE. As wire_write. */
bool wire_close(struct connection *connection, int code, const char *reason);

/** The socket takes bytes again: a callback of libwebsockets; returns what that returns. */
int wire_writable(struct connection *connection);

/**
 * Nothing more will be written: once all is sent, our side is shut. What the other side still
 * sends is thrown away until it shuts its own, or LINGER_MS have passed: to close at once could
 * make the kernel throw away what was not read yet over there.
 */
void wire_finish(struct connection *connection);

/** Throws away what is kept. */
void wire_drop(struct connection *connection);

/* ---- messages that have begun to arrive. Protocol: section 7. ---- */

/**
 * More of a member's message has arrived: counts its memory, and from the first piece on its time.
 * When all of them together take more than bounds_buffers, the participant that holds most loses
 * the one that it began first, and with it that connection (1008).
 */
void incomplete_count(struct connection *connection);

/**
 * No message of this connection is unfinished any more; the memory of one that was is freed,
 * counted or not, and what is left of it is thrown away as it comes.
 */
void incomplete_end(struct connection *connection);

/** Disconnects the connection when its message takes too long. */
void incomplete_watch(struct connection *connection, struct mcpx_now now);

/* ---- connections that a proxy makes for others ---- */

/** A connection begins. One from a trusted proxy has to say whom it is from before it is served. */
void proxies_begin(struct connection *connection);

/**
 * Bytes were read from a connection that has to begin with a PROXY head. Returns true once it is
 * read: `bytes` and `len` are what follows it then. Whoever the connection is from is charged for
 * it now, and turned away as listener.c does it.
 */
bool proxies_take(struct connection *connection, char **bytes, size_t *len);

/** The same for what a head says of a request. False when it was turned away. */
bool proxies_take_head(struct connection *connection, const struct mx_http_head *head);

#endif
