/*
 * hub_parts.h - internal interfaces of the hub: pending submissions, loading topics, joining and
 * leaving.
 */
#ifndef HUB_HUB_PARTS_H
#define HUB_HUB_PARTS_H

#include "router/hub/hub.h"
#include "router/hub/topic/hub_state.h"
#include "router/hub/topic/notice.h"
#include "router/hub/topic/topic.h"
#include "router/store/commit/submission.h"

/*
 * ---- pending submissions: accepted, not yet answered by the store or audit. They are kept beside
 * the logs, because the commits decide the order: other envelopes may come in between, and a
 * rejected one leaves no hole.
 *
 *     accepted --> queue --hub_next_task--> handed --hub_commit, hub_reject--> done
 *                   ^                          |
 *                   +--- again <---------------+   an update or a leave that was rejected
 */

/**
 * One submission. A message or an update is one allocation, freed when it is answered. A peer owns
 * the submission of its join. The leave uses the same memory, so it cannot fail for lack of it.
 */
struct pending {
    struct submission submission;
    /* Link in one of the hub's lists; in none while a peer only keeps it for its leave. */
    struct link in_list;
    struct topic *topic; /* where */
    struct peer *peer;   /* the sender, or the subject of presence: kept until the answer */
    uint64_t hash;       /* of its id, or of the participant's, for the topic */
    int64_t mono_ms;     /* when it was submitted */
    uint32_t sender;     /* of a message: log_sender of its sender */
    size_t size;         /* bytes of the allocation */
    const struct admission *admission; /* of a join: the peer's request */
    /* Of a join: the replaced peer has left meanwhile; a rejection sends that leave. */
    bool orphaned;
    const char *reason; /* then: why; NULL = no reason */
};

/** 2^64 by the golden ratio: multiples of it lie far apart. */
#define PENDING_GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/** Spreads consecutive tickets in the table: a removal moves the whole run behind it. */
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
 * about     the rest of the submission: kind_sent, correlation_id and grant are copied
 *
 * Returns MCPX_OK; MCPX_ENOMEM; MCPX_ESPACE when the logs have no room for it; MCPX_EUNAVAILABLE
 * when too much is pending, or too much of the same participant. Nothing has changed then.
 */
enum mcpx_err pending_message(struct peer *peer, const struct log_message *message,
                              const struct submission *about);

/**
 * Submits the join of a peer, which keeps the pending. `admission` is copied; `reason` is static,
 * NULL when it replaces none. False when memory runs out.
 */
bool pending_join(struct peer *peer, const struct admission *admission, const char *reason);

/** Submits that a peer's grants have changed. False when memory runs out. */
bool pending_update(struct peer *peer);

/** Submits the leave of a peer whose join was answered. `reason` is static, NULL = none. */
void pending_leave(struct peer *peer, const char *reason);

/** Takes the submission with this ticket, if any: no longer pending, kept until pending_done. */
struct pending *pending_take(struct hub *hub, uint64_t ticket);

/** Marks a submission for pending_retry_all. */
void pending_retry(struct pending *pending);

/**
 * Frees a taken submission, unless it was submitted again or a peer owns it. A peer that is gone is
 * freed with its last submission.
 */
void pending_done(struct pending *pending);

/** Submits again all submissions marked by pending_retry, and shrinks the tables. */
void pending_retry_all(struct hub *hub);

/** The pending join or leave of the participant with exactly this id, or NULL. */
struct pending *pending_presence(const struct topic *topic, struct mcpx_slice id);

/** Ends a peer that is in no topic and no list: frees it once nothing about it is pending. */
void pending_free_peer(struct peer *peer);

/** The pending message with this id, or NULL. */
struct pending *pending_by_id(const struct topic *topic, struct mcpx_slice id);

/*
 * ---- the topics of a stored hub that are not in memory: loads under way, and for a second the
 * results of loads without a topic.
 */

/** Frees all. */
void topic_loads_fini(struct hub *hub);

/** The next task that opens or closes a topic. False when there is none. */
bool topic_load_next_task(struct hub *hub, struct task *task);

/** The ticket of a TASK_OPEN was answered: is all loaded? Harmless with any other ticket. */
void topic_load_answered(struct hub *hub, uint64_t ticket, bool loaded);

/**
 * May a participant join a topic of a stored hub? MCPX_OK when it is open (`topic`), or known to be
 * absent; MCPX_EOPENING; MCPX_ENOTNOW.
 */
enum mcpx_err topic_load_check(const struct hub *hub, const struct topic *topic,
                               struct mcpx_slice name, struct mcpx_now now);

/** True when the hub has room for one more topic, perhaps in place of an idle one. */
bool topic_load_has_room(const struct hub *hub);

/** Makes a topic, after topic_load_has_room. NULL when memory runs out. */
struct topic *topic_load_create(struct hub *hub, struct mcpx_slice name, struct usage *maker);

/** Ends an idle topic. */
void topic_load_close(struct topic *topic);

/** Gives up loads that take too long, and forgets expired results. */
void topic_loads_expire(struct hub *hub);

/* ---- joining and leaving, for the files that make participants do so ---- */

/** Takes a peer out of its topic, if it is there, and tells the others, or submits that. */
void leave_topic(struct peer *peer, enum mcpx_err err);

/** Disconnects all participants of a topic that memory has no room for. It may be opened again. */
void leave_lost_topic(struct topic *topic);

/**
 * Commits a join: the joiner is admitted as in a hub without commits. If its connection has ended
 * meanwhile, the others still get its join, and then its leave.
 */
void admit_commit(struct pending *pending);

/** Rejects a join: the joiner is disconnected, and the peer it was to replace stays. */
void admit_reject(struct pending *pending);

/**
 * Disconnects slow consumers, and the readers that become slow consumers through the presence of
 * those leaves. Call it after anything was appended.
 */
void hub_disconnect_slow(struct hub *hub);

/* ---- routing ---- */

/**
 * Answers a sender in its topic, and counts the refusal. Errors with a close code end the
 * connection. So do too many refusals, because an answer costs more than the refused message, and
 * too many unread answers. Leaves slow consumers to hub_disconnect_slow.
 */
void answer_sender(struct peer *peer, const struct error_notice *error, struct mcpx_now now);

/**
 * Completes a short kind from the correlated envelope, in the topic's log or pending:
 * `mcp/response:METHOD` from a request of the same method, `mcp/request:METHOD` from a proposal,
 * if the sender and addressees may answer or fulfil it. Protocol: section 4.
 *
 * sender      the participant that sends it
 * envelope    in: as sent; out: its kind completed, with slices of `text`
 *
 * False, with the kind untouched, when nothing is to be completed, or memory is out (`text`).
 */
bool derive_kind(const struct topic *topic, struct mcpx_slice sender,
                 struct mcpx_envelope *envelope, struct mcpx_text *text);

#endif
