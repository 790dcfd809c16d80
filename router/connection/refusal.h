/*
 * refusal.h - answers over HTTP, and the lines of log and audit about a refusal. These lines have
 * more facts than the answer to the participant, but never a token.
 */
#ifndef EDGE_REFUSAL_H
#define EDGE_REFUSAL_H

#include "router/connection/connection.h"

/* An answer is sent whole, in one write; then the connection ends. */

struct http_reply;
struct mx_http_fault;

/**
 * Writes the answer, without its body for HEAD. The connection is not read any more. `reply` stays
 * the caller's.
 */
void answer_send(struct connection *connection, struct http_reply *reply);

/** Answers with a problem of this error. `detail` NULL = the error's own text. */
void answer_problem(struct connection *connection, enum mcpx_err err, const char *detail);

/** Answers a fault of HTTP with a problem of its status, code "bad_request". */
void answer_refuse(struct connection *connection, const struct mx_http_fault *why);

/** Returns the path of its target. The query may hold a ticket: the log must not show it. */
struct mcpx_slice request_path(const struct http_request *request);

/* ---- refusals ---- */

/**
 * Notes the refusal of a member's message of `bytes` bytes. A participant has a quota of these
 * lines in the log, for all its connections together. The next line of a connection counts those
 * left out.
 */
void refusal_note_message(struct connection *connection, const struct verdict *verdict,
                          size_t bytes);

/**
 * The router refused a connection or a request of the HTTP API. Each address has a quota of these
 * lines in the log. Call it after the answer: looking up the fields takes time, and a client must
 * not be able to measure it.
 *
 * detail   the sentence sent to the client; NULL = the error's text
 */
void refusal_note_request(struct connection *connection, const struct http_request *request,
                          enum mcpx_err err, const char *detail);

/** True when the log may have a line about a request. An address has a quota of them. */
bool refusal_may_log(struct edge *edge, struct address from);

/** Notes the refusal of an address above its rate limit; `remote` is for the log. */
void refusal_note_attempt(struct edge *edge, struct address from, const char *remote);

/**
 * Refuses a connection without a valid credential, of an address above its rate limit. The answer
 * is delayed, so that a waiting client tries less often.
 */
void refusal_delay(struct connection *connection);

/*
 * Audit notes about refusals; the hub reports accepted messages itself. Without an audit nothing
 * happens.
 */

struct audit_note; /* router/store/audit/audit_chain.h */

/**
 * Notes the refusal of a client outside all topics.
 *
 * note     the participant, if it is certain, and the requested topic; the rest is filled in
 * from     client address
 * reason   NULL = the error's text
 */
void record_turned_away(struct edge *edge, struct audit_note *note, struct address from,
                        enum mcpx_err err, const char *reason);

/** Writes the act of an administrator to log and audit; `edge` is a struct edge. */
void record_change(void *edge, const struct audit_note *note);

/** Writes any other note; its time is filled in. */
void record(struct edge *edge, struct audit_note *note);

/** True when there is an audit. Ask before finding costly fields. */
static inline bool record_is_kept(const struct edge *edge)
{
    return edge->config->hub.audited;
}

#endif
