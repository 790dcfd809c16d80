/*
 * guard_http.h - the heads of the one HTTP request and the one answer that a connection begins
 * with, read as far as the guard has to: will frames follow, and where does the body end. RFC 9112.
 * Includes mcpx/base.h only.
 */
#ifndef BRIDGE_GUARD_HTTP_H
#define BRIDGE_GUARD_HTTP_H

#include <mcpx/base.h>

/** The longest head, in bytes. */
enum { GUARD_HEAD_MAX = 65536 };

/**
 * Where a head ends.
 *
 * Returns its length, the empty line included; 0 while that is still to come.
 */
size_t guard_http_head(struct mcpx_slice bytes);

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
 * Reads a whole head. Returns NULL, or what is wrong with it: no request line, a chunked body
 * (whose end only who reads it would know), a Content-Length that is no number or stands there
 * twice.
 */
const char *guard_http_request(struct mcpx_slice head, struct guard_request *out);

/**
 * Reads the head of the router's answer.
 *
 * status   filled: 100 to 999; below 200 another head follows, or after 101 frames
 *
 * Returns NULL, or what is wrong with it: no status line, a line that ends without CR (after which
 * others might see the head end elsewhere), or an extension was agreed on, after which frames mean
 * something else.
 */
const char *guard_http_answer(struct mcpx_slice head, int *status);

#endif
