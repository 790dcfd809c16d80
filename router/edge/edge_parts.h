/* edge_parts.h - the functions shared by the sources of this folder, and those for the program. */
#ifndef EDGE_PARTS_H
#define EDGE_PARTS_H

#include "router/connection/connection.h"
#include "router/connection/edge.h"

/* ---- listeners ---- */

/**
 * Opens every address of the configuration, or takes the sockets systemd hands over instead.
 * A host name may stand for several addresses; each gets its listener.
 *
 * In dev mode these sockets must be on loopback, like configured addresses.
 *
 * errors   a line per address that cannot be listened on
 *
 * Returns MCPX_OK, MCPX_ESYSTEM with `errors`, or MCPX_ENOMEM.
 */
enum mcpx_err listener_open_all(struct edge *edge, struct mcpx_text *errors);

/** Closes all listeners. The loop must run once more before their memory is freed. */
void listener_close_all(struct edge *edge);

/**
 * Creates the libwebsockets context on edge->loop. Returns MCPX_OK, or MCPX_ESYSTEM with the
 * reason in the log.
 */
enum mcpx_err ws_server_open(struct edge *edge);

/** Makes libwebsockets look at its timers when edge->wake_lws is set, and clears that. */
void ws_server_wake(struct edge *edge);

/**
 * Cuts every connection. After that the loop must run until it is empty; then a second call frees
 * the context.
 */
void ws_server_close(struct edge *edge);

/* ---- bytes from a socket, through TLS, to HTTP or to frames ---- */

/** Passes bytes from the socket on to HTTP or to frames, or defers them. May change them. */
void dispatch_bytes(struct connection *connection, char *bytes, size_t len);

/**
 * Begins a loop iteration: all loop budgets are whole again, and deferred bytes are passed on, the
 * longest waiting first. Returns true when bytes still wait.
 */
bool dispatch_turn(struct edge *edge);

/* ---- HTTP on a connection ---- */

/** Takes bytes of a connection that is not upgraded yet. Borrows `bytes`. */
void http_server_bytes(struct connection *connection, const char *bytes, size_t len);

/** Frees the unanswered request, if there is one. */
void http_server_end(struct connection *connection);

/*
 * ---- from an HTTP request to a member of a topic. Loading a topic and storing a join take a
 * while. Messages of the client wait until it has its welcome; a late refusal is a close frame. RFC
 * 6455 section 4.2; protocol: section 7.
 */

/** Refuses the connections waiting for admission that `removal` reaches; `edge` is a struct edge.
 * Returns how many. */
size_t pending_connections_turn_away(void *edge, const struct removal *removal);

/** Resumes connections after their join was stored or refused. */
void pending_connections_turn(struct edge *edge);

struct mx_http_head;

/** True when the head is a valid handshake. Else refuses the request. */
bool upgrade_judge(struct connection *connection, const struct mx_http_head *head);

/**
 * Admits the participant of reply->grant (http_answer): answers with 101. It has then entered its
 * topic, or waits for admission.
 *
 * Returns true when frames follow. Returns false with the error in `reply`, or without one when the
 * connection was cut.
 */
bool upgrade_enter(struct connection *connection, const struct mx_http_head *head,
                   const struct admission *admission, struct http_reply *reply);

/* ---- frames from a participant, and to all ---- */

/**
 * Takes bytes of frames: whole messages go to the hub, pings are answered, a close is answered and
 * ends the connection. Unmasks in place.
 */
void receive_bytes(struct connection *connection, char *bytes, size_t len);

/**
 * Writes for every ready peer, up to a number of writes and bytes. Returns true when there may be
 * more to write.
 */
bool flush_round(struct edge *edge);

/* ---- evicted connections ---- */

/**
 * The output buffers of all connections together have a bound (bounds_buffers). Beyond it,
 * connections are cut after a second without progress, the slowest first.
 */
void evict_slow(struct edge *edge);

/**
 * Called when its socket has become full. Cuts the connection when output buffers are beyond their
 * bound and its participant has more than half of that bound.
 */
void evict_largest_buffer(struct connection *connection);

/**
 * Works twice a second at most, unless the router stops. Cuts connections past their deadline,
 * disconnects those with a late incomplete message, and sets a deadline for disconnected ones with
 * a full socket.
 */
void evict_late(struct edge *edge);

/**
 * Makes room before a connection is accepted. With edge->room connections, cuts the one leaving for
 * the longest time, if there is one. Then, or with UNAUTHENTICATED_MAX unauthenticated ones, also
 * cuts the oldest unauthenticated one of the network with most of them. A network is a /48 of IPv6,
 * or an IPv4 address.
 */
void evict_for_another(struct edge *edge);

/**
 * Called again and again while the router stops. Cuts connections that have taken their answer;
 * others get LAST_REQUEST_MS, because a client accepted just before may not have been read.
 */
void evict_requests(struct edge *edge);

/* ---- store and audit; without both, nothing of this runs ---- */

/**
 * Opens the configured store and audit, before listeners are opened.
 *
 * errors   one line for each reason of a failure
 *
 * Returns MCPX_OK, also when there is nothing to open; or as store_new.
 */
enum mcpx_err store_turn_open(struct edge *edge, struct mcpx_text *errors);

/** Takes the writers' results, resumes connections that waited for them, hands over new work. */
void store_turn_run(struct edge *edge);

/** True while envelopes wait because the audit cannot write: no reads, and no deadline runs out. */
bool store_turn_is_blocked(const struct edge *edge);

/** Hands over the rest, waits until it is stored, closes. The loop must run once after that. */
void store_turn_close(struct edge *edge);

/* ---- a reload of the configuration: all of it becomes active, or nothing ---- */

/**
 * Prepares reloads. edge->config was read from `sources`, borrowed until reload_free. Returns
 * MCPX_OK or MCPX_ENOMEM.
 */
enum mcpx_err reload_new(struct edge *edge, const struct config_sources *sources);

/** Frees it; no thread may be reading any more. NULL is allowed. */
void reload_free(struct reload *reload);

/**
 * Asks for a reload. A thread reads the configuration; the loop makes it active, tells log and
 * audit, and in later iterations the participants. A reload asked for during another one begins
 * after it.
 *
 * by     the participant, or "signal"; borrowed
 * from   client address of the request; NULL = none
 *
 * Returns its number, for reload_is_done.
 */
uint64_t reload_ask(struct edge *edge, struct mcpx_slice by, const struct address *from);

/** For a signal: reads the files of TLS and of keys again, then the configuration. */
void reload_all(struct edge *edge);

/** True when the reload of that number has ended. The last result is in edge->api.reloads. */
bool reload_is_done(const struct edge *edge, uint64_t number);

/**
 * Begins a reload that a signal has asked for, and frees a part of the former configuration. True
 * while more of it is left.
 */
bool reload_turn(struct edge *edge);

/* ---- checks of connections, by certificate and after a reload ---- */

/** A client certificate, verified by a CA of tls.client_ca_file. Zeroed without one. */
struct certificate {
    /* Id of its participant, lent by `shown`; empty for none, absent without a certificate. */
    struct mcpx_slice named;
    /* Its names in the form of tls.client_names, separated by spaces. */
    struct mcpx_text shown;
};

/**
 * Reads the certificate of a connection with TLS. It stands for a participant when all of its names
 * in tls.client_names mean that one, and it is not revoked.
 *
 * Returns false when memory runs out.
 */
bool certificate_read(const struct connection *connection, struct certificate *out);

/** Frees it. */
void certificate_fini(struct certificate *certificate);

/**
 * Checks a grant again, by its credential (tokens_recheck) and the active configuration, and
 * applies runtime grants and denials.
 *
 * grant   replaced on success; stays the caller's
 *
 * Returns MCPX_OK; MCPX_EKICKED when its participant is not configured any more, or not for this
 * topic; MCPX_EEXPIRED when another token may help, or its certificate stands for another
 * participant; MCPX_ENOMEM.
 */
enum mcpx_err recheck_grant(struct connection *connection, struct mcpx_slice topic,
                            struct grant **grant);

/**
 * Checks a connection again under a new configuration, before its next bytes are handled: its
 * participant has other grants from the next message on, or is disconnected. Returns true when the
 * participant was told something; without a change it is not.
 */
bool recheck_connection(struct connection *connection);

/** Checks some connections in each loop iteration. True while others are left. */
bool grant_recheck_turn(struct edge *edge);

/* ---- the running router ---- */

/**
 * Makes a router and opens its listeners.
 *
 * config    borrowed until edge_free; a reload puts another configuration into the same struct
 * sources   where it was read from, borrowed likewise
 * errors    one line for each reason of a failure
 * out       the router; untouched on failure
 *
 * Returns MCPX_OK, MCPX_ESYSTEM with `errors`, or MCPX_ENOMEM.
 */
enum mcpx_err edge_new(struct config *config, const struct config_sources *sources,
                       struct mcpx_text *errors, struct edge **out);

/**
 * Runs until SIGTERM or SIGINT. Then it accepts no connection, sends every client 1001, and returns
 * when all have left, after config->drain_ms at the latest. A second signal ends it at once. SIGHUP
 * reloads the configuration, SIGPIPE is ignored.
 */
void edge_run(struct edge *edge);

/** Frees the router; every connection is cut. NULL is allowed. */
void edge_free(struct edge *edge);

#endif
