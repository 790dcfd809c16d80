/*
 * http.h - POST /mcp in place of standard input and output: a message is a body, its answer comes
 * back with it. Who has sent it is told apart by the connection that waits.
 */
#ifndef MCPX_BRIDGE_EXPOSE_EDGE_HTTP_H
#define MCPX_BRIDGE_EXPOSE_EDGE_HTTP_H

#include "tools/mcpx-bridge/expose/edge/post.h"
#include <mcpx/error.h>
#include <mcpx/text.h>
#include <microhttpd.h>
#include <uv.h>

struct uv_loop_s;
struct expose_http;

/**
 * Where to listen, and what is told.
 *
 * socket    listening; taken, also on failure
 * body_max  bytes of the longest body
 * on_line   one line, as a client on a pipe would have written it; lent during the call. What
 *           answers it may be given to expose_http_write from within
 */
struct expose_http_config {
    struct uv_loop_s *loop;
    int socket;
    size_t body_max;
    void (*on_line)(void *user, struct mcpx_slice line);
    void *user;
};

/** Starts to serve. Returns MCPX_OK or MCPX_ESYSTEM. */
enum mcpx_err expose_http_new(const struct expose_http_config *config,
                              struct expose_http **out);

/** One line of the server: an answer goes to whoever waits for it, anything else to nobody. */
void expose_http_write(struct expose_http *http, struct mcpx_slice line);

/** Answers all that wait with an error, and all that come from here on. NULL is allowed. */
void expose_http_end(struct expose_http *http);

/** Answers on their way out. NULL has none. */
size_t expose_http_unwritten(const struct expose_http *http);

/** Closes every connection; the loop has to run until it has freed itself. NULL is allowed. */
void expose_http_close(struct expose_http *http);

/* ---- the state that the parts of the HTTP server share. ---- */

struct expose_http_watch;

/**
 * A connection. It stands in a list, the one first that was quiet longest, while it owes us bytes
 * or takes ours; not while we owe it an answer.
 */
struct expose_http_link {
    struct expose_http_link *previous, *next;
    int socket;
    bool is_listed;
    int64_t due_ms; /* when it has been quiet for too long */
};

/**
 * A request and its answer.
 *
 * fault      its head did not pass; the body is read and dropped
 * drops      its body is too long, or there is no room for it
 * dropped    bytes of it that were
 * number     its id in the server; 0 = it has none, or none any more
 * id         the client's own, raw
 * held       bytes of body and answer that count as held
 * is_asked   its body was handed on
 * is_said    there is an answer: status and text
 * watch      sees that its client leaves; NULL = it is not suspended
 * is_gone    the client left
 */
struct expose_http_exchange {
    struct expose_http_exchange *previous, *next;
    struct expose_http *http;
    struct MHD_Connection *connection;
    const struct expose_post_fault *fault;
    bool wants_events, is_ready, drops, is_asked, is_said, is_sent, is_gone;
    size_t dropped, held;
    struct mcpx_text body, answer, id;
    int status;
    int64_t number;
    struct expose_http_watch *watch;
};

/** The server. `current`: the request whose line is being handled. */
struct expose_http {
    struct expose_http_config config;
    struct MHD_Daemon *daemon;
    uv_poll_t poll;
    uv_timer_t timer;
    struct expose_http_link *first_link, *last_link;
    size_t link_count;
    struct expose_http_exchange *exchanges, *current;
    int64_t last_number;
    size_t held, unwritten;
    bool is_running, is_ending, is_closing;
    size_t open; /* handles that keep this alive */
};

/** What MHD calls for every step of a request. `user` is the server, `*context` the exchange. */
enum MHD_Result expose_http_request(void *user, struct MHD_Connection *connection,
                                    const char *url, const char *method, const char *version,
                                    const char *bytes, size_t *len, void **context);

/** What MHD calls when a request is over, whatever became of it. */
void expose_http_over(void *user, struct MHD_Connection *connection, void **context,
                      enum MHD_RequestTerminationCode why);

/** Gives the exchange its answer, which is taken, and goes on with it when it waits. */
void expose_http_say(struct expose_http_exchange *exchange, int status,
                     struct mcpx_text answer);

/** Something was resumed or is due: the server runs in the loop's next turn. */
void expose_http_soon(struct expose_http *http);

/** What libuv calls when MHD has something to do. */
void expose_http_polled(uv_poll_t *poll, int status, int events);

/** One handle less. Frees the server after the last one. */
void expose_http_release(struct expose_http *http);

/** What MHD calls when a connection begins and ends. */
void expose_http_connection(void *user, struct MHD_Connection *connection, void **context,
                            enum MHD_ConnectionNotificationCode what);

/** True when both connections come from one address: as far as can be seen, from one client. */
bool expose_http_same_client(struct MHD_Connection *one, struct MHD_Connection *other);

/** The connection has given a sign of life; from now on it owes something, or (false) we do. */
void expose_http_touch(struct expose_http *http, struct MHD_Connection *connection,
                       bool it_owes);

#endif
