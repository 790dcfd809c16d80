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

/** Appends the frame of a whole text message. */
void notice_frame(struct mcpx_text *out, struct mcpx_slice text);

/** Appends the frame that ends a connection with the error's close code and text. */
void notice_close(struct mcpx_text *out, enum mcpx_err err);

/**
 * Appends an empty-handed ping: one byte of payload, because lws reports no empty pong. Without
 * memory nothing is appended.
 */
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

/** Appends `{"id":…,"capabilities":[…]}`, with `grants` when any has a condition. */
void notice_participant(const struct grant *grant, struct mcpx_text *out);

/** What a welcome says beside who is there. */
struct welcome {
    bool first; /* at the join, not after a change of grants */
    bool resumed;
    size_t count; /* of history */
};

/** Queues system/welcome for a peer of `topic`. False when memory runs out. */
bool notice_welcome(struct peer *peer, const struct topic *topic, struct welcome welcome);

/**
 * Appends system/presence to the peer's topic.
 *
 * event    "join", "leave" or "update"
 * reason   said with the event; NULL = not said
 *
 * Returns MCPX_OK or MCPX_ENOMEM.
 */
enum mcpx_err notice_presence(struct topic *topic, const struct grant *grant,
                              const char *event, const char *reason);

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
