/*
 * http.h - the heads of the one HTTP request and the one answer that a connection begins
 * with, read as far as the guard has to: will frames follow, and where does the body end. RFC 9112.
 */
#ifndef MCPX_BRIDGE_GUARD_HTTP_H
#define MCPX_BRIDGE_GUARD_HTTP_H

#include "lib/core/http_head.h"

/**
 * A request's head.
 *
 * upgrade   it asks for a WebSocket
 * body      bytes of the body that follows; 0 without one
 */
struct guard_request {
    bool upgrade;
    uint64_t body;
};

/**
 * Reads a whole head, as mx_http_scan found it. Returns NULL, or what is wrong with it: whatever
 * mx_http_request_read refuses, and a body behind a request for a WebSocket.
 */
const char *guard_http_request(struct mcpx_slice head, struct guard_request *out);

/**
 * Reads the head of the router's answer, as mx_http_scan found it.
 *
 * status   filled: 100 to 999; below 200 another head follows, or after 101 frames
 *
 * Returns NULL, or what is wrong with it: whatever mx_http_answer_read refuses, or an extension
 * was agreed on, after which frames mean something else.
 */
const char *guard_http_answer(struct mcpx_slice head, int *status);

#endif
