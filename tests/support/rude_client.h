/*
 * rude_client.h - a client that keeps no rule unless told to: raw bytes, its own frames, reading
 * only when asked. Every wait has a deadline and fails the test when it passes.
 */
#ifndef SUPPORT_RUDE_CLIENT_H
#define SUPPORT_RUDE_CLIENT_H

#include "tests/support/daemon.h"
#include <mcpx/text.h>

/** First bytes of frames: FIN and opcode. */
enum { TEXT = 0x81, BINARY = 0x82, CLOSE = 0x88, PING = 0x89, PONG = 0x8a };
enum { TEXT_OPEN = 0x01, CONTINUE_OPEN = 0x00, CONTINUE_LAST = 0x80 };

/**
 * One connection.
 *
 * in, at    received bytes, and how many of them are used up
 * ended     the other side has closed or reset
 */
struct rude {
    int fd;
    struct mcpx_text in;
    size_t at;
    bool ended;
};

/** A received frame; `payload` is lent until the next frame is asked for. */
struct frame {
    int first;
    const char *payload;
    size_t len;
};

/** Connects to a listener. Never fails but by failing the test. */
void rude_open(struct rude *rude, const struct daemon *daemon, size_t listener);

/** The same, but returns false when nobody listens there; `rude` may be shut either way. */
bool rude_try_open(struct rude *rude, const struct daemon *daemon, size_t listener);

/** Lets the socket's receive buffer be no larger than this, for a quick overflow. */
void rude_open_narrow(struct rude *rude, const struct daemon *daemon, int receive_bytes);

/** Connects to the first listener from an address of this machine, such as 127.0.0.2. */
void rude_open_from(struct rude *rude, const struct daemon *daemon, const char *source);

/** Closes with FIN. A connection that is not open is allowed. */
void rude_shut(struct rude *rude);

/** Closes with RST. */
void rude_reset(struct rude *rude);

/** Sends bytes, all of them, or as many as the other side takes before it ends. */
void rude_send(struct rude *rude, const void *bytes, size_t len);

/** Sends a C string. */
void rude_say(struct rude *rude, const char *text);

/** Sends a masked frame. */
void rude_frame(struct rude *rude, int first, const void *payload, size_t len);

/** Sends only the head of a frame that declares `len` bytes. */
void rude_frame_head(struct rude *rude, int first, size_t len);

/** Receives what there is, waiting for at least something; false at the end. */
bool rude_receive(struct rude *rude);

/** True when nothing comes for so long: for showing that something does not happen. */
bool rude_is_quiet(struct rude *rude, int ms);

/** Receives until the end. Returns all that came. */
struct mcpx_slice rude_drain(struct rude *rude);

/** The next frame of any kind; false when the connection ends first. */
bool rude_next(struct rude *rude, struct frame *out);

/** A whole frame that has been received already; false when there is none. Waits for nothing. */
bool rude_take(struct rude *rude, struct frame *out);

/** The next text frame that holds `part`, skipping others; false at the end. `out` may be NULL. */
bool rude_expect(struct rude *rude, const char *part, struct frame *out);

/** Skips to a close frame and returns its code; 1006 when the connection ends without one. */
int rude_close_code(struct rude *rude);

/** True when the frame's payload holds `part`. */
bool frame_holds(const struct frame *frame, const char *part);

/** Sends a request and returns the status of the answer (0: none); all of it in rude->in. */
int rude_http(struct rude *rude, const struct daemon *daemon, const char *request);

/** The number behind a name in /metrics. */
long rude_metric(const struct daemon *daemon, const char *name);

/** A token of development mode. `capabilities` is a JSON array. Lent until the next call. */
const char *rude_token(const struct daemon *daemon, const char *participant, const char *topic,
                       const char *capabilities);

/** Sends an upgrade for `target` with extra header lines (each with CRLF). */
void rude_ask_upgrade(struct rude *rude, const char *target, const char *headers);

/** Receives the head of an answer, moves past it and returns its status; 0 when none comes. */
int rude_pass_head(struct rude *rude);

/**
 * Joins a topic with every grant and returns after the 101; the welcome is still to be read.
 * `query` is appended to the target, as "&history=0".
 */
void rude_join(struct rude *rude, const struct daemon *daemon, const char *participant,
               const char *topic, const char *query);

/**
 * Connects, unless it is connected, and asks for `target` with this token and more header lines.
 * False when nobody listens.
 */
bool rude_knock(struct rude *rude, const struct daemon *daemon, const char *token,
                const char *target, const char *more);

/** The same without more; returns the status of the answer, 0 = none. */
int rude_enter(struct rude *rude, const struct daemon *daemon, const char *token,
               const char *target);

/** Sends a chat envelope with this id and payload (a JSON object). */
void rude_chat(struct rude *rude, const char *id, const char *payload);

#endif
