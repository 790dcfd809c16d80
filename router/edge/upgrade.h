/*
 * upgrade.h - from an HTTP request to a member of a topic. RFC 6455 section 4.2.
 */
#ifndef EDGE_UPGRADE_H
#define EDGE_UPGRADE_H

#include "router/edge/connection.h"

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
