/*
 * expose.h - a topic as one MCP server: lines of a client and events of a session go in, lines
 * and drafts come out. No I/O and no clock: whoever owns the pipe and the socket calls.
 */
#ifndef MCPX_BRIDGE_EXPOSE_EXPOSE_H
#define MCPX_BRIDGE_EXPOSE_EXPOSE_H

#include "tools/mcpx-bridge/expose/port.h"

struct expose;

/** Makes a server. `port` is copied. Returns MCPX_OK or MCPX_ENOMEM. */
enum mcpx_err expose_new(const struct expose_config *config, const struct expose_port *port,
                         struct expose **out);

/** Frees it. NULL is allowed. */
void expose_free(struct expose *x);

/** One line of the client; borrowed. */
void expose_line(struct expose *x, struct mcpx_slice line, struct mcpx_now now);

/**
 * A line was too long; `beginning` are its first bytes. It is refused, with its id when that stands among
 * them.
 */
void expose_overlong(struct expose *x, struct mcpx_slice beginning);

/** One event of the session; borrowed. */
void expose_event(struct expose *x, const struct mcpx_event *event, struct mcpx_now now);

/** Lets deadlines pass. */
void expose_tick(struct expose *x, struct mcpx_now now);

/** mono_ms at which expose_tick has something to do; INT64_MAX when nothing waits. */
int64_t expose_deadline(const struct expose *x);

/**
 * Answers everything that waits with an error and this sentence: the topic will not come back.
 */
void expose_abandon(struct expose *x, struct mcpx_slice sentence);

/** The client is gone: takes back what it waits for, so that nobody works or decides for nobody. */
void expose_leave(struct expose *x, struct mcpx_now now);

/** True when the client waits for nothing that a machine answers. */
bool expose_is_idle(const struct expose *x);

#endif
