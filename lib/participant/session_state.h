/*
 * session_state.h - what a session holds, shared by the files that make up the session and by
 * nobody else.
 * Includes the nouns of this folder.
 */
#ifndef MX_SESSION_STATE_H
#define MX_SESSION_STATE_H

#include "lib/participant/backoff.h"
#include "lib/participant/events.h"
#include "lib/participant/grants.h"
#include "lib/participant/inbound.h"
#include "lib/participant/outbox.h"
#include "lib/participant/pending.h"
#include "lib/participant/place.h"
#include "lib/participant/recent.h"
#include "lib/participant/roster.h"

/** Deepest nesting of a message that is read. */
enum { MX_DEPTH_MAX = 65536 };

/** Bytes of an instance key, and of "auto" or a number. */
enum { MX_INSTANCE_KEY_LEN = 32, MX_INSTANCE_LEN = 8 };

/** An id of bounded length, kept without allocating. */
struct mx_id {
    char text[MCPX_ID_MAX];
    size_t len; /* 0 = none */
};

/**
 * A session.
 *
 * connected     between mcpx_session_connected and mcpx_session_disconnected
 * joined        welcomed on this connection
 * deaf          memory ran out while a message came in: nothing more is taken in on this connection,
 *               so that resuming begins with that message
 * ended         a final code came: nothing will be sent any more
 * mono_ms       the last instant told
 * connect_at    mono_ms of the next attempt; meaningless while connected or ended
 * id            ours, as the last welcome said
 * former        the one before, if it was another
 * instance, instance_key
 *               what is asked for; empty without config.instance
 * place         where a new connection may go on
 * absent        who was there before the router forgot us and is not yet there again
 * absent_until  mono_ms until which they are waited for
 * needed        how many of them something of ours is addressed to; nothing is written before they
 *               are there
 * caught_up     our own presence came: what was missed is known
 * message_max   limits.message_bytes; 0 = none known
 * requests      others' requests to us that wait for mcpx_session_respond
 * proposals     others' proposals
 * recent        what came lately of others
 * told          the event handed out last; what it lends lives until the next one
 * envelope, parsed
 *               the one envelope that is read at a time, and where its text begins; NULL = none. Its
 *               scratch only grows, so what could be read once can be read again
 * rpc, rpc_parsed
 *               likewise for its payload
 */
struct mcpx_session {
    struct mcpx_session_config config;
    bool connected, joined, deaf, ended;
    int64_t mono_ms;
    int64_t connect_at;
    struct mx_backoff backoff;
    struct mx_id id;
    struct mx_id former;
    char instance[MX_INSTANCE_LEN + 1];
    char instance_key[MX_INSTANCE_KEY_LEN + 1];
    struct mx_place place;
    size_t message_max;
    struct mx_grants grants;
    struct mx_roster roster, absent;
    int64_t absent_until;
    size_t needed;
    bool caught_up;
    struct mx_pending pending;
    struct mx_outbox outbox;
    struct mx_inbound requests, proposals;
    struct mx_recent recent;
    struct mx_events events;
    struct mx_event told;
    struct mcpx_envelope envelope;
    const char *parsed;
    struct mcpx_rpc rpc;
    const char *rpc_parsed;
};

static inline struct mcpx_slice mx_id_view(const struct mx_id *id)
{
    return (struct mcpx_slice){id->len ? id->text : NULL, id->len};
}

/** Keeps an id of 1..MCPX_ID_MAX bytes. */
void mx_id_set(struct mx_id *id, struct mcpx_slice text);

/** Random bytes. */
void mx_session_fill(const struct mcpx_session *session, void *bytes, size_t len);

/**
 * A message as it comes in.
 *
 * block   its text
 * now     when
 * span    the envelope's extent in the block
 */
struct mx_incoming {
    struct mx_block *block;
    struct mcpx_now now;
    struct mcpx_slice span;
};

/** Reads the incoming envelope into session->envelope; as mcpx_envelope_parse. */
enum mcpx_err mx_session_parse(struct mcpx_session *session, struct mcpx_slice text,
                               struct mcpx_fault *fault);

/** Gives a message's text back; what was read of it is forgotten if nobody else holds it. */
void mx_session_drop_text(struct mcpx_session *session, struct mx_block *block);

/** Makes room for `more` events beside those that may follow from what is under way. */
bool mx_session_reserve(struct mcpx_session *session, size_t more);

/* ---- telling: there is room for the event; it is returned to be completed ---- */

/** An event about the incoming envelope. */
struct mx_event *mx_tell(struct mcpx_session *session, const struct mx_incoming *in,
                         enum mcpx_event_type type);

/** VIOLATION. With `in->span` absent, without envelope. */
void mx_tell_violation(struct mcpx_session *session, const struct mx_incoming *in,
                       enum mcpx_violation violation, const struct mcpx_fault *fault);

/** An event about an envelope of ours; takes a reference of it. */
struct mx_event *mx_tell_own(struct mcpx_session *session, enum mcpx_event_type type,
                             struct mx_own *own);

/** Notes which envelope of ours an event is about; NULL is allowed. */
void mx_event_about(struct mx_event *event, struct mx_own *own);

/* ---- the parts of mcpx_session_receive; all return MCPX_OK, or MCPX_ENOMEM with nothing done ---- */

/** Takes in what the router says: system/... Protocol: sections 5 and 6. */
enum mcpx_err mx_system_receive(struct mcpx_session *session, const struct mx_incoming *in);

/** Takes in what a participant says. */
enum mcpx_err mx_message_receive(struct mcpx_session *session, const struct mx_incoming *in);

/** Takes in one page of history. */
enum mcpx_err mx_history_receive(struct mcpx_session *session, const struct mx_incoming *in);

/** Takes in a system/error. */
enum mcpx_err mx_refusal_receive(struct mcpx_session *session, const struct mx_incoming *in);

/* ---- shared by live messages and history ---- */

/**
 * Does this response, in session->envelope with a true payload in session->rpc, answer what is
 * pending?
 *
 * own     filled with the request or proposal of ours that its correlation_id is about; NULL when it
 *         is about none
 *
 * Returns MCPX_VIOLATION_COUNT when it is an answer to it or `own` is NULL.
 */
enum mcpx_violation mx_response_judge(struct mcpx_session *session, struct mx_own **own,
                                      struct mcpx_fault *fault);

/** Tells RESPONSE and no longer waits. */
void mx_response_settle(struct mcpx_session *session, const struct mx_incoming *in,
                        struct mx_own *own);

/**
 * The proposal of ours that the request in session->envelope, from somebody else, fulfils; NULL
 * when it fulfils none.
 */
struct mx_own *mx_request_fulfils(struct mcpx_session *session);

/**
 * The view of that request, with the addressees of whom an answer is believed: its own, or those of
 * the proposal `own` when it has none.
 */
struct mx_asked mx_request_asks(const struct mcpx_session *session, const struct mx_own *own);

/** Is the envelope in session->envelope ours: sent under our id, or still under the former one? */
bool mx_own_said(const struct mcpx_session *session);

/**
 * The router may have lost our open proposals: those that nobody acts on are to be written again.
 * Returns whether there are any. Protocol: section 9.
 */
bool mx_own_renew(struct mcpx_session *session);

/** REFUSED for what is longer than this router takes: writing it would end the connection. */
void mx_own_refuse_overlong(struct mcpx_session *session);

/** Our id is known now: finds out which of the envelopes in the outbox will have no echo. */
void mx_own_learn_id(struct mcpx_session *session);

/**
 * We joined anew, and `others` are there: who else was there before is absent, and needed by what
 * waits in the outbox. Takes the roster.
 */
void mx_own_note_absent(struct mcpx_session *session, const struct mx_roster *others);

/** Something is addressed to these: who of them is absent is needed. */
void mx_own_need(struct mcpx_session *session, const struct mcpx_slice *to, size_t count);

/** No longer waits for an answer, nor for its echo: it is over. */
void mx_own_drop(struct mcpx_session *session, struct mx_own *own);

/** It has its place in the topic: DELIVERED. Harmless when that was told. */
void mx_own_arrived(struct mcpx_session *session, struct mx_own *own);

#endif
