/*
 * expose_state.h - what the parts of the server share, and what each does for the others. One file
 * per section.
 * Includes expose.h, expose_calls.h, bridge.h only.
 */
#ifndef MCPX_BRIDGE_EXPOSE_STATE_H
#define MCPX_BRIDGE_EXPOSE_STATE_H

#include "tools/mcpx-bridge/bridge.h"
#include "tools/mcpx-bridge/expose.h"
#include "tools/mcpx-bridge/expose_calls.h"

#define EXPOSE_MODERN "2026-07-28"
#define EXPOSE_LEGACY "2025-11-25"

enum {
    EXPOSE_PATIENCE_MS = 2000,  /* who does not answer within counts as no server */
    EXPOSE_HOLD_MS = 3000,      /* how long the client waits for the topic's servers at most */
    EXPOSE_REACH_MS = 20000,    /* and for a router that is not there yet */
    EXPOSE_GRACE_MS = 10000,    /* how long others may take to come back after we did */
    EXPOSE_SETTLE_MS = 100,     /* changes of the catalogue within are told as one */
    EXPOSE_COLLECT_MS = 10000,  /* how long the pages of one list may take to come */
    EXPOSE_PAGES_MAX = 1000,    /* pages of one list */
    EXPOSE_WATCHES_MAX = 4096,  /* resources the client watches */
    EXPOSE_ASKS_MAX = 256,      /* questions before the client at one time */
    EXPOSE_BYTES_MAX = 16 << 20 /* of all lists of one participant */
};

/** JSON-RPC: not JSON at all. */
enum { EXPOSE_PARSE_ERROR = -32700 };

/** A line of the client that waits until the topic's servers are known. */
struct expose_held {
    struct expose_held *next;
    int64_t until_ms;
    struct mcpx_text line;
};

/** A request of a server to the client, under a number that is its JSON-RPC id there. */
struct expose_ask {
    struct expose_ask *next;
    int64_t number;
    struct mcpx_text participant;
    struct mcpx_text envelope;
    struct mcpx_text id; /* the server's JSON-RPC id, raw */
};

/** A resource the client watches: under its owner's URI, and the one the client knows. */
struct expose_watch {
    struct expose_watch *next;
    struct mcpx_text participant;
    struct mcpx_text own;
    struct mcpx_text shown;
};

/** One --only, and whether it fitted anything so far. */
struct expose_only {
    struct mcpx_text pattern;
    bool fitted;
};

/**
 * The client.
 *
 * greeted        it said anything at all; until then no server is asked
 * initialized    it was answered to "initialize": notifications may be sent
 * capabilities   what it stated there, raw; of servers' requests only these reach it
 * info           its name and version, raw
 * level          the logging level it set, raw params
 * listen         JSON-RPC id of its subscriptions/listen, raw; empty = none
 * wants          the lists it wants to hear about there
 */
struct expose_client {
    bool greeted;
    bool initialized;
    struct mcpx_text capabilities;
    struct mcpx_text info;
    struct mcpx_text level;
    struct mcpx_text listen;
    bool wants[EXPOSE_LIST_COUNT];
};

struct expose {
    struct expose_config config; /* nonce and topic point into texts below; only is ours */
    struct mcpx_text topic, nonce;
    struct expose_only *only;
    struct expose_port port;
    struct mcpx_now now; /* of the call under way */
    bool joined;
    bool is_away; /* the log says so */
    bool was_joined;
    int64_t
        reach_ms; /* until when a topic that was never reached is waited for; 0 = nobody waits */
    bool is_refused;       /* not joined so far, and the router has said why */
    struct mcpx_text away; /* why we are not there */
    struct expose_names names;
    struct expose_names ids; /* of tasks and questions */
    struct expose_catalog catalog;
    struct expose_calls calls;
    struct expose_client client;
    struct expose_held *held;
    struct expose_ask *asks;
    size_t ask_count;
    int64_t last_ask;
    struct expose_watch *watches; /* kept for who may come back */
    size_t watch_count;
    uint64_t told[EXPOSE_LIST_COUNT]; /* hash of each list as the client knows it */
    bool is_told[EXPOSE_LIST_COUNT];  /* `told` means something */
    bool has_baseline;                /* all lists were compared once */
    size_t untold;                    /* notifications since the client was behind */
    int64_t changed_ms;               /* when to look for changes; INT64_MAX = none known */
};

/** A request of the client. `may_wait`: it may be put off until the servers are known. */
struct expose_request {
    const struct mcpx_rpc *rpc;
    bool modern;
    bool may_wait;
};

/** Where a request goes: the participant, what it calls the thing, and the params with that name. */
struct expose_route {
    struct mcpx_slice participant;
    struct mcpx_slice rival;
    struct mcpx_text own;
    struct mcpx_text params;
};

/* ---- expose_tell.c: what the client is told ---- */

/** Writes one message; line breaks between tokens become spaces. */
void expose_tell(struct expose *x, const struct mcpx_text *message);

/** A result of ours. `result` is a JSON object; for a modern client it gets what 2026-07-28 asks. */
void expose_tell_result(struct expose *x, const struct expose_request *request,
                        struct mcpx_slice result);

/** The same with a text that may have failed: the client then hears of that. */
void expose_tell_made(struct expose *x, const struct expose_request *request,
                      const struct mcpx_text *result);

/** An error. `data` is JSON or absent. */
void expose_tell_error(struct expose *x, struct mcpx_slice id, int code,
                       struct mcpx_slice message, struct mcpx_slice data);

/** Somebody else's answer to a call, with the client's id in it. */
void expose_tell_answer(struct expose *x, const struct expose_call *call,
                        const struct mcpx_rpc *rpc);

/** A participant's notification as it is, but for ids. */
void expose_tell_same(struct expose *x, struct mcpx_slice participant,
                      const struct mcpx_rpc *rpc);

/**
 * What the client can do without. Returns false, and counts it, when it does not read: then it is
 * not to be told.
 */
bool expose_may_tell(struct expose *x);

/** A notification. `params` is JSON or absent. */
void expose_tell_notice(struct expose *x, const char *method, struct mcpx_slice params);

/** A sign of life for a call whose client gave a progress token. */
void expose_tell_progress(struct expose *x, struct expose_call *call,
                          struct mcpx_slice message);

/** A warning, to the log and to a client that takes notifications/message. */
void expose_warn(struct expose *x, struct mcpx_slice sentence);

/** One sentence for the log. */
void expose_note(struct expose *x, const struct mcpx_text *sentence);

/** Appends what `"` needs around it for people: 'text', cut at 200 bytes. */
void expose_quote(struct mcpx_text *out, struct mcpx_slice text);

/* ---- expose_send.c: what goes to the topic ---- */

/** A kind as a session makes it: without the context where that does not fit. */
struct expose_kind {
    char text[MCPX_KIND_MAX + 1];
    struct mcpx_kind kind;
};

/** Writes a kind. Returns false when even the method does not fit. */
bool expose_kind_make(struct expose_kind *out, const char *type, struct mcpx_slice method,
                      struct mcpx_slice context);

/** May we send that to this participant? */
bool expose_may(struct expose *x, const struct expose_kind *kind,
                struct mcpx_slice participant);

/** May the client use the thing, directly or by a proposal? For expose_catalog_write. */
bool expose_shows(void *expose, enum expose_list list, const struct expose_thing *thing);

/** Sends a call as request, or as proposal when its stage is PROPOSED; remembers the envelope. */
enum mcpx_err expose_send_call(struct expose *x, struct expose_call *call);

/**
 * Sends a call of ours, `params` raw or absent, and takes care of nothing else.
 * Returns NULL when it could not be sent; nothing is under way then.
 */
struct expose_call *expose_send_own(struct expose *x, enum expose_purpose purpose,
                                    struct mcpx_slice participant, const char *method,
                                    struct mcpx_slice params);

/** Appends why a call could not be sent. */
void expose_add_unsent(struct expose *x, const struct expose_call *call, enum mcpx_err err,
                       struct mcpx_text *out);

/** Sends a notification about a call's envelope (or none), when we may. */
void expose_send_notice(struct expose *x, struct mcpx_slice participant, const char *method,
                        struct mcpx_slice params, struct mcpx_slice about);

/** Sends mcp/withdraw for a proposal, when we may. */
void expose_send_withdrawal(struct expose *x, const struct expose_call *call,
                            const char *reason);

/* ---- expose_only.c: what --only lets through ---- */

/** Is this shown: the participant with all it has, or the name the client sees (or would, absent)? */
bool expose_only_covers(const struct expose *x, struct mcpx_slice participant,
                        struct mcpx_slice shown);

/** Could it have anything that is shown? Who surely has not is not asked. */
bool expose_only_wants(const struct expose *x, struct mcpx_slice participant);

/** Says which patterns fitted nothing so far. */
void expose_only_note(struct expose *x);

/* ---- expose_probe.c: who is a server and what it has ---- */

/** Makes seats and the roster agree; asks who is new. With `again`, everybody. */
void expose_probe_all(struct expose *x, bool again);

/** A participant came, or changed: asked when it is new. */
void expose_probe_came(struct expose *x, struct mcpx_slice participant);

/**
 * We are back: whoever is missing may have lost the connection with us, and is waited for. Calls to
 * them wait too.
 */
void expose_probe_rejoined(struct expose *x, bool again);

/** A participant left: its seat, its calls and its requests end. */
void expose_probe_left(struct expose *x, struct mcpx_slice participant);

/** A participant said that a list changed. */
void expose_probe_changed(struct expose *x, struct mcpx_slice participant,
                          enum expose_list list);

/** An answer to a call for the catalogue, or NULL when there is none; ends the call. */
void expose_probe_answer(struct expose *x, struct expose_call *call,
                         const struct mcpx_rpc *rpc);

/** The router refused a call for the catalogue; ends the call. Lists need no "initialize" before. */
void expose_probe_refused(struct expose *x, struct expose_call *call);

/** Ends with who is missing and not, or no longer, waited for. */
void expose_probe_missing(struct expose *x);

/* ---- expose_settle.c: when the lists are known, and when they changed ---- */

/** True when nothing is expected that the client should wait for; `list` may be -1 = any. */
bool expose_is_settled(const struct expose *x, int list);

/** Lets patience run out, and tells the client what changed. */
void expose_settle_tick(struct expose *x);

/** When expose_settle_tick is due. */
int64_t expose_settle_deadline(const struct expose *x);

/** Something about the lists may have changed. */
void expose_touch(struct expose *x);

/** Appends `{"MEMBER":[...]}` and remembers it as what the client knows. */
void expose_write_list(struct expose *x, enum expose_list list, struct mcpx_text *out);

/* ---- expose_hello.c: who we are ---- */

/**
 * Was the topic ever reached? If not, the request is answered with an error that says why not: an
 * empty list would look like a topic without servers.
 */
bool expose_has_topic(struct expose *x, const struct expose_request *request);

/** Handles "initialize" and "server/discover". Returns false when it should wait. */
bool expose_hello(struct expose *x, const struct expose_request *request);
bool expose_discover(struct expose *x, const struct expose_request *request);

/** Remembers what every 2026-07-28 request says about the client. */
void expose_hello_modern(struct expose *x, const struct mcpx_rpc *rpc);

/** Appends the params of "initialize" that a server of the topic is asked with. */
void expose_hello_write(const struct expose *x, struct mcpx_text *out);

/* ---- expose_route.c: whose is it ---- */

enum expose_routing {
    EXPOSE_ROUTED,
    EXPOSE_UNKNOWN,
    EXPOSE_AMBIGUOUS, /* it could be for `participant` or for `rival` */
    EXPOSE_MALFORMED,
    EXPOSE_NO_MEMORY
};

/** Finds the participant a request is for. `out` is zero-initialised; expose_route_fini frees it. */
enum expose_routing expose_route_find(struct expose *x, const struct mcpx_rpc *rpc,
                                      struct expose_route *out);

/** Frees what a route holds. */
void expose_route_fini(struct expose_route *route);

/* ---- expose_ids.c: ids that servers hand out ---- */

/** Where an object may hold one, besides the related task in `_meta`. */
enum { EXPOSE_ID_OF_TASK = 1, EXPOSE_ID_IN_TASK = 2, EXPOSE_ID_OF_ELICITATION = 4 };

/**
 * Appends an object of this participant with the ids the client knows. Returns false and appends
 * nothing when it has none that are called otherwise there.
 */
bool expose_ids_show(struct expose *x, struct mcpx_slice participant, struct mcpx_slice object,
                     unsigned where, struct mcpx_text *out);

/** The way back: an object of the client for this participant, its related task only. */
bool expose_ids_restore(struct expose *x, struct mcpx_slice participant,
                        struct mcpx_slice object, struct mcpx_text *out);

/** Remembers that this participant handed out an id, a raw JSON string; anything else is none. */
void expose_ids_note(struct expose *x, struct mcpx_slice participant, enum expose_space space,
                     struct mcpx_slice raw);

/** Remembers what an answer to a call of the client hands out. */
void expose_ids_note_answer(struct expose *x, const struct expose_call *call,
                            const struct mcpx_rpc *rpc);

/** Did this participant hand it out? */
bool expose_ids_owns(const struct expose *x, struct mcpx_slice participant,
                     enum expose_space space, struct mcpx_slice raw);

/* ---- expose_request.c: a request on its way ---- */

/** Sends a request on. Returns false when it should wait. */
bool expose_forward(struct expose *x, const struct expose_request *request);

/** The client takes a request back. */
void expose_cancel(struct expose *x, const struct mcpx_rpc *rpc);

/**
 * Tells the topic that nobody waits for a call any more; it is for the caller to end.
 * `reason` is a raw JSON string or absent.
 */
void expose_take_back(struct expose *x, struct expose_call *call, struct mcpx_slice reason);

/** The answer came. */
void expose_answered(struct expose *x, struct expose_call *call,
                     const struct mcpx_event *event);

/** It could not be delivered. */
void expose_undelivered(struct expose *x, struct expose_call *call,
                        const struct mcpx_event *event);

/** Ends a call with an error; of ours, without. */
void expose_fail(struct expose *x, struct expose_call *call, int code,
                 const struct mcpx_text *message);

/** Ends a call of the client that was answered or given up, and what was asked about it. */
void expose_end(struct expose *x, struct expose_call *call);

/** Lets calls run out of time. */
void expose_calls_tick(struct expose *x);

/** When expose_calls_tick is due. */
int64_t expose_calls_deadline(const struct expose *x);

/* ---- expose_proposal.c: a request that needs somebody's consent ---- */

/** Sends a call as proposal; on failure the call is over. */
void expose_propose(struct expose *x, struct expose_call *call);

/** Somebody acts on it. */
void expose_approved(struct expose *x, struct expose_call *call,
                     const struct mcpx_event *event);

/** Somebody rejected it. */
void expose_rejected(struct expose *x, struct expose_call *call,
                     const struct mcpx_event *event);

/** Tells that a proposal still waits. */
void expose_beat(struct expose *x, struct expose_call *call);

/** Refused and no way to propose: says what would be right. Ends the call. */
void expose_refuse(struct expose *x, struct expose_call *call, struct mcpx_slice would_allow);

/* ---- expose_ask.c: servers ask the client ---- */

/** A request for us. */
void expose_ask(struct expose *x, const struct mcpx_event *event);

/** The client answered. */
void expose_ask_answered(struct expose *x, const struct mcpx_rpc *rpc);

/** The server takes its request back. */
void expose_ask_cancelled(struct expose *x, struct mcpx_slice participant,
                          struct mcpx_slice params);

/** A call ended. When it was the participant's last, so do its questions. */
void expose_ask_over(struct expose *x, struct mcpx_slice participant);

/** The client is gone: nobody answers any more. */
void expose_ask_leave(struct expose *x);

/** Forgets what a participant, or with an absent slice anybody, asked; the client is told. */
void expose_ask_drop(struct expose *x, struct mcpx_slice participant);

/* ---- expose_watch.c: resources and lists the client watches ---- */

/** Remembers, or forgets, that the client watches a resource. */
void expose_watch_set(struct expose *x, const struct expose_thing *thing,
                      struct mcpx_slice shown, bool on);

/** Passes notifications/resources/updated on when the client watches that. */
void expose_watch_updated(struct expose *x, struct mcpx_slice participant,
                          const struct mcpx_rpc *rpc);

/** A call that was to watch a resource failed: it is not watched. Other calls are none of it. */
void expose_unwatch(struct expose *x, const struct expose_call *call);

/** A participant is there anew: it is told what the client watches. */
void expose_watch_renew(struct expose *x, struct mcpx_slice participant);

/** Frees all. */
void expose_watch_fini(struct expose *x);

/** Handles subscriptions/listen of 2026-07-28. */
bool expose_listen(struct expose *x, const struct expose_request *request);

/** Ends it, when `id` names it. Returns whether it did. */
bool expose_listen_end(struct expose *x, struct mcpx_slice id);

/** Tells that a list changed, in the way the client wants to hear it. */
void expose_tell_changed(struct expose *x, enum expose_list list);

/* ---- expose_held.c: lines that wait ---- */

/** Keeps a line. */
void expose_hold(struct expose *x, struct mcpx_slice line);

/** Takes a kept request back. Returns whether there was one with that id. */
bool expose_unhold(struct expose *x, struct mcpx_slice id);

/** Frees all. */
void expose_held_fini(struct expose *x);

/* ---- expose_server.c ---- */

/** Handles a line; with `may_wait` it may end up among the held ones. */
void expose_serve(struct expose *x, struct mcpx_slice line, bool may_wait);

#endif
