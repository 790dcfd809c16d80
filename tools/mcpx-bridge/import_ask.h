/*
 * import_ask.h - questions of the server (elicitation, sampling) that a participant has
 * been asked to answer.
 * Includes import_who.h only.
 */
#ifndef MCPX_BRIDGE_IMPORT_ASK_H
#define MCPX_BRIDGE_IMPORT_ASK_H

#include "tools/mcpx-bridge/import_who.h"

/** Most questions under way at one time. */
enum { IMPORT_ASKS_MAX = 256 };

/**
 * A question. `serial` is the tag of its envelope; slices point into memory of its own.
 *
 * envelope      id of the envelope it went out in
 * participant   who was asked
 * rpc_id        the server's raw JSON-RPC id
 */
struct import_question {
    uintptr_t serial;
    struct import_who participant;
    struct mcpx_slice envelope, rpc_id;
    char *memory;
};

/** Questions under way, oldest first. Zero-initialised is empty. */
struct import_asks {
    struct import_question rows[IMPORT_ASKS_MAX];
    size_t count;
};

/** Frees all. */
void import_asks_fini(struct import_asks *asks);

#endif
