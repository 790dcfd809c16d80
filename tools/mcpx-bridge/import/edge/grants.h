/*
 * grants.h - whether an import may say what it is there for.
 */
#ifndef MCPX_BRIDGE_IMPORT_EDGE_GRANTS_H
#define MCPX_BRIDGE_IMPORT_EDGE_GRANTS_H

#include <mcpx/session.h>

/**
 * Complains of grants that are missing, after a welcome: without them all works but nobody hears of
 * it, which is hard to find out later.
 */
void grants_warn(const struct mcpx_session *session);

#endif
