/*
 * world.h - a hub in a box: participants by name, a clock turned by hand, and a transcript that
 * can be read against the protocol.
 *
 *     world_joins(w, "alice", "chat");
 *     world_says(w, "alice", "{\"id\":\"m1\",\"kind\":\"chat\"}");
 *     world_expect(w, "alice < welcome alice [chat]; head null\n"
 *                     "alice < presence join alice\n"
 *                     "alice < chat m1 from alice\n");
 *
 * A transcript is grouped by participant, in order of their names; within one, in order of
 * arrival. How each message reads is told by transcript.c, one line per kind.
 */
#ifndef TESTS_WORLD_H
#define TESTS_WORLD_H

#include "tests/support/reader_place.h"

struct world;

/** Makes a world with the default settings; aborts when that fails. */
struct world *world_new(void);

/** Makes one with other settings. */
struct world *world_with(const struct hub_config *config);

/** Frees the last one that was made, as making another one does: a suite's `.fini`. */
void world_end(void);

/** The hub inside. */
struct hub *world_hub(const struct world *world);

/** The time in the world. */
struct mcpx_now world_now(const struct world *world);

/** The connection of somebody who is there. */
struct peer *world_peer(const struct world *world, const char *name);

/** How somebody joins. */
struct arrival {
    const char *grants;   /* patterns, separated by spaces; "to=ID" and "expires=MS" (from the
                             beginning of the world) behind a pattern are its conditions */
    const char *deny;     /* patterns likewise */
    const char *topic;    /* NULL = "room" */
    enum routing routing; /* as asked for in the query */
    enum routing prefers; /* as the participant's settings say */
    int64_t expires_ms;   /* of the token, from the beginning of the world; 0 = never */
    int history; /* ?history=; -1 = not given: 0 in a designated initialiser is "none" */
    const struct reader_place *place; /* where to go on; NULL = anew */
    unsigned instance;  /* ?instance=; the world then knows it by the id it gets */
    const char *key;    /* ?instance_key= */
    unsigned instances; /* of the token; 0 = the hub's */
};

/** Lets a participant in with plain grants and default everything. Fails the test if refused. */
void world_joins(struct world *world, const char *name, const char *grants);

/** Lets one in the way `arrival` says; returns what hub_admit says. */
enum mcpx_err world_arrives(struct world *world, const char *name,
                            const struct arrival *arrival);

/**
 * Says a message. An object that has no `protocol` gets that member, and `payload` if missing;
 * any other text goes out as it is. Returns the verdict.
 */
enum mcpx_err world_says(struct world *world, const char *name, const char *text);

/** Says a chat with the id "long-NUMBER" and a payload of so many bytes. */
void world_says_long(struct world *world, const char *name, unsigned number, size_t size);

/** Says raw bytes. */
enum mcpx_err world_says_bytes(struct world *world, const char *name, const char *text,
                               size_t len);

/** The connection breaks (the router is told), without a goodbye. */
void world_drops(struct world *world, const char *name);

/** The participant stops, or begins again, to read. */
void world_stalls(struct world *world, const char *name);

/** The edge holds the participant's welcome back, until world_reads_on. */
void world_holds_back(struct world *world, const char *name);
void world_reads_on(struct world *world, const char *name);

/** The participant reads as much as comes at once, and nobody else reads. */
void world_reads_once(struct world *world, const char *name);

/** Disconnects, regrants. */
void world_kicks(struct world *world, const char *name);
void world_regrants(struct world *world, const char *name, const char *grants);

/** Lets time pass, tick by tick. */
void world_waits(struct world *world, int64_t ms);

/**
 * Reads everything that is ready and compares it with what was expected. When presence waits to be
 * told, up to 50 ms pass, and it is read as well; so for all functions that read.
 */
#define world_expect(world, transcript)                                                       \
    world_expect_at((world), (transcript), __FILE__, __LINE__)
void world_expect_at(struct world *world, const char *transcript, const char *file, int line);

/** Reads everything that is ready and appends the transcript. */
void world_read(struct world *world, struct mcpx_text *transcript);

/** Reads everything that is ready and throws it away. */
void world_skip(struct world *world);

/** The last message of the router, no error, that the newest connection of this name has read. */
const char *world_told(const struct world *world, const char *name);

/** The place that the newest connection of this name has come to, going by what it read. */
struct reader_place world_place(const struct world *world, const char *name);

/** The text of the last message a participant read that is not the router's; "" if none. */
const char *world_last(const struct world *world, const char *name);

/** The text of the last system/error a participant read; "" if none. */
const char *world_last_error(const struct world *world, const char *name);

#endif
