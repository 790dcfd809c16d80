/*
 * run.h - an import with its sockets and its processes, on one loop.
 */
#ifndef MCPX_BRIDGE_IMPORT_EDGE_RUN_H
#define MCPX_BRIDGE_IMPORT_EDGE_RUN_H

#include "tools/common/connect.h"
#include "tools/mcpx-bridge/import/config.h"

/**
 * What to run. Everything is borrowed during import_run.
 *
 * topics   where to connect, `topic_count` of them; loop, on_event and user are filled in
 * where    a row for each topic: where another token comes from
 * import   settings of the core
 * argv     the server's command line, ended by NULL
 * name     precedes the lines of its standard error
 */
struct import_job {
    const struct mcpx_client_config *topics;
    size_t topic_count;
    struct connection *where;
    struct import_config import;
    char *const *argv;
    const char *name;
    size_t line_max;
};

/**
 * Runs until a signal of loop.h, or an end that is final: of server 0, or of the last topic.
 * Complains on standard error.
 *
 * Returns an exit code: STATUS_OK after a signal, STATUS_UNREACHABLE when the router cannot be
 * reached or refuses us, STATUS_USAGE when the settings are at fault, else STATUS_FAILED.
 */
int import_run(const struct import_job *job);

/**
 * Complains of grants that are missing, after a welcome: without them all works but nobody hears of
 * it, which is hard to find out later.
 */
void grants_warn(const struct mcpx_session *session);

#endif
