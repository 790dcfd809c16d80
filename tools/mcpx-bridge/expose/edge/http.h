/*
 * http.h - POST /mcp in place of standard input and output: a message is a body, its answer comes
 * back with it. Who has sent it is told apart by the connection that waits.
 */
#ifndef MCPX_BRIDGE_EXPOSE_EDGE_HTTP_H
#define MCPX_BRIDGE_EXPOSE_EDGE_HTTP_H

#include "lib/edge/stream.h"
#include "lib/wire/http_head.h"
#include "tools/mcpx-bridge/expose/edge/door.h"

#include <sys/socket.h>

struct expose_http;

/**
 * Reads HOST:PORT, where HOST is localhost, 127.x.y.z or [::1]. Returns false when it is something
 * else: nothing is looked up.
 */
bool expose_http_address(const char *text, struct sockaddr_storage *out);

/**
 * Starts to serve: a line is what a client on a pipe would have written, and what answers it may be
 * given to expose_http_write from within. Returns 0, or an error of libuv; fills `out` either way.
 */
int expose_http_new(const struct expose_door *door, const struct sockaddr_storage *address,
                    struct expose_http **out);

/** Appends http://HOST:PORT/mcp, with the port that the system gave. */
void expose_http_add_url(const struct expose_http *http, struct mcpx_text *out);

/** One line of the server: an answer goes to whoever waits for it, anything else to nobody. */
void expose_http_write(struct expose_http *http, struct mcpx_slice line);

/** Answers all that wait with an error, and all that come from here on. NULL is allowed. */
void expose_http_end(struct expose_http *http);

/** Answers on their way out. NULL has none. */
size_t expose_http_unwritten(const struct expose_http *http);

/** Closes all; to be freed when the loop has run to its end. NULL is allowed. */
void expose_http_close(struct expose_http *http);

/* ---- the state that the parts of the HTTP server share. ---- */

enum { HTTP_CLIENTS_MAX = 256 };

/** Of a request. LEAVING: the last one was answered; what still comes is dropped. */
enum http_stage { HTTP_HEAD, HTTP_BODY, HTTP_WAITING, HTTP_ANSWERING, HTTP_LEAVING };

/**
 * A connection, and the request at hand.
 *
 * touched_ms when it last gave a sign of life
 * in         what came and was not read yet
 * is_last    the connection ends with the answer
 * is_bare    the answer has no body: the method is HEAD
 * id         the client's own, raw; empty = not known
 */
struct http_client {
    struct expose_http *http;
    struct mx_stream stream;
    struct mx_timer *quiet; /* rings when it owed something for too long, or is to be freed */
    int64_t touched_ms;
    struct sockaddr_storage address; /* the client's, without its port */
    enum http_stage stage;
    struct mcpx_text in, body, id;
    struct mx_http_scan scan;
    struct mx_http_chunks chunks;
    size_t held;    /* bytes of body or answer that count as held */
    size_t dropped; /* bytes that came after the last answer */
    bool is_last, is_bare, wants_events;
    int64_t number; /* the request's id in the server; 0 = it has none */
};

/** The server. `current`: the request whose line is being handled. */
struct expose_http {
    struct expose_door door;
    uv_tcp_t listener;
    struct http_client *clients[HTTP_CLIENTS_MAX + 1];
    size_t count, held;
    struct http_client *current;
    int64_t last_number;
    bool is_ending;
};

/** Accepts the connection that waits at the listener. */
void http_client_accept(struct expose_http *http);

/** Answers its request with JSON, or with nothing; `body` is taken. Or with an error. */
void http_client_answer(struct http_client *client, int status, struct mcpx_text *body);
void http_client_refuse(struct http_client *client, int status, const char *sentence);

/** Breaks the connection off, and takes its request back. */
void http_client_cut(struct http_client *client);

#endif
