/*
 * cmd.h - the row of the verb "expose".
 */
#ifndef MCPX_BRIDGE_EXPOSE_EDGE_CMD_H
#define MCPX_BRIDGE_EXPOSE_EDGE_CMD_H

#include "tools/common/connect.h"

/** Options of the verb, besides those with which every participant connects. */
extern const struct option_row expose_option_rows[];

/** What the verb does, for `--help` and the manual. */
extern const char expose_help[];

/** Runs the verb; returns its exit code. */
int cmd_expose(const struct arguments *arguments);

/** The row of that verb, for a table of commands. */
#define EXPOSE_ROW                                                                            \
    {                                                                                         \
        "expose", NULL, 0, 0, false, "be one MCP server for a whole topic", expose_help,      \
            expose_option_rows, connect_service_options, cmd_expose                           \
    }

#endif
