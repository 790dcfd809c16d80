/*
 * room.h - the topic itself, for any client: what participants said there, as far as it is kept
 * (chats, proposals, decisions about these, and the answers to approved ones), and the tools and
 * the resource to read it and to say more.
 */
#ifndef MCPX_BRIDGE_EXPOSE_ROOM_H
#define MCPX_BRIDGE_EXPOSE_ROOM_H

#include "lib/base/holders.h"
#include "lib/json/json_write.h"
#include "tools/mcpx-bridge/calls.h"
#include "tools/mcpx-bridge/expose/servers/catalog.h"
#include "tools/mcpx-bridge/output.h"

#include <mcpx/session.h>

struct expose;
struct expose_request;

/** What was said, as a resource. */
#define ROOM_URI "mcpx://topic/history"

/** Bounds: messages, their bytes in all, bytes of one text in JSON, and bytes of a result. */
enum {
    ROOM_SAID_MAX = 1000,
    ROOM_SAID_BYTES = 1 << 20,
    ROOM_TEXT_MAX = 16 << 10,
    ROOM_RESULT_MAX = 64 << 10
};

/* ---- what was said: a ring in the order of the topic. ---- */

/** One message. */
struct room_said {
    struct room_said *next;
    struct mcpx_slice id, from;
    const struct mcpx_slice *to; /* none: everyone */
    size_t to_count;
    struct mcpx_text json; /* the object that clients get */
    size_t cost;           /* its bytes in a result, as structure and as text */
    int64_t place;         /* > 0, rises */
    int64_t expires_ms;    /* of a proposal, wall_ms; INT64_MAX: never */
    bool is_proposal;
    bool is_request; /* it approved a proposal */
    bool is_over;    /* a proposal: it was decided or withdrawn */
    bool is_cut;     /* the text is not whole */
};

/** The ring. Zeroed except for the key of `held`, it is empty. */
struct room_log {
    struct room_said *first, *last;
    size_t count;
    int64_t place;          /* of the newest */
    int64_t lost;           /* of the newest that gave way */
    struct mx_holders held; /* bytes, per participant with its instances */
    struct mx_map by_id;
};

void room_log_fini(struct room_log *log);

/**
 * Keeps the envelope of an event. The oldest message of the participant with most gives way.
 *
 * Returns the message, lent until the next call; NULL when it is none of those kept here.
 */
const struct room_said *room_log_take(struct room_log *log, const struct mcpx_event *event);

/** The message with that envelope's id; NULL: it is not kept (any more). */
struct room_said *room_log_find(const struct room_log *log, struct mcpx_slice id);

/** A member of the object of a message, raw. */
static inline struct mcpx_slice room_said_get(const struct room_said *said, const char *name)
{
    return mcpx_json_get(mcpx_text_view(&said->json), name);
}

/** Which messages. */
struct room_query {
    int64_t after;            /* place; only later ones */
    size_t limit;             /* at most so many */
    bool newest;              /* of more, the newest; else the oldest */
    struct mcpx_slice reader; /* only those to it or to all, and not from it; absent: all */
    int64_t open_ms;          /* not 0: only proposals that are open at this wall_ms */
};

/** What was written: how many, how many were left out, and where to go on; absent: as before. */
struct room_page {
    size_t count, left_out;
    struct mcpx_slice last;
};

/** Appends the messages, separated, as far as ROOM_RESULT_MAX permits. */
struct room_page room_log_write(const struct room_log *log, const struct room_query *query,
                                const char *separator, struct mcpx_text *out);

/** True when the query is for that message. */
bool room_query_fits(const struct room_query *query, const struct room_said *said);

/* ---- the room of a server ---- */

/** What was said, and calls of its tools that wait. */
struct expose_room {
    struct room_log log;
    struct bridge_calls calls; /* `context` of a wait: the place it waits behind */
    int64_t filled_ms;         /* mono_ms at which the history has come; 0: it has */
    int64_t rested_ms;         /* mono_ms from which the client is told of changes again */
    bool is_changed;           /* who watches it must be told */
};

/** Answers a request about them. False: it is about something else. */
bool expose_room_serve(struct expose *x, const struct expose_request *request);

/** Appends those that the client may use; and their hash, 1 without any. */
void expose_room_list(const struct expose *x, enum expose_list list, struct mcpx_text *out);
uint64_t expose_room_hash(const struct expose *x, enum expose_list list);

/** True for the URI of the room's resource. */
bool expose_room_has(const struct expose *x, enum expose_list list, struct mcpx_slice shown);

/** Puts the room's lines in front of the servers' instructions, and cuts all at 2 KB. */
void expose_room_instruct(const struct expose *x, struct mcpx_text *instructions);

/** Keeps what an event says, before it is handled; and ends what waits for it. */
void expose_room_event(struct expose *x, const struct mcpx_event *event);

/** The message of a call was sent, or could not be. */
void expose_room_sent(struct expose *x, int64_t number, const struct bridge_outcome *outcome);

/** Does what is due; and when that is. */
void expose_room_tick(struct expose *x);
int64_t expose_room_deadline(const struct expose *x);

/** Cancels the call with that id (false: there is none); ends all with an error. */
bool expose_room_cancel(struct expose *x, struct mcpx_slice id);
void expose_room_abandon(struct expose *x, struct mcpx_slice sentence);

/** True when a call waits for its own message to get its place. */
bool expose_room_is_busy(const struct expose *x);

/** The tools in the order of their list. */
enum room_tools {
    ROOM_SEND,
    ROOM_HISTORY,
    ROOM_WAIT,
    ROOM_WHO,
    ROOM_PROPOSALS,
    ROOM_PROPOSE,
    ROOM_WITHDRAW,
    ROOM_APPROVE,
    ROOM_REJECT,
    ROOM_TOOLS
};

/** The tool with a shown name, ROOM_TOOLS: none; and whether the client may use it. */
enum room_tools room_tool_find(struct mcpx_slice shown);
bool room_tool_is_shown(const struct expose *x, enum room_tools tool);

/** Their functions. Those that send are answered later. */
typedef void room_tool(struct expose *x, const struct expose_request *request,
                       struct mcpx_slice arguments);
room_tool room_send, room_propose, room_withdraw, room_approve, room_reject;
room_tool room_history, room_wait_for, room_who, room_proposals;

/** Answers with a JSON object, taken; `of_others`: it holds what participants sent. */
void room_answer(struct expose *x, const struct expose_request *request,
                 struct mcpx_text structured, bool of_others);

/** Answers why the tool did nothing. */
void room_refuse_made(struct expose *x, const struct expose_request *request,
                      struct mcpx_text why);
#define room_refuse(x, request, ...)                                                          \
    room_refuse_made((x), (request), mx_formatted(__VA_ARGS__))

/**
 * Keeps a call until `due_ms`, NULL: it is refused, too many wait; and its request again. Without
 * a `context` it waits for its own message, else for messages behind that place.
 */
struct bridge_call *room_wait(struct expose *x, const struct expose_request *request,
                              struct mcpx_slice context, int64_t due_ms);
struct expose_request room_request(const struct bridge_call *call, struct mcpx_rpc *rpc);

/** The text of an argument; absent when it is none. Appended to `own`. */
struct mcpx_slice room_argument(struct mcpx_slice arguments, const char *name,
                                struct mcpx_text *own);

#endif
