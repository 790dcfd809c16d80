/*
 * ws_wire_state.h - what the two files behind ws_wire.h share: ws_wire.c has the libwebsockets
 * context, makes and ends connections; ws_wire_io.c, below it, has the callbacks and what ends a
 * connection.
 */
#ifndef EDGE_WS_WIRE_STATE_H
#define EDGE_WS_WIRE_STATE_H

#include "lib/client/ws_wire.h"
#include "lib/edge/alarm.h"

#include <libwebsockets.h>

enum { MX_REASON_MAX = 511, MX_WIRE_KEYS = 64 };

/**
 * host, token, ca_file, target   NUL-terminated; without a token, that is empty
 * cert_file, key_file            the same; empty when no certificate is shown
 * tls            what connections under TLS begin with, lent by libwebsockets
 * pipe_fd        number of the context's event pipe
 * pipe_left      libwebsockets 4.3 has not closed it, and will not
 * wsi            the connection or the attempt; NULL when there is none
 * lookup         under way, or NULL
 * found, next    what a name stands for; which of it is tried next
 * again          rings to try it
 * open           between `opened` and `ended`
 * finishing      our close frame was written
 * full           the socket took only part of a write; nothing is written until it has the rest
 * distrusted     a certificate was refused, which is the reason then
 * shaking        a TLS handshake has begun and has not ended
 * status         of the answer to the handshake, once it is known
 * foreign        no router gave that answer, but something before it
 * code, reason   why it ends, as far as known
 * message_max    longest message taken
 * message        pieces of a message that is not whole yet
 * out            the frame being written
 * keys           what the next frames are masked with; each is used once
 * body           of the answer to a refused handshake
 * linger, turns  count turns of the loop after the end
 */
struct mx_wire {
    uv_loop_t *loop;
    const struct mx_wire_events *events;
    void *user;
    struct mx_address address;
    struct mcpx_text host, token, ca_file, target;
    struct mcpx_text cert_file, key_file;
    struct ssl_ctx_st *tls;
    struct lws_context *lws;
    int pipe_fd;
    bool pipe_left;
    struct lws *wsi;
    struct mx_lookup *lookup;
    struct addrinfo *found, *next;
    struct mx_alarm *again;
    bool open, finishing, full, distrusted, shaking, foreign;
    int status, code;
    char reason[MX_REASON_MAX + 1];
    size_t message_max;
    struct mcpx_text message, out, body;
    unsigned char keys[MX_WIRE_KEYS][4];
    size_t keys_left;
    uv_idle_t linger;
    int turns;
};

/** The callback of the one protocol. */
int mx_wire_dispatch(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                     size_t len);

/** Keeps a reason, cut to what fits. */
void mx_wire_reason(struct mx_wire *wire, struct mcpx_slice reason);

/** Lets go of the connection; libwebsockets ends it on its own. */
void mx_wire_detach(struct mx_wire *wire);

/** Frees what a name stands for. */
void mx_wire_forget_addresses(struct mx_wire *wire);

/** The connection is gone, or the attempt: tells `ended`, or tries the next address. */
void mx_wire_over(struct mx_wire *wire);

#endif
