/*
 * edge_parts.h - what the sources of this folder do for each other, and for the program.
 */
#ifndef EDGE_PARTS_H
#define EDGE_PARTS_H

#include "router/connection/connection.h"
#include "router/connection/edge.h"

/* ---- where connections come in ---- */

/**
 * Opens every address of the configuration, or takes the sockets systemd hands over instead.
 * A host name may stand for several addresses; each gets its listener.
 *
 * In dev mode sockets handed over have to be on loopback, as configured addresses have to.
 *
 * errors   a line per address that cannot be listened on
 *
 * Returns MCPX_OK, MCPX_ESYSTEM with `errors`, or MCPX_ENOMEM.
 */
enum mcpx_err listener_open_all(struct edge *edge, struct mcpx_text *errors);

/** Accepts nothing from now on. The loop has to run once more before the memory is free. */
void listener_close_all(struct edge *edge);

/**
 * Creates the libwebsockets context on edge->loop. Returns MCPX_OK, or MCPX_ESYSTEM with the
 * reason in the log.
 */
enum mcpx_err ws_server_open(struct edge *edge);

/** Makes libwebsockets look at its timers, when edge->wake_lws says that it has to. */
void ws_server_wake(struct edge *edge);

/**
 * Begins the end: every connection is cut. The loop has to run until it is empty; then a second
 * call ends it.
 */
void ws_server_close(struct edge *edge);

/* ---- bytes that were read go through TLS to the part that the connection's state names ---- */

/** Bytes were read: they go where they belong, or wait for their turn. May change them. */
void dispatch_bytes(struct connection *connection, char *bytes, size_t len);

/**
 * A turn begins: everybody has a whole share, and what was deferred goes where it belongs, who
 * waits longest first. Returns true when something still waits.
 */
bool dispatch_turn(struct edge *edge);

/* ---- HTTP on a connection ---- */

/** Bytes came from who is not upgraded yet. Borrows `bytes`. */
void http_server_bytes(struct connection *connection, const char *bytes, size_t len);

/** Frees the request that is on its way, if there is one. */
void http_server_end(struct connection *connection);

/*
 * ---- from an HTTP request to a member of a topic. Where topics are loaded and joins are stored,
 * that takes a while: what a client sends meanwhile is read when it has its welcome, and a refusal
 * that is known only then is a close frame. RFC 6455 section 4.2; protocol: section 7.
 */

/** Closes those who wait to be let in and are to be removed; `edge` is a struct edge. Returns how
 * many. */
size_t pending_connections_turn_away(void *edge, const struct removal *removal);

/** Lets those go on whose join has been stored or refused since. */
void pending_connections_turn(struct edge *edge);

struct mx_http_head;

/** Is the head that of a handshake? Else it is refused. */
bool upgrade_judge(struct connection *connection, const struct mx_http_head *head);

/**
 * Somebody may come in as reply->grant (http_answer): answers with 101, and the participant has
 * entered its topic, or waits to be let in.
 *
 * Returns true when frames follow. False when `reply` says what is wrong, or without an error when
 * the connection was cut.
 */
bool upgrade_enter(struct connection *connection, const struct mx_http_head *head,
                   const struct admission *admission, struct http_reply *reply);

/* ---- frames from a participant, and to all ---- */

/**
 * Bytes came that are frames: whole messages go to the hub, pings are answered, a close is
 * answered and ends the connection. Unmasks where the bytes lie.
 */
void receive_bytes(struct connection *connection, char *bytes, size_t len);

/**
 * Writes for every peer that is ready, until none is or the round has done its share of writes or
 * bytes. Returns true when there may be more to write.
 */
bool flush_round(struct edge *edge);

/* ---- who has to go ---- */

/**
 * What sockets have not taken is bounded for all connections together: beyond bounds_buffers,
 * those that have taken nothing for a second are cut, the slowest first.
 */
void evict_slow(struct edge *edge);

/**
 * Called when its socket has become full: cuts the connection when what sockets have not taken is
 * beyond the bound, and more than half of the bound is its participant's.
 */
void evict_largest_buffer(struct connection *connection);

/**
 * Twice a second at most, unless the router stops: cuts every connection whose deadline is past,
 * disconnects those whose message takes too long, and sets a deadline for disconnected ones whose
 * socket is full.
 */
void evict_late(struct edge *edge);

/**
 * Called before a connection is accepted: when there are as many as edge->room, cuts the one that
 * has been leaving for the longest time, if there is any; and then, or when there are
 * UNAUTHENTICATED_MAX, the oldest unauthenticated one of the network (/48 for IPv6; an IPv4 address
 * is its own) that has most of them.
 */
void evict_for_another(struct edge *edge);

/**
 * For a router that stops, again and again: cuts those who have taken their answer, and gives those
 * who have none yet LAST_REQUEST_MS. A client that was accepted just before may not have been read.
 */
void evict_requests(struct edge *edge);

/* ---- what keeps messages and decisions; without store and audit nothing of it runs ---- */

/**
 * Opens what the configuration asks for. Before listeners are opened.
 *
 * errors   one line for each reason it cannot
 *
 * Returns MCPX_OK, also when there is nothing to open; or as store_new.
 */
enum mcpx_err store_turn_open(struct edge *edge, struct mcpx_text *errors);

/** Takes what was answered, lets those go on who have waited for it, hands over what is new. */
void store_turn_run(struct edge *edge);

/** Nothing can be taken and nobody is told so: nobody is read, and nobody's time runs out. */
bool store_turn_is_blocked(const struct edge *edge);

/** Hands over what is left, waits until it is kept, closes. The loop still runs once after that. */
void store_turn_close(struct edge *edge);

/* ---- the configuration is read again: all of it comes into force, or none ---- */

/**
 * Prepares it. `sources` is where edge->config was read from; borrowed until reload_free. Returns
 * MCPX_OK or MCPX_ENOMEM.
 */
enum mcpx_err reload_new(struct edge *edge, const struct config_sources *sources);

/** Releases it; no thread may be reading any more. NULL is allowed. */
void reload_free(struct reload *reload);

/**
 * Begins to read what is there now. Another thread does it; the loop puts it into force, tells the
 * log and the audit, and the participants in the turns after it. One that is asked for
 * while another is under way begins behind it.
 *
 * by     the participant, or "signal"; borrowed
 * from   where the request came from; NULL = nowhere
 *
 * Returns its number, for reload_is_done.
 */
uint64_t reload_ask(struct edge *edge, struct mcpx_slice by, const struct address *from);

/** A signal asks for it, behind the files of TLS and of keys, which are read again in any case. */
void reload_all(struct edge *edge);

/** Has the reload of that number ended? What became of the last one is in edge->api.reloads. */
bool reload_is_done(const struct edge *edge, uint64_t number);

/**
 * Begins what a signal has asked for, and frees some of the configuration that was in force before.
 * True while there is more of that.
 */
bool reload_turn(struct edge *edge);

/* ---- who may be in, by certificate and by another configuration ---- */

/** One that was verified, by an authority of tls.client_ca_file. Zeroed, there is none. */
struct certificate {
    /* Id of the participant; empty when it stands for nobody, absent when there is none; lent
     * by `shown`. */
    struct mcpx_slice named;
    /* Its names as tls.client_names would have them, separated by spaces. */
    struct mcpx_text shown;
};

/**
 * Reads that of a connection with TLS. A certificate stands for a participant when its names in
 * tls.client_names all mean the same one, and there is one.
 *
 * Returns false when memory runs out.
 */
bool certificate_read(const struct connection *connection, struct certificate *out);

/** Frees it. */
void certificate_fini(struct certificate *certificate);

/**
 * Judges a grant again, by what it was earned with (tokens_recheck) and the configuration that is
 * in force now, and lays over it what was changed at run time.
 *
 * grant   replaced on success; stays the caller's
 *
 * Returns MCPX_OK; MCPX_EKICKED when its participant is not configured any more, or not for this
 * topic; MCPX_EEXPIRED when another token may help, or its certificate stands for somebody else;
 * MCPX_ENOMEM.
 */
enum mcpx_err recheck_grant(struct connection *connection, struct mcpx_slice topic,
                            struct grant **grant);

/**
 * Judges a connection that was judged under another configuration, before anything of it is looked
 * at: its participant has other grants from the next message on, or is disconnected. Nobody is told
 * where nothing has changed. True when that took more than a look.
 */
bool recheck_connection(struct connection *connection);

/** Does that for some connections, in each turn. True while others are left. */
bool grant_recheck_turn(struct edge *edge);

/* ---- the running router ---- */

/**
 * Makes a router and opens its listeners.
 *
 * config    borrowed until edge_free; a reload puts another configuration into the same struct
 * sources   where it was read from, borrowed likewise
 * errors    one line for each reason it cannot
 * out       the router; untouched on failure
 *
 * Returns MCPX_OK, MCPX_ESYSTEM with `errors`, or MCPX_ENOMEM.
 */
enum mcpx_err edge_new(struct config *config, const struct config_sources *sources,
                       struct mcpx_text *errors, struct edge **out);

/**
 * Runs until SIGTERM or SIGINT has stopped it: nobody is accepted then, every client is told 1001,
 * and it returns when everybody has left, after config->drain_ms at the latest; after a second
 * signal at once. SIGHUP reloads the configuration, SIGPIPE is ignored.
 */
void edge_run(struct edge *edge);

/** Frees the router; every connection is cut. NULL is allowed. */
void edge_free(struct edge *edge);

#endif
