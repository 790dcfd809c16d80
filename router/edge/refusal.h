/*
 * refusal.h - what the log says of what was refused: who, what and why. It says more than whoever
 * was refused is told, and never a token.
 */
#ifndef EDGE_REFUSAL_H
#define EDGE_REFUSAL_H

#include "router/edge/connection.h"

/**
 * A message of a member was refused. A participant has a share of these lines, with all its
 * connections together; the next one that is written says how many of this connection were left
 * out.
 */
void refusal_log_message(struct connection *connection, const struct verdict *verdict);

/**
 * Somebody asked to be let in, or something of the HTTP API, and was refused. An address has a share
 * of these lines. To be called once it is answered: what is found out for the log takes time that
 * nobody is to measure.
 *
 * detail   what it was told; NULL = the error's text
 */
void refusal_log_request(struct connection *connection, const struct http_request *request,
                         enum mcpx_err err, const char *detail);

/**
 * refusal_log_request for an answer of the HTTP API that was sent, if it says that somebody may not
 * have what there is (401, 403, 429, 503).
 */
void refusal_log_reply(struct connection *connection, const struct http_request *request,
                       const struct http_reply *reply);

#endif
