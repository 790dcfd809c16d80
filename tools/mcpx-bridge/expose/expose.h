/*
 * expose.h - a topic as one MCP server: lines of a client, events of a session and the time go
 * in, lines for the client and sentences for the log are fetched with expose_next. No I/O and
 * no clock: the owner of the pipe and the socket calls these functions.
 */
#ifndef MCPX_BRIDGE_EXPOSE_EXPOSE_H
#define MCPX_BRIDGE_EXPOSE_EXPOSE_H

#include "tools/mcpx-bridge/expose/port.h"
#include "tools/mcpx-bridge/expose/queue.h"

struct expose;

/** Makes a server. `port` is copied. Returns MCPX_OK or MCPX_ENOMEM. */
enum mcpx_err expose_new(const struct expose_config *config, const struct expose_port *port,
                         struct expose **out);

/** Frees it. NULL is allowed. */
void expose_free(struct expose *x);

/** One line of the client; borrowed. */
void expose_line(struct expose *x, struct mcpx_slice line, struct mcpx_now now);

/**
 * A line was too long; `beginning` are its first bytes. It is refused, with its id when the id
 * is among these bytes.
 */
void expose_overlong(struct expose *x, struct mcpx_slice beginning);

/** One event of the session; borrowed. */
void expose_event(struct expose *x, const struct mcpx_event *event, struct mcpx_now now);

/**
 * The next thing to write, in the order in which it was said; its text is lent until the next call. False
 * when there is none. To be asked after every call that puts something in, until it is false: nothing
 * else bounds what waits.
 */
bool expose_next(struct expose *x, struct expose_output *out);

/**
 * Has the client not read what it was told for so long that only answers are kept for it? False at the
 * beginning. To be told before a call that puts something in; what that call makes is not counted.
 */
void expose_behind(struct expose *x, bool is_behind);

/** Does what is due at this time. */
void expose_tick(struct expose *x, struct mcpx_now now);

/** mono_ms at which expose_tick is due; INT64_MAX when nothing waits. */
int64_t expose_deadline(const struct expose *x);

/**
 * The topic will not come back: answers all open requests with an error and this sentence.
 */
void expose_abandon(struct expose *x, struct mcpx_slice sentence);

/**
 * The client is gone: withdraws its requests and proposals, so that nobody works on them in
 * vain.
 */
void expose_leave(struct expose *x, struct mcpx_now now);

/** True when the client waits at most for decisions of people. */
bool expose_is_idle(const struct expose *x);

#endif
