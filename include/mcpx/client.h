/*
 * client.h - a session with its socket: connects to a router, keeps connected, tells events.
 */
#ifndef MCPX_CLIENT_H
#define MCPX_CLIENT_H

#include <mcpx/session.h>

MCPX_BEGIN_C

struct mcpx_client;
struct uv_loop_s;

/**
 * Where to go and how. Strings are copied.
 *
 * url         ws://HOST[:PORT][/PATH] or wss://...; http and https mean the same. Without a path,
 *             /ws
 * topic       the topic's name, not percent-encoded
 * token       the bearer token; never logged, never part of an error
 * routing     "all" or "directed"; NULL = "all", whatever the router's own default is. With "directed"
 *             DELIVERED is told when an envelope was written, because the router sends no echo of
 *             what is for others
 * history     envelopes of history wanted when joining anew; -1 = the router's default. While
 *             requests or proposals wait for an answer, a later connection that cannot resume
 *             wants 1000 at least: the answer may be among them
 * ca_file     PEM file of certificate authorities for wss, one at least; NULL = the system's
 * once        do not connect again
 * session     settings of the session, `instance` included; `fill` may be NULL: the system's generator is used
 * loop        a libuv loop to run on, borrowed until mcpx_client_free; NULL = a loop of its own, which
 *             runs inside mcpx_client_wait
 * on_event    told every event from the loop, which has to be lent then; NULL = they are fetched with
 *             mcpx_client_wait, which runs the loop, lent or not. It may call everything here except
 *             mcpx_client_free and mcpx_client_wait
 */
struct mcpx_client_config {
    const char *url;
    const char *topic;
    const char *token;
    const char *routing;
    int history;
    const char *ca_file;
    bool once;
    struct mcpx_session_config session;
    struct uv_loop_s *loop;
    void (*on_event)(void *user, struct mcpx_client *client, const struct mcpx_event *event);
    void *user;
};

/**
 * Makes a client and starts to connect. What becomes of it is told by JOINED and LEFT; after a LEFT
 * with retry_ms -1, whatever its cause, EXPIRED for everything pending.
 *
 * fault    filled on MCPX_EINVALID (reason, field: "url", "topic", "token", ...); may be NULL
 *
 * Returns MCPX_OK; MCPX_EINVALID; MCPX_ESYSTEM when a loop or context cannot be had; MCPX_ENOMEM.
 */
MCPX_API enum mcpx_err mcpx_client_new(const struct mcpx_client_config *config,
                                       struct mcpx_fault *fault, struct mcpx_client **out);

/**
 * Waits for the next event of a client without on_event.
 *
 * timeout_ms   0 = only what is there, -1 = as long as it takes
 *
 * Returns MCPX_OK with `event` filled; MCPX_ETIMEOUT; MCPX_ECLOSED when there will be no more.
 */
MCPX_API enum mcpx_err mcpx_client_wait(struct mcpx_client *client, int64_t timeout_ms,
                                        struct mcpx_event *event);

/** mcpx_session_send, written as soon as the loop runs. */
MCPX_API enum mcpx_err mcpx_client_send(struct mcpx_client *client,
                                        const struct mcpx_draft *draft, struct mcpx_slice *id,
                                        struct mcpx_fault *fault);

/** mcpx_session_respond, written as soon as the loop runs. */
MCPX_API enum mcpx_err mcpx_client_respond(struct mcpx_client *client,
                                           struct mcpx_slice request,
                                           struct mcpx_slice payload,
                                           struct mcpx_fault *fault);

/**
 * Connects with another token from now on: what an application with session.renews_token does after a LEFT
 * with code 401 or 4005.
 *
 * token   copied; NULL = there will be no other, and the next refusal is final
 *
 * Returns MCPX_OK; MCPX_EINVALID for what is no token; MCPX_ECLOSED; MCPX_ENOMEM.
 */
MCPX_API enum mcpx_err mcpx_client_renew(struct mcpx_client *client, const char *token);

/** The session, to ask it things; lent until mcpx_client_free. */
MCPX_API struct mcpx_session *mcpx_client_session(struct mcpx_client *client);

/**
 * Says goodbye: everything queued is written and seen to arrive, if need be on another connection,
 * then the WebSocket is closed with 1000; after `timeout_ms` at the latest LEFT with retry_ms -1 is
 * told. Its reason says how many messages may not have arrived. EXPIRED follows for what is
 * pending. Further sends return MCPX_ECLOSED.
 */
MCPX_API void mcpx_client_close(struct mcpx_client *client, int64_t timeout_ms);

/**
 * Frees the client; a connection that is open breaks. On a borrowed loop, that loop must run until
 * no handle is left before it is closed. A name being looked up cannot be called back: getaddrinfo(3)
 * ends in its own time on a thread of libuv, and this waits for it with a loop of its own, that
 * loop with a borrowed one. NULL is allowed. Not to be called from on_event.
 */
MCPX_API void mcpx_client_free(struct mcpx_client *client);

MCPX_END_C

#endif
