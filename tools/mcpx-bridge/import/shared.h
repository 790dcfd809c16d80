/*
 * shared.h - what all servers of one command share, and what one of them is.
 */
#ifndef MCPX_BRIDGE_IMPORT_SHARED_H
#define MCPX_BRIDGE_IMPORT_SHARED_H

#include "lib/base/map.h"
#include "tools/mcpx-bridge/import/config.h"
#include "tools/mcpx-bridge/output.h"

/**
 * What is known of a command. Zero-initialised: nothing, its next process is probed.
 *
 * plain     the next process gets initialize at once
 * proven    a process became ready, so the greeting stays as it is
 * changes   how often the greeting was changed
 * refused   initialize was refused: [1] after the probe, [0] without one
 */
struct import_probe {
    bool plain;
    bool proven;
    unsigned changes;
    bool refused[2];
};

/**
 * What is known of one of our topics.
 *
 * self          our participant id there; empty before the first welcome
 * message_max   longest envelope the router takes, in bytes; 0 = not known
 */
struct import_topic {
    char self[MCPX_ID_MAX];
    size_t self_len;
    size_t message_max;
};

/**
 * Zero at the beginning, except for `topics`, which has a row for each.
 *
 * key      of hash tables: random, and told to nobody
 * probe    how the processes of the command are greeted
 * serial   tag of the latest question, so that no two servers' have the same
 * output   what they want done
 * terms    what calls of tools have to keep; NULL: nothing
 * view     what that takes
 * calls    calls of tools under terms; NULL before the first one
 * edge     who we were at that time in the first topic we had joined: whose calls they are
 */
struct import_shared {
    struct mx_map_key key;
    struct import_probe probe;
    uintptr_t serial;
    struct import_topic *topics;
    struct bridge_output output;
    const struct bridge_terms *terms;
    struct import_view view;
    struct mcpx_calls *calls;
    struct import_topic edge;
};

/**
 * What one server is.
 *
 * number   of the server, for its actions
 * owner    the one participant it serves, kept as long as the import; without an id: everybody
 * shared   kept as long
 */
struct import_setup {
    size_t number;
    struct import_who owner;
    struct import_shared *shared;
};

#endif
