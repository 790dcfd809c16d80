/*
 * refusal.h - answers over HTTP, and the lines of log and audit about a refusal. These lines say
 * more than the refused participant is told, and never contain a token.
 */
#ifndef EDGE_REFUSAL_H
#define EDGE_REFUSAL_H

#include "router/connection/connection.h"

/* The one way an answer leaves: whole, in one write, and then the connection ends. */

struct http_reply;
struct mx_http_fault;

/**
 * Writes the answer, without its body when the request was HEAD; nothing is read any more. `reply`
 * stays the caller's.
 */
void answer_send(struct connection *connection, struct http_reply *reply);

/** Answers with a problem of this error. `detail` may be NULL: its own text stands there then. */
void answer_problem(struct connection *connection, enum mcpx_err err, const char *detail);

/** Answers what only HTTP knows, with a problem of its status, code "bad_request". */
void answer_refuse(struct connection *connection, const struct mx_http_fault *why);

/** The path of its target: the query may hold a ticket, which the log must not show. */
struct mcpx_slice request_path(const struct http_request *request);

/* ---- refusals ---- */

/**
 * A message of `bytes` bytes of a member was refused. In the log, a participant has a share of
 * these lines, with all its connections together; the next one that is written says how many of
 * this connection were left out.
 */
void refusal_note_message(struct connection *connection, const struct verdict *verdict,
                          size_t bytes);

/**
 * The router refused a connection or a request of the HTTP API. Each address has a quota of these
 * lines in the log. Call it after the answer: looking up the fields takes time, and a client must
 * not be able to measure it.
 *
 * detail   what it was told; NULL = the error's text
 */
void refusal_note_request(struct connection *connection, const struct http_request *request,
                          enum mcpx_err err, const char *detail);

/** May the log have a line about a request from there? An address has a share of them. */
bool refusal_may_log(struct edge *edge, struct address from);

/** An attempt from an address that attempts too often was turned away; `remote` is for the log. */
void refusal_note_attempt(struct edge *edge, struct address from, const char *remote);

/**
 * Refuses a connection of an address that attempts too often and has shown no good credential. The
 * answer is delayed, so that a waiting client tries less often.
 */
void refusal_delay(struct connection *connection);

/*
 * Audit notes about refusals; the hub reports accepted messages itself. Without an audit nothing
 * happens.
 */

struct audit_note; /* router/store/audit/audit_chain.h */

/**
 * A client that is in no topic was refused.
 *
 * note     who it is, if that is certain, and the topic that was asked for; the rest is filled in
 * from     where the attempt came from
 * reason   NULL = the error's text
 */
void record_turned_away(struct edge *edge, struct audit_note *note, struct address from,
                        enum mcpx_err err, const char *reason);

/** What an administrator has done, as `note` says, for log and audit; `edge` is a struct edge. */
void record_change(void *edge, const struct audit_note *note, struct mcpx_now now);

/** Any other note; its time is filled in. */
void record(struct edge *edge, struct audit_note *note);

/** Is anything written down? Ask before working out costly fields. */
static inline bool record_is_kept(const struct edge *edge)
{
    return edge->config->hub.audited;
}

#endif
