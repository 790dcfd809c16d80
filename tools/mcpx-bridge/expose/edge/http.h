/*
 * http.h - POST /mcp in place of standard input and output: a message is the body of a request, its
 * answer that of the response. The waiting connection identifies the client.
 */
#ifndef MCPX_BRIDGE_EXPOSE_EDGE_HTTP_H
#define MCPX_BRIDGE_EXPOSE_EDGE_HTTP_H

#include "lib/edge/stream.h"
#include "lib/wire/http_head.h"
#include "tools/mcpx-bridge/expose/edge/transport.h"

#include <sys/socket.h>

struct expose_http;

/**
 * Reads HOST:PORT, where HOST is localhost, 127.x.y.z or [::1]. Returns false for anything else: no
 * name is looked up.
 */
bool expose_http_address(const char *text, struct sockaddr_storage *out);

/**
 * Starts to serve. Lines of `transport` are as from a client on a pipe; `on_line` may call
 * expose_http_write. Returns 0, or an error of libuv; fills `out` either way.
 */
int expose_http_new(const struct expose_transport *transport,
                    const struct sockaddr_storage *address, struct expose_http **out);

/** Appends http://HOST:PORT/mcp, with the port that the system gave. */
void expose_http_add_url(const struct expose_http *http, struct mcpx_text *out);

/** Handles a line of the server: sends an answer to its client, and drops any other line. */
void expose_http_write(struct expose_http *http, struct mcpx_slice line);

/** Answers all waiting and all later requests with an error. NULL is allowed. */
void expose_http_end(struct expose_http *http);

/** Number of answers not completely written; 0 for NULL. */
size_t expose_http_unwritten(const struct expose_http *http);

/** Closes all. The caller frees it after the loop's end. NULL is allowed. */
void expose_http_close(struct expose_http *http);

/* ---- the shared state of the HTTP server's parts. ---- */

enum { HTTP_CLIENTS_MAX = 256 };

/** The stage of a request. LEAVING: the last one was answered; further bytes are dropped. */
enum http_stage { HTTP_HEAD, HTTP_BODY, HTTP_WAITING, HTTP_ANSWERING, HTTP_LEAVING };

/**
 * A connection, and the request at hand.
 *
 * touched_ms mono_ms of its last progress
 * in         received bytes, not parsed yet
 * is_last    the connection ends with the answer
 * is_bare    the answer has no body: the method is HEAD
 * id         the client's own, raw; empty = not known
 */
struct http_client {
    struct expose_http *http;
    struct mx_stream stream;
    struct mx_timer *quiet; /* fires when the client is quiet too long, or must be freed */
    int64_t touched_ms;
    struct sockaddr_storage address; /* the client's, without its port */
    enum http_stage stage;
    struct mcpx_text in, body, id;
    struct mx_http_scan scan;
    struct mx_http_chunks chunks;
    size_t held;    /* bytes of body or answer that count in HELD_MAX */
    size_t dropped; /* bytes received after the last answer */
    bool is_last, is_bare, wants_events;
    int64_t number; /* the request's id in the server; 0 = it has none */
};

/** The server. `current`: the request whose line is being handled. */
struct expose_http {
    struct expose_transport transport;
    uv_tcp_t listener;
    struct http_client *clients[HTTP_CLIENTS_MAX + 1];
    size_t count, held;
    struct http_client *current;
    int64_t last_number;
    bool is_ending;
};

/** Accepts the connection that waits at the listener. */
void http_client_accept(struct expose_http *http);

/** Answers a request with JSON or an empty body, taken; or with an error. */
void http_client_answer(struct http_client *client, int status, struct mcpx_text *body);
void http_client_refuse(struct http_client *client, int status, const char *sentence);

/** Disconnects a client and cancels its request. */
void http_client_cut(struct http_client *client);

#endif
