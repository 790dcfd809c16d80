/*
 * expose.h - a topic as one MCP server. Inputs are lines of a client, events of a session and the
 * time, borrowed during the call; outputs are actions. The owner of pipe and socket calls it.
 */
#ifndef MCPX_BRIDGE_EXPOSE_EXPOSE_H
#define MCPX_BRIDGE_EXPOSE_EXPOSE_H

#include "lib/base/map.h"
#include "tools/mcpx-bridge/calls.h"
#include "tools/mcpx-bridge/output.h"

#include <mcpx/session.h>

/** Most levels of arrays and objects in a message of the client. */
enum { EXPOSE_DEPTH_MAX = 512 };

/** The tools of the room: none; those to talk and propose; also those to decide. */
enum expose_room_mode { EXPOSE_ROOM_NO, EXPOSE_ROOM_TALK, EXPOSE_ROOM_DECIDE };

/** Settings. The caller keeps the texts as long as the server. */
struct expose_config {
    const char *topic; /* for titles */
    /* Begins our progress tokens; other bridges in the topic have another nonce. */
    const char *nonce;
    struct mx_map_key key; /* of hash tables: random and secret */
    bool plain;            /* tools and prompts keep their own names where these are unique */
    /* There are several clients, and they get answers only: no notifications, and no requests
     * of servers; an answer may hold questions. */
    bool answers_only;
    enum expose_room_mode room; /* not NO: the view has `self`, and the session observes */
    bool discover;              /* tools to find and call those of servers stand for these */
    bool channel;               /* Claude Code's channel; needs a room, not answers_only */
    /* Contract settings of tool calls, kept as long as the server; NULL: none. */
    const struct bridge_terms *terms;
    /* Patterns of shown items: a participant with all its items, or single tools, prompts
     * and resources by the names that the client sees. * stands for any bytes. None: all. */
    const char *const *only;
    size_t only_count;
    int64_t request_ms;   /* timeout of a call, restarted by each progress; 0: none */
    int64_t proposal_ms;  /* timeout of a proposal without a decision; 0: none */
    int64_t heartbeat_ms; /* pause between progress notifications of a proposal; > 0 */
};

/**
 * The server's questions to its session, its client and the system: functions, so that tests can
 * give any answers.
 */
struct expose_view {
    const void *user;
    bool (*may)(const void *user, const struct mcpx_question *question);
    bool (*could)(const void *user, struct mcpx_slice participant,
                  const struct mcpx_kind *kind);
    /* The id of the other participant at `index`; false when there is none. */
    bool (*roster)(const void *user, size_t index, struct mcpx_slice *id);
    /* limits.message_bytes of the router; 0 = none known. */
    size_t (*message_max)(const void *user);
    /* True while the client has so much output to read that it gets answers only. */
    bool (*is_behind)(const void *user);
    /* The clocks at this moment. Only contract settings need this function. */
    struct mcpx_instant (*now)(const void *user);
    /* Random bytes. */
    void (*chance)(const void *user, void *bytes, size_t len);
    /* Our participant id; absent before the first join. Only the room needs it. */
    struct mcpx_slice (*self)(const void *user);
};

struct expose;

/** Makes a server; copies both arguments. expose_free accepts NULL. */
struct expose *expose_new(const struct expose_config *config, const struct expose_view *view);
void expose_free(struct expose *x);

/** Handles a line of the client; or refuses a line that is too long, by its first bytes. */
void expose_line(struct expose *x, struct mcpx_slice line, struct mcpx_now now);
void expose_overlong(struct expose *x, struct mcpx_slice beginning);

/** Handles an event of the session. */
void expose_event(struct expose *x, const struct mcpx_event *event, struct mcpx_now now);

/**
 * The next action to do, lent until expose_done; NULL: none. After every input the caller does all
 * actions before it gives the next input.
 */
const struct bridge_action *expose_next(struct expose *x);

/**
 * The calls under contract settings; NULL before the first one. The caller takes their records
 * (mcpx_calls_next_record) before each action, so the log of a call precedes its effects.
 */
struct mcpx_calls *expose_calls(const struct expose *x);

/** The action of expose_next is done. Handling `outcome`, borrowed, may add actions. */
void expose_done(struct expose *x, const struct bridge_outcome *outcome, struct mcpx_now now);

/** Does the work that is due; and the mono_ms of the next work, INT64_MAX: none. */
void expose_tick(struct expose *x, struct mcpx_now now);
int64_t expose_deadline(const struct expose *x);

/** The topic will not come back: answers all open requests with an error and this sentence. */
void expose_abandon(struct expose *x, struct mcpx_slice sentence);

/** The client is gone: takes back its requests and proposals, so work on them can stop. */
void expose_leave(struct expose *x, struct mcpx_now now);

/** True when the client waits for no answer, except for decisions about proposals. */
bool expose_is_idle(const struct expose *x);

#endif
