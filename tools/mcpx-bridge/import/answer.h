/*
 * answer.h - how a participant's call ends.
 */
#ifndef MCPX_BRIDGE_IMPORT_ANSWER_H
#define MCPX_BRIDGE_IMPORT_ANSWER_H

#include "tools/mcpx-bridge/output.h"

struct import;
struct import_call;

/** Answers a participant's call with a message that has its id, and drops it. */
void import_answer(struct import *import, struct import_call *call, struct mcpx_slice message);

/** Drops a participant's call, which is not answered. */
void import_abandon(struct import *import, struct import_call *call);

/** Answers it with an error of ours, and drops it. `data` is raw, or absent. */
void import_refuse(struct import *import, struct import_call *call, int code,
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
