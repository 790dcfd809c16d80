/*
 * ask.h - questions of the server (elicitation, sampling) that a participant has
 * been asked to answer.
 */
#ifndef MCPX_BRIDGE_IMPORT_ASK_H
#define MCPX_BRIDGE_IMPORT_ASK_H

#include "tools/mcpx-bridge/action.h"
#include "tools/mcpx-bridge/import/who.h"

#include <mcpx/rpc.h>

struct import;

/** Most questions under way at one time. */
enum { IMPORT_ASKS_MAX = 256 };

/**
 * A question. `serial` is the tag of its envelope; slices point into memory of its own.
 *
 * participant   the one that was asked
 * method        what for
 * rpc_id        the server's raw JSON-RPC id
 * envelope      id of the envelope it went out in; empty until that is known
 */
struct import_question {
    uintptr_t serial;
    struct import_who participant;
    struct mcpx_slice method, rpc_id;
    struct mcpx_text envelope;
    char *memory;
};

/** Questions under way, oldest first. Zero-initialised is empty. */
struct import_asks {
    struct import_question rows[IMPORT_ASKS_MAX];
    size_t count;
};

/** Frees all. */
void import_asks_fini(struct import_asks *asks);

/** True when this tag is that of a question of this server. */
bool import_has_asked(const struct import *import, const void *tag);

/** The server asks for something; `line` is its request. */
void import_ask(struct import *import, struct mcpx_slice line, const struct mcpx_rpc *rpc);

/** The question with that tag went out, or did not. */
void import_asked(struct import *import, const void *tag,
                  const struct bridge_outcome *outcome);

/** The participant answered the question with that tag. */
void import_ask_answered(struct import *import, void *tag, struct mcpx_slice payload);

/** Nobody will answer the question with that tag. */
void import_ask_failed(struct import *import, void *tag, int code, const char *message);

/** The asked participant left (all of a topic, when `id` is absent): it will not answer. */
void import_ask_left(struct import *import, struct import_who who);

/** The server takes a question back. Returns false when `params` names none. */
bool import_ask_cancelled(struct import *import, struct mcpx_slice line,
                          struct mcpx_slice params);

/** The server is gone: drops its questions. */
void import_ask_down(struct import *import);

#endif
