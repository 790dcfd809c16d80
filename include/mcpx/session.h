/*
 * session.h - a participant without its socket: texts and time go in, events and texts come
 * out. The session makes the checks that the router leaves to participants. Every message for
 * the application has a kind that agrees with its payload, the application as an addressee,
 * and a sender with a grant for it.
 */
#ifndef MCPX_SESSION_H
#define MCPX_SESSION_H

#include <mcpx/capability.h>
#include <mcpx/envelope.h>
#include <mcpx/rpc.h>

MCPX_BEGIN_C

struct mcpx_session;

/** Settings; 0 and NULL mean the default. */
struct mcpx_session_config {
    int64_t request_ms;  /* how long a request waits for its response; 60000 */
    int64_t proposal_ms; /* how long a proposal waits to be fulfilled or rejected; 600000 */
    size_t pending_max;  /* own requests and proposals under way at one time; 10000 */
    /* Limit of each: unanswered requests of others, proposals of others, and envelopes
     * remembered against reporting one twice; 10000 each. Requests and proposals are also
     * limited to 64 MiB each. Beyond a limit the session forgets the oldest envelope; of
     * requests and proposals, the oldest of the participant with most. */
    size_t inbound_max;
    /* Bytes of sent envelopes without a known arrival; one message may be longer. 64 MiB. */
    size_t unsent_bytes;
    bool observe; /* also report envelopes that are not for us: MCPX_EVENT_OBSERVED */
    /* The connection's routing is "directed": the router sends no echo of an envelope that is
     * addressed to others only. The session reports this envelope as DELIVERED when it is
     * written, and never writes it again. */
    bool directed;
    /* This connection is an instance with an id of its own: the participant may have several
     * connections at a time. It asks for the same id when it connects again. The close code
     * 4001 (replaced) is then not final. Protocol: section 7. */
    bool instance;
    /* The application gives another token when ours is refused (401) or has expired (4005). The
     * session then connects again after these two, as after a broken connection. A client with
     * a certificate and no token sets it itself. */
    bool renews_token;
    /* `fill`, `context`: random bytes for ids and for the jitter of reconnecting; `fill` must
     * be given. */
    void (*fill)(void *context, void *bytes, size_t len);
    void *context;
};

/*
 * X(constant, name): the events for the application. Brackets hold the members of struct mcpx_event
 * that are filled. `own` is the id of an envelope of ours, `tag` the tag of its draft.
 *
 *   JOINED        the router welcomed us: mcpx_session_id, roster and grants are known
 *                 [envelope: the system/welcome, resumed, renamed: our id is a new one, because
 *                 another connection has the former id now. Answers to requests that we sent
 *                 under the former id still come. Our answers to requests for the former id may
 *                 be ignored]
 *   LEFT          the connection is gone, or could not be made [code, reason, retry_ms]. After a
 *                 final one EXPIRED follows for everything pending
 *   PRESENCE      another participant came, left or changed [participant, presence]
 *   GRANTS        our own grants changed while connected [envelope: another system/welcome]
 *   HISTORY       an envelope from before we joined. It is context and must never be executed
 *                 [envelope, rpc when its payload fits its kind]. An answer to a pending request
 *                 or proposal comes as RESPONSE
 *
 *   REQUEST       for us, to be answered with mcpx_session_respond [envelope, rpc, proposal:
 *                 the proposal it fulfils, when it names a known proposal and asks for the same
 *                 operation, and proposer: the sender of that proposal]
 *   NOTIFICATION  for us: mcp/request with notifications/... [envelope, rpc, own and tag when
 *                 it is about a request or proposal of ours and comes from one of its
 *                 addressees]
 *   PROPOSAL      a participant proposes an operation. It may be shown and must never be executed
 *                 [envelope, rpc]
 *   WITHDRAWN     a proposal was taken back by its proposer [envelope, proposal]
 *   REJECTED      a participant rejects a proposal [envelope, proposal, own and tag when it is
 *                 ours; we then no longer wait for its answer]. After FULFILLING a rejection is
 *                 too late
 *   MESSAGE       any other kind for us: chat, reasoning/... [envelope]
 *   OBSERVED      valid, but not for us, or our own echo; only when asked for [envelope, rpc]
 *
 *   RESPONSE      the answer to a request of ours, or to the request that fulfilled a proposal
 *                 of ours; it is addressed to us [envelope, rpc, own, tag, proposal when it was
 *                 one]
 *   FULFILLING    a participant approves our proposal: it sent a request, and its response will
 *                 follow [envelope, rpc, own, tag, same: its params are those of the proposal].
 *                 The response names the id of that request, so a response to a request we did
 *                 not see is OBSERVED. A proposal with addressees is fulfilled by a request of
 *                 one of them, or by a request of any participant to no other addressees than
 *                 them (and us). When the request has no addressees, those of the proposal
 *                 answer it
 *   EXPIRED       no response came in time [own, tag]; we no longer wait for it
 *   REFUSED       the router refused our envelope [envelope: the system/error; own, tag, err,
 *                 reason, alternative]; we no longer wait for its answer. Two refusals are not
 *                 reported: the session writes a response again after "rate_limited", and any
 *                 envelope after "unavailable" (not stored), each after the router's pause.
 *                 With `directed` both are reported, because the session keeps no written
 *                 text: a participant with many requests to answer should join with "all".
 *                 "unavailable" becomes REFUSED (err MCPX_EUNAVAILABLE) when the router could
 *                 store nothing of ours for ten minutes; the envelope may have got its place
 *                 all the same
 *   DELIVERED     an envelope of ours has its place in the topic [own, tag]
 *
 *   VIOLATION     a message was ignored: it contradicts itself, or its sender may not send it
 *                 [envelope unless it could not be read, violation, fault]
 */
#define MCPX_EVENTS(X)                                                                        \
    X(MCPX_EVENT_JOINED, "joined")                                                            \
    X(MCPX_EVENT_LEFT, "left")                                                                \
    X(MCPX_EVENT_PRESENCE, "presence")                                                        \
    X(MCPX_EVENT_GRANTS, "grants")                                                            \
    X(MCPX_EVENT_HISTORY, "history")                                                          \
    X(MCPX_EVENT_REQUEST, "request")                                                          \
    X(MCPX_EVENT_NOTIFICATION, "notification")                                                \
    X(MCPX_EVENT_PROPOSAL, "proposal")                                                        \
    X(MCPX_EVENT_WITHDRAWN, "withdrawn")                                                      \
    X(MCPX_EVENT_REJECTED, "rejected")                                                        \
    X(MCPX_EVENT_MESSAGE, "message")                                                          \
    X(MCPX_EVENT_OBSERVED, "observed")                                                        \
    X(MCPX_EVENT_RESPONSE, "response")                                                        \
    X(MCPX_EVENT_FULFILLING, "fulfilling")                                                    \
    X(MCPX_EVENT_EXPIRED, "expired")                                                          \
    X(MCPX_EVENT_REFUSED, "refused")                                                          \
    X(MCPX_EVENT_DELIVERED, "delivered")                                                      \
    X(MCPX_EVENT_VIOLATION, "violation")

#define MCPX_EVENT_CONSTANT(constant, name) constant,
enum mcpx_event_type { MCPX_EVENTS(MCPX_EVENT_CONSTANT) MCPX_EVENT_COUNT };
#undef MCPX_EVENT_CONSTANT

/** "joined", "left", ... Static; "unknown" outside the table. */
MCPX_API const char *mcpx_event_name(enum mcpx_event_type type);

/* X(constant, name, sentence): why the session ignored a participant's message. */
#define MCPX_VIOLATIONS(X)                                                                    \
    X(MCPX_VIOLATION_TEXT, "malformed", "the message is not a valid envelope")                \
    X(MCPX_VIOLATION_RPC, "not_json_rpc", "the payload is not a JSON-RPC message")            \
    X(MCPX_VIOLATION_KIND, "kind_mismatch", "the kind says something else than the payload")  \
    X(MCPX_VIOLATION_SENDER, "other_sender",                                                  \
      "the response comes from a participant that was not asked")                             \
    X(MCPX_VIOLATION_OPERATION, "other_operation",                                            \
      "the response's kind names another operation than its request")                         \
    X(MCPX_VIOLATION_ID, "other_id", "the response has another JSON-RPC id than its request") \
    X(MCPX_VIOLATION_PROPOSER, "not_proposer",                                                \
      "a proposal is withdrawn by a participant that did not make it")                        \
    X(MCPX_VIOLATION_TAKEN, "id_taken",                                                       \
      "the id is that of another participant's request or proposal")                          \
    X(MCPX_VIOLATION_ROUTER, "not_router", "a system message does not come from the router")

#define MCPX_VIOLATION_CONSTANT(constant, name, sentence) constant,
enum mcpx_violation {
    MCPX_VIOLATION_NONE,
    MCPX_VIOLATIONS(MCPX_VIOLATION_CONSTANT) MCPX_VIOLATION_COUNT
};
#undef MCPX_VIOLATION_CONSTANT

/** "kind_mismatch", ...; "none". Static; "unknown" outside the table. */
MCPX_API const char *mcpx_violation_name(enum mcpx_violation violation);

/** The sentence. Static; "unknown" outside the table. */
MCPX_API const char *mcpx_violation_text(enum mcpx_violation violation);

enum mcpx_presence { MCPX_PRESENCE_JOIN, MCPX_PRESENCE_LEAVE, MCPX_PRESENCE_UPDATE };

/**
 * One event. Everything it points to is lent until the next call of mcpx_session_event or of the
 * transport's side. All other calls of the application's side leave it unchanged.
 */
struct mcpx_event {
    enum mcpx_event_type type;
    const struct mcpx_envelope *envelope;
    const struct mcpx_rpc *rpc;
    struct mcpx_slice own;
    void *tag;
    struct mcpx_slice proposal;
    struct mcpx_slice proposer;
    struct mcpx_slice participant;
    enum mcpx_presence presence;
    enum mcpx_violation violation;
    struct mcpx_fault fault;
    enum mcpx_err err;
    /* REFUSED: the kind for proposing the same operation; absent when there is none. */
    struct mcpx_slice alternative;
    struct mcpx_slice reason; /* LEFT, REFUSED: a sentence for people */
    bool resumed;
    bool renamed;
    bool same;
    /* OBSERVED, HISTORY: the envelope was reported before, and its sender wrote it again. */
    bool repeated;
    int code;         /* LEFT: the code that mcpx_session_disconnected was given */
    int64_t retry_ms; /* LEFT: pause before the next attempt; -1 = there will be none */
};

/** An envelope to send. */
struct mcpx_draft {
    /* "mcp/request", "mcp/proposal": METHOD and CONTEXT come from the payload. Anything else
     * ("chat", "mcp/reject", "mcp/response:ping") is the kind as it stands; responses are
     * better sent with mcpx_session_respond. */
    const char *type;
    const struct mcpx_slice *to; /* addressees; none = everyone */
    size_t to_count;
    struct mcpx_slice correlation_id; /* the envelope this one is about; absent = none */
    struct mcpx_slice payload;        /* a JSON object, sent byte for byte */
    /* For requests and proposals; 0 = the session's default, -1 = wait for ever. */
    int64_t timeout_ms;
    /* Of a proposal: until when its proposer waits, in ms since 1970; 0 = not said. Protocol:
     * section 9. */
    int64_t expires_ms;
    void *tag; /* returned with every event about this envelope */
};

/** Copies the settings. Returns MCPX_OK or MCPX_ENOMEM. */
MCPX_API enum mcpx_err mcpx_session_new(const struct mcpx_session_config *config,
                                        struct mcpx_session **out);

/** Frees the session. NULL is allowed. */
MCPX_API void mcpx_session_free(struct mcpx_session *session);

/* ---- the transport's side ---- */

/** A connection was established; the welcome is still to come. */
MCPX_API void mcpx_session_connected(struct mcpx_session *session, struct mcpx_now now);

/**
 * One whole text message has come. `text` is borrowed during the call.
 *
 * Returns MCPX_OK; MCPX_ENOMEM when memory is out and the message was not taken. The transport
 * must then end the connection, call mcpx_session_disconnected and connect again: resuming
 * brings the message once more. The session takes no other message of this connection.
 */
MCPX_API enum mcpx_err mcpx_session_receive(struct mcpx_session *session,
                                            struct mcpx_slice text, struct mcpx_now now);

/**
 * The connection ended, or could not be made.
 *
 * code     close code of the WebSocket, or HTTP status of a refused upgrade; 0 = neither
 * reason   for people; borrowed
 *
 * mcpx_error_again lists the final codes and statuses: another attempt would get the same
 * answer (but see `renews_token` and `instance`). After all others the session connects again.
 * The pause grows from 0.5 s to 30 s; each is a random value from its upper half. It starts
 * again at 0.5 s after a connection with a received message, or with a duration of ten seconds
 * from its welcome on.
 */
MCPX_API void mcpx_session_disconnected(struct mcpx_session *session, int code,
                                        struct mcpx_slice reason, struct mcpx_now now);

/**
 * The transport will make no other connection. Nothing is sent any more, and EXPIRED follows
 * for everything pending. The transport reports LEFT itself. Does nothing after a final end.
 */
MCPX_API void mcpx_session_end(struct mcpx_session *session);

/**
 * Changes the setting of that name. True after a connection that ended because of its token means
 * that another token is ready: the next attempt is due at once, and further attempts after the
 * usual pauses.
 */
MCPX_API void mcpx_session_renews_token(struct mcpx_session *session, bool renews);

/** Does what is due at this time. */
MCPX_API void mcpx_session_tick(struct mcpx_session *session, struct mcpx_now now);

/** mono_ms at which mcpx_session_tick is due; INT64_MAX when nothing waits. */
MCPX_API int64_t mcpx_session_deadline(const struct mcpx_session *session);

/** mono_ms at which to connect; -1 = already connected, or never again. */
MCPX_API int64_t mcpx_session_connect_at(const struct mcpx_session *session);

/** A resume position. A new connection asks to continue there. Lent until the next call. */
struct mcpx_place {
    struct mcpx_slice epoch; /* `?epoch=` */
    /* `?serial=`: by its last statement, the router has sent everything up to this serial. */
    uint64_t serial;
    /* `?after=`: id of the newest envelope since that statement; absent when there was none. */
    struct mcpx_slice after;
};

/**
 * The resume position of this session. Returns false, with `out` untouched, when the router has
 * stated none: before the first welcome, or because it supports none. Protocol: section 5.
 */
MCPX_API bool mcpx_session_place(const struct mcpx_session *session, struct mcpx_place *out);

/**
 * The instance to ask for (`?instance=`): "auto" before the first welcome, then the last number
 * from the router. Absent without config.instance. Lent until the next call. Protocol: section 7.
 */
MCPX_API struct mcpx_slice mcpx_session_instance(const struct mcpx_session *session);

/**
 * The key by which the router recognises an old connection of ours (`?instance_key=`). It is
 * the same for the session's whole life. Absent without config.instance. Lent until the session
 * is freed.
 */
MCPX_API struct mcpx_slice mcpx_session_instance_key(const struct mcpx_session *session);

/**
 * The next text to write as one message, lent until mcpx_session_written. Returns false when no
 * text may be written now.
 *
 * A text is kept until its echo shows that it has arrived. If the connection ends before that,
 * the text is written again on the next one. The router knows its id and lets it pass only
 * once. This includes responses to an addressee that has left in the meantime. If the session
 * could not resume, the router may have been restarted and may have lost its proposals: the
 * session writes its proposals again with the same ids, except those being fulfilled.
 *
 * Nothing is written
 *   - before the welcome;
 *   - after a reconnection with texts to write again: until our own presence comes, at most for
 *     5 s. The router first sends all missed envelopes. Echoes among them show the texts that
 *     have arrived;
 *   - after a reconnection that could not resume: for at most 10 s, while an addressee of a text
 *     was in the topic before and is missing now. That participant would get the text as history
 *     only, and not act on it;
 *   - while 256 texts wait for their echo, until one comes, or for 5 s;
 *   - after "rate_limited", for as long as the router asks. From then on at most 4 texts wait
 *     for their echo, until all texts have arrived;
 *   - after "unavailable", for as long as the router asks, and at least for a pause that grows from
 *     0.5 s to 30 s while nothing is stored; at most for 30 s. Then the refused texts are written
 *     again in the order of sending, with the same ids, and everything else after them. The first
 *     text goes alone, so that none overtakes it; then 2 wait for their echo, 4, and so on. A
 *     text that the router accepted after refusing an earlier one has its place before that
 *     one.
 */
MCPX_API bool mcpx_session_output(struct mcpx_session *session, struct mcpx_slice *text);

/**
 * Number of envelopes from mcpx_session_send and _respond without a known arrival. 0:
 * mcpx_session_output has nothing to write, and nothing is under way.
 */
MCPX_API size_t mcpx_session_unsent_count(const struct mcpx_session *session);

/** Bytes of these envelopes together (see unsent_bytes). */
MCPX_API size_t mcpx_session_unsent_bytes(const struct mcpx_session *session);

/** The text that was lent has been written to the connection. */
MCPX_API void mcpx_session_written(struct mcpx_session *session);

/* ---- the application's side ---- */

/** The next event. Returns false when there is none. */
MCPX_API bool mcpx_session_event(struct mcpx_session *session, struct mcpx_event *event);

/**
 * Queues an envelope. Before the first welcome it waits.
 *
 * id      filled with the id of the envelope, lent until the next call; may be NULL
 * fault   filled on MCPX_EINVALID and MCPX_EKIND; may be NULL
 *
 * Returns MCPX_OK; MCPX_EINVALID when the payload is not a JSON object, is not a JSON-RPC
 * message for a type of mcp/request, mcp/response, mcp/proposal, has an id in a proposal or one
 * of more than 1024 bytes in a request, or an addressee is not a participant id; MCPX_EKIND when
 * the kind is malformed; MCPX_ECAPABILITY when our grants are known and do not cover it (see
 * mcpx_session_may); MCPX_ETOOBIG when the envelope exceeds the router's limit;
 * MCPX_ELIMIT when pending_max or unsent_bytes is reached; MCPX_ECLOSED after a final end;
 * MCPX_ENOMEM. Nothing is queued then.
 */
MCPX_API enum mcpx_err mcpx_session_send(struct mcpx_session *session,
                                         const struct mcpx_draft *draft, struct mcpx_now now,
                                         struct mcpx_slice *id, struct mcpx_fault *fault);

/**
 * Answers a REQUEST event, once. The response has the operation of the request. It goes to the
 * sender of the request, and to the proposer when the request fulfilled a proposal that we know.
 *
 * request   id of the request's envelope
 * payload   a JSON-RPC result or error with the request's JSON-RPC id
 *
 * Returns as mcpx_session_send, and MCPX_ENOTFOUND when no such request waits for an answer.
 */
MCPX_API enum mcpx_err mcpx_session_respond(struct mcpx_session *session,
                                            struct mcpx_slice request,
                                            struct mcpx_slice payload, struct mcpx_now now,
                                            struct mcpx_fault *fault);

/**
 * Marks a REQUEST event as not to be answered, for example because its sender took it back.
 * Otherwise the request counts against inbound_max; beyond that limit the session forgets the
 * oldest. Returns false when no such request waits for an answer.
 */
MCPX_API bool mcpx_session_drop(struct mcpx_session *session, struct mcpx_slice request);

/**
 * Stops waiting for the answer to a request or proposal of ours. Returns false when it is not
 * pending.
 */
MCPX_API bool mcpx_session_forget(struct mcpx_session *session, struct mcpx_slice id);

/** Our participant id; absent before the first welcome. Lent until the next call. */
MCPX_API struct mcpx_slice mcpx_session_id(const struct mcpx_session *session);

/** True between JOINED and LEFT. */
MCPX_API bool mcpx_session_is_joined(const struct mcpx_session *session);

/**
 * True when our known grants allow this kind to these addressees now. The router does not send
 * denials, so it may still refuse. Always true before the first welcome.
 */
MCPX_API bool mcpx_session_may(const struct mcpx_session *session,
                               const struct mcpx_question *question);

/** Another participant. Slices are lent until the next call that may change the roster. */
struct mcpx_participant {
    struct mcpx_slice id;
    /* The identity of an instance; else the id itself. Instances of one identity have the same
     * token. */
    struct mcpx_slice identity;
    const struct mcpx_slice *capabilities;
    size_t capability_count;
};

/** How many other participants there are. */
MCPX_API size_t mcpx_session_participant_count(const struct mcpx_session *session);

/** The participant at `index` (0 .. count-1), in the order of their ids. */
MCPX_API void mcpx_session_participant(const struct mcpx_session *session, size_t index,
                                       struct mcpx_participant *out);

/**
 * True when the participant's shown capabilities cover this kind. False for a participant
 * outside the topic.
 */
MCPX_API bool mcpx_session_could(const struct mcpx_session *session,
                                 struct mcpx_slice participant, const struct mcpx_kind *kind);

/** Our own capabilities as the router stated them; lent until the next GRANTS or JOINED. */
MCPX_API void mcpx_session_capabilities(const struct mcpx_session *session,
                                        const struct mcpx_slice **out, size_t *count);

/**
 * The router's limit for one message in bytes; 0 before the first welcome, and when the router
 * states none.
 */
MCPX_API size_t mcpx_session_message_max(const struct mcpx_session *session);

/** How many requests and proposals of ours wait for an answer. */
MCPX_API size_t mcpx_session_pending_count(const struct mcpx_session *session);

MCPX_END_C

#endif
