/*
 * send.h - messages to the topic, and what of it is shown.
 */
#ifndef MCPX_BRIDGE_EXPOSE_SEND_H
#define MCPX_BRIDGE_EXPOSE_SEND_H

#include "tools/mcpx-bridge/expose/calls.h"

#include <mcpx/base.h>
#include <mcpx/kind.h>

struct expose;

/** A kind as a session makes it: without the context where that does not fit. */
struct expose_kind {
    char text[MCPX_KIND_MAX + 1];
    struct mcpx_kind kind;
};

/** Writes a kind. Returns false when even the method does not fit. */
bool expose_kind_make(struct expose_kind *out, const char *type, struct mcpx_slice method,
                      struct mcpx_slice context);

/** How we may send a call about this thing: REQUESTED, else PROPOSED. False when neither. */
bool expose_find_stage(struct expose *x, struct mcpx_slice method,
                       const struct expose_thing *thing, enum expose_stage *out);

/**
 * Whether the client may use the thing, directly or by a proposal. For expose_catalog_write.
 */
bool expose_shows(void *expose, enum expose_list list, const struct expose_thing *thing);

/**
 * Sends a call as request, or as proposal when its stage is PROPOSED. What came of it is told to
 * expose_sent.
 */
void expose_send_call(struct expose *x, const struct expose_call *call);

/**
 * Sends a call of ours. Takes `params`: JSON, or empty for none. Returns NULL when we may not;
 * nothing is under way then.
 */
struct expose_call *expose_send_own(struct expose *x, enum expose_purpose purpose,
                                    struct mcpx_slice participant, const char *method,
                                    struct mcpx_text params);

/** Appends why a call could not be sent. */
void expose_add_unsent(struct expose *x, const struct expose_call *call, enum mcpx_err err,
                       struct mcpx_text *out);

/** The session need not wait any longer for an answer to that envelope of ours. */
void expose_forget(struct expose *x, struct mcpx_slice envelope);

/**
 * Sends a notification about a call's envelope (or none), when we may. Takes `params`: JSON, or
 * empty for none.
 */
void expose_send_notice(struct expose *x, struct mcpx_slice participant, const char *method,
                        struct mcpx_text params, struct mcpx_slice about);

/** Sends mcp/withdraw for a proposal to this participant, when we may and it has an envelope. */
void expose_send_withdrawal(struct expose *x, struct mcpx_slice participant,
                            struct mcpx_slice envelope, const char *reason);

/**
 * Whether this is shown: the participant with everything it has, or the name that the client
 * sees (or would see, absent).
 */
bool expose_only_covers(const struct expose *x, struct mcpx_slice participant,
                        struct mcpx_slice shown);

/** Whether the participant could have anything that is shown. Otherwise it is not asked. */
bool expose_only_wants(const struct expose *x, struct mcpx_slice participant);

/** Logs which patterns have fitted nothing so far. */
void expose_only_note(struct expose *x);

#endif
