/*
 * run.h - the verb "guard": a listener in front of the router, for an agent that checks
 * nothing.
 */
#ifndef MCPX_BRIDGE_GUARD_EDGE_RUN_H
#define MCPX_BRIDGE_GUARD_EDGE_RUN_H

#include "tools/mcpx-bridge/guard/address.h"

/**
 * The options of a guard. Borrowed while it runs.
 *
 * router        where the router is
 * listen        where to listen; port 0 = any free one
 * json          log as JSON
 * verbose       log routine cases, too
 * timeout_ms    how long the router may take to welcome the agent, or to answer it; 0 = for ever
 * message_max   longest message from the router, in bytes
 * command       the agent's command line, ended by NULL; NULL or empty = only listen
 */
struct guard_options {
    struct guard_address router;
    struct guard_address listen;
    bool json;
    bool verbose;
    uint64_t timeout_ms;
    size_t message_max;
    char **command;
};

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
