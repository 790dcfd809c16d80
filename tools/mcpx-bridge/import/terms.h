/*
 * terms.h - calls of tools under terms: the two doors that each goes through, and the lists that
 * show what the terms make of the tools. Answers are written to import->text, to be sent with
 * import_answer. Without terms nothing of it is called.
 */
#ifndef MCPX_BRIDGE_IMPORT_TERMS_H
#define MCPX_BRIDGE_IMPORT_TERMS_H

#include "tools/mcpx-bridge/import/calls.h"

#include <mcpx/contract.h>
#include <mcpx/rpc.h>
#include <mcpx/session.h>

struct import;

/** True when requests of that method are under terms: it is tools/call, and there are terms. */
bool import_is_under_terms(const struct import *import, struct mcpx_slice method);

/**
 * The first door: before the server is given a call.
 *
 * payload   filled with the request to give, lent until import->text or the call changes
 *
 * Returns false when the call is not given to the server: the answer is written instead.
 */
bool import_terms_admit(struct import *import, struct import_call *call,
                        struct mcpx_slice *payload);

/** The second door: the server has answered. Writes the answer. */
void import_terms_answer(struct import *import, struct import_call *call,
                         const struct mcpx_rpc *rpc);

/**
 * The second door: something else ends the call, and its sender hears of it. Writes the answer.
 *
 * message   a sentence for people
 * data      a raw object for the error's `data`, of which "reason" is left out; absent: none
 */
void import_terms_refuse(struct import *import, struct import_call *call,
                         enum mcpx_cause cause, struct mcpx_slice message,
                         struct mcpx_slice data);

/** The second door: nobody is answered. Writes down that it ended; the call is not dropped. */
void import_terms_abandon(struct import *import, struct import_call *call);

/** Both doors for a request that became no call. Appends what answers it to import->text. */
void import_terms_turn_away(struct import *import, size_t topic,
                            const struct mcpx_event *event, struct mcpx_slice message);

/** Writes down a request that its session has not let in, if it was meant as a call. */
void import_terms_note_broken(struct import *import, size_t topic,
                              const struct mcpx_event *event);

/**
 * Appends the message for a call that has ended already, and whose answer cannot be sent.
 *
 * data   a raw object for the error's `data`; absent: none
 */
void import_terms_add_failure(struct mcpx_text *out, struct mcpx_slice id,
                              enum mcpx_cause cause, struct mcpx_slice data);

/**
 * Appends the result that the bridge answers in place of a server that declares no tools: to
 * `initialize` and to `tools/list`, because there is the handshake.
 *
 * Returns false and appends nothing when the server is asked.
 */
bool import_terms_add_own(const struct import *import, struct mcpx_slice method,
                          struct mcpx_text *out);

/**
 * Appends a server's answer to `tools/list` or `server/discover` as it is shown, with that id.
 *
 * Returns false and appends nothing when it is shown as it is.
 */
bool import_terms_add_shown(struct import *import, const struct import_call *call,
                            const struct mcpx_rpc *rpc, struct mcpx_text *out);

#endif
