/*
 * hub_state.h - what the files of the hub share: the state behind hub.h, what a topic is made of,
 * and the router's end of one connection: a grant, a cursor, a few private frames.
 */
#ifndef HUB_HUB_STATE_H
#define HUB_HUB_STATE_H

#include "router/hub/log/log.h"
#include "router/hub/log/presence.h"
#include "router/hub/topic/account.h"
#include "router/hub/topic/hub_config.h"
#include "router/hub/topic/peer.h"
#include "router/hub/topic/query.h"

/** What is pending (hub_parts.h). */
struct pendings {
    struct link line;      /* not handed out, in order of acceptance */
    struct link handed;    /* handed out */
    struct link again;     /* rejected, to be submitted again */
    struct mx_map tickets; /* those that are handed out, by ticket */
    struct mx_map ids;     /* messages, by hash */
    /* Joins and leaves, and those that peers keep, by hash of the participant. */
    struct mx_map presences;
    size_t count; /* in the three lists */
    size_t bytes; /* of the messages among them */
};

/**
 * What is known of a topic that is not open.
 *
 * TOPIC_LOAD_WAITING   its task was not handed out
 * TOPIC_LOAD_LOADING   it was
 * TOPIC_LOAD_LATE      and takes longer than a client must wait; its result still counts
 * TOPIC_LOAD_FAILED    it could not be opened
 * TOPIC_LOAD_ABSENT    there is no such topic
 */
enum topic_load_state {
    TOPIC_LOAD_WAITING,
    TOPIC_LOAD_LOADING,
    TOPIC_LOAD_LATE,
    TOPIC_LOAD_FAILED,
    TOPIC_LOAD_ABSENT,
    OPENING_STATES
};

/** Topics that are not open (hub_parts.h). */
struct topic_loads {
    struct link in[OPENING_STATES]; /* by state, each in order of `until_ms` */
    struct mx_map names;
    struct mx_map tickets;
    size_t active;      /* waiting, loading or late: they will be topics */
    struct link closed; /* topics that TASK_CLOSE has to tell of */
    struct topic *told; /* the last one it told of */
};

/** The hub. */
struct hub {
    struct hub_config config;
    struct chance chance;
    struct mx_map_key key;
    /* As told by the last call: what is composed later (pages) is stamped with it. */
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
    struct link postponed; /* peers to be offered when nobody else is left (output.c) */
    uint64_t round;        /* how often everybody has had a turn */
    /* Readers that lost their place in a log, until hub_disconnect_slow disconnects them. */
    struct link slow;
    struct topic **by_name; /* the topics, sorted; room for by_name_size */
    size_t by_name_size;
    struct mx_map usages;     /* by hash of the participant */
    struct mcpx_text scratch; /* a text being composed */
    struct mcpx_text derived; /* the kind completed for the message being routed */
    /* See hub_time_matches; NULL = nothing is timed. */
    uint64_t (*match_ns)(void);
    unsigned untimed;       /* decisions until the next one that is timed */
    struct mcpx_text seats; /* who is addressed by the message being appended */
    struct mcpx_envelope envelope, loaded;
    struct stats stats;
    struct lag lag;               /* see hub_lag */
    struct log_budget log_budget; /* the memory of all topics' logs */
    struct pendings pendings;
    struct topic_loads loads;
    /* Topics that nobody points to and of which nothing is pending, longest so first. */
    struct link idle;
    uint64_t last_ticket; /* tickets given out so far */
    uint64_t waits;       /* see hub_waits */
    int64_t next_tick_ms;
    bool draining;
    bool pressed;   /* see hub_is_pressed */
    bool postpones; /* some participant was sent so much in this round that its peers wait */
};

/** An epoch is 128 random bits in hexadecimal. */
enum { TOPIC_EPOCH_LEN = 32 };

/**
 * How far the envelopes of a topic have come. All are counts of envelopes, from the first one on.
 */
struct delivery {
    /* Link among the topics with envelopes that were written and not timed. */
    struct link in_written;
    /* Accepted before the first peer had its turn last: once it has it again, everybody has had
     * a turn since, though the round may go on for ever. */
    uint64_t round;
    uint64_t written; /* accepted before a turn that everybody has had */
    uint64_t timed;   /* counted in the statistics */
};

/** One room. */
struct topic {
    struct hub *hub;
    struct link in_hub; /* link among all topics; in none while the topic is loaded */
    /* Link among the topics with entries that not every peer was offered yet. */
    struct link in_dirty;
    struct link
        in_unpublished; /* link among the topics whose presence waits to be published */
    int64_t publish_ms; /* mono_ms by which it has to be */
    struct mcpx_slice name;
    char epoch[TOPIC_EPOCH_LEN +
               1];        /* names this log: serials of another one mean nothing in it */
    uint64_t told;        /* the serial its participants were told last */
    struct peer **peers;  /* its participants' peers, sorted by their ids */
    struct mx_map people; /* the same by hash of the id */
    size_t peer_count;
    size_t peer_size;
    /* Seats given out so far: each peer has one of these numbers while it is here. */
    uint32_t seats;
    /* Those that were given back, `free_seat_count` of them; room for peer_size. */
    uint32_t *free_seats;
    size_t free_seat_count;
    size_t directed; /* peers that read in directed mode */
    /* What welcomes say of each participant, each followed by a comma, in the order of `peers`;
     * empty = to be written anew. */
    struct mcpx_text listed;
    size_t turn;              /* index of the peer that hub_next_ready offers next */
    size_t turns_left;        /* how many it has to offer in this round */
    struct delivery delivery; /* how far its envelopes have come */
    /* Peers that still point here, disconnected ones included: it is freed after the last. */
    size_t holders;
    size_t pending;      /* submissions that were not answered */
    size_t joining;      /* of them, joins that replace nobody */
    struct link in_idle; /* link among the topics with neither */
    bool lost;        /* memory had no room for what is stored: it ends, to be opened again */
    int64_t empty_ms; /* mono_ms since when it has no participant */
    struct usage *maker;         /* on whose usage it is */
    struct log_budget_part part; /* what it has of all logs' memory */
    /* What is remembered of its participants, and of those who left and still owe. */
    struct accounts accounts;
    struct log log;
    struct presence presence;
};

/** Bytes of everything it holds that grows with what is said in it. */
static inline size_t topic_memory(const struct topic *topic)
{
    return log_memory(&topic->log) + topic->presence.memory;
}

/** Everybody has had a turn since the last of so many envelopes was accepted. */
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
 * Without a gate a peer is OPEN at once. hub_leave ends any of them; while anything is pending
 * about it, the peer is then GONE and not freed. Only an open peer is in its topic. From SHUT on
 * there is nothing to write.
 */
enum peer_state { PEER_OPEN, PEER_DISCONNECTED, PEER_SHUT, PEER_JOINING, PEER_GONE };

/** Takeovers remembered: a fourth within a minute is refused. Protocol: section 7. */
enum { PEER_TAKEOVERS = 3 };

/** What a welcome says beside who is there. */
struct welcome {
    bool first; /* at the join, not after a change of grants */
    bool resumed;
    size_t count;  /* of history */
    size_t wanted; /* envelopes of history, at most */
};

/** The seat of a peer that is in no topic. */
#define PEER_NO_SEAT UINT32_MAX

/** What peer_peek has lent, so that peer_pop knows what to release. */
enum peek {
    PEEK_NOTHING,
    PEEK_OUTBOX,
    PEEK_WELCOME,
    PEEK_WELCOME_JOIN, /* the welcome and its own join in one */
    PEEK_PAGE,
    PEEK_JOIN,
    PEEK_RUN
};

/** What a peer is still owed, beside frames that are ready: bits of peer.owed. */
enum { OWED_WELCOME = 1, OWED_JOIN = 2 };

/** Where a peer is in its topic's log and presence (cursor.h). */
struct cursor {
    uint64_t next; /* serial of the envelope it reads next */
    /* Envelopes from this serial on are live traffic, and know it by its seat. */
    uint64_t joined;
    /* Envelopes before it are history: they go out as pages of system/history. */
    uint64_t replay_end;
    bool directed;
    struct presence_reader presence; /* what it has to read of presence, since its welcome */
    struct reader reader;            /* hold on the memory of `next` */
};

/** The serial up to which everything was handed to the peer, or is history that it is sent. */
static inline uint64_t cursor_place(const struct cursor *cursor)
{
    return cursor->next < cursor->replay_end ? cursor->replay_end : cursor->next;
}

/**
 * One connection. What a round of fan-out reads stands first, in three cache lines.
 *
 * instance_key hash of what the instance can be claimed with again; 0 = nothing
 */
struct peer {
    struct hub *hub;
    struct topic *topic;
    void *owner;
    enum peer_state state;
    bool stalled;   /* nothing is to be written to it now */
    bool held_back; /* for a while only, whatever its socket takes; its welcome is owed */
    enum peek peeked;
    unsigned owed;   /* welcome and own join, until it was handed them */
    uint32_t sender; /* log_sender of its id */
    uint32_t seat;   /* its number in the topic; PEER_NO_SEAT when it is in none */
    struct cursor cursor;
    struct mcpx_text outbox; /* private frames, whole, in order */
    size_t peeked_len;
    uint64_t peeked_next;
    size_t peeked_count;
    struct batch *peeked_sheet;
    struct link in_ready; /* link among the peers to be offered out of turn */
    struct grant *grant;
    struct link in_hub;   /* link among all peers, disconnected ones included */
    struct link in_usage; /* link among those of its participant */
    struct usage *usage;  /* its participant's; NULL until it is counted there */
    /* What of the memory of outbox and join is in the hub's statistics. */
    size_t outbox_counted;
    /* Bytes at the beginning of the outbox that go before the welcome it is owed. */
    size_t welcome_at;
    struct welcome welcome; /* what that welcome says */
    size_t listed_at;       /* where topic.listed speaks of it, unless that is empty */
    size_t listed_len;      /* bytes of it, the comma included */
    struct mcpx_text join;  /* frame of its own join, while it is owed */
    uint64_t missed;        /* messages it was not handed when it fell off */
    size_t unsent;  /* bytes that the edge holds for it, as peer_note_unsent was told */
    size_t answers; /* bytes of errors queued since the outbox was last empty */
    /* Why it is disconnected; its close frame is the end of the outbox. Of one who was gone before
     * its join was answered: why it left. */
    enum mcpx_err close_err;
    /* Its participant's, shared with the other instances; NULL when in no topic. */
    struct account *account;
    /* What others know it by: the grant's identity, or one of its instances. */
    struct mcpx_slice id;
    unsigned number; /* of that instance; 1 for the identity itself */
    uint64_t instance_key;
    int64_t heard_ms; /* mono_ms of the last sign of life */
    int pings;        /* unanswered pings since */
    /* mono_ms of the latest takeovers of this id, oldest first; 0 = none. */
    int64_t takeovers[PEER_TAKEOVERS];
    int64_t changes_ms; /* wall_ms at which one of its grants expires next; 0 = never */
    bool entered;       /* it was in its topic */
    size_t pending;     /* submissions about it that were not answered */
    struct pending *own_pending; /* its join, and later its leave; NULL without a gate */
};

/** Is its first welcome not handed over yet? Nothing but its join is known to it until then. */
static inline bool peer_awaits_welcome(const struct peer *peer)
{
    return peer->owed & OWED_WELCOME && peer->welcome.first;
}

/** Brings the statistics up to date after `outbox` or `join` have changed. */
void peer_count_outbox(struct peer *peer);

/** Queues the frame of a text for a peer alone, and wakes it. False when memory runs out. */
bool peer_queue(struct peer *peer, struct mcpx_slice text);

/** Puts a peer in line to be offered by hub_next_ready out of its topic's turn. */
void peer_wake(struct peer *peer);

/** Ends a peer that is in no topic and no line: its state is GONE. pending_free_peer frees it. */
void peer_end(struct peer *peer);

/*
 * ---- what does a peer read next: a page of history, or a run of envelopes and presence?
 */

/** The largest page of history, unless one envelope is larger. Protocol: section 5. */
enum { CURSOR_PAGE_MAX = 262144 };

/**
 * Places the cursor of a joiner: at the place it names with ?epoch=, ?serial= and ?after=, if all
 * that came after is retained; else at the start of the history it gets, or at the head. What is
 * appended later is live traffic. Fills what its welcome will say of that.
 */
void cursor_start(struct peer *peer, const struct admission *admission);

/**
 * A joiner that awaits its welcome does without the envelopes up to `until` (tail..head) that came
 * before its live traffic. It gets less history; when it was to resume, history in place of what
 * it missed. Its welcome will say so. False when it is past all that already.
 */
bool cursor_do_without(struct peer *peer, uint64_t until);

/** True when there are envelopes for this peer to read. Skips what is not for it. */
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
 * The next run of what goes out as it is: envelopes, and published presence in its place between
 * them. There has to be any.
 *
 * batch   filled with the last batch in it; NULL when it holds no presence
 */
struct log_run cursor_run(const struct peer *peer, struct batch **batch);

/** Moves the cursor along the log, and its hold on the log's memory with it. */
void cursor_move(struct peer *peer, uint64_t next);

#endif
