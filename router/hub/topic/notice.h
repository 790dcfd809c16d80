/*
 * notice.h - the envelopes the router writes itself: system/welcome, presence, history, error.
 * Composed in the hub's scratch; filled slices are lent until it is used again.
 */
#ifndef HUB_NOTICE_H
#define HUB_NOTICE_H

#include "router/hub/topic/hub_state.h"

/** `from` of all envelopes of the router; a participant cannot have this id. */
#define NOTICE_FROM "system:gateway"

/**
 * Appends a close frame with the error's close code and text. A refusal after the upgrade
 * (MCPX_ENOTNOW) has the error's wire name as text. Protocol: sections 6 and 7.
 *
 * again_ms   for MCPX_EGOING: the client must wait this long before it reconnects
 */
void notice_close(struct mcpx_text *out, enum mcpx_err err, int64_t again_ms);

/** Appends a ping with one byte of payload. Without memory nothing is appended. */
void notice_ping(struct mcpx_text *out);

/**
 * Appends the head of an envelope of the router, up to and including `"payload":`. The payload
 * and a closing brace follow.
 *
 * to   addressee; absent = everyone
 */
void notice_begin(struct hub *hub, const char *kind, struct mcpx_slice to,
                  struct mcpx_text *out);

/**
 * Appends `{"id":…,"capabilities":[…]}`: with `identity` when the id is that of an instance, with
 * `grants` when any has a condition. Protocol: section 5.
 */
void notice_participant(const struct peer *peer, struct mcpx_text *out);

/** Composes system/position: epoch and serial of a topic. False when memory runs out. */
bool notice_position(const struct topic *topic, struct mcpx_slice *text);

/**
 * Composes the system/welcome that a peer is owed, and appends the frames `more`. False when memory
 * runs out.
 */
bool notice_welcome(const struct peer *peer, struct mcpx_slice more,
                    struct mcpx_slice *frames);

/**
 * Composes system/presence about a peer, which need not be in its topic (any more). False when
 * memory runs out.
 *
 * event    "join", "leave" or "update"
 * reason   added unless it is NULL
 */
bool notice_presence(const struct peer *peer, const char *event, const char *reason,
                     struct mcpx_slice *text);

/** The members of system/error. Each is written only for the errors that have it. */
struct error_notice {
    enum mcpx_err err;
    struct mcpx_slice id;          /* of the offending envelope; absent when unknown */
    struct mcpx_fault fault;       /* for MCPX_EINVALID and MCPX_EUTF8 */
    struct mcpx_slice kind;        /* attempted, for MCPX_ECAPABILITY */
    struct mcpx_decision decision; /* the decision about it, for MCPX_ECAPABILITY */
    int64_t wait_ms;               /* for MCPX_ERATE and MCPX_EUNAVAILABLE */
    /* For MCPX_EUNAVAILABLE: the message may still be delivered; else it never will be. */
    bool uncertain;
    const char *cap; /* for MCPX_ESHARE: the setting of the quota */
    uint64_t missed; /* for MCPX_ESLOW */
};

/** Composes system/error for a peer. False when memory runs out. Protocol: section 6. */
bool notice_error(const struct peer *peer, const struct error_notice *error,
                  struct mcpx_slice *text);

#endif
