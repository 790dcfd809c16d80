/*
 * import_edge.h - an import with its socket and its process, on one loop.
 * Includes import.h and mcpx/client.h only.
 */
#ifndef MCPX_BRIDGE_IMPORT_EDGE_H
#define MCPX_BRIDGE_IMPORT_EDGE_H

#include "tools/mcpx-bridge/import.h"

#include <mcpx/client.h>

/**
 * What to run. Everything is borrowed during import_run.
 *
 * client   where to connect; loop, on_event and user are filled in
 * import   settings of the core
 * argv     the server's command line, ended by NULL
 * name     precedes the lines of its standard error
 */
struct import_job {
    struct mcpx_client_config client;
    struct import_config import;
    char *const *argv;
    const char *name;
    size_t line_max;
};

/**
 * Runs until a signal of loop.h, or an end that is final. Complains on standard error.
 *
 * Returns an exit code: STATUS_OK after a signal, STATUS_UNREACHABLE when the router cannot be
 * reached or refuses us, STATUS_USAGE when the settings are at fault, else STATUS_FAILED.
 */
int import_run(const struct import_job *job);

#endif
