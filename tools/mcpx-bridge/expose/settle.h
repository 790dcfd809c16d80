/*
 * settle.h - when the lists are known, and when they have changed.
 */
#ifndef MCPX_BRIDGE_EXPOSE_SETTLE_H
#define MCPX_BRIDGE_EXPOSE_SETTLE_H

#include "tools/mcpx-bridge/expose/catalog.h"

struct expose;

/** True when nothing is expected that the client should wait for; `list` may be -1 = any. */
bool expose_is_settled(const struct expose *x, int list);

/** Lets patience run out, and tells the client what changed. */
void expose_settle_tick(struct expose *x);

/** When expose_settle_tick is due. */
int64_t expose_settle_deadline(const struct expose *x);

/** Appends `{"MEMBER":[...]}` and remembers it as what the client knows. */
void expose_write_list(struct expose *x, enum expose_list list, struct mcpx_text *out);

#endif
