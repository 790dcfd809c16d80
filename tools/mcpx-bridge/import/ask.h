/*
 * ask.h - what comes between a call and its answer: questions of the server to participants, by its
 * own requests or in its answers, and tasks.
 */
#ifndef MCPX_BRIDGE_IMPORT_ASK_H
#define MCPX_BRIDGE_IMPORT_ASK_H

#include "tools/mcpx-bridge/import/state.h"

/* ---- requesters: requester.c ---- */

/** The call that a REQUEST becomes. Lends what the event lends. */
struct bridge_call import_draft_of(size_t topic, const struct mcpx_event *event);

/** Why that REQUEST cannot be passed on; NULL: it can. */
const char *import_fault_of(const struct mcpx_rpc *rpc, const struct bridge_call *call);

/** True for the methods that MCP lets a server ask about. */
static inline bool import_may_ask(struct mcpx_slice method)
{
    return bridge_is_any(method, "tools/call", "prompts/get", "resources/read");
}

/** Who is asked about a call: its requester, or who proposed it and so knows what it is for. */
static inline struct bridge_who import_asked_of(const struct bridge_call *call)
{
    return (struct bridge_who){call->who.topic,
                               call->proposer.text ? call->proposer : call->who.id};
}

/** True when the bridge, not the requester, handles questions in an answer to this call. */
bool import_asks_itself(const struct import *import, const struct bridge_call *call);

/**
 * A call was written: keeps its message if the call may have to be made again and there is room;
 * else drops it. `changed` replaces it; absent: nothing does.
 */
void import_keep(struct import *import, struct bridge_call *call, struct mcpx_slice changed);

/** A participant says in this initialize what it can do. */
void import_requester_note(struct import *import, const struct bridge_call *call);

/** The capabilities declared with a request; `own` are those in its _meta, if any. */
struct mcpx_text import_requester_capabilities(const struct import *import,
                                               const struct bridge_call *call,
                                               struct mcpx_slice own);

/* ---- questions: ask.c ---- */

/*
 * Questions of a round have as `context` their key in inputRequests, with its quotes. They are kept
 * with their answer as `payload` until the round ends; `written` is then set. Others are dropped at
 * their end.
 */

/** The server asks for something, of us or of a participant. */
void import_ask(struct import *import, const struct mcpx_rpc *rpc);

/**
 * Asks about a call; `key` of a question of a round, else absent. Returns why it cannot; NULL: it
 * is asked.
 */
const char *import_ask_about(struct import *import, struct bridge_call *call,
                             const struct mcpx_rpc *rpc, struct mcpx_slice key);

/** True while a question about this call is open. */
bool import_ask_is_open(const struct import *import, const struct bridge_call *call);

/** The server takes a question back, if the notification names one. */
void import_ask_cancelled(struct import *import, const struct mcpx_rpc *rpc);

/** No answer is wanted to a question; the participant is told the reason, if that is not NULL. */
void import_ask_forget(struct import *import, const struct bridge_call *row,
                       const char *reason);

/** Drops the questions of the round of a call; open ones are taken back. */
void import_ask_over(struct import *import, const struct bridge_call *call);

/** The server is gone: drops its questions. */
void import_ask_down(struct import *import);

/* ---- ends of questions, and calls that the server answers with some: rounds.c ---- */

/** Takes an answer that asks for input. False when it is another, or for the requester. */
bool import_rounds_asked(struct import *import, struct bridge_call *call,
                         const struct mcpx_rpc *rpc);

/** The task of ours that a call has become asks for input. */
void import_rounds_of_task(struct import *import, struct bridge_call *call,
                           struct mcpx_slice questions);

/** Makes a call that wants input again, unless a question is open. */
void import_rounds_due(struct import *import, struct bridge_call *call);

/** That question went out, or did not. It is taken back if no answer is wanted any more. */
void import_asked(struct import *import, const struct bridge_action *sent,
                  const struct bridge_outcome *outcome);

/** The participant answered the question with that tag. */
void import_ask_answered(struct import *import, void *tag, const struct mcpx_rpc *rpc);

/** The question with that tag will get no answer. */
void import_ask_failed(struct import *import, void *tag, int code, const char *message);

/** The asked participant left (all of a topic when `id` is absent): it will not answer. */
void import_ask_left(struct import *import, struct bridge_who who);

/* ---- tasks: tasks.c ---- */

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

/** Passes a notification of a task on to its owners. */
void import_tasks_notify(struct import *import, const struct mcpx_rpc *rpc);

/** Whether a call becomes a task of our own. True: `out` is its payload with "task". */
bool import_task_add(const struct import *import, struct bridge_call *call,
                     struct mcpx_slice payload, struct mcpx_text *out);

/**
 * The server answered a participant's call; NULL: one that is over, whose task is then cancelled.
 * Returns why it is refused; NULL: it is not. If it goes on as a task of ours, it HAS_TASK now.
 */
const char *import_task_answered(struct import *import, struct bridge_call *call,
                                 const struct mcpx_rpc *rpc);

/** A call is due: polls the tasks that are, all in one walk. */
void import_tasks_due(struct import *import);

/**
 * The answer to a poll came, and the poll is dropped. Returns the call if that wants input, or
 * ends: then `rpc` becomes its answer. Else NULL.
 */
struct bridge_call *import_task_polled(struct import *import, struct bridge_call *row,
                                       struct mcpx_rpc *rpc);

/** Sends the answers to the questions of the call's task, if any, and goes on to poll. */
void import_task_update(struct import *import, struct bridge_call *call,
                        const struct mcpx_text *answers);

/** A call is over: cancels its task, if it has one. */
void import_task_over(struct import *import, const struct bridge_call *call);

/** True when a question names a task that is known; `call`: the one that waits for it, or NULL. */
bool import_task_call(const struct import *import, struct mcpx_slice params,
                      struct bridge_call **call);

#endif
