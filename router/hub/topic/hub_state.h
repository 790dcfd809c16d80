/*
 * hub_state.h - the shared state of the hub's files: the hub, a topic, and the router's end of one
 * connection with its grant, its cursor and a few private frames.
 */
#ifndef HUB_HUB_STATE_H
#define HUB_HUB_STATE_H

#include "router/hub/log/log.h"
#include "router/hub/log/presence.h"
#include "router/hub/topic/account.h"
#include "router/hub/topic/hub_config.h"
#include "router/hub/topic/peer.h"
#include "router/hub/topic/query.h"

/** Pending submissions (hub_parts.h). */
struct pendings {
    struct link queue;     /* not handed out, in order of acceptance */
    struct link handed;    /* handed out */
    struct link again;     /* rejected, to be submitted again */
    struct mx_map tickets; /* handed out, by ticket */
    struct mx_map ids;     /* messages, by hash */
    /* Joins and leaves, and joins kept by their peers, by hash of the participant. */
    struct mx_map presences;
    size_t count; /* in the three lists */
    size_t bytes; /* of the messages among them */
};

/**
 * The state of a topic that is not open.
 *
 * TOPIC_LOAD_WAITING   its task was not handed out
 * TOPIC_LOAD_LOADING   it was
 * TOPIC_LOAD_LATE      and takes longer than a client must wait; its result still counts
 * TOPIC_LOAD_FAILED    it could not be opened
 * TOPIC_LOAD_ABSENT    it does not exist
 */
enum topic_load_state {
    TOPIC_LOAD_WAITING,
    TOPIC_LOAD_LOADING,
    TOPIC_LOAD_LATE,
    TOPIC_LOAD_FAILED,
    TOPIC_LOAD_ABSENT,
    TOPIC_LOAD_STATES
};

/** Topics that are not open (hub_parts.h). */
struct topic_loads {
    struct link in[TOPIC_LOAD_STATES]; /* by state, each in order of `until_ms` */
    struct mx_map names;
    struct mx_map tickets;
    size_t active;      /* waiting, loading or late: they will be topics */
    struct link closed; /* topics with a TASK_CLOSE to hand out */
    struct topic *told; /* the last one handed out */
};

/** The hub. */
struct hub {
    struct hub_config config;
    struct chance chance;
    struct mx_map_key key;
    /* The time of the last call, for later envelopes of the router (pages). */
    struct mcpx_now now;
    struct link topics; /* all of them, in order of creation; `by_name` finds them */
    struct link peers;  /* all of them, disconnected ones included */
    /* The first of them that this round of hub_tick has not looked at yet; `peers` itself when
     * the round is over. */
    struct link *unchecked;
    struct link dirty; /* topics whose peers are to be offered new entries */
    struct link
        unpublished;     /* topics whose presence waits to be published, the first due first */
    struct link written; /* topics with envelopes whose delivery is to be timed */
    struct link ready;   /* peers to be offered out of turn */
    struct link postponed; /* peers to be offered after all others (output.c) */
    uint64_t round;        /* number of finished rounds */
    /* Readers that lost their place in a log, until hub_disconnect_slow disconnects them. */
    struct link slow;
    struct topic **by_name; /* the topics, sorted; room for by_name_size */
    size_t by_name_size;
    struct mx_map usages;     /* by hash of the participant */
    struct mcpx_text scratch; /* a text being composed */
    struct mcpx_text derived; /* the kind completed for the message being routed */
    /* See hub_time_matches; NULL = nothing is timed. */
    uint64_t (*match_ns)(void);
    unsigned untimed;       /* decisions until the next timed one */
    struct mcpx_text seats; /* the addressees' seats of the message being appended */
    struct mcpx_envelope envelope, loaded;
    struct stats stats;
    struct lag lag;               /* see hub_lag */
    struct log_budget log_budget; /* the memory of all topics' logs */
    struct pendings pendings;
    struct topic_loads loads;
    /* Topics without peers and submissions, the longest idle first. */
    struct link idle;
    uint64_t last_ticket; /* tickets given out so far */
    uint64_t waits;       /* see hub_waits */
    int64_t next_tick_ms;
    bool draining;
    bool pressed;   /* see hub_is_pressed */
    bool postpones; /* a participant has used up its bytes of this round: its peers wait */
};

/**
 * How far the envelopes of a topic have come. All are counts of envelopes, from the first one on.
 */
struct delivery {
    /* Link among the topics with envelopes that were written and not timed. */
    struct link in_written;
    /* Accepted before the first peer was last offered. When it is offered again, all peers have
     * been offered since, though the round may never end. */
    uint64_t round;
    uint64_t written; /* accepted, and offered to all peers since */
    uint64_t timed;   /* counted in the statistics */
};

/** A topic. */
struct topic {
    struct hub *hub;
    struct link in_hub; /* link among all topics; in none while the topic is loaded */
    /* Link among the topics with entries that not every peer was offered yet. */
    struct link in_dirty;
    struct link
        in_unpublished; /* link among the topics whose presence waits to be published */
    int64_t publish_ms; /* mono_ms by which it must be */
    struct mcpx_slice name;
    char epoch[TOPIC_EPOCH_LEN +
               1];        /* names this log: serials of another one mean nothing in it */
    uint64_t told;        /* the last serial in a notice to its participants */
    struct peer **peers;  /* its participants' peers, sorted by their ids */
    struct mx_map people; /* the same by hash of the id */
    size_t peer_count;
    size_t peer_size;
    /* Seats given out so far: each peer has one of these numbers while it is here. */
    uint32_t seats;
    /* Returned seats, `free_seat_count` of them; room for peer_size. */
    uint32_t *free_seats;
    size_t free_seat_count;
    size_t directed; /* peers that read in directed mode */
    /* The welcomes' list of participants, each followed by a comma, in the order of `peers`;
     * empty = to be written anew. */
    struct mcpx_text listed;
    size_t turn;              /* index of the peer that hub_next_ready offers next */
    size_t turns_left;        /* how many are left in this round */
    struct delivery delivery; /* how far its envelopes have come */
    /* Peers with a pointer to it, disconnected ones included: it is freed after the last. */
    size_t holders;
    size_t pending;      /* submissions without an answer */
    size_t joining;      /* of them, joins without a peer to replace */
    struct link in_idle; /* link among the topics with neither */
    bool lost;           /* no memory for a stored envelope: it ends, to be opened again */
    int64_t empty_ms;    /* mono_ms since when it has no participant */
    struct usage *maker; /* the usage that counts it */
    struct log_budget_part part; /* its part of all logs' memory */
    /* Of its participants, and of former ones with buckets that are not full again. */
    struct accounts accounts;
    struct log log;
    struct presence presence;
};

/** Bytes of its log and presence. */
static inline size_t topic_memory(const struct topic *topic)
{
    return log_memory(&topic->log) + topic->presence.memory;
}

/** All peers have been offered since the first `written` envelopes were accepted. */
void delivery_reached(struct topic *topic, uint64_t written);

/** Puts a topic in its place among hub->by_name, and counts it; false when memory runs out. */
bool by_name_insert(struct topic *topic);

/** Takes it out. */
void by_name_remove(const struct topic *topic);

/*
 *   JOINING -------> OPEN ------------> DISCONNECTED ------------> SHUT
 *         hub_commit      hub_disconnect              close frame
 *                                                  handed over
 *
 * Without commits a peer is OPEN at once. hub_leave ends it in any state; with submissions pending
 * about it, the peer is then GONE and not freed. Only an open peer is in its topic. From SHUT on
 * there is nothing to write.
 */
enum peer_state { PEER_OPEN, PEER_DISCONNECTED, PEER_SHUT, PEER_JOINING, PEER_GONE };

/** Takeovers remembered: a fourth within a minute is refused. Protocol: section 7. */
enum { PEER_TAKEOVERS = 3 };

/** The members of a welcome beside the participants. */
struct welcome {
    bool first; /* at the join, not after a change of grants */
    bool resumed;
    size_t count;  /* of history */
    size_t wanted; /* envelopes of history, at most */
};

/** The seat of a peer that is in no topic. */
#define PEER_NO_SEAT UINT32_MAX

/** The kind of output lent by peer_peek, for peer_pop to release. */
enum peek {
    PEEK_NOTHING,
    PEEK_OUTBOX,
    PEEK_WELCOME,
    PEEK_WELCOME_JOIN, /* the welcome and its own join in one */
    PEEK_PAGE,
    PEEK_JOIN,
    PEEK_RUN
};

/** Output owed to a peer beside ready frames: bits of peer.owed. */
enum { OWED_WELCOME = 1, OWED_JOIN = 2 };

/** Where a peer is in its topic's log and presence (cursor.c). */
struct cursor {
    uint64_t next; /* serial of the envelope it reads next */
    /* Envelopes from this serial on are live traffic, and know it by its seat. */
    uint64_t joined;
    /* Envelopes before it are history: they go out as pages of system/history. */
    uint64_t replay_end;
    bool directed;
    struct presence_reader presence; /* its place in presence, since its welcome */
    struct reader reader;            /* hold on the memory of `next` */
};

/** The first serial beyond envelopes handed to the peer, and beyond its history. */
static inline uint64_t cursor_place(const struct cursor *cursor)
{
    return cursor->next < cursor->replay_end ? cursor->replay_end : cursor->next;
}

/**
 * One connection. The members used in a round of fan-out come first, in three cache lines.
 *
 * instance_key hash of the key that can claim the instance again; 0 = none
 */
struct peer {
    struct hub *hub;
    struct topic *topic;
    void *owner;
    enum peer_state state;
    bool stalled;   /* nothing is to be written to it now */
    bool held_back; /* its welcome waits for a while, though its socket may take bytes */
    enum peek peeked;
    unsigned owed;   /* welcome and own join, until it was handed them */
    uint32_t sender; /* log_sender of its id */
    uint32_t seat;   /* its number in the topic; PEER_NO_SEAT when it is in none */
    struct cursor cursor;
    struct mcpx_text outbox; /* private frames, whole, in order */
    size_t peeked_len;
    uint64_t peeked_next;
    size_t peeked_count;
    struct presence_batch *peeked_batch;
    struct link in_ready; /* link among the peers to be offered out of turn */
    struct grant *grant;
    struct link in_hub;   /* link among all peers, disconnected ones included */
    struct link in_usage; /* link among those of its participant */
    struct usage *usage;  /* its participant's; NULL until it is counted there */
    /* Bytes of outbox and join in the hub's statistics. */
    size_t outbox_counted;
    /* Bytes at the beginning of the outbox that go before the welcome it is owed. */
    size_t welcome_at;
    struct welcome welcome; /* the content of that welcome */
    size_t listed_at;       /* its offset in topic.listed, unless that is empty */
    size_t listed_len;      /* bytes of it, the comma included */
    struct mcpx_text join;  /* frame of its own join, while it is owed */
    uint64_t missed;        /* messages lost to it as a slow consumer */
    size_t unsent;          /* bytes that the edge holds for it (peer_note_unsent) */
    size_t answers;         /* bytes of errors queued since the outbox was last empty */
    /* Why it is disconnected; its close frame is the end of the outbox. Of a peer that was gone
     * before its join was answered: why it left. */
    enum mcpx_err close_err;
    /* Its participant's, shared with the other instances; NULL when in no topic. */
    struct account *account;
    /* Its id for others: the grant's identity, or one of its instances. */
    struct mcpx_slice id;
    unsigned number; /* of that instance; 1 for the identity itself */
    uint64_t instance_key;
    int64_t heard_ms; /* mono_ms of the last sign of life */
    int pings;        /* unanswered pings since */
    /* mono_ms of the latest takeovers of this id, oldest first; 0 = none. */
    int64_t takeovers[PEER_TAKEOVERS];
    int64_t changes_ms; /* wall_ms at which one of its grants expires next; 0 = never */
    bool entered;       /* it was in its topic */
    size_t pending;     /* submissions about it without an answer */
    struct pending *own_pending; /* its join, and later its leave; NULL without commits */
};

/** Is it open or joining? */
static inline bool peer_is_connected(const struct peer *peer)
{
    return peer->state == PEER_OPEN || peer->state == PEER_JOINING;
}

/** Is its first welcome not handed over yet? */
static inline bool peer_awaits_welcome(const struct peer *peer)
{
    return peer->owed & OWED_WELCOME && peer->welcome.first;
}

/** Brings the statistics up to date after `outbox` or `join` have changed. */
void peer_count_outbox(struct peer *peer);

/** Queues the frame of a text for a peer alone, and wakes it. False when memory runs out. */
bool peer_queue(struct peer *peer, struct mcpx_slice text);

/** Queues a peer for hub_next_ready, out of its topic's order. */
void peer_wake(struct peer *peer);

/** Ends a peer that is in no topic and no list: its state is GONE. pending_free_peer frees it. */
void peer_end(struct peer *peer);

/* ---- the next output of a peer: a page of history, or a run of envelopes and presence. */

/** The largest page of history, unless one envelope is larger. Protocol: section 5. */
enum { CURSOR_PAGE_MAX = 262144 };

/**
 * Places the cursor of a joiner: at its resume position (?epoch=, ?serial=, ?after=), if all later
 * envelopes are retained; else at the start of its history, or at the head. Later envelopes are
 * live traffic. Fills peer.welcome.
 */
void cursor_start(struct peer *peer, const struct admission *admission);

/**
 * Moves the cursor of a joiner that awaits its welcome to `until` (tail..head), at most to its live
 * traffic. It gets less history; instead of resuming it gets history. Its welcome says so. False
 * when the cursor is there already.
 */
bool cursor_do_without(struct peer *peer, uint64_t until);

/** True when there are envelopes for this peer to read. Skips those for others only. */
bool cursor_has_more(struct peer *peer);

/**
 * Builds the next page of history into the hub's scratch, as one frame.
 *
 * next     filled with the serial behind the page
 * count    filled with the envelopes in it
 * page     filled; lent until the scratch is used again
 *
 * False when memory runs out.
 */
bool cursor_page(struct peer *peer, uint64_t *next, size_t *count, struct mcpx_slice *page);

/**
 * The next run of ready frames: envelopes, and published presence in its place between them. There
 * must be one.
 *
 * batch   filled with the last batch in it; NULL when it holds no presence
 */
struct log_run cursor_run(const struct peer *peer, struct presence_batch **batch);

/** Moves the cursor along the log, and its hold on the log's memory with it. */
void cursor_move(struct peer *peer, uint64_t next);

#endif
