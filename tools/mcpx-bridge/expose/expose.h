/*
 * expose.h - a topic as one MCP server: lines of a client, events of a session and the time go in,
 * borrowed during the call, and actions come out. The owner of pipe and socket calls it.
 */
#ifndef MCPX_BRIDGE_EXPOSE_EXPOSE_H
#define MCPX_BRIDGE_EXPOSE_EXPOSE_H

#include "lib/base/map.h"
#include "tools/mcpx-bridge/calls.h"
#include "tools/mcpx-bridge/output.h"

#include <mcpx/session.h>

/** Settings; texts are kept as long as the server. */
struct expose_config {
    const char *topic; /* for people */
    /* Begins our progress tokens, so that they differ from those of other bridges in the topic. */
    const char *nonce;
    struct mx_map_key key; /* of hash tables: random, and told to nobody */
    bool plain;            /* tools and prompts keep their names where these are unique */
    /* There are several clients, which hear answers and nothing else: nothing is told that
     * nobody asked for, and servers may ask none of them. */
    bool answers_only;
    /* What calls of tools have to keep, kept as long as the server; NULL: nothing. */
    const struct bridge_terms *terms;
    /* Patterns of what is shown: a participant with all it has, or single tools, prompts and
     * resources under the names the client sees; * stands for any bytes. None = all. */
    const char *const *only;
    size_t only_count;
    int64_t request_ms;   /* how long a call may take without a sign of life; 0 = for ever */
    int64_t proposal_ms;  /* how long a proposal waits for somebody to decide; 0 = for ever */
    int64_t heartbeat_ms; /* pause between signs of life while a proposal waits; > 0 */
};

/**
 * What the server asks of its session, its client and the system: questions only, to functions, so
 * that tests can give any answers.
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
    /* Has the client not read what it was told for so long that only answers are kept for it? */
    bool (*is_behind)(const void *user);
    /* The clocks at this moment; asked with terms alone, as is. */
    struct mcpx_instant (*now)(const void *user);
    /* Random bytes. */
    void (*chance)(const void *user, void *bytes, size_t len);
};

struct expose;

/** Makes a server; both arguments are copied. NULL may be freed. */
struct expose *expose_new(const struct expose_config *config, const struct expose_view *view);
void expose_free(struct expose *x);

/** One line of the client; or the first bytes of one that is too long, which is refused. */
void expose_line(struct expose *x, struct mcpx_slice line, struct mcpx_now now);
void expose_overlong(struct expose *x, struct mcpx_slice beginning);

/** One event of the session. */
void expose_event(struct expose *x, const struct mcpx_event *event, struct mcpx_now now);

/**
 * What is wanted next, lent until expose_done; NULL when nothing is. After every input and before
 * the next one, all that is wanted is to be done.
 */
const struct bridge_action *expose_next(struct expose *x);

/**
 * The calls under terms; NULL before the first one. Their records are taken before each action is
 * done (mcpx_calls_next_record): what is written down of a call precedes what comes of it.
 */
struct mcpx_calls *expose_calls(const struct expose *x);

/** That was done; what came of it may lead to more. `outcome` is borrowed. */
void expose_done(struct expose *x, const struct bridge_outcome *outcome, struct mcpx_now now);

/** Does what is due; and the mono_ms at which something is, INT64_MAX when nothing waits. */
void expose_tick(struct expose *x, struct mcpx_now now);
int64_t expose_deadline(const struct expose *x);

/** The topic will not come back: answers all open requests with an error and this sentence. */
void expose_abandon(struct expose *x, struct mcpx_slice sentence);

/** The client is gone: takes back its requests and proposals: nobody works on them in vain. */
void expose_leave(struct expose *x, struct mcpx_now now);

/** True when the client waits at most for decisions of people. */
bool expose_is_idle(const struct expose *x);

#endif
