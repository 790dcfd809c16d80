/*
 * depart.h - joining and leaving, for the files that make participants do so.
 */
#ifndef HUB_DEPART_H
#define HUB_DEPART_H

#include "router/hub/topic/notice.h"
#include <mcpx/envelope.h>
#include <mcpx/error.h>
#include <mcpx/text.h>

struct pending;
struct peer;
struct topic;

/** Takes a peer out of its topic, if it is there, and tells the others, or submits that. */
void depart_leave(struct peer *peer, enum mcpx_err err);

/** Condemns everybody in a topic that memory has no room for. It is opened again later. */
void depart_lose(struct topic *topic);

/**
 * Answers the sender, who is in its topic, and counts the refusal. Errors with a close code end the
 * connection; so does one refusal too many, because every answer costs more than the message that
 * provoked it, and so do answers unread. Leaves slow readers to hub_condemn_slow.
 */
void answer_sender(struct peer *peer, const struct error_notice *error, struct mcpx_now now);

/**
 * It is committed: the joiner comes in as it would have without a gate. If its connection is gone
 * or condemned meanwhile, it is told all the same, and leaves.
 */
void admit_commit(struct pending *pending);

/** It is rejected: the joiner is condemned, and whom it was to replace stays. */
void admit_reject(struct pending *pending);

/**
 * Condemns readers that fell off a log, and those who fall off because others are told. To be
 * called after anything was appended.
 */
void hub_condemn_slow(struct hub *hub);

/* ---- completes a short kind from the envelope its correlation_id names. ---- */

struct topic;

/**
 * Completes `mcp/response:METHOD` from an accepted `mcp/request:METHOD:CONTEXT` whose sender is
 * among the response's addressees, or that has none; and `mcp/request:METHOD` from an accepted
 * `mcp/proposal:METHOD:CONTEXT` that its sender, or everybody it addresses, was to act on. What was
 * accepted is retained in the topic's log, or pending.
 *
 * sender      who says it
 * envelope    in: as sent; out: its kind completed, with slices of `text`
 * text        receives the completed kind
 *
 * Returns true when the kind was completed. False, with the kind untouched, when nothing is to be
 * derived: unknown id, another request than was meant, other method, short original, other type, or
 * a result over MCPX_KIND_MAX.
 * Protocol: section 4.
 */
bool derive_kind(const struct topic *topic, struct mcpx_slice sender,
                 struct mcpx_envelope *envelope, struct mcpx_text *text);

#endif
