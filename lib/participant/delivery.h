/*
 * delivery.h - what becomes of an envelope of ours: it arrives, it is over, or it waits for somebody
 * who is not there.
 */
#ifndef MX_DELIVERY_H
#define MX_DELIVERY_H

#include "lib/participant/session_state.h"

/** Is this envelope, which came, ours: sent under our id, or still under the former one? */
bool mx_delivery_is_ours(const struct mcpx_session *session,
                         const struct mcpx_envelope *envelope);

/**
 * The router may have lost our open proposals: those that nobody acts on are to be written again.
 * Returns whether there are any. Protocol: section 9.
 */
bool mx_delivery_renew(struct mcpx_session *session);

/** REFUSED for what is longer than this router takes: writing it would end the connection. */
void mx_delivery_refuse_overlong(struct mcpx_session *session);

/** Our id is known now: finds out which of the envelopes in the outbox will have no echo. */
void mx_delivery_learn_id(struct mcpx_session *session);

/**
 * We joined anew, and `others` are there: who else was there before is absent, and needed by what
 * waits in the outbox. Takes the roster.
 */
void mx_delivery_note_absent(struct mcpx_session *session, const struct mx_roster *others);

/** Something is addressed to these: who of them is absent is needed. */
void mx_delivery_need(struct mcpx_session *session, const struct mcpx_slice *to, size_t count);

/** No longer waits for an answer, nor for its echo: it is over. */
void mx_delivery_drop(struct mcpx_session *session, struct mx_own *own);

/** It has its place in the topic: DELIVERED. Harmless when that was told. */
void mx_delivery_arrived(struct mcpx_session *session, struct mx_own *own);

#endif
