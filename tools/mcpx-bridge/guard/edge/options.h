/*
 * options.h - the guard's command line.
 */
#ifndef MCPX_BRIDGE_GUARD_EDGE_OPTIONS_H
#define MCPX_BRIDGE_GUARD_EDGE_OPTIONS_H

#include "tools/mcpx-bridge/guard/address.h"

/**
 * The options of a guard. Borrowed while it runs.
 *
 * router        where the router is
 * listen        where to listen; port 0 = any free one
 * json          log as JSON
 * verbose       log routine cases, too
 * timeout_ms    how long it may take until the router has welcomed the agent, or answered it; 0 = for ever
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

#endif
