/*
 * delivery.h - the ways of an envelope of ours: it arrives, it is dropped, or it waits for an
 * absent participant.
 */
#ifndef MX_DELIVERY_H
#define MX_DELIVERY_H

#include "lib/participant/session_state.h"

/**
 * Whether this envelope, which has come, is ours: sent under our id or under the former one.
 */
bool mx_delivery_is_ours(const struct mcpx_session *session,
                         const struct mcpx_envelope *envelope);

/**
 * Marks open proposals of ours to be written again, because the router may have lost them.
 * Proposals that somebody acts on are left out. Returns whether there are any. Protocol:
 * section 9.
 */
bool mx_delivery_renew(struct mcpx_session *session);

/**
 * Tells REFUSED for envelopes that are longer than this router's limit: writing them would end
 * the connection.
 */
void mx_delivery_refuse_overlong(struct mcpx_session *session);

/** Our id is known now: finds the envelopes in the outbox that will have no echo. */
void mx_delivery_learn_id(struct mcpx_session *session);

/**
 * We joined anew, and `others` are there. Participants of the roster that are not among them
 * are absent, and needed when an envelope in the outbox is addressed to them. Takes the
 * session's roster.
 */
void mx_delivery_note_absent(struct mcpx_session *session, const struct mx_roster *others);

/** An envelope of ours has these addressees: those that are absent are needed. */
void mx_delivery_need(struct mcpx_session *session, const struct mcpx_slice *to, size_t count);

/** Drops an envelope: waits neither for its answer nor for its echo. */
void mx_delivery_drop(struct mcpx_session *session, struct mx_own *own);

/**
 * An envelope has its place in the topic: tells DELIVERED. Does nothing when that was told
 * before.
 */
void mx_delivery_arrived(struct mcpx_session *session, struct mx_own *own);

#endif
