/*
 * http.h - POST /mcp in place of standard input and output: a message is a body, its answer comes
 * back with it. Who has sent it is told apart by the connection that waits.
 */
#ifndef MCPX_BRIDGE_EXPOSE_EDGE_HTTP_H
#define MCPX_BRIDGE_EXPOSE_EDGE_HTTP_H

#include <mcpx/error.h>
#include <mcpx/text.h>

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

#endif
