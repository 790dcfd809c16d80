/*
 * run.h - the verb "guard": a listener in front of the router, for an agent that checks
 * nothing.
 */
#ifndef MCPX_BRIDGE_GUARD_EDGE_RUN_H
#define MCPX_BRIDGE_GUARD_EDGE_RUN_H

#include "tools/mcpx-bridge/guard/edge/options.h"

/**
 * Runs the guard until its command ends or, without one, until SIGINT, SIGTERM or SIGHUP. These
 * signals are passed on to the command, unless the terminal has sent them to it already.
 *
 * The command finds the guard's address in MCPX_URL (with the router's path), MCPX_GATEWAY and
 * GATEWAY_URL. Without a command the address is printed as "listening ws://...".
 *
 * Returns an exit code: the command's own; 128 and the signal's number when one ended it; 0
 * without a command; 1 when it cannot listen or the command cannot be run.
 */
int guard_run(const struct guard_options *options);

#endif
