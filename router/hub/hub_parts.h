/*
 * hub_parts.h - what the files of the hub ask of each other: what is pending, topics that are being
 * opened, joining and leaving.
 */
#ifndef HUB_HUB_PARTS_H
#define HUB_HUB_PARTS_H

#include "router/hub/hub.h"
#include "router/hub/topic/hub_state.h"
#include "router/hub/topic/notice.h"
#include "router/hub/topic/topic.h"
#include "router/store/commit/submission.h"

/*
 * ---- what a gated hub has accepted and nobody has answered yet. It stands beside the logs: where
 * the order is decided by whoever stores, other envelopes may come in between, and one that is
 * refused leaves no hole.
 *
 *     accepted --> line --hub_next_task--> handed --hub_commit, hub_reject--> done
 *                   ^                         |
 *                   +--- again <--------------+   an update or a leave that was rejected
 */

/**
 * One submission. That of a message or an update is one allocation, which ends when it is answered.
 * A peer's join is one that the peer owns: its leave is submitted with the same, so that memory
 * cannot be missing for it.
 */
struct pending {
    struct submission submission;
    /* Link in one of the hub's lists; in none while a peer only keeps it for its leave. */
    struct link in_line;
    struct topic *topic; /* where */
    struct peer *peer;   /* who says it, or whom it is about: kept until it is answered */
    uint64_t hash;       /* of its id, or of the participant's, for the topic */
    int64_t mono_ms;     /* when it was submitted */
    uint32_t sender;     /* of a message: log_sender of who says it */
    size_t size;         /* bytes of the allocation */
    const struct admission *admission; /* of a join: how the peer wants to come in */
    /* Of a join: whom it replaces has left meanwhile; if it is rejected, that is told. */
    bool orphaned;
    const char *reason; /* then: why; NULL = no reason */
};

/** 2^64 by the golden ratio: multiples of it lie far apart. */
#define PENDING_GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/** Numbers in a row would stand in a row, and each that is taken out would move all behind it. */
static inline uint64_t ticket_hash(uint64_t ticket)
{
    uint64_t hash = ticket * PENDING_GOLDEN;

    return hash ^ hash >> 32;
}

/** Ends all that is pending, without an answer. */
void pendings_fini(struct hub *hub);

/**
 * Submits a message.
 *
 * message   borrowed
 * about     what else is to be said of it: kind_sent, correlation_id and grant are copied
 *
 * Returns MCPX_OK; MCPX_ENOMEM; MCPX_ESPACE when the logs have no room for it; MCPX_EUNAVAILABLE
 * when too much is pending, or too much of the same participant. Nothing has changed then.
 */
enum mcpx_err pending_message(struct peer *peer, const struct log_message *message,
                              const struct submission *about);

/**
 * Submits the join of a peer, which keeps the pending. `admission` is copied; `reason` is static,
 * NULL when it replaces nobody. False when memory runs out.
 */
bool pending_join(struct peer *peer, const struct admission *admission, const char *reason);

/** Submits that a peer's grants have changed. False when memory runs out. */
bool pending_update(struct peer *peer);

/** Submits the leave of a peer whose join was answered. `reason` is static, NULL = none. */
void pending_leave(struct peer *peer, const char *reason);

/** Takes back what has this ticket, if any: it is not pending, but there until pending_done. */
struct pending *pending_take(struct hub *hub, uint64_t ticket);

/** Marks what is to be submitted again, by pending_retry_all. */
void pending_retry(struct pending *pending);

/**
 * What was taken back is freed, unless it was submitted again or a peer owns it. A peer that is
 * gone is freed with the last that is about it.
 */
void pending_done(struct pending *pending);

/** Submits again what waits for that, and gives back memory that tables do not need. */
void pending_retry_all(struct hub *hub);

/** The pending join or leave of the participant with exactly this id, or NULL. */
struct pending *pending_presence(const struct topic *topic, struct mcpx_slice id);

/** Ends a peer that is in no topic and no line: it is freed once nothing is pending about it. */
void pending_free_peer(struct peer *peer);

/** The pending message with this id, or NULL. */
struct pending *pending_by_id(const struct topic *topic, struct mcpx_slice id);

/*
 * ---- the topics of a stored hub that are not in memory: those that are being loaded, and for a
 * second what came of it when that is no topic.
 */

/** Frees all. */
void topic_loads_fini(struct hub *hub);

/** The next task that opens or closes a topic. False when there is none. */
bool topic_load_next_task(struct hub *hub, struct task *task);

/** The ticket of a TASK_OPEN was answered: is all loaded? Harmless when it is no such ticket. */
void opening_answer(struct hub *hub, uint64_t ticket, bool loaded);

/**
 * May somebody come into a topic of a stored hub? MCPX_OK when it is open (`topic`), or known to be
 * absent; MCPX_EOPENING; MCPX_ENOTNOW.
 */
enum mcpx_err topic_load_check(const struct hub *hub, const struct topic *topic,
                               struct mcpx_slice name, struct mcpx_now now);

/** True when one topic more may be there, be it in the place of one that is idle. */
bool topic_load_has_room(const struct hub *hub);

/** Makes a topic that is not there, after topic_load_has_room. NULL when memory runs out. */
struct topic *topic_load_create(struct hub *hub, struct mcpx_slice name, struct usage *maker);

/** Ends an idle topic. */
void topic_load_close(struct topic *topic);

/** Gives up loads that take too long, and forgets results whose time is over. */
void topic_loads_expire(struct hub *hub);

/* ---- joining and leaving, for the files that make participants do so ---- */

/** Takes a peer out of its topic, if it is there, and tells the others, or submits that. */
void depart_leave(struct peer *peer, enum mcpx_err err);

/** Disconnects everybody in a topic that memory has no room for. It is opened again later. */
void depart_lose(struct topic *topic);

/**
 * Answers the sender, who is in its topic, and counts the refusal. Errors with a close code end the
 * connection; so does one refusal too many, because every answer costs more than the message that
 * provoked it, and so do answers unread. Leaves slow readers to hub_disconnect_slow.
 */
void answer_sender(struct peer *peer, const struct error_notice *error, struct mcpx_now now);

/**
 * It is committed: the joiner comes in as it would have without a gate. If its connection is gone
 * or disconnected meanwhile, it is told all the same, and leaves.
 */
void admit_commit(struct pending *pending);

/** It is rejected: the joiner is disconnected, and whom it was to replace stays. */
void admit_reject(struct pending *pending);

/**
 * Disconnects readers that fell off a log, and those who fall off because others are told. To be
 * called after anything was appended.
 */
void hub_disconnect_slow(struct hub *hub);

/**
 * Completes a short kind from the envelope its correlation_id names, which is in the topic's log or
 * pending: `mcp/response:METHOD` from a request of the same method, `mcp/request:METHOD` from a
 * proposal, if it is meant for those who may answer or act. Protocol: section 4.
 *
 * sender      who says it
 * envelope    in: as sent; out: its kind completed, with slices of `text`
 *
 * False, with the kind untouched, when nothing is to be completed, or memory is out (`text`).
 */
bool derive_kind(const struct topic *topic, struct mcpx_slice sender,
                 struct mcpx_envelope *envelope, struct mcpx_text *text);

#endif
