/*
 * ask.h - questions of a server to participants, by its own requests or in its answers.
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
bool import_may_ask(struct mcpx_slice method);

/** Who is asked about a call: its requester, or who proposed it and so knows what it is for. */
struct bridge_who import_asked_of(const struct bridge_call *call);

/** True when the bridge, not the requester, handles questions in an answer to this call. */
bool import_asks_itself(const struct import *import, const struct bridge_call *call);

/**
 * A call was written: keeps its message if the call may have to be made again and there is room;
 * else drops it. `changed` replaces it; absent: nothing does.
 */
void import_keep(struct import *import, struct bridge_call *call, struct mcpx_slice changed);

/** A participant says in this initialize what it can do. */
void import_requester_note(struct import *import, const struct bridge_call *call);

/** Appends the capabilities declared with a request; `own` are those in its _meta, if any. */
void import_requester_add_capabilities(const struct import *import,
                                       const struct bridge_call *call, struct mcpx_slice own,
                                       struct mcpx_text *out);

/* ---- questions: ask.c ---- */

/**
 * The state of a question, its `purpose`. Those of a round have as `context` their key in
 * inputRequests, with its quotes. They are kept after their end, with the answer or the reason of
 * the failure as `payload`. Others are dropped at their end.
 */
enum import_question { IMPORT_OPEN, IMPORT_ANSWERED, IMPORT_FAILED };

/** The server asks for something, of us or of a participant. */
void import_ask(struct import *import, const struct mcpx_rpc *rpc);

/** Why a question about a call is not asked; NULL: it may be added. */
const char *import_ask_fault(const struct import *import, const struct bridge_call *call,
                             const struct mcpx_rpc *rpc);

/** Adds a question about a call. */
struct bridge_call *import_ask_add(struct import *import, const struct bridge_call *call,
                                   const struct mcpx_rpc *rpc, struct mcpx_slice key);

/** Sends it. */
void import_ask_send(struct import *import, struct bridge_call *call,
                     const struct bridge_call *question, struct mcpx_slice text);

/** True while a question about this call is open. */
bool import_ask_is_open(const struct import *import, const struct bridge_call *call);

/** The question with that tag went out, or did not. */
void import_asked(struct import *import, const void *tag,
                  const struct bridge_outcome *outcome);

/** The participant answered the question with that tag. */
void import_ask_answered(struct import *import, void *tag, const struct mcpx_rpc *rpc);

/** The question with that tag will get no answer. */
void import_ask_failed(struct import *import, void *tag, int code, const char *message);

/** The asked participant left (all of a topic when `id` is absent): it will not answer. */
void import_ask_left(struct import *import, struct bridge_who who);

/** The server takes a question back, if the notification names one. */
void import_ask_cancelled(struct import *import, const struct mcpx_rpc *rpc);

/** Drops the questions of the round of a call; open ones are taken back. */
void import_ask_over(struct import *import, const struct bridge_call *call);

/** The server is gone: drops its questions. */
void import_ask_down(struct import *import);

#define IMPORT_NO_ROOTS "there are no roots; the bridge's operator can name some with --root"

/* ---- calls that the server answers with questions: rounds.c ---- */

/** Takes an answer that asks for input. False when it is another, or for the requester. */
bool import_rounds_asked(struct import *import, struct bridge_call *call,
                         const struct mcpx_rpc *rpc, struct mcpx_now now);

/** The task of ours that a call has become asks for input. */
void import_rounds_of_task(struct import *import, struct bridge_call *call,
                           struct mcpx_slice questions, struct mcpx_now now);

/** A call that wants input is due: makes it again, or ends it, or waits. */
void import_rounds_due(struct import *import, struct bridge_call *call, struct mcpx_now now);

#endif
