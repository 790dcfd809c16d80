/*
 * settle.h - decides when the lists are known, and when they have changed.
 */
#ifndef MCPX_BRIDGE_EXPOSE_SETTLE_H
#define MCPX_BRIDGE_EXPOSE_SETTLE_H

#include "tools/mcpx-bridge/expose/catalog.h"

struct expose;

/** True when the client need not wait for any answer; `list` may be -1 = any. */
bool expose_is_settled(const struct expose *x, int list);

/** Ends waits whose time is over, and tells the client which lists have changed. */
void expose_settle_tick(struct expose *x);

/** When expose_settle_tick is due. */
int64_t expose_settle_deadline(const struct expose *x);

/** Appends `{"MEMBER":[...]}` and remembers that the client knows it. */
void expose_write_list(struct expose *x, enum expose_list list, struct mcpx_text *out);

#endif
