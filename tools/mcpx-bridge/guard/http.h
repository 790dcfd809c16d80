/*
 * http.h - reads the heads of the HTTP request and answer with which a connection begins, as
 * far as the guard needs them: whether frames follow, and where the body ends. RFC 9112.
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
 * Reads a whole head, as mx_http_scan found it. Returns NULL, or what is wrong with it:
 * anything that mx_http_request_read refuses, or a body after a request for a WebSocket.
 */
const char *guard_http_request(struct mcpx_slice head, struct guard_request *out);

/**
 * Reads the head of the router's answer, as mx_http_scan found it.
 *
 * status   filled: 100 to 999; below 200 another head follows, or after 101 frames
 *
 * Returns NULL, or what is wrong with it: anything that mx_http_answer_read refuses, or an
 * extension, because frames would then have another meaning.
 */
const char *guard_http_answer(struct mcpx_slice head, int *status);

#endif
