/*
 * ws_client_state.h - shared by the two files of a client: ws_client.c, its public functions, and
 * ws_client_turn.c, its work in a loop iteration.
 */
#ifndef EDGE_WS_CLIENT_STATE_H
#define EDGE_WS_CLIENT_STATE_H

#include "lib/client/ws_wire.h"
#include "lib/edge/timer.h"

/** First in, first out: each input as a struct, its text behind it. Zero-initialised is empty. */
struct mx_inbox {
    struct mcpx_text queue; /* of which the first `taken` bytes are taken */
    size_t taken;
};

/** Copies an input to the end. Returns false without memory. */
bool mx_inbox_put(struct mx_inbox *inbox, struct mx_input input);

/** Takes the first input out; its text is lent until the next call. Returns false when empty. */
bool mx_inbox_take(struct mx_inbox *inbox, struct mx_input *out);

/** Bytes of its inputs. */
static inline size_t mx_inbox_bytes(const struct mx_inbox *inbox)
{
    return inbox->queue.len - inbox->taken;
}

/** A ping goes out after each MX_KEEPALIVE_MS of silence; the third such pause is the end. */
enum { MX_KEEPALIVE_MS = 25000, MX_KEEPALIVE_MAX = 3 };

/** Zero-initialised is not started; see mx_keepalive_start. */
struct mx_keepalive {
    int64_t heard_ms;
    int64_t due_ms; /* mono_ms at which to ask mx_keepalive_check again */
    int missed;
};

enum mx_keepalive_advice { MX_KEEPALIVE_WAIT, MX_KEEPALIVE_PING, MX_KEEPALIVE_DEAD };

/** The connection was made. */
void mx_keepalive_start(struct mx_keepalive *keepalive, int64_t mono_ms);

/** Something came. */
void mx_keepalive_received(struct mx_keepalive *keepalive, int64_t mono_ms);

/**
 * The keepalive's next action. Pauses are counted by asking: a program that was stopped for an hour
 * must first ping and wait before it is told DEAD.
 */
enum mx_keepalive_advice mx_keepalive_check(struct mx_keepalive *keepalive, int64_t mono_ms);

enum mx_client_state { MX_CLIENT_IDLE, MX_CLIENT_CONNECTING, MX_CLIENT_OPEN };

/**
 * loop, own       where it runs; its own loop where none was lent
 * timer           the next turn
 * wait_timer      the end of waiting for an event
 * wire            NULL when it is over
 * connect_due_ms  CONNECTING: until when
 * held, is_held   an event the application has not fetched yet: until it has, nothing that takes
 *                 the session may happen
 * lost            memory ran out for an input: a new connection is needed
 * paused          reading rests, because too much has come
 * tried           a connection was attempted; a client closed earlier still makes that attempt
 * joined          it was welcomed once
 * closing         the application closes; close_ms ends the wait, close_reason is LEFT's text
 * left_is_due     LEFT is to be told, and the session knows of no connection
 * over            the last LEFT was told
 * by_certificate  a certificate identifies us, and the application has no token to give
 */
struct mcpx_client {
    struct mcpx_session *session;
    uv_loop_t own;
    uv_loop_t *loop;
    struct mx_timer *timer, *wait_timer;
    struct mx_wire *wire;
    struct mx_address address;
    struct mcpx_text topic, target;
    const char *routing;
    int history;
    bool once;
    void (*on_event)(void *user, struct mcpx_client *client, const struct mcpx_event *event);
    void *user;
    enum mx_client_state state;
    int64_t connect_due_ms;
    struct mx_keepalive keepalive;
    struct mx_inbox inbox;
    struct mcpx_event held;
    bool is_held, lost, paused, tried, joined, closing, left_is_due, over, by_certificate;
    int64_t close_ms;
    char close_reason[80];
};

/** Takes what the wire tells; `user` is the client. */
void mx_client_take(void *user, struct mx_input input);

/**
 * One turn of a client: events are told or held, deadlines pass, connections are made, texts
 * written.
 */
void mx_client_turn(void *user);

#endif
