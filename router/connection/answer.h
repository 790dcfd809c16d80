/*
 * answer.h - a head that was read, as the HTTP API wants it; and the one way an answer leaves:
 * whole, in one write, and then the connection ends.
 */
#ifndef EDGE_ANSWER_H
#define EDGE_ANSWER_H

#include "lib/wire/http_head.h"
#include "router/connection/connection.h"

struct http_reply;
struct mx_http_fault;

/**
 * A refusal that the table of errors has no row for, because only HTTP knows it.
 *
 * status, title   of the status line
 * header          one more header line with its CRLF, or NULL
 * detail          a sentence for people
 */
struct answer_status {
    int status;
    const char *title;
    const char *header;
    const char *detail;
};

/**
 * Writes the answer, without its body when the request was HEAD; nothing is read any more. `reply`
 * stays the caller's.
 */
void answer_send(struct connection *connection, struct http_reply *reply);

/** Answers with a problem of this error. `detail` may be NULL: its own text stands there then. */
void answer_problem(struct connection *connection, enum mcpx_err err, const char *detail);

/** Answers with a problem of this status, code "bad_request". */
void answer_refuse(struct connection *connection, const struct answer_status *why);

/** Answers what is no HTTP request, or none that is understood. */
void answer_fault(struct connection *connection, const struct mx_http_fault *fault);

/**
 * Picks what the API reads. The target is passed on as it was sent: whoever splits it decodes its
 * parts.
 *
 * head   borrowed by `out`
 *
 * Returns NULL, or what is wrong: a method that is not known here, or one of the fields that decide
 * (Authorization, Origin, Content-Type) twice.
 */
const struct answer_status *request_read(const struct mx_http_head *head,
                                         struct http_request *out);

/** The path of its target: the query may hold a ticket, which the log must not show. */
struct mcpx_slice request_path(const struct http_request *request);

#endif
