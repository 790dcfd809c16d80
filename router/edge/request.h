/*
 * request.h - a head that was read, as the HTTP API wants it.
 */
#ifndef EDGE_REQUEST_H
#define EDGE_REQUEST_H

#include "lib/core/http_head.h"
#include "router/edge/answer.h"

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
