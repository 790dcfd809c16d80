/*
 * state.h - what the parts of the server share: all that is remembered of the client and the topic,
 * and what each part does for the others.
 */
#ifndef MCPX_BRIDGE_EXPOSE_STATE_H
#define MCPX_BRIDGE_EXPOSE_STATE_H

#include "lib/base/bucket.h"
#include "lib/json/json_write.h"
#include "tools/common/command.h"
#include "tools/mcpx-bridge/bridge.h"
#include "tools/mcpx-bridge/calls.h"
#include "tools/mcpx-bridge/expose/expose.h"
#include "tools/mcpx-bridge/expose/servers/catalog.h"
#include "tools/mcpx-bridge/output.h"

#include <mcpx/kind.h>

/** The receiver of the answer: the client, the catalogue, or none. */
enum expose_purpose {
    EXPOSE_FOR_CLIENT,
    EXPOSE_FOR_HELLO, /* initialize */
    EXPOSE_FOR_LIST,  /* one page */
    EXPOSE_FOR_NOBODY
};

/** Whether the answer is for the catalogue. */
static inline bool expose_call_is_probe(const struct bridge_call *call)
{
    return call->purpose == EXPOSE_FOR_HELLO || call->purpose == EXPOSE_FOR_LIST;
}

/** REQUESTED, or PROPOSED until somebody acts on it: APPROVED. Or it may be none of these. */
enum expose_stage { EXPOSE_REQUESTED, EXPOSE_PROPOSED, EXPOSE_APPROVED, EXPOSE_REFUSED };

/**
 * PATIENCE: who does not answer within this time counts as no server. HOLD: the longest time that
 * the client waits for the topic's servers.
 */
enum { EXPOSE_PATIENCE_MS = 2000, EXPOSE_HOLD_MS = 3000 };

/** One --only, and whether it fitted anything so far. */
struct expose_only {
    struct mcpx_slice pattern; /* with a NUL behind it */
    bool fitted;
};

/** The client. */
struct expose_client {
    bool greeted;     /* it has sent something; until then no server is asked */
    bool initialized; /* its "initialize" was answered: notifications may be sent */
    /* The capabilities in it, raw; only requests that they allow reach the client. */
    struct mcpx_text capabilities;
    struct mcpx_text info;   /* its name and version, raw */
    struct mcpx_text level;  /* the logging level it set, raw params */
    struct mcpx_text listen; /* JSON-RPC id of its subscriptions/listen, raw; empty = none */
    bool wants[EXPOSE_LIST_COUNT]; /* the lists whose changes it wants there */
};

struct expose {
    struct expose_config config;
    struct expose_only *only;
    struct expose_view view;
    struct bridge_output output;
    struct mcpx_now now; /* of the call under way */
    bool joined;
    bool is_away; /* the log says so */
    bool was_joined;
    /* Until when a topic that was never reached is waited for; 0 = nobody waits. */
    int64_t reach_ms;
    bool is_refused;       /* not joined so far, and the router has said why */
    struct mcpx_text away; /* why we are not there */
    struct expose_names names;
    size_t renamed_count;    /* names that were others before */
    struct expose_names ids; /* of tasks and questions */
    struct expose_catalog catalog;
    struct mx_buckets reading; /* bytes of lists, per participant */
    struct bridge_calls calls;
    struct expose_client client;
    struct bridge_calls held; /* lines of the client that wait for the topic's servers */
    struct bridge_doors doors;
    struct expose_items no_tools; /* of nobody */
    struct bridge_calls asks;     /* of servers */
    /* Answers of ours that nobody here has given, per participant. */
    struct mx_buckets answered;
    struct mx_bucket answered_all;
    struct bridge_calls watches; /* resources: `token` is how the client calls them */
    uint64_t
        told[EXPOSE_LIST_COUNT]; /* hashes of the lists as the client knows them; 0 = none */
    bool is_warned;              /* that proposals cannot be withdrawn, if they cannot */
    bool has_baseline;           /* all lists were compared once */
    size_t untold;               /* notifications since the client was behind */
    int64_t compared_ms;         /* when changes were looked for last */
    int64_t changed_ms;          /* when to look for changes; INT64_MAX = none known */
};

/** mono_ms in so many milliseconds; 0 = INT64_MAX, never. */
static inline int64_t expose_in(const struct expose *x, int64_t ms)
{
    return ms ? x->now.mono_ms + ms : INT64_MAX;
}

/** A request of the client. */
struct expose_request {
    const struct mcpx_rpc *rpc;
    bool modern;   /* it speaks 2026-07-28 */
    bool may_wait; /* it may be put off until the servers are known */
    bool is_over;  /* it is not served any more */
    int list;      /* the list that it is about; -1 = all, or none */
    /* What the client sent, where `rpc` was made of it; else absent. */
    struct mcpx_slice payload;
    /* Why it is no request, although a call was meant; NULL: it is one. */
    const struct mcpx_fault *fault;
};

/* ---- messages to the client, and words for the log ---- */

/** One message: takes it. Line breaks between tokens become spaces. */
void expose_tell(struct expose *x, struct mcpx_text message);

/**
 * An answer; for a modern client a result gets what 2026-07-28 asks.
 *
 * request   of it: id, method, and whether the client is modern
 * message   whose other members stay as they are; absent: none
 */
void expose_tell_answer(struct expose *x, const struct expose_request *request,
                        struct mcpx_call_answer answer, struct mcpx_slice message);

/** A result of ours: a JSON object, taken. */
void expose_tell_result(struct expose *x, const struct expose_request *request,
                        struct mcpx_text result);

/** An error. The second takes a text that was made for it, the third makes it by mx_format. */
void expose_tell_error(struct expose *x, struct mcpx_slice id, int code, const char *message);
void expose_tell_error_made(struct expose *x, struct mcpx_slice id, int code,
                            struct mcpx_text message);
#define expose_tell_error_text(x, id, code, ...)                                              \
    expose_tell_error_made((x), (id), (code), mx_formatted(__VA_ARGS__))

/** False for messages that a client can do without, when it hears answers only or is behind. */
bool expose_may_tell(struct expose *x);

/** A notification. Takes `params`: JSON, or empty for none. */
void expose_tell_notice(struct expose *x, const char *method, struct mcpx_text params);

/** One sentence for the log, in the same three ways. */
void expose_note(struct expose *x, const char *sentence);
void expose_note_made(struct expose *x, struct mcpx_text sentence);
#define expose_note_text(x, ...) expose_note_made((x), mx_formatted(__VA_ARGS__))

/** A text in quotes for people: 'text', cut at 200 bytes. Lent until the block ends. */
#define expose_quoted(text) expose_quote((char[EXPOSE_QUOTED_MAX]){0}, (text))
enum { EXPOSE_QUOTED_MAX = 208 };
struct mcpx_slice expose_quote(char *buf, struct mcpx_slice text);

/** The revisions of MCP that the client is served in: today's, and the newest with "initialize". */
#define EXPOSE_MODERN "2026-07-28"
#define EXPOSE_LEGACY "2025-11-25"

/** Gives name, title and version, a JSON object. */
struct mcpx_text expose_self(const struct expose *x);

/* ---- what the client watches, and what servers ask it ---- */

/**
 * A call goes out or, when `shown` is absent, has failed. One to watch a resource, or not to, is
 * remembered. `shown`: what the client calls that.
 */
void expose_watch(struct expose *x, const struct bridge_call *call, struct mcpx_slice shown);

/** Passes notifications/resources/updated on when the client watches that. */
void expose_watch_updated(struct expose *x, struct mcpx_slice participant,
                          const struct mcpx_rpc *rpc);

/** A participant has come back: tells it what the client watches. */
void expose_watch_renew(struct expose *x, struct mcpx_slice participant);

/** Handles subscriptions/listen of 2026-07-28; and ends it, true when `id` names it. */
bool expose_listen(struct expose *x, const struct expose_request *request);
bool expose_listen_end(struct expose *x, struct mcpx_slice id);

/** Tells the client that a list changed, in the way that the client chose. */
void expose_tell_changed(struct expose *x, enum expose_list list);

/** A request for us; and its answer, the RESPOND in that row, could not be given. */
void expose_ask(struct expose *x, const struct mcpx_event *event);
void expose_ask_unanswered(struct expose *x, const struct bridge_row *row, enum mcpx_err err);

/** The client answered; or the server takes its request back. */
void expose_ask_answered(struct expose *x, const struct mcpx_rpc *rpc);
void expose_ask_cancelled(struct expose *x, struct mcpx_slice participant,
                          struct mcpx_slice params);

/** A call ends. When it is the participant's last, so do its questions. */
void expose_ask_over(struct expose *x, const struct bridge_call *call);

/**
 * Ends what a participant asked, of which the client is told; absent: what anybody did. `reason` is
 * the answer; NULL = none.
 */
void expose_ask_end(struct expose *x, struct mcpx_slice participant, const char *reason);

/* ---- a request of the client on its way through the topic, from its line to its end ---- */

/** Handles a line. With `may_wait` it may be kept until the servers are known. */
void expose_serve(struct expose *x, struct mcpx_slice line, bool may_wait);

/** Send a request on; the second a call of a tool as an invocation. False: it should wait. */
bool expose_forward(struct expose *x, const struct expose_request *request);
bool expose_invoke(struct expose *x, const struct expose_request *request);

/** The client takes a request back. */
void expose_cancel(struct expose *x, const struct mcpx_rpc *rpc);

/** Tells the topic that nobody waits for a call any more. `reason`: a raw JSON string or absent. */
void expose_take_back(struct expose *x, struct bridge_call *call, struct mcpx_slice reason);

/** What came of sending a call's draft. If the call has ended, what was sent is taken back. */
void expose_sent(struct expose *x, const struct mcpx_draft *draft,
                 const struct bridge_outcome *outcome);

/** What came of a call: its answer; or it could not be delivered. */
void expose_answered(struct expose *x, struct bridge_call *call,
                     const struct mcpx_event *event);
void expose_undelivered(struct expose *x, struct bridge_call *call,
                        const struct mcpx_event *event);

/** Ends calls whose time is over; and when that is due. */
void expose_calls_tick(struct expose *x);
int64_t expose_calls_deadline(const struct expose *x);

/**
 * The destination of a request. Slices are lent until a name is given or a participant leaves.
 *
 * thing    whose it is, and what it is called there
 * seat     the participant's, when it is ROUTED
 * rival    who else's it could be
 * space    of what has a rival
 * name     what the client calls it
 * own      memory for a name that was taken out of that
 * params   with its own name
 */
struct expose_route {
    struct expose_item thing;
    struct expose_participant *seat;
    struct mcpx_slice rival;
    enum expose_space space;
    struct mcpx_text name, own, params;
};

/** ABSENT: its participant is not there. */
enum expose_routing {
    EXPOSE_ROUTED,
    EXPOSE_ABSENT,
    EXPOSE_UNKNOWN,
    EXPOSE_AMBIGUOUS,
    EXPOSE_MALFORMED
};

/** Finds the participant a request is for. `out` is zero-initialised; for expose_route_fini. */
enum expose_routing expose_route_find(struct expose *x, const struct mcpx_rpc *rpc,
                                      struct expose_route *out);
void expose_route_fini(struct expose_route *route);

/** Sends a call as proposal; and it was sent. */
void expose_propose(struct expose *x, struct bridge_call *call);
void expose_proposed(struct expose *x, struct bridge_call *call);

/** Somebody acts on it, or rejected it. */
void expose_approved(struct expose *x, struct bridge_call *call,
                     const struct mcpx_event *event);
void expose_rejected(struct expose *x, struct bridge_call *call,
                     const struct mcpx_event *event);

/** Tells that a proposal still waits. */
void expose_send_heartbeat(struct expose *x, struct bridge_call *call);

/** It may be neither requested nor proposed: ends it, with the grant that is missing. */
void expose_refuse(struct expose *x, struct bridge_call *call, struct mcpx_slice would_allow);

/** Ends a call that was answered or is no longer waited for, and the questions about it. */
void expose_end(struct expose *x, struct bridge_call *call);

/**
 * Ends it with an error, which the client gets when the call is its own.
 *
 * more   members of the error's data; NULL: none
 */
void expose_fail(struct expose *x, struct bridge_call *call, enum mcpx_cause cause,
                 struct mcpx_slice message, const struct mcpx_text *more);

/**
 * Ends a call of the client with an answer: what `how` says, or what terms make of it.
 *
 * how       without its time; `is_error`: the text is that of an error
 * message   the server's own, of which other members stay; absent: none
 */
void expose_finish(struct expose *x, struct bridge_call *call, struct mcpx_call_end *how,
                   struct mcpx_slice message);

/** Somebody else's answer to a call, with the client's id in it. Ends the call. */
void expose_answer(struct expose *x, struct bridge_call *call, const struct mcpx_rpc *rpc);

/** Whether the server of a route has listed its tool, so that a call of it can be judged. */
bool expose_terms_know(struct expose *x, const struct expose_route *route);

/**
 * The first door: before a call is sent or proposed.
 *
 * route   whose tool it is, and the params for it; NULL: nobody's
 * out     filled when it is passed on: `params`, if any, lent until another call comes or ends
 *
 * Returns false when the client was answered instead.
 */
bool expose_terms_admit(struct expose *x, const struct expose_request *request,
                        const struct expose_route *route, struct mcpx_admission *out);

/**
 * Both doors for a line of the client that waited and is not served any more: nothing is sent. A
 * line that is no call of a tool, or is not under terms, is left alone: returns false.
 *
 * is_told   the client is answered
 */
bool expose_terms_turn_away(struct expose *x, struct mcpx_slice line, bool is_told);

/** Writes down a line of the client that is no request, if it was meant as a call of a tool. */
void expose_terms_note_broken(struct expose *x, struct mcpx_slice message,
                              const struct mcpx_fault *fault);

/* ---- ids that servers give out, and the ids that the client knows for them. ---- */

/** The member in which an object may hold such an id, besides the related task in `_meta`. */
enum { EXPOSE_ID_OF_TASK = 1, EXPOSE_ID_IN_TASK = 2, EXPOSE_ID_OF_ELICITATION = 4 };

/**
 * An object of this participant with the ids the client knows; and on the way back one of the
 * client's, its related task only. `scratch` is memory for one that does not stay as it is.
 */
struct mcpx_slice expose_ids_show(struct expose *x, struct mcpx_slice participant,
                                  struct mcpx_slice object, unsigned where,
                                  struct mcpx_text *scratch);
struct mcpx_slice expose_ids_restore(struct expose *x, struct mcpx_slice participant,
                                     struct mcpx_slice object, struct mcpx_text *scratch);

/** Remember an id that this participant gave out, raw; and those in its answer to a call. */
void expose_ids_note(struct expose *x, struct mcpx_slice participant, enum expose_space space,
                     struct mcpx_slice raw);
void expose_ids_note_answer(struct expose *x, const struct bridge_call *call,
                            const struct mcpx_rpc *rpc);

/** Whether this participant gave it out. */
bool expose_ids_owns(const struct expose *x, struct mcpx_slice participant,
                     enum expose_space space, struct mcpx_slice raw);

/* ---- who is a server, what they offer, and when that is known or has changed. ---- */

/** Something about the lists may have changed. */
void expose_touch(struct expose *x);

/** Compares the seats with the roster and asks new participants; with `again`, all. */
void expose_probe_all(struct expose *x, bool again);

/** A participant came or changed. It is asked when it is new. */
void expose_probe_came(struct expose *x, struct mcpx_slice participant);

/** We have connected again. Who is missing may have lost its connection, too, and is waited for. */
void expose_probe_rejoined(struct expose *x, bool again);

/** A participant left: its seat, its calls and its requests end. The id may be that in its seat. */
void expose_probe_left(struct expose *x, struct mcpx_slice participant);

/** A participant said that a list changed. */
void expose_probe_changed(struct expose *x, struct mcpx_slice participant,
                          enum expose_list list);

/** Reads lists that changed and have rested; and when that is due for a participant. */
void expose_probe_tick(struct expose *x);
int64_t expose_probe_deadline(const struct expose *x, const struct expose_participant *seat);

/** Ends a call for the catalogue. `rpc`: its answer; NULL: none came, or the router refused it. */
void expose_probe_end(struct expose *x, struct bridge_call *call, const struct mcpx_rpc *rpc,
                      bool was_refused);

/** Ends any call without an answer: with an error, one for the catalogue in silence. */
void expose_give_up(struct expose *x, struct bridge_call *call, enum mcpx_cause cause,
                    struct mcpx_slice message);

/** Removes missing participants for which we do not wait, or no longer wait. */
void expose_probe_missing(struct expose *x);

/** True when the client need not wait for any answer; `list` may be -1 = any. */
bool expose_is_settled(const struct expose *x, int list);

/** Ends waits whose time is over, and tells which lists have changed; and when that is due. */
void expose_settle_tick(struct expose *x);
int64_t expose_settle_deadline(const struct expose *x);

/** Appends `{"MEMBER":[...]}`, which the client knows then; and a hash of that, not 0. */
void expose_list_write(struct expose *x, enum expose_list list, struct mcpx_text *out);
uint64_t expose_list_face(struct expose *x, enum expose_list list);

/**
 * Gives names to the items of a list, shown or not: a client may call what it listed another time,
 * and a grant that comes later changes no names. Returns how many got none: there are too many.
 */
size_t expose_list_name(struct expose *x, const struct expose_items *shelf);

/* ---- messages to the topic, and what of it is shown. ---- */

/** A kind as a session makes it: without the context where that does not fit. */
struct expose_kind {
    char text[MCPX_KIND_MAX + 1];
    struct mcpx_kind kind;
};

/** Writes a kind. Returns false when even the method does not fit. */
bool expose_kind_make(struct expose_kind *out, const char *type, struct mcpx_slice method,
                      struct mcpx_slice context);

/** How we may send a call about this thing: REQUESTED, else PROPOSED, else REFUSED. */
enum expose_stage expose_find_stage(struct expose *x, struct mcpx_slice method,
                                    const struct expose_item *thing);

/** Sends a call as request, or as proposal when its stage is PROPOSED. */
void expose_send_call(struct expose *x, const struct bridge_call *call);

/** Sends a call of ours. Takes `params`: JSON, or empty for none. NULL: we may not. */
struct bridge_call *expose_send_own(struct expose *x, enum expose_purpose purpose,
                                    struct mcpx_slice participant, const char *method,
                                    struct mcpx_text params);

/** Appends why a call could not be sent. */
void expose_add_unsent(struct expose *x, const struct bridge_call *call, enum mcpx_err err,
                       struct mcpx_text *out);

/** No answer is waited for any more: to that envelope of ours (FORGET), or to theirs (DROP). */
void expose_want(struct expose *x, enum bridge_action_type type, struct mcpx_slice envelope);

/** Sends a notification, when we may. Takes `params`: JSON, or empty for none. */
void expose_send_notice(struct expose *x, struct mcpx_slice participant, const char *method,
                        struct mcpx_text params, struct mcpx_slice about);

/** Sends mcp/withdraw for a proposal to this participant, when we may and it has an envelope. */
void expose_send_withdrawal(struct expose *x, struct mcpx_slice participant,
                            struct mcpx_slice envelope, const char *reason);

/** Is the participant shown with all it has, or the name (absent: none is known)? */
bool expose_only_covers(const struct expose *x, struct mcpx_slice participant,
                        struct mcpx_slice shown);

/** Could it have anything that is shown? Otherwise it is not asked. */
bool expose_only_wants(const struct expose *x, struct mcpx_slice participant);

#endif
