/*
 * room.h - the topic itself, for any client: what participants said there, as far as it is kept
 * (chats, proposals, decisions about these, and the answers to approved ones), and the tools and
 * the resource to read it and to say more.
 */
#ifndef MCPX_BRIDGE_EXPOSE_ROOM_H
#define MCPX_BRIDGE_EXPOSE_ROOM_H

#include "lib/json/json_write.h"
#include "tools/mcpx-bridge/calls.h"
#include "tools/mcpx-bridge/expose/servers/catalog.h"

#include <mcpx/session.h>

struct expose;
struct expose_request;

/** What was said, as a resource. */
#define ROOM_URI "mcpx://topic/history"

/** The tools in place of those of all servers. */
#define ROOM_FIND "room__find_tools"
#define ROOM_DESCRIBE "room__describe_tool"
#define ROOM_CALL "room__call_tool"

/**
 * Bounds: messages; their bytes in all; and those in one result, which has them twice: as text,
 * with escapes, they have at most twice the bytes.
 */
enum { ROOM_SAID_MAX = 1000, ROOM_SAID_BYTES = 1 << 20, ROOM_PAGE_BYTES = 20 << 10 };

/* ---- what was said ---- */

/** OPEN, OVER: a proposal. REQUEST: it approved one; `written` once it is answered. */
enum room_stage { ROOM_NOTHING, ROOM_SAID, ROOM_OPEN, ROOM_OVER, ROOM_REQUEST };

/**
 * Messages in the order of the topic. `who` sent one in the envelope `came_in`, with `method` and
 * `context` in its kind; `bound` is a hash of both as its payload has them; `payload` is the object
 * that clients get, `progress` its place, > 0; a proposal expires at `due_ms`, wall_ms. `gone` has
 * the places of the last messages that gave way: a client that read one goes on behind it.
 * Zeroed except for `key` and `start` it is empty.
 */
struct room_log {
    struct bridge_calls said, gone;
    struct mx_map_key key;   /* secret: nobody makes ids that look the same */
    struct mcpx_slice start; /* the place in front of all: the id of no envelope */
    int64_t place, lost;     /* of the newest, and of the newest that gave way */
};

/**
 * Keeps the envelope of an event. The oldest message of the participant with most gives way.
 * Returns the message, lent until the next call; NULL: it is none that is kept here.
 */
const struct bridge_call *room_log_take(struct room_log *log, const struct mcpx_event *event);

/** The message in that envelope; NULL: it is not kept (any more). */
struct bridge_call *room_log_find(const struct room_log *log, struct mcpx_slice id);

/** A member of the object of a message, raw. */
static inline struct mcpx_slice room_said_get(const struct bridge_call *said, const char *name)
{
    return mcpx_json_get(mcpx_text_view(&said->payload), name);
}

/** True when it is for this participant. */
bool room_said_is_for(const struct bridge_call *said, struct mcpx_slice id);

/** Which messages: all that the members do not leave out. */
struct room_query {
    struct mcpx_slice after;  /* the first ones behind this place; absent: the newest */
    size_t limit;             /* at most so many, > 0 */
    struct mcpx_slice reader; /* only those for it, and not from it */
    int64_t open_ms;          /* only proposals that are open at this wall_ms */
};

/** A result for a client; with `waits` empty when there is nothing to tell. */
struct mcpx_text room_log_read(const struct room_log *log, const struct room_query *query,
                               bool waits);

/** The beginning of a text that has so many bytes, at most, in a JSON string. */
struct mcpx_slice room_cut(struct mcpx_slice text, size_t bytes);

/* ---- the room of a server: its tools ---- */

struct expose_room {
    struct room_log log;
    int64_t to_come; /* how many envelopes of the history are still to come */
    bool is_changed; /* who watches it must be told */
};

/** Answers a request about them. False: it is about something else. */
bool expose_room_serve(struct expose *x, const struct expose_request *request);

/** Appends those that the client may use; and true for the URI of our resource, if it may. */
void expose_room_list(const struct expose *x, enum expose_list list, struct mcpx_text *out);
bool expose_room_has(const struct expose *x, enum expose_list list, struct mcpx_slice shown);

/** What a tool does; NONE: it is none of the room's own, but perhaps one of --discover. */
enum room_does {
    ROOM_DOES_NONE,
    ROOM_SENDS,
    ROOM_READS,
    ROOM_WAITS,
    ROOM_TELLS_WHO,
    ROOM_LISTS,
    ROOM_PROPOSES,
    ROOM_ENDS,
    ROOM_DECIDES,
    ROOM_DOES_COUNT
};

/** The tool of that name. `kind`: filled with what it sends; NULL: nothing. */
enum room_does room_tool_find(const struct expose *x, struct mcpx_slice name, bool *is_shown,
                              const char **kind);

/** Puts the room's lines in front of the servers' instructions, and cuts all at 2 KB. */
void expose_room_instruct(const struct expose *x, struct mcpx_text *instructions);

/** Keeps what an event says, before it is handled; and ends what waits for it. */
void expose_room_event(struct expose *x, const struct mcpx_event *event);

/**
 * Serves a tools/call of a tool that stands for the others (--discover). If that is to call one,
 * `request` becomes the call that is meant; `rpc` and `text` are memory for it.
 */
enum expose_discovery { EXPOSE_GOES_ON, EXPOSE_WAITS, EXPOSE_SERVED };
enum expose_discovery expose_discover(struct expose *x, struct expose_request *request,
                                      struct mcpx_rpc *rpc, struct mcpx_text *text);

/** Answers a call in the stage LOOKS that is due or has messages; else a heartbeat may be due. */
void expose_room_look(struct expose *x, struct bridge_call *wait);

/**
 * The method of permission prompts. The first makes the answer to an approval of one; empty: the
 * request is another. The second makes the client's answer from the end of the call.
 */
#define EXPOSE_PERMISSION "permission/ask"
struct mcpx_text expose_permission_answer(const struct expose *x,
                                          const struct mcpx_event *event);
struct mcpx_call_answer expose_permission_end(const struct bridge_call *call,
                                              const struct mcpx_call_end *how,
                                              struct mcpx_text *out);

/** Tells who watches the resource that there are new messages, if there are. */
void expose_room_tell(struct expose *x);

/** Answers with an object, taken; or says why the tool did nothing. */
void room_answer(struct expose *x, const struct expose_request *request, struct mcpx_text text,
                 bool is_error);
#define room_refuse(x, request, ...)                                                          \
    room_answer((x), (request), mx_formatted(__VA_ARGS__), true)

/** The text of an argument; absent when it is none. Appended to `own`. */
struct mcpx_slice room_argument(struct mcpx_slice arguments, const char *name,
                                struct mcpx_text *own);

#endif
