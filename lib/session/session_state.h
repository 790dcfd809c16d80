/*
 * session_state.h - the state of a session, private to its files: participants, the state of its
 * connection, its pauses, its resume position, the events not yet fetched by the application.
 */
#ifndef MX_SESSION_STATE_H
#define MX_SESSION_STATE_H

#include "lib/session/pending.h"
#include <mcpx/capability.h>
#include <mcpx/json.h>

/*
 * ---- participants as the router reports them: those in the topic with their capabilities; those
 * there before we joined anew and still missing; ourselves.
 */

/** A list in one piece of memory. Zero-initialised is empty. */
struct mx_string_list {
    struct mcpx_slice *items;
    size_t count;
};

/** A participant as the router describes it: `{"id":…,"identity":…,"capabilities":[…]}`. */
struct mx_person {
    struct mcpx_slice id;
    size_t identity_len;           /* bytes of the id that are the identity */
    struct mx_string_list strings; /* the id, and behind it the capabilities */
    /* Its grants, compiled at the first question; our own with its conditions. */
    struct mcpx_capset *capset;
    /* Compiling was tried; if capset is NULL then, this library cannot read the patterns. */
    bool compiled;
    bool needed; /* an envelope of ours is addressed to it while it is absent */
};

/** Reads a participant. Returns MCPX_OK; MCPX_EINVALID when the object is none; MCPX_ENOMEM. */
enum mcpx_err mx_person_read(struct mcpx_slice object, struct mx_person **out);

/**
 * Compiles what the `you` of a welcome says: its `grants` with their conditions, or else its
 * `capabilities`. Returns false when memory runs out. Protocol: section 5.
 */
bool mx_person_take_grants(struct mx_person *person, struct mcpx_slice you);

/** Frees a person. NULL is allowed. */
void mx_person_free(struct mx_person *person);

/** The id, or an absent slice for NULL. */
static inline struct mcpx_slice mx_id_of(const struct mx_person *person)
{
    return person ? person->id : (struct mcpx_slice){0};
}

/** Participants in the order of their ids. Zero-initialised is empty. */
struct mx_roster {
    struct mx_person **people;
    size_t count, size;
};

/** Frees the roster and the participants in it. */
void mx_roster_fini(struct mx_roster *roster);

/** Makes sure that the next mx_roster_put cannot fail; false when memory runs out. */
bool mx_roster_reserve(struct mx_roster *roster);

/**
 * Adds a person, which the roster takes. It replaces the person with the same id. After
 * mx_roster_reserve.
 */
void mx_roster_put(struct mx_roster *roster, struct mx_person *person);

/** Removes the person with that id, if there is one. */
void mx_roster_remove(struct mx_roster *roster, struct mcpx_slice id);

/** The person with that id, or NULL. Lent until they are removed or replaced. */
struct mx_person *mx_roster_find(const struct mx_roster *roster, struct mcpx_slice id);

/**
 * The participants that were in the topic before we joined anew and have not come back yet. One is
 * needed when an envelope of ours is addressed to it. Zero-initialised is empty.
 */
struct mx_absent {
    struct mx_roster people; /* the absent participants; each is marked when it is needed */
    size_t needed;           /* how many of them are needed */
    int64_t until;           /* mono_ms until which we wait for them */
};

/** Empties the list of absent participants. */
void mx_absent_fini(struct mx_absent *absent);

/** The participants in `before` that are not in `now` are absent. Takes `before`. */
void mx_absent_note(struct mx_absent *absent, struct mx_roster *before,
                    const struct mx_roster *now);

/** An envelope of ours has these addressees: those that are absent are needed, and waited for. */
void mx_absent_need(struct mcpx_session *session, const struct mcpx_slice *to, size_t count);

/** Takes a participant that has come back off the list. */
void mx_absent_came(struct mx_absent *absent, struct mcpx_slice id);

/* ---- the state of its connection, its pauses, its place, and events ---- */

/**
 * The states of the connection: there is none, and another attempt will be made; there is one, its
 * welcome has not come yet; its welcome has come; there will be no other, nothing is sent any more.
 */
enum mx_connection { MX_OFFLINE, MX_CONNECTED, MX_JOINED, MX_ENDED };

/** The longest pause. */
enum { MX_BACKOFF_MAX_MS = 30000 };

/**
 * A connection this old is a success, as is any connection with a message on it. A router that
 * welcomes and closes again and again must not be asked twice a second for ever.
 */
enum { MX_BACKOFF_STEADY_MS = 10000 };

/** The longest epoch that is remembered. The router's have 32 bytes. */
enum { MX_EPOCH_MAX = 64 };

/**
 * How far we have read in the topic, as the router told it: everything up to `serial`, and then
 * up to the envelope `seen`. Zero-initialised is none.
 */
struct mx_place {
    char epoch[MX_EPOCH_MAX];
    size_t epoch_len; /* 0 = no place is known */
    uint64_t serial;
    char seen[MCPX_ID_MAX];
    size_t seen_len; /* 0 = no envelope came since the router told the serial */
};

/**
 * One event that waits. Its envelope is kept as text, and read again when the event is told: a
 * struct mcpx_envelope is large, and a page of history makes thousands of events.
 */
struct mx_event {
    /* The members that need no envelope. `proposer`, `participant`, `alternative` and `reason`
     * point into `words`. */
    struct mcpx_event told;
    struct mx_block *block;     /* text with the envelope; NULL when there is none */
    struct mcpx_slice envelope; /* its extent in the block */
    bool has_rpc;               /* its payload is a JSON-RPC message that fits its kind */
    bool names_proposal;        /* its correlation_id is the event's `proposal` */
    struct mx_own *own;     /* the envelope of ours it is about, a reference; NULL = none */
    struct mx_block *words; /* the bytes of slices; or NULL */
};

/** The queue: a ring whose size is a power of two, or 0. Zero-initialised is empty. */
struct mx_events {
    struct mx_event *slots;
    size_t size, first, count;
};

/* ---- the session ---- */

/** Bytes of an instance key, and of "auto" or a number. */
enum { MX_INSTANCE_KEY_LEN = 32, MX_INSTANCE_LEN = 8 };

/** A session. */
struct mcpx_session {
    struct mcpx_session_config config;
    enum mx_connection connection; /* its state */
    /* Memory ran out while a message came in. Nothing more is read from this connection: resuming
     * begins with that message. */
    bool starved;
    int64_t mono_ms;    /* the time of the last call */
    int64_t connect_at; /* mono_ms of the next attempt; meaningless unless offline */
    /* mono_ms of this connection's first welcome; meaningless unless joined. */
    int64_t welcome_ms;
    /* The connection was lost for its token's sake, and no attempt was made since. */
    bool wants_token;
    unsigned failures; /* how many connections in a row were no success */
    /* How often in a row the router could not store what we sent, since `stuck_since` (mono_ms). */
    unsigned storing;
    int64_t stuck_since;
    struct mx_person *us;     /* as the last welcome said; NULL before the first */
    struct mx_person *former; /* who we were before, if that was another id; or NULL */
    /* `instance`, `instance_key`: the instance to ask for; empty without config.instance. */
    char instance[MX_INSTANCE_LEN + 1];
    char instance_key[MX_INSTANCE_KEY_LEN + 1];
    struct mx_place place; /* the place at which a new connection may continue */
    size_t message_max;    /* limits.message_bytes; 0 = none known */
    struct mx_roster roster;
    /* Participants that were there before we joined anew. Nothing is written while an envelope
     * of ours is addressed to one of them. */
    struct mx_absent absent;
    bool caught_up; /* our own presence has come: we have all that we missed */
    struct mx_pending pending;
    struct mx_outbox outbox;
    struct mx_inbound requests; /* others' requests to us that wait for mcpx_session_respond */
    struct mx_inbound proposals; /* others' proposals */
    struct mx_recent recent;     /* recently received envelopes */
    struct mx_events events;
    struct mx_event told; /* the event told last; its texts live until the next one */
    /* Reads the incoming message, or the message of the event being told. */
    struct mx_reader reader;
};

/**
 * The pause before the next attempt, after `failures` failed ones of its kind: 0.5 s, doubled with
 * each call up to 30 s. The result is a random value from the upper half of that.
 */
int64_t mx_session_pause(const struct mcpx_session *session, unsigned *failures);

/** Makes room for `more` events, besides those that envelopes under way may make. */
bool mx_session_reserve(struct mcpx_session *session, size_t more);

/* ---- telling. Room for each event was made before (mx_session_reserve) ---- */

/** An event about a received message, or NULL, and an envelope of ours, or NULL. */
struct mx_event *mx_tell(struct mcpx_session *session, enum mcpx_event_type type,
                         const struct mx_incoming *in, struct mx_own *own);

/** VIOLATION; without envelope when it could not be read. Returns MCPX_OK: the message is taken. */
enum mcpx_err mx_tell_violation(struct mcpx_session *session, const struct mx_incoming *in,
                                enum mcpx_violation violation, struct mcpx_fault fault);

/** The same, for a member `field` that is not as expected. */
enum mcpx_err mx_tell_expected(struct mcpx_session *session, const struct mx_incoming *in,
                               enum mcpx_violation violation, const char *field,
                               const char *expected);

/* ---- the ways of an envelope of ours (delivery.c) ---- */

/** Whether this envelope, which has come, is ours: sent under our id or under the former one. */
bool mx_delivery_is_ours(const struct mcpx_session *session,
                         const struct mcpx_envelope *envelope);

/** Drops an envelope: waits neither for its answer nor for its echo. */
void mx_delivery_drop(struct mcpx_session *session, struct mx_own *own);

/** An envelope has its place in the topic: tells DELIVERED, unless that was told before. */
void mx_delivery_arrived(struct mcpx_session *session, struct mx_own *own);

/**
 * Checks whether this response, whose payload was read, answers a pending envelope of ours.
 *
 * own     filled with the request or proposal of ours that its correlation_id is about; NULL when
 *         it is about none
 *
 * Returns MCPX_VIOLATION_NONE when it is an answer to it or `own` is NULL, else fills in->fault.
 */
enum mcpx_violation mx_answer_judge(const struct mcpx_session *session, struct mx_incoming *in,
                                    struct mx_own **own);

/** Tells RESPONSE, and ends the waiting for it. */
void mx_answer_settle(struct mcpx_session *session, const struct mx_incoming *in,
                      struct mx_own *own);

/**
 * The proposal of ours that this request fulfils, by its read payload; NULL when there is none or
 * the request is our own.
 */
struct mx_own *mx_answer_fulfils(const struct mcpx_session *session,
                                 const struct mx_incoming *in);

/**
 * The view of that request, with the addressees that may answer it: its own, or else those of the
 * proposal `own`.
 */
struct mx_asked mx_answer_asks(const struct mx_incoming *in, const struct mx_own *own);

/* ---- receiving. MCPX_OK, or MCPX_ENOMEM with nothing changed ---- */

/** A system/... message, of the router (system.c). Protocol: sections 5 and 6. */
enum mcpx_err mx_system_receive(struct mcpx_session *session, const struct mx_incoming *in);

/** A system/error (delivery.c). Protocol: section 6. */
enum mcpx_err mx_refusal_receive(struct mcpx_session *session, const struct mx_incoming *in);

/** A page of history, from before we joined (message.c). Protocol: section 5. */
enum mcpx_err mx_history_receive(struct mcpx_session *session, const struct mx_incoming *in);

/** A message of a participant (message.c). */
enum mcpx_err mx_message_receive(struct mcpx_session *session, struct mx_incoming *in);

#endif
