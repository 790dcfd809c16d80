/*
 * pending.h - what a gated hub has accepted and nobody has answered yet. It stands beside the logs:
 * where the order is decided by whoever stores, other envelopes may come in between, and one that
 * is refused leaves no hole.
 *
 *     accepted --> line --hub_next_task--> handed --hub_commit, hub_reject--> done
 *                   ^                         |
 *                   +--- again <--------------+   an update or a leave that was rejected
 */
#ifndef HUB_PENDING_H
#define HUB_PENDING_H

#include "lib/base/map.h"
#include "router/store/commit/submission.h"
#include <mcpx/base.h>

struct admission;
struct hub;
struct log_message;
struct peer;
struct topic;

/**
 * One submission. That of a message or an update is one allocation, which ends when it is answered.
 * A peer's join is one that the peer owns: its leave is submitted with the same, so that memory
 * cannot be missing for it.
 *
 * in_line    link in one of the hub's lists; in none while a peer only keeps it for its leave
 * topic      where
 * peer       who says it, or whom it is about: kept until it is answered
 * hash       of its id, or of the participant's, for the topic
 * mono_ms    when it was submitted
 * sender     of a message: log_sender of who says it
 * size       bytes of the allocation
 * admission  of a join: how the peer wants to come in
 * replaces   of a join: somebody was there under the same id
 * orphaned   of a join: whom it replaces has left meanwhile; if it is rejected, that is told
 * reason     then: why; NULL = no reason
 */
struct pending {
    struct submission submission;
    struct link in_line;
    struct topic *topic;
    struct peer *peer;
    uint64_t hash;
    int64_t mono_ms;
    uint32_t sender;
    size_t size;
    const struct admission *admission;
    bool replaces, orphaned;
    const char *reason;
};

/**
 * All of a hub.
 *
 * line       not handed out, in order of acceptance
 * handed     handed out
 * again      rejected, to be submitted again
 * tickets    those that are handed out, by ticket
 * ids        messages, by hash
 * presences  joins and leaves, and those that peers keep, by hash of the participant
 * count      in the three lists
 * bytes      of the messages among them
 */
struct pendings {
    struct link line, handed, again;
    struct mx_map tickets, ids, presences;
    size_t count, bytes;
};

/** 2^64 by the golden ratio: multiples of it lie far apart. */
#define PENDING_GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/** Numbers in a row would stand in a row, and each that is taken out would move all behind it. */
static inline uint64_t ticket_hash(uint64_t ticket)
{
    uint64_t hash = ticket * PENDING_GOLDEN;

    return hash ^ hash >> 32;
}

/** Prepares none. */
void pendings_init(struct pendings *pendings);

/** Ends something that is pending, without an answer. False when nothing is. */
bool pending_drop(struct pendings *pendings);

/** Frees the tables; nothing is pending any more. */
void pendings_fini(struct pendings *pendings);

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

/** The first in line, with a ticket of its own; NULL when there is none, or no memory. */
struct pending *pending_hand_out(struct hub *hub);

/**
 * Takes back what has this ticket: it is not pending any more, but there until pending_done. NULL
 * when the ticket is not known.
 */
struct pending *pending_take(struct hub *hub, uint64_t ticket);

/** Marks what is to be submitted again, by pending_retry_all. */
void pending_retry(struct pending *pending);

/** Submits again what waits for that, and gives back memory that tables do not need. */
void pending_retry_all(struct hub *hub);

/**
 * What was taken back is freed, unless it was submitted again or a peer owns it. A peer that is
 * gone is freed with the last that is about it.
 */
void pending_done(struct pending *pending);

/** The pending message with this id in the topic, or NULL. */
const struct pending *pending_find(const struct topic *topic, struct mcpx_slice id);

/** The pending join or leave of the participant with exactly this id, or NULL. */
struct pending *pending_presence(const struct topic *topic, struct mcpx_slice id);

/** Ends a peer that is in no topic and no line: it is freed once nothing is pending about it. */
void pending_free_peer(struct peer *peer);

struct entry;
struct pending;
struct topic;

/**
 * What is known of it. Lent until the hub is changed.
 *
 * sender    log_sender of who said it
 * entry     in the log; NULL = it is pending
 * pending   NULL = it is in the log
 */
struct accepted {
    struct mcpx_slice kind;
    uint32_t sender;
    const struct entry *entry;
    const struct pending *pending;
};

/** Finds it by id: in the log first. False leaves `out` untouched. */
bool accepted_find(const struct topic *topic, struct mcpx_slice id, struct accepted *out);

/** True when the id is taken: by such an envelope, or spent not long ago (log.h). */
bool accepted_knows(const struct topic *topic, struct mcpx_slice id);

/** True when it is addressed to nobody in particular, or to this participant. */
bool accepted_is_for(const struct accepted *accepted, struct mcpx_slice participant);

#endif
