/* client.h - a session with its socket: connects to a router, stays connected, reports events. */
#ifndef MCPX_CLIENT_H
#define MCPX_CLIENT_H

#include <mcpx/session.h>

MCPX_BEGIN_C

struct mcpx_client;
struct uv_loop_s;

/** Where to connect, and how. Strings are copied. */
struct mcpx_client_config {
    /* ws://HOST[:PORT][/PATH] or wss://...; http and https mean the same. PATH is the prefix of
     * the router's paths; /ws is appended unless PATH ends with it. */
    const char *url;
    const char *topic; /* the topic's name, not percent-encoded */
    /* The bearer token; never logged, never part of an error. NULL with a cert_file: then the
     * certificate names the participant. */
    const char *token;
    /* "all" or "directed"; NULL = "all", even if the router's default is another. With
     * "directed", DELIVERED comes when an envelope was written, because the router sends no
     * echo of envelopes for others. */
    const char *routing;
    /* Envelopes of history to ask for when joining anew; -1 = the router's default. A later
     * connection that cannot resume asks for at least 1000 while requests or proposals wait for
     * an answer, which may be in the history. */
    int history;
    /* PEM file with at least one CA certificate, for wss; NULL = the CAs of the system. */
    const char *ca_file;
    /* PEM file with the client certificate, and the intermediate CAs behind it, for wss; NULL =
     * none. Read again for each connection; the former certificate stays active when the file is
     * unusable then. Without a token and session.renews_token, 401 and 4005 are final unless the
     * file has another certificate than the refused one; the reason of LEFT names the file. */
    const char *cert_file;
    /* PEM file with its private key, without a passphrase; NULL = the key is in cert_file. */
    const char *key_file;
    bool once; /* do not connect again */
    /* Settings of the session, `instance` too; without `fill`, random bytes are the system's. */
    struct mcpx_session_config session;
    /* A libuv loop to run on, borrowed until mcpx_client_free; NULL = the client has its own,
     * which runs in mcpx_client_wait. */
    struct uv_loop_s *loop;
    /* Called from the loop with every event; `loop` must be given then. It may call every
     * function here except mcpx_client_free and mcpx_client_wait. NULL = the application fetches
     * events with mcpx_client_wait, which runs the loop. */
    void (*on_event)(void *user, struct mcpx_client *client, const struct mcpx_event *event);
    void *user;
};

/**
 * Makes a client and starts to connect. JOINED and LEFT report the result. After a LEFT with
 * retry_ms -1, EXPIRED comes for everything pending, whatever the cause was.
 *
 * fault    filled on MCPX_EINVALID (reason, field: "url", "topic", "token", ...); may be NULL
 *
 * Returns MCPX_OK; MCPX_EINVALID; MCPX_ESYSTEM when a loop or context cannot be made; MCPX_ENOMEM.
 */
MCPX_API enum mcpx_err mcpx_client_new(const struct mcpx_client_config *config,
                                       struct mcpx_fault *fault, struct mcpx_client **out);

/**
 * Waits for the next event of a client without on_event.
 *
 * timeout_ms   0 = does not wait, -1 = waits without limit
 *
 * Returns MCPX_OK with `event` filled; MCPX_ETIMEOUT; MCPX_ECLOSED when no more events will come.
 */
MCPX_API enum mcpx_err mcpx_client_wait(struct mcpx_client *client, int64_t timeout_ms,
                                        struct mcpx_event *event);

/** As mcpx_session_send; the envelope is written as soon as the loop runs. */
MCPX_API enum mcpx_err mcpx_client_send(struct mcpx_client *client,
                                        const struct mcpx_draft *draft, struct mcpx_slice *id,
                                        struct mcpx_fault *fault);

/** As mcpx_session_respond; the envelope is written as soon as the loop runs. */
MCPX_API enum mcpx_err mcpx_client_respond(struct mcpx_client *client,
                                           struct mcpx_slice request,
                                           struct mcpx_slice payload,
                                           struct mcpx_fault *fault);

/**
 * Connects with another token from now on. An application with session.renews_token calls this
 * after a LEFT with code 401 or 4005. When the router ended a connection because of the token, the
 * first attempt with the other token is made at once, others after the usual pauses.
 *
 * token   copied; NULL = there is no other token, and the next refusal is final
 *
 * Returns MCPX_OK; MCPX_EINVALID when it is not a token; MCPX_ECLOSED; MCPX_ENOMEM.
 */
MCPX_API enum mcpx_err mcpx_client_renew(struct mcpx_client *client, const char *token);

/** The session, for questions about its state; lent until mcpx_client_free. */
MCPX_API struct mcpx_session *mcpx_client_session(struct mcpx_client *client);

/**
 * Ends the connection in order. The client writes everything queued and waits for its arrival, on a
 * new connection if necessary. Then the WebSocket is closed with 1000. LEFT with retry_ms -1 comes
 * after `timeout_ms` at the latest; its reason says how many messages may not have arrived.
 * EXPIRED follows for everything pending. Further sends return MCPX_ECLOSED.
 */
MCPX_API void mcpx_client_close(struct mcpx_client *client, int64_t timeout_ms);

/**
 * Frees the client and breaks an open connection. A borrowed loop must run until it has no
 * handle left before it is closed. A name lookup cannot be cancelled: getaddrinfo(3) runs on a
 * thread of libuv until it ends. With the client's own loop, this function waits for the lookup; a
 * borrowed loop waits when it runs on. NULL is allowed. Not to be called from on_event.
 */
MCPX_API void mcpx_client_free(struct mcpx_client *client);

MCPX_END_C

#endif
