/*
 * tools.h - the tools of a server, for calls under terms: read from its tools/list, page by page,
 * when it becomes ready and whenever its list changes. Calls of tools wait for that as they wait
 * for the server.
 */
#ifndef MCPX_BRIDGE_IMPORT_TOOLS_H
#define MCPX_BRIDGE_IMPORT_TOOLS_H

#include "tools/mcpx-bridge/import/calls.h"

#include <mcpx/rpc.h>
#include <mcpx/schema.h>

struct import;

/**
 * What is known of them.
 *
 * known    those of the last list; NULL before the first one
 * coming   those of the pages that came so far; NULL when no list is read
 * again    the list changed while it was read
 * pages, bytes   of the list that is read
 * ends_at  mono_ms at which the list has to be whole; INT64_MAX when none is read
 * due_at   mono_ms at which one is read that changes too often; INT64_MAX: none
 * since, reads   how often lists were read since that mono_ms
 * in_row   lists for which calls have waited and which changed while they were read
 * doubts   what was said about them last
 */
struct import_tools {
    struct mcpx_tools *known, *coming;
    bool again;
    size_t pages, bytes;
    int64_t ends_at, due_at;
    int64_t since;
    unsigned reads;
    unsigned in_row;
    struct mcpx_text doubts;
};

/** Begins with nothing known. */
void import_tools_init(struct import_tools *tools);

/** Frees all. */
void import_tools_fini(struct import_tools *tools);

/**
 * The server is ready, or says that its list changed. Does nothing without terms.
 *
 * Returns true, as import_tools_answered and import_tools_tick do, when a list is there, and calls
 * of tools that have waited for it may go on: import_forward_waiting.
 */
bool import_tools_ask(struct import *import, struct mcpx_now now);

/** True while calls of tools have to wait for a list. */
static inline bool import_tools_are_coming(const struct import_tools *tools)
{
    return tools->coming != NULL;
}

/** Whether the server says that it has tools. */
bool import_tools_are_declared(const struct import *import);

/** A page came, or an error; the call is dropped. */
bool import_tools_answered(struct import *import, struct import_call *call,
                           const struct mcpx_rpc *rpc, struct mcpx_now now);

/** The process is gone. What was known of it holds until there is another list. */
void import_tools_down(struct import *import);

/** Does what is due. */
bool import_tools_tick(struct import *import, struct mcpx_now now);

/** mono_ms at which that is; INT64_MAX: never. */
int64_t import_tools_deadline(const struct import *import);

#endif
