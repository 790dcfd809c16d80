/*
 * notice.h - the envelopes the router writes itself: system/welcome, presence, history, error.
 * Includes peer.h.
 */
#ifndef HUB_NOTICE_H
#define HUB_NOTICE_H

#include "lib/core/ident.h"
#include "router/hub/peer.h"

/** `from` of everything the router says; no participant may be called so. */
#define NOTICE_FROM "system:gateway"

/** Appends the frame that ends a connection with the error's close code and text. */
void notice_close(struct mcpx_text *out, enum mcpx_err err);

/** Appends a ping with one byte of payload. Without memory nothing is appended. */
void notice_ping(struct mcpx_text *out);

/**
 * Appends the head of an envelope of the router, up to and including `"payload":`. The payload
 * and a closing brace follow.
 *
 * to   addressee; absent = everyone
 * id   filled with the envelope's id
 */
void notice_begin(struct hub *hub, const char *kind, struct mcpx_slice to,
                  struct mcpx_text *out, char id[MX_UUID_LEN + 1]);

/**
 * Appends `{"id":…,"capabilities":[…]}`: with `identity` when the id is that of an instance, with
 * `grants` when any has a condition. Protocol: section 5.
 */
void notice_participant(const struct peer *peer, struct mcpx_text *out);

/**
 * Begins a frame whose length is known last, in the hub's scratch: room for its head. What is
 * added to the text that is returned is its payload.
 */
struct mcpx_text *notice_begin_frame(struct hub *hub);

/** Ends it. `frame` is lent until the scratch is used again. False when memory ran out. */
bool notice_end_frame(struct hub *hub, struct mcpx_slice *frame);

/**
 * Appends `"epoch":E,"serial":N`: a place in the topic, so that a reader which knows it can resume
 * there. Protocol: section 5.
 */
void notice_place(const struct topic *topic, uint64_t serial, struct mcpx_text *out);

/** Adds system/position to the news of a topic: where it stands. False when memory runs out. */
bool notice_position(struct topic *topic);

/**
 * Composes the system/welcome that a peer is owed, in the hub's scratch, and puts the frames
 * `behind` behind it. `frames` is lent until the scratch is used again. False when memory runs
 * out.
 */
bool notice_welcome(const struct peer *peer, struct mcpx_slice behind,
                    struct mcpx_slice *frames);

/** What presence tells; `reason` is said with it unless it is NULL. */
struct change {
    const char *event; /* "join", "leave" or "update" */
    const char *reason;
};

/**
 * Adds system/presence about a peer to the news of its topic, in which it need not be (any more).
 *
 * copy   NULL, or gets its frame appended as well
 *
 * Returns MCPX_OK, or MCPX_ENOMEM (nothing has changed).
 */
enum mcpx_err notice_presence(const struct peer *peer, struct change change,
                              struct mcpx_text *copy);

/**
 * What an error says beside its name. Only what belongs to the error is written.
 *
 * id         of the offending envelope; absent when unknown
 * fault      for MCPX_EINVALID and MCPX_EUTF8
 * kind       attempted, for MCPX_ECAPABILITY
 * decision   likewise
 * wait_ms    for MCPX_ERATE
 * missed     for MCPX_ESLOW
 */
struct complaint {
    enum mcpx_err err;
    struct mcpx_slice id;
    struct mcpx_fault fault;
    struct mcpx_slice kind;
    struct mcpx_decision decision;
    int64_t wait_ms;
    uint64_t missed;
};

/** Queues system/error for a peer. False when memory runs out. Protocol: section 6. */
bool notice_error(struct peer *peer, const struct complaint *complaint);

#endif
