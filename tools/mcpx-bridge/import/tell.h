/*
 * tell.h - what the files of an import want done and said: log lines, announcements, notifications,
 * and why there is no server.
 */
#ifndef MCPX_BRIDGE_IMPORT_TELL_H
#define MCPX_BRIDGE_IMPORT_TELL_H

#include "tools/mcpx-bridge/output.h"

#include <mcpx/child.h>
#include <mcpx/contract.h>
#include <mcpx/session.h>

struct import;

/** Logs a sentence, cut at 500 bytes, control characters replaced. */
void import_say(struct import *import, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Says a sentence in every topic as chat, where we may; not for a server with an owner. */
void import_announce(struct import *import, const char *text);

/** Sends a notification of the server to its owner, or to everybody in every topic. */
void import_tell(struct import *import, struct mcpx_draft *draft);

/** Sends a notification of the server to the addressees of the draft, in one topic. */
void import_tell_topic(struct import *import, size_t topic, struct mcpx_draft *draft);

/** What came of such a notification. */
void import_told(struct import *import, enum mcpx_err err);

/** Wants that action; as bridge_output_add. Its server is filled in. */
void import_want(struct import *import, struct bridge_row row);

/** Wants a draft sent in a topic, whatever comes of it. */
void import_want_send(struct import *import, size_t topic, const struct mcpx_draft *draft);

/** Wants a request not to be answered. */
void import_want_drop(struct import *import, size_t topic, struct mcpx_slice request);

/** Wants our child killed. */
void import_want_kill(struct import *import);

/** The child is gone: sets the sentence and the data for requests from now on. */
void import_outage_note(struct import *import, const struct mcpx_child_report *report);

/** This server will never work: import_failure() tells so from now on. */
void import_give_up(struct import *import, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/**
 * Why it makes no sense to go on, as a sentence: the program cannot be executed, or the server
 * refuses to be initialised. NULL otherwise. Lent until the next call.
 */
const char *import_failure(const struct import *import);

/** Why the server has gone, a sentence; NULL when it is ready, or has not gone so far. */
const char *import_outage(const struct import *import);

struct import_call;

/** Answers a participant's call with import->text, a message that has its id, and drops it. */
void import_answer(struct import *import, struct import_call *call);

/** Drops a participant's call, which is not answered. */
void import_abandon(struct import *import, struct import_call *call);

/**
 * Answers it with an error of ours, and drops it. `data` is a raw object, or absent. Without terms
 * a cause is -32602 for INPUT, -32001 for TIMEOUT, and else -32000.
 */
void import_refuse(struct import *import, struct import_call *call, enum mcpx_cause cause,
                   const char *message, struct mcpx_slice data);

/** Answers it with import->outage, and drops it. */
void import_refuse_for_outage(struct import *import, struct import_call *call);

/** Answers a REQUEST that became no call with an error of ours. */
void import_turn_away(struct import *import, size_t topic, const struct mcpx_event *event,
                      const char *message);

/** An answer could not be sent: another one is tried, or there is none. */
void import_answer_failed(struct import *import, const struct bridge_row *row,
                          enum mcpx_err err);

#endif
