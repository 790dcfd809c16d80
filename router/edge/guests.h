/*
 * guests.h - between the 101 and the welcome. Where topics are loaded and joins are stored, that
 * takes a while: what a client sends meanwhile is read when it has its welcome, and a refusal that
 * is known only then is a close frame. Protocol: section 7.
 */
#ifndef EDGE_GUESTS_H
#define EDGE_GUESTS_H

#include "router/connection/connection.h"

/** Prepares; `key` is for names of participants. */
void guests_init(struct guests *guests, struct mx_map_key key);

/** Frees the table; nobody may wait any more. */
void guests_fini(struct guests *guests);

/**
 * May one more of this participant wait to be let in? They count as connections. Returns MCPX_OK,
 * MCPX_EFULL, or MCPX_ESHARE.
 */
enum mcpx_err guests_may_wait(const struct edge *edge, const struct grant *grant);

/**
 * The connection, just upgraded, waits to be let in.
 *
 * grant      kept
 * admission  its slices lie in `scratch`, which is taken over
 *
 * False when memory runs out.
 */
bool guests_add(struct connection *connection, struct grant *grant,
                const struct admission *admission, struct mcpx_text *scratch);

/**
 * The hub has let the connection in. It is a member, and is not read before its join is stored.
 *
 * replaces   another connection of its participant has to give way
 */
void guests_enter(struct connection *connection, struct peer *peer, bool replaces);

/** Closes those who wait to be let in and are to be removed; `edge` is a struct edge. Returns how
 * many. */
size_t guests_turn_away(void *edge, const struct removal *removal);

/** Lets those go on whose join has been stored or refused since. */
void guests_turn(struct edge *edge);

/** True when a participant that is let in would take the place of another connection. */
bool guests_replaces(const struct edge *edge, const struct peer *peer);

/*
 * From an HTTP request to a member of a topic. RFC 6455 section 4.2.
 */

struct mx_http_head;

/**
 * Does the request ask for a WebSocket? An Upgrade to anything else is passed over, as RFC 9110
 * section 7.8 permits: some clients ask for HTTP/2 with every request.
 */
bool upgrade_is_asked(const struct mx_http_head *head);

/**
 * Answers such a request: with 101, and the participant has entered its topic; or with what is
 * wrong.
 *
 * request   what request_read made of the head
 *
 * Returns true when frames follow. Without an answer, when the signature of the token is to be
 * verified first (struct http_caller): then it is to be called again.
 */
bool upgrade_answer(struct connection *connection, const struct mx_http_head *head,
                    const struct http_request *request);

#endif
