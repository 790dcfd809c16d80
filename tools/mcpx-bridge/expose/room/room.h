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
enum { ROOM_SAID_MAX = 4000, ROOM_SAID_BYTES = 4 << 20, ROOM_PAGE_BYTES = 20 << 10 };

/* ---- what was said ---- */

/** OPEN, OVER: a proposal. REQUEST: it approved one; `written` once it is answered. END: it
 * rejected or withdrew one, or answered such a request. */
enum room_stage { ROOM_NOTHING, ROOM_SAID, ROOM_OPEN, ROOM_OVER, ROOM_REQUEST, ROOM_END };

/**
 * Messages in the order of the topic. `who` sent one in the envelope `came_in`, with `method` and
 * `context` in its kind, to `params` if to one alone; `bound` is a hash of both as its payload has
 * them; `payload` is the object that clients get, of `list` bytes, and behind it the whole answer
 * to a proposal of ours if it is cut there; `progress` is its place, > 0; a proposal expires at
 * `due_ms`, wall_ms, and `token` is the pin of its tool; of an approved one `proposer` made it.
 * `gone` has the places of the last messages that gave way: a client that read one goes on behind
 * it. Zeroed except for `key` and `start` it is empty.
 */
struct room_log {
    struct bridge_calls said, gone;
    struct mx_map_key key;  /* secret: nobody makes ids that look the same */
    struct mcpx_text start; /* the place `began`; the epoch, if the topic is whole */
    int64_t began;          /* the place of the last join: what came before may be lost */
    int64_t place, lost;    /* of the newest, and of the newest that gave way */
};

/**
 * Keeps the envelope of an event. The oldest message of the participant with most gives way; whole
 * answers first. `self`: our id. Returns the message, lent until the next call; NULL: none is kept.
 */
const struct bridge_call *room_log_take(struct room_log *log, const struct mcpx_event *event,
                                        struct mcpx_slice self);

/** The message in that envelope; NULL: it is not kept (any more). */
struct bridge_call *room_log_find(const struct room_log *log, struct mcpx_slice id);

/** A member of the object of a message, raw. */
static inline struct mcpx_slice room_said_get(const struct bridge_call *said, const char *name)
{
    return mcpx_json_get(mcpx_text_view(&said->payload), name);
}

/** The id of its only addressee; absent: it is to several, or to everyone. */
static inline struct mcpx_slice room_said_addressee(const struct bridge_call *said)
{
    return said->params;
}

/** True when it is for this participant. */
bool room_said_is_for(const struct bridge_call *said, struct mcpx_slice id);

/** Which messages: all that the members do not leave out. */
struct room_query {
    struct mcpx_slice after;  /* the first ones behind this place; absent: the newest */
    struct mcpx_slice before; /* without `after`: the newest in front of this one */
    size_t limit;             /* at most so many, > 0 */
    struct mcpx_slice reader; /* only those for it, and not from it */
    int64_t open_ms;          /* only proposals that are open at this wall_ms */
    const struct expose *x;   /* which says of each whether its tool has changed; or NULL */
};

/** A result for a client; with `waits` empty when there is nothing to tell. */
struct mcpx_text room_log_read(const struct room_log *log, const struct room_query *query,
                               bool waits);

/**
 * True when the tool of a proposal to that participant is known as another than the proposed one.
 * `left`: so many bytes of lists may be read for it; counted down.
 */
bool expose_has_changed(const struct expose *x, const struct bridge_call *said,
                        struct mcpx_slice to, size_t *left);

/** The beginning of a text that has so many bytes, at most, in a JSON string. */
struct mcpx_slice room_cut(struct mcpx_slice text, size_t bytes);

/* ---- the room of a server: its tools ---- */

struct expose_room {
    struct room_log log;
    int64_t to_come;         /* how many envelopes of the history are still to come */
    bool is_changed;         /* who watches it must be told */
    struct mcpx_text pushed; /* the place behind which the channel goes on; empty: not begun */
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

/** Answers a call in the stage LOOKS if it is due or has messages. */
void expose_room_look(struct expose *x, struct bridge_call *wait);

/** The method of permission prompts. */
#define EXPOSE_PERMISSION "permission/ask"

/** Appends the capabilities of the channel; pushes messages; and handles the params of a prompt. */
void expose_channel_announce(const struct expose *x, struct mcpx_text *out);
void expose_channel_tell(struct expose *x);
void expose_channel_ask(struct expose *x, struct mcpx_slice prompt);

/** Tells who watches the resource that there are new messages, if there are. */
void expose_room_tell(struct expose *x);

/** The result with an object, taken, or with the reason why the tool did nothing; answers so. */
struct mcpx_text room_result(struct mcpx_text text, bool is_error);
#define room_answer(x, request, text, is_error)                                               \
    expose_tell_result((x), (request), room_result((text), (is_error)))
#define room_refuse(x, request, ...)                                                          \
    room_answer((x), (request), mx_formatted(__VA_ARGS__), true)

/** The text of an argument; absent when it is none. Appended to `own`. */
struct mcpx_slice room_argument(struct mcpx_slice arguments, const char *name,
                                struct mcpx_text *own);

#endif
