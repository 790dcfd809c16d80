/*
 * cmd.h - the row of the verb "import".
 */
#ifndef MCPX_BRIDGE_IMPORT_EDGE_CMD_H
#define MCPX_BRIDGE_IMPORT_EDGE_CMD_H

#include "tools/common/connect.h"

/** Options of the verb, besides those with which every participant connects. */
extern const struct option_row import_option_rows[];

/** What the verb does, for `--help` and the manual. */
extern const char import_help[];

/** Runs the verb; returns its exit code. */
int cmd_import(const struct arguments *arguments);

/** The row of that verb, for a table of commands. */
#define IMPORT_ROW                                                                            \
    {                                                                                         \
        "import", "COMMAND [ARG...]", 1, 0, true, "seat an MCP server at a topic",            \
            import_help, import_option_rows, connect_topics_options, cmd_import               \
    }

#endif
