/*
 * probe.h - finds out which participants are servers, and what they offer; decides when the lists
 * are known, and when they have changed.
 */
#ifndef MCPX_BRIDGE_EXPOSE_PROBE_H
#define MCPX_BRIDGE_EXPOSE_PROBE_H

#include "tools/mcpx-bridge/expose/calls.h"
#include "tools/mcpx-bridge/expose/servers/catalog.h"

#include <mcpx/rpc.h>

struct expose;

/** Something about the lists may have changed. */
void expose_touch(struct expose *x);

/**
 * Compares the seats with the roster and asks new participants; with `again`, all participants.
 */
void expose_probe_all(struct expose *x, bool again);

/** A participant came or changed. It is asked when it is new. */
void expose_probe_came(struct expose *x, struct mcpx_slice participant);

/**
 * We have connected again. Participants that are missing may have lost their connection at the
 * same time: we wait for them, and calls to them wait too.
 */
void expose_probe_rejoined(struct expose *x, bool again);

/** A participant left: its seat, its calls and its requests end. The id may be that in its seat. */
void expose_probe_left(struct expose *x, struct mcpx_slice participant);

/** A participant said that a list changed. */
void expose_probe_changed(struct expose *x, struct mcpx_slice participant,
                          enum expose_list list);

/** Reads lists that changed and have rested. */
void expose_probe_tick(struct expose *x);

/** When expose_probe_tick is due for a participant. */
int64_t expose_probe_deadline(const struct expose *x, const struct expose_seat *seat);

/** An answer to a call for the catalogue, or NULL when there is none; ends the call. */
void expose_probe_answer(struct expose *x, struct expose_call *call,
                         const struct mcpx_rpc *rpc);

/** Ends any call without an answer: with an error, one for the catalogue in silence. */
void expose_give_up(struct expose *x, struct expose_call *call, int code,
                    struct mcpx_slice message);

/** The router refused a call for the catalogue: ends it. Lists need no "initialize" before. */
void expose_probe_refused(struct expose *x, struct expose_call *call);

/** Removes missing participants for which we do not wait, or no longer wait. */
void expose_probe_missing(struct expose *x);

/** True when the client need not wait for any answer; `list` may be -1 = any. */
bool expose_is_settled(const struct expose *x, int list);

/** Ends waits whose time is over, and tells the client which lists have changed. */
void expose_settle_tick(struct expose *x);

/** When expose_settle_tick is due. */
int64_t expose_settle_deadline(const struct expose *x);

/** Appends `{"MEMBER":[...]}` and remembers that the client knows it. */
void expose_write_list(struct expose *x, enum expose_list list, struct mcpx_text *out);

#endif
