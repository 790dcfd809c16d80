/*
 * hub.h - the router's heart: text and time go in, bytes to write come out. It opens, reads,
 * writes, sleeps and asks nothing, and calls nobody back, but for the clock of hub_time_matches.
 *
 * The caller (the edge, or a test) admits peers, hands over what they say, tells the time, and
 * then asks which peers have bytes to write:
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

/** One decision in so many is timed: no power of two, as bursts often come in those. */
enum { HUB_MATCH_SAMPLE = 61 };

/**
 * Times how long it takes to match the kind of a message against its sender's grants, of the first
 * message and of each HUB_MATCH_SAMPLEth, for figures. The clock never jumps.
 */
void hub_time_matches(struct hub *hub, uint64_t (*clock_ns)(void));

/**
 * Other settings from now on. Those that say how much memory a topic and its log take, and what is
 * stored and audited, have to be as they were. Who is beyond a new bound stays; nobody more comes
 * in. Participants are not told: hub_remind does that.
 */
void hub_configure(struct hub *hub, const struct hub_config *config, struct mcpx_now now);

/** Frees the hub and every peer and topic in it. NULL is allowed. */
void hub_free(struct hub *hub);

/**
 * Would this admission succeed now? The edge asks first: a refusal is then an HTTP answer. Returns
 * MCPX_OK; MCPX_ENOTOPIC when the topic does not exist and may not be created; MCPX_EFULL;
 * MCPX_ESHARE when the participant has made as many topics, or has as many connections, as it may;
 * MCPX_EPRESENT when the participant is connected and takeover is off; MCPX_EFLAPPING at the fourth
 * takeover of an id within a minute, or when the participant has come too often; MCPX_EINSTANCES
 * when as many instances of the participant are there as there may be; MCPX_EGOING while draining.
 *
 * In a gated hub also MCPX_EOPENING: the topic is not open (hub_open), or something about this
 * participant is pending; ask again when hub_waits has changed. MCPX_ENOTNOW: it cannot be opened.
 */
enum mcpx_err hub_may_admit(const struct hub *hub, const struct grant *grant,
                            const struct admission *admission, struct mcpx_now now);

/**
 * Lets a participant into a topic: it is owed a welcome, its history and its own presence, the
 * others are told. In a gated hub all that happens when its join is committed; until then the peer
 * is joining (peer_is_joining), and when the join is rejected it is disconnected with MCPX_ENOTNOW.
 *
 * grant     kept
 * owner     the edge's own pointer, given back by peer_owner
 * out       the new peer, owned by the hub until hub_leave; untouched on failure
 *
 * Returns MCPX_OK, MCPX_ENOMEM, or whatever hub_may_admit says.
 */
enum mcpx_err hub_admit(struct hub *hub, struct grant *grant,
                        const struct admission *admission, void *owner, struct mcpx_now now,
                        struct peer **out);

/** What became of one message. Slices are lent until the next call of hub_route. */
struct verdict {
    enum mcpx_err err;           /* MCPX_OK when accepted */
    struct mcpx_slice id;        /* absent when it could not be read */
    struct mcpx_slice kind_sent; /* as the sender wrote it; absent when it could not be read */
    struct mcpx_slice kind;      /* as delivered: differs from kind_sent when derived */
    /* Addressees of one that was refused; 0 of them when it named none. */
    const struct mcpx_slice *to;
    size_t to_count;
    struct mcpx_decision decision; /* filled when err is MCPX_ECAPABILITY */
};

/**
 * Routes one whole message: checks it in the order of protocol section 1, then appends it to the
 * topic's log, or queues a `system/error` for its sender. A message from a disconnected peer is
 * ignored (err MCPX_ECLOSED). One from a peer that is joining stays with the caller (err
 * MCPX_EOPENING): to be handed over again, in order, once it has joined.
 *
 * In a gated hub an accepted message is pending until it is committed or rejected; when it is
 * rejected, its sender is answered then.
 *
 * text      borrowed
 * verdict   filled
 */
void hub_route(struct hub *hub, struct peer *peer, struct mcpx_slice text, struct mcpx_now now,
               struct verdict *verdict);

/**
 * Answers a message that cannot be handed over whole (MCPX_ETOOBIG, MCPX_EBINARY, MCPX_ENOMEM) as
 * hub_route would have: a `system/error`, then the close that belongs to it. Harmless when the peer
 * is disconnected. Protocol: section 6.
 */
void hub_refuse(struct hub *hub, struct peer *peer, enum mcpx_err err, struct mcpx_now now);

/** Charges a peer's rate for frames that are no messages; beyond it each is refused like one. */
void hub_charge(struct hub *hub, struct peer *peer, size_t frames, struct mcpx_now now);

/** Tells what the edge keeps, for the statistics. */
void hub_note_edge(struct hub *hub, size_t unsent_bytes, size_t incomplete_bytes);

/** Which cap kept this participant out with MCPX_ESHARE: CAP_CONNECTIONS or CAP_TOPICS. */
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
 * Gives a connected participant other grants: it gets a new welcome (one, for all changes up to
 * the moment it reads), everybody a presence `update`. `grant` is kept and has the same identity.
 * Returns MCPX_OK; MCPX_ENOMEM, or MCPX_ECLOSED for a disconnected peer (then nothing has changed).
 */
enum mcpx_err hub_update_grants(struct hub *hub, struct peer *peer, struct grant *grant,
                                struct mcpx_now now);

/** As hub_update_grants; but nobody is told when the grant shows the same as the one before. */
enum mcpx_err hub_update_grants_quietly(struct hub *hub, struct peer *peer,
                                        struct grant *grant, struct mcpx_now now);

/** A participant gets another welcome, because what it says of limits has changed. */
void hub_remind(struct hub *hub, struct peer *peer, struct mcpx_now now);

/** The clients of a router that goes away come back within so long, at most. */
enum { DRAIN_SPREAD_MS = 30000 };

/**
 * Disconnects every peer with MCPX_EGOING and admits nobody from now on. What peers have not been
 * handed by then they do not get: write out what is ready first. Each is told when to come back:
 * one in each millisecond, as far as DRAIN_SPREAD_MS lasts. Protocol: section 6.
 */
void hub_drain(struct hub *hub, struct mcpx_now now);

/**
 * Does what is due: pings, time-outs, expiries, topics that outlived their time, presence that has
 * waited long enough to be told. Cheap when nothing is. Of grants that end or change at the same
 * time, and of pings, a few do; the others are due a millisecond later. Returns hub_due.
 */
int64_t hub_tick(struct hub *hub, struct mcpx_now now);

/** The next instant (mono_ms) at which hub_tick has something to do; at most a second away, and
 * sooner once somebody has come or gone. */
int64_t hub_due(const struct hub *hub);

/* ---- a gated hub: what is accepted, for whoever stores it (submission.h) ---- */

/**
 * The next thing to do for whoever stores; false when there is none, or no memory to keep its
 * ticket (it comes later then). Submissions come in the order in which they were accepted. To be
 * called until it returns false, after anything that may change the hub.
 */
bool hub_next_task(struct hub *hub, struct task *task);

/**
 * What the ticket names is stored, or opened: a message is appended to its log, presence is told, a
 * joiner comes in. The order of calls is the order of the log. A ticket that is not known, because
 * it was answered, is ignored.
 */
void hub_commit(struct hub *hub, uint64_t ticket, struct mcpx_now now);

/**
 * What the ticket names is not stored, or could not be opened: the sender of a message is answered,
 * a joiner is disconnected with MCPX_ENOTNOW; updates and leaves are submitted again within a
 * second, under another ticket. `rejection` is borrowed.
 */
void hub_reject(struct hub *hub, uint64_t ticket, const struct rejection *rejection,
                struct mcpx_now now);

/**
 * The store has the topic of a TASK_OPEN. To be called once, before its envelopes are loaded; not
 * at all when the store has no such topic. Returns MCPX_OK; MCPX_ENOMEM; MCPX_EINVALID when the
 * epoch is none; MCPX_ENOTFOUND when the ticket names no topic that is being opened.
 */
enum mcpx_err hub_load_topic(struct hub *hub, uint64_t ticket,
                             const struct stored_topic *stored);

/**
 * The next stored envelope of that topic, oldest first. Those beyond the bounds of history become
 * spent. Returns MCPX_OK; MCPX_ENOMEM; MCPX_EINVALID when the text is no envelope, or is none of a
 * participant: the router's own are not stored; MCPX_ENOTFOUND as hub_load_topic, or before it.
 * After a failure the ticket is to be rejected.
 */
enum mcpx_err hub_load(struct hub *hub, uint64_t ticket,
                       const struct stored_envelope *envelope);

/**
 * Begins to open a topic for who has this grant, unless it is open or being opened, or some others
 * are being opened for it already.
 *
 * Returns MCPX_OK when it is open, or known not to exist (for a second; hub_topic_find tells), or
 * nothing is stored; MCPX_EOPENING: ask again when hub_waits has changed; MCPX_EUNAVAILABLE: it
 * could not be opened within open_ms, or just now, or the hub is draining; MCPX_EFULL: all topics
 * there may be are in use; MCPX_ENOMEM.
 */
enum mcpx_err hub_open(struct hub *hub, const struct grant *grant, struct mcpx_slice topic,
                       struct mcpx_now now);

/** Changes whenever the load of a topic, or the coming or going of a participant, has ended. */
uint64_t hub_waits(const struct hub *hub);

/** Submissions that were not answered. */
size_t hub_pending(const struct hub *hub);

#endif
