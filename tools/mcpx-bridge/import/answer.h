/*
 * answer.h - how a participant's call ends.
 */
#ifndef MCPX_BRIDGE_IMPORT_ANSWER_H
#define MCPX_BRIDGE_IMPORT_ANSWER_H

#include "tools/mcpx-bridge/output.h"

#include <mcpx/contract.h>

struct import;
struct import_call;

/**
 * Answers a participant's call with import->text, a message that has its id, and drops it. Without
 * the memory for that it is dropped alone, and the log says so.
 */
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
