/*
 * expose_world.h - a server without pipe or socket: what it writes is kept, what the topic answers
 * is written down by the test, and the clock is turned by hand.
 */
#ifndef TESTS_EXPOSE_WORLD_H
#define TESTS_EXPOSE_WORLD_H

#include "tools/mcpx-bridge/expose/expose.h"

enum { WORLD_DRAFTS = 1024, WORLD_LINES = 1024, WORLD_PRESENT = 8, WORLD_GRANTS = 8 };

/** A draft as it was sent. `id` is "e1", "e2", ... */
struct world_draft {
    char *type, *to, *about, *payload;
    char id[16];
    void *tag;
    int64_t expires_ms;
};

struct world {
    struct expose *expose;
    struct mcpx_now now;
    struct world_draft drafts[WORLD_DRAFTS];
    size_t draft_count;
    size_t draft_seen; /* world_draft_next goes on here */
    char *lines[WORLD_LINES];
    size_t line_count;
    size_t line_seen;
    char *notes;
    struct mcpx_text out; /* all that was done, a line each, as a transcript has it */
    const char *present[WORLD_PRESENT]; /* other participants; all may answer anything */
    size_t present_count;
    struct mcpx_capset *grants; /* ours */
    enum expose_room_mode room;
    bool behind;       /* the client does not read */
    const char *about; /* correlation_id of what others send; NULL: none */
    enum mcpx_err send_fails;
    bool fails_once; /* only the next one */
    size_t narrow;   /* a longer response is too big; 0 = none is */
    char *responses; /* "REQUEST PAYLOAD\n"... */
    int chances;     /* how often random bytes were asked for */
};

/** What a test starts with; no grants mean all of mcp. */
struct world_setup {
    bool plain;
    bool http; /* several clients, which get answers only */
    bool discover, channel;
    enum expose_room_mode room;
    const char *only;
    const char *grants[WORLD_GRANTS];
};

/** Makes a server in a topic without anybody else, not yet joined. */
void world_start(struct world *world, const struct world_setup *setup);
void world_stop(struct world *world);

/** Does, and keeps, what the server wants. To be called after all but the functions below. */
void world_fetch(struct world *world);

/** An event as it is. */
void world_tell(struct world *world, const struct mcpx_event *event);

/** JOINED. */
void world_join(struct world *world);

/** A participant comes, with presence. */
void world_come(struct world *world, const char *id);
void world_go(struct world *world, const char *id);

/** A line of the client. */
void world_say(struct world *world, const char *line);

/** The clock goes on, and tick is called. */
void world_wait(struct world *world, int64_t ms);

/** The next line or draft nobody looked at yet; fails the test when there is none. */
const char *world_line(struct world *world);
const struct world_draft *world_draft(struct world *world);

/** True when every line, or draft, was looked at. */
bool world_is_quiet(const struct world *world);

/** Expects the next line to be exactly this. */
void world_expect(struct world *world, const char *line);

/** Expects the next draft: "TYPE TO PAYLOAD", with " about ID" after TO when it has that. */
void world_expect_draft(struct world *world, const char *draft);

/** A request was answered: `result` becomes {"jsonrpc":"2.0","id":1,"result":...}. */
void world_answer(struct world *world, const struct world_draft *draft, const char *result);

/** An event of that type about one of our drafts (or NULL), from somebody, with a payload. */
void world_event(struct world *world, enum mcpx_event_type type,
                 const struct world_draft *draft, const char *from, const char *payload);

/** The same with a whole event to change first. */
void world_event_with(struct world *world, struct mcpx_event *event, const char *from,
                      const char *payload);

/**
 * Client and one server "s" are there: initialized as 2025-11-25, the server's lists answered.
 * `tools`, `prompts`, `resources`, `templates` are items; NULL = the server has no such list.
 */
struct world_server {
    const char *id;
    const char *tools, *resources, *templates, *prompts;
};
void world_serve(struct world *world, const struct world_server *servers, size_t count);

#endif
