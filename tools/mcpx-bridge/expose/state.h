/*
 * state.h - the state of the server, about its client and the topic, and the functions that its
 * parts offer each other.
 */
#ifndef MCPX_BRIDGE_EXPOSE_STATE_H
#define MCPX_BRIDGE_EXPOSE_STATE_H

#include "lib/base/bucket.h"
#include "lib/json/json_write.h"
#include "tools/common/command.h"
#include "tools/mcpx-bridge/bridge.h"
#include "tools/mcpx-bridge/calls.h"
#include "tools/mcpx-bridge/expose/expose.h"
#include "tools/mcpx-bridge/expose/room/room.h"
#include "tools/mcpx-bridge/expose/servers/catalog.h"
#include "tools/mcpx-bridge/output.h"

#include <mcpx/kind.h>

/** The receiver of the answer: the client, the catalogue, or none. */
enum expose_purpose {
    EXPOSE_FOR_CLIENT,
    EXPOSE_FOR_HELLO,  /* initialize */
    EXPOSE_FOR_LIST,   /* one page */
    EXPOSE_FOR_LISTEN, /* a subscription of the client */
    EXPOSE_FOR_NOBODY
};

/** True when the answer is for the catalogue. */
static inline bool expose_call_is_probe(const struct bridge_call *call)
{
    return call->purpose == EXPOSE_FOR_HELLO || call->purpose == EXPOSE_FOR_LIST;
}

/**
 * A call's stage. PROPOSED becomes APPROVED by an approval. REFUSED: no grant covers it. WITHDRAWN:
 * by tasks/cancel; CANCELLED: by the same after the approval. For tools of the room: SAID waits for
 * its own envelope, LOOKS for messages.
 */
enum expose_stage {
    EXPOSE_REQUESTED,
    EXPOSE_PROPOSED,
    EXPOSE_APPROVED,
    EXPOSE_REFUSED,
    EXPOSE_WITHDRAWN,
    EXPOSE_CANCELLED,
    EXPOSE_SAID,
    EXPOSE_LOOKS
};

/**
 * PATIENCE: a participant that takes longer to answer is not regarded as a server. HOLD: the
 * client's longest wait for the topic's servers.
 */
enum { EXPOSE_PATIENCE_MS = 2000, EXPOSE_HOLD_MS = 3000 };

/** A pattern of --only. `fitted`: it has matched something. */
struct expose_only {
    struct mcpx_slice pattern; /* with a NUL behind it */
    bool fitted;
};

/** The client. */
struct expose_client {
    bool greeted;     /* its first request came; no server is asked before */
    bool initialized; /* it sent notifications/initialized: it may get notifications */
    bool has_tasks;   /* it speaks 2025-11-25: our lists say which calls may be tasks */
    /* Its capabilities, raw. Only requests that they allow reach the client. */
    struct mcpx_text capabilities;
    struct mcpx_text info; /* its name and version, raw */
    unsigned log_level;    /* that it set, as bridge_log_level; 0: none */
};

struct expose {
    struct expose_config config;
    struct expose_only *only;
    struct expose_view view;
    struct bridge_output output;
    struct mcpx_now now; /* of the input at hand */
    bool joined;
    bool is_away; /* we are not in the topic, and that was logged */
    bool was_joined;
    /* mono_ms of the end of the wait for a topic never reached so far; 0: no line waited. */
    int64_t reach_ms;
    bool is_refused;       /* we never joined, and the router refused us */
    struct mcpx_text away; /* the reason why we are not in the topic */
    struct expose_names names;
    struct expose_catalog catalog;
    struct mx_buckets reading; /* bytes of lists, per participant */
    struct bridge_calls calls;
    struct expose_client client;
    struct bridge_calls held; /* lines of the client that wait for the topic's servers */
    struct bridge_checks checks;
    struct expose_items no_tools; /* an empty list, for tools without owner */
    struct bridge_calls asks;     /* questions of servers, open at the client */
    /* The rates of the bridge's own answers, per participant and in all. */
    struct mx_buckets answered;
    struct mx_bucket answered_all;
    struct bridge_calls listens; /* subscriptions of a client of 2026-07-28 */
    struct bridge_calls watches; /* resources and tasks; `token`: the client's name of one */
    struct expose_room room;
    uint64_t
        told[EXPOSE_LIST_COUNT]; /* hashes of the lists as the client knows them; 0 = none */
    bool is_warned;              /* the grant to withdraw proposals was checked */
    bool has_baseline;           /* all lists were compared once */
    size_t untold;               /* notifications left out since the client fell behind */
    int64_t compared_ms;         /* mono_ms of the last comparison of the lists */
    int64_t changed_ms;          /* mono_ms of the next one; INT64_MAX = no change known */
};

/** mono_ms after `ms` more milliseconds; 0 = INT64_MAX, never. */
static inline int64_t expose_in(const struct expose *x, int64_t ms)
{
    return ms ? x->now.mono_ms + ms : INT64_MAX;
}

/** The member of `_meta` with that name. */
#define EXPOSE_META "io.modelcontextprotocol/"
static inline struct mcpx_slice expose_meta(const struct mcpx_rpc *rpc, const char *name)
{
    return mcpx_json_get(mcpx_json_get(rpc->params, "_meta"), name);
}

/** The client's progress token, raw; absent: it wants no progress. */
static inline struct mcpx_slice expose_token(const struct mcpx_rpc *rpc)
{
    return bridge_id(expose_meta(rpc, "progressToken"));
}

/** A request of the client. */
struct expose_request {
    const struct mcpx_rpc *rpc;
    bool modern;   /* it speaks 2026-07-28 */
    bool may_wait; /* it may wait until the servers are known */
    bool is_over;  /* it is not served any more */
    int list;      /* the list that it is about; -1 = all, or none */
    /* The client's own message, when `rpc` was made from it; else absent. */
    struct mcpx_slice payload;
    /* The error of a message that was meant as a call but is not a request; NULL: none. */
    const struct mcpx_fault *fault;
};

/** The request of a call, as far as an answer to it is made from it. */
#define expose_request_of(call)                                                               \
    (&(struct expose_request){                                                                \
        .rpc = &(struct mcpx_rpc){.id = (call)->id, .method = (call)->method},                \
        .modern = (call)->modern})

/* ---- messages to the client, and the log ---- */

/** Sends the client a message, taken. Line breaks between tokens become spaces. */
void expose_tell(struct expose *x, struct mcpx_text message);

/**
 * Makes an answer; the second sends it. A modern client's result gets the members that 2026-07-28
 * requires.
 *
 * request   only its id, method and `modern` are used
 * message   the server's answer, to keep its other members; absent: none
 */
struct mcpx_text expose_answer_make(const struct expose_request *request,
                                    struct mcpx_call_answer answer, struct mcpx_slice message);
#define expose_tell_answer(x, request, answer, message)                                       \
    expose_tell((x), expose_answer_make((request), (answer), (message)))

/** Sends a result of the bridge's own: a JSON object, taken. */
void expose_tell_result(struct expose *x, const struct expose_request *request,
                        struct mcpx_text result);

/** Sends an error. Takes `message`, and `data`: JSON, or empty for none. */
void expose_tell_error_of(struct expose *x, struct mcpx_slice id, int code,
                          struct mcpx_text message, struct mcpx_text data);

/** The same without data: by mx_format, and with a sentence. */
#define expose_tell_error_text(x, id, code, ...)                                              \
    expose_tell_error_of((x), (id), (code), mx_formatted(__VA_ARGS__), (struct mcpx_text){0})
#define expose_tell_error(x, id, code, sentence)                                              \
    expose_tell_error_text((x), (id), (code), "%s", (sentence))

/** True for a client of 2026-07-28 that has not declared tasks: it gets an error. */
bool expose_lacks_tasks(struct expose *x, const struct expose_request *request);

/** False while the client gets no notifications: it gets answers only, or it is behind. */
bool expose_may_tell(struct expose *x);

/** Sends the client a notification. Takes `params`: JSON, or empty for none. */
void expose_tell_notice(struct expose *x, const char *method, struct mcpx_text params);

/** Logs one sentence, taken; and in the same ways. */
void expose_note_made(struct expose *x, struct mcpx_text sentence);
#define expose_note(x, sentence) expose_note_text((x), "%s", (sentence))
#define expose_note_text(x, ...) expose_note_made((x), mx_formatted(__VA_ARGS__))

/** A text in quotes for people: 'text', cut at 200 bytes. Lent until the block ends. */
#define expose_quoted(text) expose_quote((char[EXPOSE_QUOTED_MAX]){0}, (text))
enum { EXPOSE_QUOTED_MAX = 208 };
struct mcpx_slice expose_quote(char *buf, struct mcpx_slice text);

/** The revisions of MCP for the client: today's, and the newest one with "initialize". */
#define EXPOSE_MODERN "2026-07-28"
#define EXPOSE_LEGACY "2025-11-25"

/** Makes a JSON object with the bridge's name, title and version. */
struct mcpx_text expose_self(const struct expose *x);

/* ---- subscriptions ---- */

/**
 * Notes a resources/subscribe or unsubscribe that is sent. `shown`: the client's URI; absent: the
 * call failed, and a subscription is forgotten. Other calls change nothing.
 */
void expose_watch(struct expose *x, const struct bridge_call *call, struct mcpx_slice shown);

/** Passes on an update of a resource, or notifications/tasks, when the client watches it. */
void expose_watch_updated(struct expose *x, struct mcpx_slice participant,
                          const struct mcpx_rpc *rpc);

/** Subscribes to the watched resources of a participant again. */
void expose_watch_renew(struct expose *x, struct mcpx_slice participant);

/** Handles subscriptions/listen; and ends it, true when `id` names it. */
void expose_listen(struct expose *x, const struct expose_request *request);
bool expose_listen_end(struct expose *x, struct mcpx_slice id);

/** A call FOR_LISTEN ends: `written` when the server agreed. */
void expose_listen_heard(struct expose *x, const struct bridge_call *call);

/** Ends all subscriptions with a result: the bridge ends. */
void expose_listens_close(struct expose *x);

/** True when the client wants a log message of that level (raw) about this participant. */
bool expose_wants_log(const struct expose *x, struct mcpx_slice participant,
                      struct mcpx_slice level);

/** Tells the client of a changed list, in the form of its revision. */
void expose_tell_changed(struct expose *x, enum expose_list list);

/* ---- a request of the client on its way through the topic, from its line to its end ---- */

/** Handles a line. With `may_wait` it may be kept until the servers are known. */
void expose_serve(struct expose *x, struct mcpx_slice line, bool may_wait);

/** Sends on a request; the second, a tool call as an invocation. False: it must wait. */
bool expose_forward(struct expose *x, const struct expose_request *request);
bool expose_invoke(struct expose *x, const struct expose_request *request);

/** Handles notifications/cancelled of the client. */
void expose_cancel(struct expose *x, const struct mcpx_rpc *rpc);

/** Cancels a request, or withdraws a proposal. `reason`: a raw JSON string or absent. */
void expose_take_back(struct expose *x, struct bridge_call *call, struct mcpx_slice reason);

/** Handles the outcome of sending a draft. Takes the message back if its call has ended. */
void expose_sent(struct expose *x, const struct mcpx_draft *draft,
                 const struct bridge_outcome *outcome);

/** Handles the answer to a call; its refusal by the router; or that the topic does not have it. */
void expose_answered(struct expose *x, struct bridge_call *call,
                     const struct mcpx_event *event);
void expose_undelivered(struct expose *x, struct bridge_call *call,
                        const struct mcpx_event *event);
void expose_expired(struct expose *x, struct bridge_call *call,
                    const struct mcpx_event *event);

/** Handles timeouts, retries and heartbeats of calls; and the mono_ms of the next. */
void expose_calls_tick(struct expose *x);
int64_t expose_calls_deadline(const struct expose *x);

/**
 * The destination of a request. Slices are lent until a name is given or a participant leaves.
 *
 * item     the owner's id, and its own name of the item
 * owner    filled when ROUTED
 * rival    another possible owner, when AMBIGUOUS
 * space    the name space of a name with a rival
 * name     the client's name of the item
 * own      memory for a URI that was unwrapped from `name`
 * params   those of the request, with the owner's own name
 */
struct expose_route {
    struct expose_item item;
    struct expose_participant *owner;
    struct mcpx_slice rival;
    enum expose_space space;
    struct mcpx_text name, own, params;
};

/** ABSENT: the owner is not in the topic. */
enum expose_routing {
    EXPOSE_ROUTED,
    EXPOSE_ABSENT,
    EXPOSE_UNKNOWN,
    EXPOSE_AMBIGUOUS,
    EXPOSE_MALFORMED
};

/** Finds the destination of a request. `out`: zero-initialised; expose_route_fini frees it. */
enum expose_routing expose_route_find(struct expose *x, const struct mcpx_rpc *rpc,
                                      struct expose_route *out);
void expose_route_fini(struct expose_route *route);

/** Sends a call as proposal; and handles that it was sent. */
void expose_propose(struct expose *x, struct bridge_call *call);
void expose_proposed(struct expose *x, struct bridge_call *call);

/** Tells the client by progress that its proposal still waits. */
void expose_send_heartbeat(struct expose *x, struct bridge_call *call);

/** Ends a call that was answered or cancelled, and the questions about it. */
void expose_end(struct expose *x, struct bridge_call *call);

/**
 * Ends a call with an error. The client gets it only for a call of its own.
 *
 * more   members of the error's data; NULL: none
 */
void expose_fail(struct expose *x, struct bridge_call *call, enum mcpx_cause cause,
                 struct mcpx_slice message, const struct mcpx_text *more);

/**
 * Ends a call of the client with the answer in `how`; contract settings may change it.
 *
 * how       without its time; `is_error`: the text is that of an error
 * message   the server's answer, to keep its other members; absent: none
 */
void expose_finish(struct expose *x, struct bridge_call *call, struct mcpx_call_end *how,
                   struct mcpx_slice message);

/** Ends a call with the server's answer, under the client's id. */
void expose_answer(struct expose *x, struct bridge_call *call, const struct mcpx_rpc *rpc);

/**
 * Admission and completion of a message that was meant as a tool call and is not served (any more):
 * nothing is sent. Returns false for any other message, and without contract settings.
 *
 * fault     why it is not a request; NULL: it is one
 * is_told   the client gets the refusal
 */
bool expose_terms_turn_away(struct expose *x, struct mcpx_slice message,
                            const struct mcpx_fault *fault, bool is_told);

/* ---- ids of servers, and the client's ids for them. ---- */

/** Places of such an id in an object, besides the related task in `_meta`; BACK: see below. */
enum {
    EXPOSE_ID_OF_TASK = 1,
    EXPOSE_ID_IN_TASK = 2,
    EXPOSE_ID_OF_ELICITATION = 4,
    EXPOSE_IDS_BACK = 8
};

/**
 * An object of this participant with the client's ids; with BACK, an object of the client with the
 * participant's ids. `scratch`: memory for a changed object.
 */
struct mcpx_slice expose_ids_show(struct expose *x, struct mcpx_slice participant,
                                  struct mcpx_slice object, unsigned where,
                                  struct mcpx_text *scratch);
#define expose_ids_restore(x, participant, object, scratch)                                   \
    expose_ids_show((x), (participant), (object), EXPOSE_IDS_BACK, (scratch))

/** The call that is a task of ours with that id; NULL: there is none. */
struct bridge_call *expose_ids_task(const struct expose *x, struct mcpx_slice id);

/** Remembers a raw id that this participant gave out; and those in its answer to a call. */
void expose_ids_note(struct expose *x, struct mcpx_slice participant, enum expose_space space,
                     struct mcpx_slice raw);
void expose_ids_note_answer(struct expose *x, const struct bridge_call *call,
                            const struct mcpx_rpc *rpc);

/** True when the result of the call is a task of 2026-07-28, flat. */
bool expose_ids_is_task(const struct bridge_call *call, struct mcpx_slice result);

/** True when this participant gave out the id. */
bool expose_ids_owns(const struct expose *x, struct mcpx_slice participant,
                     enum expose_space space, struct mcpx_slice raw);

/* ---- servers, their lists, and changes of the lists. ---- */

/** The lists may have changed: they are compared soon. */
void expose_touch(struct expose *x);

/**
 * Compares the catalogue with the roster and asks new participants.
 *
 * again          asks all
 * we_were_away   missing participants may return as we did: they stay for a while
 */
void expose_probe_all(struct expose *x, bool again, bool we_were_away);

/** The part about missing participants; removes those whose time to return is over. */
void expose_probe_missing(struct expose *x, bool we_were_away);

/** Handles a participant that joined or changed: asks a new one. */
void expose_probe_came(struct expose *x, struct mcpx_slice participant);

/** Removes a participant that left, and ends its calls and requests. The id may be its own. */
void expose_probe_left(struct expose *x, struct mcpx_slice id);

/** Tells a participant that logs the level that the client set. */
void expose_probe_level(struct expose *x, const struct expose_participant *participant);

/** Handles a participant's notification of a changed list. */
void expose_probe_changed(struct expose *x, struct mcpx_slice id, enum expose_list list);

/**
 * Reads changed lists after their rest; and mono_ms from which a list may be read, however often it
 * is said to have changed; INT64_MAX: it need not.
 */
void expose_probe_tick(struct expose *x);
int64_t expose_probe_due(const struct expose *x, const struct expose_items *items);

/** Ends a call for the catalogue. `rpc`: its answer; NULL: none came, or the router refused it. */
void expose_probe_end(struct expose *x, struct bridge_call *call, const struct mcpx_rpc *rpc,
                      bool was_refused);

/** Ends a call without an answer: for the catalogue silently, any other with an error. */
void expose_give_up(struct expose *x, struct bridge_call *call, enum mcpx_cause cause,
                    struct mcpx_slice message);

/** True when no answer about the list is awaited any more; `list` -1: about any list. */
bool expose_is_settled(const struct expose *x, int list);

/** Handles timeouts of lists and tells the client of changed lists; and when that is due. */
void expose_settle_tick(struct expose *x);
int64_t expose_settle_deadline(const struct expose *x);

/** True for the list in whose place the client has tools to find its items (--discover). */
static inline bool expose_is_hidden(const struct expose *x, enum expose_list list)
{
    return x->config.discover && list == EXPOSE_TOOLS;
}

/** Appends the items of servers that the client may use. */
void expose_list_add(struct expose *x, enum expose_list list, struct mcpx_text *out);

/** Appends `{"MEMBER":[...]}` for the client and notes its hash; and that hash, not 0. */
void expose_list_write(struct expose *x, enum expose_list list, struct mcpx_text *out);
uint64_t expose_list_hash(struct expose *x, enum expose_list list);

/**
 * Gives names to the items of a list, shown or not: a client may call an item of an earlier list,
 * and a later grant changes no names. Returns the number of items beyond the limit, without name.
 */
size_t expose_list_name(struct expose *x, const struct expose_items *items);

/* ---- messages to the topic, and --only. ---- */

/** A kind as a session makes it: without the context where that does not fit. */
struct expose_kind {
    char text[MCPX_KIND_MAX + 1];
    struct mcpx_kind kind;
};

/** Writes a kind. Returns false when even the method does not fit. */
bool expose_kind_make(struct expose_kind *out, const char *type, struct mcpx_slice method,
                      struct mcpx_slice context);

/** How we may send a call about this item: REQUESTED, else PROPOSED, else REFUSED. */
enum expose_stage expose_find_stage(struct expose *x, struct mcpx_slice method,
                                    const struct expose_item *item);

/** Sends a call as request, or as proposal when its stage is PROPOSED. */
void expose_send_call(struct expose *x, const struct bridge_call *call);

/** Sends a call of ours. Takes `params`: JSON, or empty for none. NULL: no grant covers it. */
struct bridge_call *expose_send_own(struct expose *x, enum expose_purpose purpose,
                                    struct mcpx_slice participant, const char *method,
                                    struct mcpx_text params);

/** No answer will be read to that envelope of ours (FORGET), or sent to theirs (DROP). */
void expose_want(struct expose *x, enum bridge_action_type type, struct mcpx_slice envelope);

/** Sends a notification, when we may. Takes `params`: JSON, or empty for none. */
void expose_send_notice(struct expose *x, struct mcpx_slice participant, const char *method,
                        struct mcpx_text params, struct mcpx_slice about);

/** Sends mcp/withdraw for a proposal to this participant, when we may and it has an envelope. */
void expose_send_withdrawal(struct expose *x, struct mcpx_slice participant,
                            struct mcpx_slice envelope, const char *reason);

/** True when --only covers the participant, or the name (absent: none is known). */
bool expose_only_covers(const struct expose *x, struct mcpx_slice participant,
                        struct mcpx_slice shown);

/** True when --only may cover a name of the participant. Otherwise it is not asked. */
bool expose_only_wants(const struct expose *x, struct mcpx_slice participant);

#endif
