/*
 * session_state.h - what a session holds, for the files that make up the session and nobody else.
 */
#ifndef MX_SESSION_STATE_H
#define MX_SESSION_STATE_H

#include "lib/participant/absent.h"
#include "lib/participant/backoff.h"
#include "lib/participant/connection.h"
#include "lib/participant/events.h"
#include "lib/participant/grants.h"
#include "lib/participant/inbound.h"
#include "lib/participant/outbox.h"
#include "lib/participant/pending.h"
#include "lib/participant/place.h"
#include "lib/participant/reader.h"
#include "lib/participant/recent.h"
#include "lib/participant/roster.h"

/** Bytes of an instance key, and of "auto" or a number. */
enum { MX_INSTANCE_KEY_LEN = 32, MX_INSTANCE_LEN = 8 };

/** An id of bounded length; needs no allocation. */
struct mx_id {
    char text[MCPX_ID_MAX];
    size_t len; /* 0 = none */
};

/**
 * A session.
 *
 * connection    its state
 * mono_ms       the time of the last call
 * connect_at    mono_ms of the next attempt; meaningless unless offline
 * welcome_ms    mono_ms of this connection's first welcome; meaningless unless joined
 * wants_token   the connection was lost for its token's sake, and no attempt was made since
 * storing       how often in a row the router could not store what we sent, since `stuck_since`
 *               (mono_ms)
 * id            our id, as the last welcome said
 * former        the one before, if it was another
 * instance, instance_key
 *               the instance to ask for; empty without config.instance
 * place         the place at which a new connection may continue
 * absent        participants that were there before we joined anew. Nothing is written while an
 *               envelope of ours is addressed to one of them
 * caught_up     our own presence has come: we have all that we missed
 * message_max   limits.message_bytes; 0 = none known
 * requests      others' requests to us that wait for mcpx_session_respond
 * proposals     others' proposals
 * recent        envelopes of others that came lately
 * told          the event told last; what it lends lives until the next one
 * reader        reads the message that comes in, or the message of the event that is told
 */
struct mcpx_session {
    struct mcpx_session_config config;
    enum mx_connection connection;
    int64_t mono_ms;
    int64_t connect_at;
    int64_t welcome_ms;
    bool wants_token;
    struct mx_backoff backoff, storing;
    int64_t stuck_since;
    struct mx_id id;
    struct mx_id former;
    char instance[MX_INSTANCE_LEN + 1];
    char instance_key[MX_INSTANCE_KEY_LEN + 1];
    struct mx_place place;
    size_t message_max;
    struct mx_grants grants;
    struct mx_roster roster;
    struct mx_absent absent;
    bool caught_up;
    struct mx_pending pending;
    struct mx_outbox outbox;
    struct mx_inbound requests, proposals;
    struct mx_recent recent;
    struct mx_events events;
    struct mx_event told;
    struct mx_reader reader;
};

static inline struct mcpx_slice mx_id_view(const struct mx_id *id)
{
    return (struct mcpx_slice){id->len ? id->text : NULL, id->len};
}

/** Keeps an id of 1..MCPX_ID_MAX bytes. */
void mx_id_set(struct mx_id *id, struct mcpx_slice text);

/** Random bytes. */
void mx_session_fill(const struct mcpx_session *session, void *bytes, size_t len);

/** Makes room for `more` events, besides those that envelopes under way may make. */
bool mx_session_reserve(struct mcpx_session *session, size_t more);

#endif
