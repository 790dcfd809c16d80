/*
 * hub.h - the router's core: text and time go in, bytes to write come out. The hub makes no system
 * calls and never sleeps. Its only callback is the clock of hub_time_matches.
 *
 * The caller (the edge, or a test) admits peers, hands over their messages and the time, and then
 * asks for peers with bytes to write:
 *
 *     while ((peer = hub_next_ready(hub)))
 *         while (peer_peek(peer, &output))
 *             write output.bytes, then peer_pop(peer);
 */
#ifndef HUB_HUB_H
#define HUB_HUB_H

#include "router/hub/topic/hub_config.h"
#include "router/hub/topic/peer.h"
#include "router/hub/topic/stats.h"
#include <mcpx/envelope.h>
#include <mcpx/text.h>

struct rejection;
struct stored_envelope;
struct stored_topic;
struct task;
struct topic;

/** Makes a hub. `config` is copied. Returns NULL when memory runs out. */
struct hub *hub_new(const struct hub_config *config, struct chance chance);

/** One decision in 61 is timed: bursts often come in powers of two. */
enum { HUB_MATCH_SAMPLE = 61 };

/**
 * Times the match of a message's kind against its sender's grants, for the statistics: for the
 * first message and each HUB_MATCH_SAMPLEth. `clock_ns` must be monotonic.
 */
void hub_time_matches(struct hub *hub, uint64_t (*clock_ns)(void));

/**
 * Changes the settings. The memory limits of topics and logs, and the settings of storage and
 * audit, must stay the same. Connections beyond a new bound stay; the hub admits no further ones.
 * Participants are not told: hub_remind does that.
 */
void hub_configure(struct hub *hub, const struct hub_config *config, struct mcpx_now now);

/** Frees the hub and every peer and topic in it. NULL is allowed. */
void hub_free(struct hub *hub);

/**
 * Would this admission succeed now? The edge asks first: a refusal is then an HTTP answer. Returns
 * MCPX_OK; MCPX_ENOTOPIC when the topic does not exist and may not be created; MCPX_EFULL;
 * MCPX_ESHARE when the participant's quota of topics or connections is used up;
 * MCPX_EPRESENT when the participant is connected and takeover is off; MCPX_EFLAPPING at the fourth
 * takeover of an id within a minute, or when the participant has joined too often; MCPX_EINSTANCES
 * when the participant has its maximum of instances; MCPX_EGOING while draining.
 *
 * With commits also MCPX_EOPENING: the topic is not open (hub_open), or the participant's join or
 * leave is pending; ask again when hub_waits has changed. MCPX_ENOTNOW: the topic cannot be opened.
 */
enum mcpx_err hub_may_admit(const struct hub *hub, const struct grant *grant,
                            const struct admission *admission, struct mcpx_now now);

/**
 * Admits a participant to a topic: it is owed a welcome, its history and its own presence, and the
 * others get presence. In a hub that needs commits this happens when the join is committed; until
 * then the peer is joining (peer_is_joining). A rejected join disconnects it with MCPX_ENOTNOW.
 *
 * grant     kept
 * owner     the edge's own pointer, given back by peer_owner
 * out       the new peer, owned by the hub until hub_leave; untouched on failure
 *
 * Returns MCPX_OK, MCPX_ENOMEM, or an error of hub_may_admit.
 */
enum mcpx_err hub_admit(struct hub *hub, struct grant *grant,
                        const struct admission *admission, void *owner, struct mcpx_now now,
                        struct peer **out);

/** The result of one message. Slices are lent until the next call of hub_route. */
struct verdict {
    enum mcpx_err err;           /* MCPX_OK when accepted */
    struct mcpx_slice id;        /* absent when it could not be read */
    struct mcpx_slice kind_sent; /* as the sender wrote it; absent when it could not be read */
    struct mcpx_slice kind;      /* as delivered: differs from kind_sent when derived */
    /* Addressees of a refused message; 0 of them when it named none. */
    const struct mcpx_slice *to;
    size_t to_count;
    struct mcpx_decision decision; /* filled when err is MCPX_ECAPABILITY */
};

/**
 * Routes one whole message: checks it in the order of protocol section 1, then appends it to the
 * topic's log, or queues a `system/error` for its sender. A message from a disconnected peer is
 * ignored (err MCPX_ECLOSED). A message from a joining peer stays with the caller (err
 * MCPX_EOPENING), which hands it over again, in order, once the peer has joined.
 *
 * In a hub that needs commits an accepted message is pending until it is committed or rejected.
 * A rejection is answered to its sender.
 *
 * text      borrowed
 * verdict   filled
 */
void hub_route(struct hub *hub, struct peer *peer, struct mcpx_slice text, struct mcpx_now now,
               struct verdict *verdict);

/**
 * Refuses a message that the edge cannot hand over whole (MCPX_ETOOBIG, MCPX_EBINARY, MCPX_ENOMEM)
 * as hub_route would: with a `system/error`, then the close of that error. Harmless when the peer
 * is disconnected. Protocol: section 6.
 */
void hub_refuse(struct hub *hub, struct peer *peer, enum mcpx_err err, struct mcpx_now now);

/** Charges a peer's rate for frames other than messages; beyond the rate each is refused. */
void hub_charge(struct hub *hub, struct peer *peer, size_t frames, struct mcpx_now now);

/** Sets the bytes that the edge holds, for the statistics. */
void hub_note_edge(struct hub *hub, size_t unsent_bytes, size_t incomplete_bytes);

/** The cap behind the MCPX_ESHARE that this participant's admission has just had. */
enum cap hub_cap_of(const struct hub *hub, const struct grant *grant);

/** Counts a refusal, or a connection closed, because its owner was over a cap (stats.h). */
void hub_note_cap(struct hub *hub, enum cap cap);

/**
 * Begins to close a connection: queued private frames still go out, then a close frame with the
 * error's close code. MCPX_ESLOW queues its `system/error` first. The participant leaves its topic
 * at once. Harmless when already disconnected.
 */
void hub_disconnect(struct hub *hub, struct peer *peer, enum mcpx_err err,
                    struct mcpx_now now);

/**
 * The connection is gone. Tells the others (unless the peer had left already) and frees the peer.
 * `err` is the reason others are told: MCPX_ECLOSED or MCPX_ETIMEOUT.
 */
void hub_leave(struct hub *hub, struct peer *peer, enum mcpx_err err, struct mcpx_now now);

/**
 * Changes the grants of a connected participant: it gets a new welcome (one, for all changes up to
 * the moment it reads), and all get a presence `update`. `grant` is kept and has the same identity.
 *
 * quietly   without notices when the grant shows the same as the one before
 *
 * Returns MCPX_OK; MCPX_ENOMEM, or MCPX_ECLOSED for a disconnected peer (then nothing has changed).
 */
enum mcpx_err hub_update_grants(struct hub *hub, struct peer *peer, struct grant *grant,
                                bool quietly, struct mcpx_now now);

/** Sends a participant another welcome, because the limits in it have changed. */
void hub_remind(struct hub *hub, struct peer *peer, struct mcpx_now now);

/** The clients of a draining router reconnect within this time at most. */
enum { DRAIN_SPREAD_MS = 30000 };

/**
 * Disconnects every peer with MCPX_EGOING and ends admission. Peers lose output that they have not
 * been handed: write ready output first. Each is told when to reconnect: one per millisecond, as
 * far as DRAIN_SPREAD_MS lasts. Protocol: section 6.
 */
void hub_drain(struct hub *hub, struct mcpx_now now);

/**
 * Runs all due work: pings, time-outs, expiries, the end of idle topics, delayed presence. Cheap
 * when nothing is due. Handles a few pings, and a few grants that end or change at the same time;
 * the others are due a millisecond later.
 */
void hub_tick(struct hub *hub, struct mcpx_now now);

/** The next instant (mono_ms) at which hub_tick has work; at most a second away, and sooner after
 * a join or leave. */
int64_t hub_due(const struct hub *hub);

/* ---- a hub that needs commits: its tasks for the store or audit (submission.h) ---- */

/**
 * The next task for the store or audit; false when there is none, or no memory to keep its
 * ticket (then it comes later). Submissions come in the order of acceptance. Call it until it
 * returns false, after anything that may change the hub.
 */
bool hub_next_task(struct hub *hub, struct task *task);

/**
 * Commits the submission or topic of a ticket: a message is appended to its log, presence is sent,
 * a joiner is admitted. The order of calls is the order of the log. An unknown ticket was answered
 * before and is ignored.
 */
void hub_commit(struct hub *hub, uint64_t ticket, struct mcpx_now now);

/**
 * Rejects the submission or topic of a ticket: the sender of a message is answered, a joiner is
 * disconnected with MCPX_ENOTNOW; updates and leaves are submitted again within a second, under
 * another ticket. `rejection` is borrowed.
 */
void hub_reject(struct hub *hub, uint64_t ticket, const struct rejection *rejection,
                struct mcpx_now now);

/**
 * The store has the topic of a TASK_OPEN. Call it once, before its envelopes are loaded; not
 * at all when the store has no such topic. Returns MCPX_OK; MCPX_ENOMEM; MCPX_EINVALID when the
 * epoch is invalid; MCPX_ENOTFOUND when no load has this ticket.
 */
enum mcpx_err hub_load_topic(struct hub *hub, uint64_t ticket,
                             const struct stored_topic *stored);

/**
 * The next stored envelope of that topic, oldest first. Ids beyond the bounds of history become
 * used ids. Returns MCPX_OK; MCPX_ENOMEM; MCPX_EINVALID when the text is not a participant's
 * envelope (the router's own are not stored); MCPX_ENOTFOUND as hub_load_topic, or before it.
 * After a failure the caller must reject the ticket.
 */
enum mcpx_err hub_load(struct hub *hub, uint64_t ticket,
                       const struct stored_envelope *envelope);

/**
 * Begins to open a topic for the holder of this grant, unless the topic is open or loading, or
 * too many others are loading for that participant.
 *
 * Returns MCPX_OK when it is open, or known not to exist (for a second; hub_topic_find tells), or
 * nothing is stored; MCPX_EOPENING: ask again when hub_waits has changed; MCPX_EUNAVAILABLE: it
 * could not be opened within open_ms, or just now, or the hub is draining; MCPX_EFULL: the
 * maximum of topics is in use; MCPX_ENOMEM.
 */
enum mcpx_err hub_open(struct hub *hub, const struct grant *grant, struct mcpx_slice topic,
                       struct mcpx_now now);

/** Changes whenever the load of a topic, or the join or leave of a participant, has ended. */
uint64_t hub_waits(const struct hub *hub);

/** The number of submissions without an answer. */
size_t hub_pending(const struct hub *hub);

#endif
