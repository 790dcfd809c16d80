/*
 * opening.h - the topics of a stored hub that are not in memory: those that are being loaded, and
 * for a second what came of it when that is no topic.
 */
#ifndef HUB_OPENING_H
#define HUB_OPENING_H

#include "lib/base/map.h"
#include "router/hub/log/list.h"
#include "router/store/commit/submission.h"

struct hub;
struct tally;
struct topic;

/**
 * What is known of a topic that is not open.
 *
 * OPENING_WAITING   its task was not handed out
 * OPENING_LOADING   it was
 * OPENING_LATE      and takes longer than anybody has to wait; what comes of it counts all the same
 * OPENING_FAILED    it could not be opened
 * OPENING_ABSENT    there is no such topic
 */
enum opening_state {
    OPENING_WAITING,
    OPENING_LOADING,
    OPENING_LATE,
    OPENING_FAILED,
    OPENING_ABSENT
};

/** All of a hub. Lists are in order of `until_ms`. */
struct openings {
    struct link waiting, loading, late;
    struct link ended; /* failed or absent */
    struct mx_map names;
    struct mx_map tickets;
    size_t active;      /* waiting, loading or late: they will be topics */
    struct link closed; /* topics that TASK_CLOSE has to tell of */
    struct topic *told; /* the last one it told of */
};

/** Prepares none. */
void openings_init(struct openings *openings);

/** Frees all. */
void openings_fini(struct hub *hub);

/** The next task that opens or closes a topic. False when there is none. */
bool opening_next_task(struct hub *hub, struct task *task);

/** The ticket of a TASK_OPEN was answered; harmless when it is none. */
void opening_commit(struct hub *hub, uint64_t ticket);
void opening_reject(struct hub *hub, uint64_t ticket);

/**
 * May somebody come into a topic of a stored hub? MCPX_OK when it is open (`topic`), or known to be
 * absent; MCPX_EOPENING; MCPX_ENOTNOW.
 */
enum mcpx_err opening_check(const struct hub *hub, const struct topic *topic,
                            struct mcpx_slice name, struct mcpx_now now);

/** True when one topic more may be there, be it in the place of one that is idle. */
bool opening_has_room(const struct hub *hub);

/** Makes a topic that is not there, after opening_has_room. NULL when memory runs out. */
struct topic *opening_create(struct hub *hub, struct mcpx_slice name, struct tally *maker);

/** Ends an idle topic. */
void opening_close(struct topic *topic);

/** Gives up loads that take too long, and forgets results whose time is over. */
void openings_expire(struct hub *hub);

#endif
