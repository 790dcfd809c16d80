/*
 * cmd.h - the row of the verb "guard".
 */
#ifndef MCPX_BRIDGE_GUARD_EDGE_CMD_H
#define MCPX_BRIDGE_GUARD_EDGE_CMD_H

#include "tools/common/command.h"

/** --url, --listen, --message-max, --timeout, --json, --verbose. */
extern const struct option_row guard_option_rows[];

/** What the verb does, for `--help` and the manual. */
extern const char guard_help[];

/** Runs the verb; returns its exit code. */
int cmd_guard(const struct arguments *arguments);

/** The row of that verb, for a table of commands. */
#define GUARD_ROW                                                                             \
    {                                                                                         \
        "guard", "[COMMAND] [ARG...]", 0, 0, true,                                            \
            "stand between the router and an agent that does not check what it is told",      \
            guard_help, guard_option_rows, NULL, cmd_guard                                    \
    }

#endif
