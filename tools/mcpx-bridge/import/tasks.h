/*
 * tasks.h - tasks of the server: who owns them, and those that the bridge makes for requesters
 * without tasks.
 */
#ifndef MCPX_BRIDGE_IMPORT_TASKS_H
#define MCPX_BRIDGE_IMPORT_TASKS_H

#include "tools/mcpx-bridge/import/state.h"

/**
 * What a participant's call has to do with a task of our own (bridge_call.task). DROPS: its
 * requester has left, so a task that it becomes is cancelled.
 */
enum import_task { IMPORT_MAKES_TASK = 1, IMPORT_HAS_TASK, IMPORT_DROPS_TASK };

/** True while the server has a request and owes its answer. */
static inline bool import_is_owed(const struct bridge_call *call)
{
    return call->written && !call->wants_input && call->task != IMPORT_HAS_TASK;
}

/** Notes which tools of a list insist on tasks. */
void import_tasks_note_tools(struct import_pool *pool, struct mcpx_slice list);

/** True when the call names a task that its requester does not own: it gets an error. */
bool import_task_is_foreign(struct import *import, const struct bridge_call *call);

/** Appends the result of tasks/list with the tasks of the requester only; else nothing. */
void import_tasks_show(const struct import *import, const struct bridge_call *call,
                       struct mcpx_slice result, struct mcpx_text *out);

/** Passes notifications of a task on to its owners. */
void import_tasks_notify(struct import *import, const struct mcpx_rpc *rpc);

/**
 * Decides whether a call becomes a task of our own. True: `out` is its payload with "task".
 */
bool import_task_add(const struct import *import, struct bridge_call *call,
                     struct mcpx_slice payload, struct mcpx_text *out);

/** Why the task that an answer to a participant's call creates is cancelled; NULL: it is not. */
const char *import_task_fault(struct import *import, const struct bridge_call *call,
                              const struct mcpx_rpc *rpc);

/** Handles the answer to a participant's call; true: the call goes on as a task of ours. */
bool import_task_answered(struct import *import, struct bridge_call *call,
                          const struct mcpx_rpc *rpc, struct mcpx_now now);

/** Cancels the task that an answer to a call that is over has created. */
void import_task_orphaned(struct import *import, const struct mcpx_rpc *rpc);

/** A poll is due. */
void import_task_due(struct import *import, struct bridge_call *row);

/**
 * The answer to a poll came. Returns the call if that ends, or wants input; else NULL.
 *
 * out   filled with the call's answer, a message; empty: that is `rpc`
 */
struct bridge_call *import_task_polled(struct import *import, struct bridge_call *row,
                                       const struct mcpx_rpc *rpc, struct mcpx_text *out,
                                       struct mcpx_now now);

/** Sends the answers to the questions of the call's task, if any, and goes on to poll. */
void import_task_update(struct import *import, struct bridge_call *call,
                        const struct mcpx_text *answers, struct mcpx_now now);

/** A call is over: cancels its task, unless that is over, and drops the polls at the next tick. */
void import_task_over(struct import *import, const struct bridge_call *call);

/** The call that a question names by its related task; NULL: it names none under way. */
struct bridge_call *import_task_call(const struct import *import, struct mcpx_slice params);

#endif
