/*
 * state.h - one server at its topics: its state, shared by the files it is made of, and what they
 * do for its pool and for each other.
 */
#ifndef MCPX_BRIDGE_IMPORT_STATE_H
#define MCPX_BRIDGE_IMPORT_STATE_H

#include "lib/base/bucket.h"
#include "lib/base/holders.h"
#include "lib/json/json_write.h"
#include "tools/common/command.h"
#include "tools/mcpx-bridge/bridge.h"
#include "tools/mcpx-bridge/import/pool.h"

#include <mcpx/contract.h>
#include <mcpx/rpc.h>
#include <mcpx/session.h>

/** The server's tools. */
struct import_tools {
    struct mcpx_tools *known; /* those of the last list; NULL before the first one */
    /* Tools of the pages received so far; NULL when no list is read. Tool calls wait for it. */
    struct mcpx_tools *coming;
    bool again;          /* the list changed while it was read */
    size_t pages, bytes; /* of the list that is read */
    int64_t due_at; /* mono_ms at which one is read that changes too often; INT64_MAX: none */
    struct mx_bucket reads; /* of lists */
    /* Lists in a row that changed while they were read, with calls waiting. */
    unsigned in_row;
    struct mcpx_text doubts; /* what was said about them last */
};

/** The origin of a request. All but PARTICIPANT are the bridge's own. */
enum import_purpose {
    IMPORT_PARTICIPANT,
    IMPORT_GREETING, /* server/discover or initialize */
    IMPORT_TOOLS,
    IMPORT_TASK,         /* tasks/get or tasks/result of a task of our own */
    IMPORT_HOUSEKEEPING, /* its result is ignored: subscribe again, cancel a task */
    /* The server reports changes, of the resource or task `context`; not `written`: it refuses. */
    IMPORT_LISTEN
};

/*
 *   DOWN --started--> PROBING --not of 2026--> INITIALIZING ----> LEGACY
 *      \                 |                      ^ | a late answer to the probe
 *       \                +----------------------|-+-------------> MODERN
 *        +--started, cannot handle the probe ---+
 *
 * Every death leads back to DOWN.
 */
enum import_handshake {
    IMPORT_DOWN,
    IMPORT_PROBING,
    IMPORT_INITIALIZING,
    IMPORT_LEGACY,
    IMPORT_MODERN
};

/** Facts about a command's first contact. Zero-initialised: none, its next process is probed. */
struct import_probe {
    bool plain;       /* the next process gets initialize at once */
    bool proven;      /* a process became ready, so the greeting stays as it is */
    unsigned changes; /* how often the greeting was changed */
    bool refused[2];  /* initialize was refused: [1] after the probe, [0] without one */
};

/**
 * One of our topics, with the messages that wait for its session: one queue for each receiver, in
 * turn. A receiver is a participant with all its instances, or the whole topic.
 */
struct import_topic {
    char self[MCPX_ID_MAX]; /* our participant id there; empty before the first welcome */
    size_t self_len;
    size_t message_max;       /* longest envelope the router takes, in bytes; 0 = not known */
    struct mx_holders held;   /* bytes that wait, by receiver */
    struct mx_buckets shares; /* of the receivers: half of the router's rate */
    /* `rate`, `sent`: the router's rate limit, and its bucket. */
    struct mx_rate rate;
    struct mx_bucket sent;
    uint64_t worth;              /* cost of a message besides its bytes */
    struct bridge_calls clients; /* what participants can do: requester.c */
    struct import_turn *first;   /* queues, by turn; NULL: nothing waits */
    int64_t due_ms; /* mono_ms before which nothing may go; INT64_MAX: no such time */
};

/** State shared by all servers. */
struct import_pool {
    struct import_config config; /* with all defaults filled in */
    int64_t now_ms;              /* mono_ms of the latest input */
    struct import_probe probe;   /* how the processes of the command are greeted */
    int64_t last_ask; /* number of the latest question; no two servers have the same */
    struct import_topic *topics;
    struct bridge_output output;    /* actions of all servers */
    struct bridge_checks checks;    /* of tool calls under contract settings */
    struct bridge_calls task_tools; /* those that can only be called as tasks: tasks.c */
    /* Our id in the first topic joined, at that time: the enforcement point in records. */
    char edge[MCPX_ID_MAX];
    size_t edge_len;
    /* By their numbers, `size` of them: as many as may run, and as many that are ending. NULL:
     * there is none of that number. */
    struct import **servers;
    size_t size;
    size_t alive;           /* processes of servers from 1 on, those that end included */
    struct bridge_row *row; /* action handed out and not done yet, or NULL */
};

/** A process: it waits for one, has one, or has one that ends; it is gone, and so the server. */
enum import_phase { IMPORT_WAITING, IMPORT_RUNNING, IMPORT_STOPPING, IMPORT_OVER };

/** One server. */
struct import {
    struct import_pool *pool;
    const struct import_config *config; /* the pool's */
    size_t number;                      /* for its actions */
    struct bridge_who owner; /* the one participant it serves; without an id: everybody */
    enum import_phase phase;
    bool is_away; /* its owner has left the topic */
    /* mono_ms at which it is stopped, unless it is used before; INT64_MAX while it is in use. */
    int64_t idle_at;
    struct bridge_calls calls; /* requests */
    struct bridge_calls asks;  /* questions about them */
    /* Tasks: `who` and `proposer` own the one with the id `context`. `task`: it is over;
     * `progress`: `starts` of its process. */
    struct bridge_calls tasks;
    struct bridge_calls subs;   /* resources that participants watch: subs.c */
    struct bridge_calls levels; /* of log messages that participants set */
    struct {
        int64_t lists;        /* number of the request about changes of lists */
        int64_t ended;        /* number of the latest resources/unsubscribe written */
        int64_t due_at;       /* mono_ms at which import_listen is due; INT64_MAX: never */
        struct mx_map by_uri; /* LISTEN for resources that it reports; their hash is `bound` */
    } listen;
    unsigned log_level; /* of an older server; 0: none was set */
    struct import_tools tools;
    enum import_handshake handshake;
    bool probed;      /* this process was asked server/discover */
    bool again;       /* it ended or will be ended, and the next is greeted in another way */
    bool retried;     /* the version was already taken from the server's own list */
    char version[32]; /* of the protocol, spoken with the server */
    bool has_mended;  /* it was logged that the bytes are not UTF-8 */
    struct mcpx_text greeting; /* raw result for participants' initialize */
    size_t starts;             /* how often it became ready */
    bool over;                 /* there will be no server any more */
    /* Why no server runs now: a sentence, and raw JSON error data. */
    struct mcpx_text outage, outage_data;
    struct mcpx_text failure; /* why it will never work, a sentence; empty = none */
    enum mcpx_err notice_err; /* of the last notification: the same is not logged twice */
};

/** The number of a row that is found by a text: its hash. */
static inline int64_t import_number_of(const struct import_pool *pool, struct mcpx_slice text)
{
    return (int64_t)(mx_map_hash(pool->topics->held.key, text) >> 1 | 1);
}

/** True when the server takes requests. */
static inline bool import_is_ready(const struct import *import)
{
    return import->handshake == IMPORT_LEGACY || import->handshake == IMPORT_MODERN;
}

/** True for an error with this code. */
static inline bool import_is_error(const struct mcpx_rpc *rpc, const char *code)
{
    return bridge_is(mcpx_json_get(rpc->error, "code"), code);
}

/** A capability that the server declares; absent: none of that name. */
static inline struct mcpx_slice import_can(const struct import *import, const char *name)
{
    struct mcpx_slice greeting = mcpx_text_view(&import->greeting);

    return mcpx_json_get(mcpx_json_get(greeting, "capabilities"), name);
}

/** The tasks extension of 2026-07-28, and whether capabilities have it. */
#define IMPORT_TASKS "io.modelcontextprotocol/tasks"
static inline bool import_has_extension(struct mcpx_slice capabilities)
{
    return mcpx_json_get(mcpx_json_get(capabilities, "extensions"), IMPORT_TASKS).text;
}

/* ---- first contact with a server ---- */

/** The process runs: first contact. */
void import_handshake_start(struct import *import);

/** The server answered a GREETING; the call is dropped. */
void import_handshake_answered(struct import *import, struct bridge_call *call,
                               const struct mcpx_rpc *rpc, struct mcpx_now now);

/** The server did not answer one in time: another follows, or the process is killed. */
void import_handshake_late(struct import *import, struct bridge_call *call);

/** The process is gone. If it was not ready, the next one may be greeted the other way. */
void import_handshake_down(struct import *import);

/* ---- its tools ---- */

/**
 * The server is ready, or says that its list changed. Does nothing without contract settings.
 * Waiting tool calls go on when the list is complete.
 */
void import_tools_ask(struct import *import, struct mcpx_now now);

/** A page came, or an error; the call is dropped. */
void import_tools_answered(struct import *import, struct bridge_call *call,
                           const struct mcpx_rpc *rpc, struct mcpx_now now);

/** The process is gone. Its tools stay known until there is another list. */
void import_tools_down(struct import *import);

/** The server does not list them in time; the call is dropped. */
void import_tools_late(struct import *import, struct bridge_call *call, struct mcpx_now now);

/* ---- messages that wait for their turn ---- */

/** Frees what waits. */
void import_turns_fini(struct import_topic *topic);

/**
 * Sets our rate limit in a topic: the welcome's raw member "limits"; absent: no limit. One receiver
 * always gets half of it, in bytes and in a fixed cost for each message. It also gets the part of
 * the other half that other receivers do not use.
 */
void import_turns_limit(struct import_topic *topic, struct mcpx_slice limits);

/**
 * True when a participant's next request must be refused: with answers as long as `longest`, or as
 * its longest waiting message, `under_way` requests and one more would exceed its limit.
 */
bool import_turns_are_full(struct import_topic *topic, struct mcpx_slice participant,
                           size_t under_way, uint64_t longest);

/**
 * Takes out the next action; NULL when there is none. Messages first enter their receiver's queue.
 * A full queue drops its oldest notification for a new one, and logs this once. It gives up a new
 * answer or question. When all queues together are full, the largest queue gives up its oldest
 * message. A substitute may use as much room once more.
 */
struct bridge_row *import_turns_next(struct import_pool *pool, int64_t now_ms);

/* ---- what participants want to hear of the server: subs.c ---- */

/**
 * True when the bridge itself answers a subscription, its end, or logging/setLevel: with {}, or
 * with the error `why`; NULL: none. Else the level of log messages follows from the request, or
 * that of the request from what its participant has set.
 */
bool import_takes(struct import *import, struct bridge_call *call, const char **why);

/**
 * The server, or the bridge, agreed to a participant's request, and subscriptions or levels follow
 * from that. Returns why the requester must get an error instead; NULL: it need not.
 */
const char *import_agreed(struct import *import, const struct bridge_call *call);

/** A participant left, or all of a topic when `id` is absent. */
void import_subs_left(struct import *import, struct bridge_who who);

/**
 * Passes an update on to the subscribers of the resource. When no topic has any, these are the
 * subscribers of a resource whose URI is the beginning of this one.
 */
void import_subs_updated(struct import *import, const struct mcpx_rpc *rpc);

/**
 * Subscribes to what participants want, as far as the server does not report it yet, and ends what
 * none of them wants any more.
 */
void import_listen(struct import *import);

/** True: `out` is what the server gets instead of a resources/subscribe. */
bool import_listen_add(const struct import *import, const struct bridge_call *call,
                       struct mcpx_text *out);

/** The server acknowledges a request. Returns that of a participant, which is then answered. */
struct bridge_call *import_listen_acknowledged(struct import *import,
                                               struct mcpx_slice params);

/** Tells an older server the lowest level of those that are set; `asked` by a request, 0: none. */
void import_tell_level(struct import *import, unsigned asked);

/** Passes a log message on. */
void import_log(struct import *import, const struct mcpx_rpc *rpc);

/* ---- tool calls under contract settings: admission and completion ---- */

/** Records a request refused by its session, if it was meant as a tool call. */
void import_terms_note_broken(struct import *import, size_t topic,
                              const struct mcpx_event *event);

/* ---- one server of the pool ---- */

/** The number of that participant's own server; 0 when it has none. */
size_t import_pool_server(const struct import_pool *pool, struct bridge_who who);

/** A participant asks: finds or makes the server that takes the request. */
void import_pool_request(struct import_pool *pool, size_t topic,
                         const struct mcpx_event *event, struct mcpx_now now);

/** No action is left: frees the servers that ended, and starts or stops idle times. */
void import_pool_look_after(struct import_pool *pool, struct mcpx_now now);

/** Does what is due at this time. */
void import_tick(struct import *import, struct mcpx_now now);

/** mono_ms at which import_tick is due; INT64_MAX when nothing waits. */
int64_t import_deadline(const struct import *import);

/* ---- what the server is given to read ---- */

/**
 * Gives a line, which is taken, to the child.
 *
 * call   number of the request in it; 0 = none
 */
void import_write(struct import *import, struct mcpx_text line, int64_t call);

/**
 * Writes a request of our own. NULL, of HOUSEKEEPING only: too many, the answer is not read.
 *
 * params   members without braces, may be empty
 */
struct bridge_call *import_request(struct import *import, enum import_purpose purpose,
                                   const char *method, struct mcpx_slice params);

/** The same with a `context`. */
struct bridge_call *import_request_about(struct import *import, enum import_purpose purpose,
                                         const char *method, struct mcpx_slice context,
                                         struct mcpx_slice params);

/**
 * A request whose result is ignored got it, or was not written (NULL): drops it. A subscription is
 * kept, also one that the server refuses. Another one follows one that ended.
 */
void import_own_over(struct import *import, struct bridge_call *call,
                     const struct mcpx_rpc *rpc);

/** Tells the server that a call was cancelled. */
void import_cancel(struct import *import, const struct bridge_call *call, const char *reason);

/**
 * Writes a participant's request: with the call's number as id, with another progress token if it
 * has one, and, for a server of 2026, with the members of _meta that are absent, and the
 * capabilities of the requester.
 */
void import_write_request(struct import *import, const struct bridge_call *call,
                          struct mcpx_slice payload);

/** Of the members of _meta that MCP defines. */
#define IMPORT_META "io.modelcontextprotocol/"

/** Our client info, as a pattern of mx_format for mcpx_version(). */
#define IMPORT_CLIENT_INFO "{\"name\":\"mcpx-bridge\",\"version\":%q}"

/** A notification with one member of its params changed, and with "jsonrpc". */
struct mcpx_text import_with_param(const struct mcpx_rpc *rpc, const char *name,
                                   struct mcpx_slice value);

/**
 * A participant asks: the request goes to the server, waits, or is answered; with `refusal`, an
 * error of ours, if that is not NULL.
 */
void import_take_request(struct import *import, size_t topic, const struct mcpx_event *event,
                         const char *refusal, struct mcpx_now now);

/** True when there is room for the messages that are kept. */
static inline bool import_keeps(const struct import *import, const struct bridge_call *call)
{
    return bridge_may_have(call->holder->payload_bytes, import->calls.payload_bytes,
                           import->config->wait_bytes);
}

/**
 * The server lists its tools, for a call that asked because it has a pin (tools/common/proposal.h):
 * the call goes on, is refused, or asks for the next page. Its `list` is one of these.
 */
enum import_pin { IMPORT_PIN_ASKED = 1, IMPORT_PIN_COMPARED };
void import_compared(struct import *import, struct bridge_call *call,
                     const struct mcpx_rpc *rpc, struct mcpx_now now);

/** Forwards the waiting requests that need not wait any more, in their order. */
void import_forward_waiting(struct import *import, struct mcpx_now now);

/* ---- actions: log lines, announcements, notifications, outages, answers ---- */

/** Logs a sentence, by a pattern of mx_format: cut at 500 bytes, control characters replaced. */
#define import_say(import, ...) import_say_text((import), mx_formatted(__VA_ARGS__))
void import_say_text(struct import *import, struct mcpx_text sentence);

/** The first 200 bytes of a server's text, for log lines. */
static inline struct mcpx_slice import_shown(struct mcpx_slice text)
{
    return (struct mcpx_slice){text.text, text.len < 200 ? text.len : 200};
}

/** Sends a sentence as chat to every topic, where granted; not for a server with an owner. */
void import_announce(struct import *import, const char *text);

/** Sends a notification of the server to its owner, or to everybody in every topic. */
void import_notify(struct import *import, struct mcpx_slice notice);

/** Sends a notification of the server to the addressees of the draft, in one topic. */
void import_notify_topic(struct import *import, size_t topic, const struct mcpx_draft *draft);

/** Adds an action, as bridge_output_add. Its server is filled in. */
void import_want(struct import *import, struct bridge_row row);

/** The same with a text that is taken; as bridge_output_put. */
void import_want_text(struct import *import, struct bridge_row row, struct mcpx_text text);

/** Sends a draft in a topic; its outcome is ignored. */
void import_want_send(struct import *import, size_t topic, const struct mcpx_draft *draft);

/** Sends a participant a message that is about an envelope. */
void import_send_to(struct import *import, struct bridge_who who, const char *kind,
                    struct mcpx_slice about, struct mcpx_slice payload);

/** Drops a request without an answer (DROP), or ignores the answer to one of ours (FORGET). */
void import_want_about(struct import *import, enum bridge_action_type type, size_t topic,
                       struct mcpx_slice envelope);

/** This server will never work. A server with an owner logs this, and is stopped. */
#define import_give_up(import, ...) import_give_up_for((import), mx_formatted(__VA_ARGS__))
void import_give_up_for(struct import *import, struct mcpx_text why);

/** Stops the process of a server with an owner. */
void import_stop(struct import *import);

/**
 * Answers a participant's call with the server's answer, or with one of ours that has no text, and
 * drops it: with its own id, as contract settings change it, and with the tools as they are shown.
 */
void import_pass_answer(struct import *import, struct bridge_call *call,
                        const struct mcpx_rpc *rpc);

/** Drops a participant's call, which is not answered. */
void import_abandon(struct import *import, struct bridge_call *call);

/** Answers it with an error of ours, and drops it. One of our own is only dropped. */
void import_refuse(struct import *import, struct bridge_call *call, enum mcpx_cause cause,
                   const char *message);

/** Answers it with import->outage, and drops it. */
void import_refuse_for_outage(struct import *import, struct bridge_call *call);

/** An answer could not be sent: another one is tried, or there is none. */
void import_answer_failed(struct import *import, const struct bridge_row *row,
                          enum mcpx_err err);

#endif
