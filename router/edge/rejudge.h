/*
 * rejudge.h - when the configuration has changed: the grants of those who are connected, and of
 * those who wait to be, are judged again by what they were earned with (tokens_rejudge).
 */
#ifndef EDGE_REJUDGE_H
#define EDGE_REJUDGE_H

#include "router/connection/connection.h"

/**
 * Judges a connection's grant by the configuration that is in force now, and lays over it what was
 * changed at run time.
 *
 * grant   replaced on success; stays the caller's
 *
 * Returns MCPX_OK; MCPX_EKICKED when its participant is not configured any more, or not for this
 * topic; MCPX_EEXPIRED when another token may help, or its certificate stands for somebody else;
 * MCPX_ENOMEM.
 */
enum mcpx_err rejudge_grant(struct connection *connection, struct mcpx_slice topic,
                            struct grant **grant);

/**
 * Judges a connection that was judged under another configuration: its participant has other grants
 * from the next message on, or is condemned. Nobody is told where nothing has changed.
 */
void rejudge_connection(struct connection *connection);

/** The same, where it is due; to be called before anything of the connection is looked at. */
static inline void rejudge_if_due(struct connection *connection)
{
    if (connection->generation != connection->edge->generation)
        rejudge_connection(connection);
}

/** Does that for some connections, in each turn. True while others are left. */
bool rejudge_turn(struct edge *edge);

#endif
