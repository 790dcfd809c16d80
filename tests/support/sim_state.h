/*
 * sim_state.h - what the files of the simulation share: the naive account behind sim.h.
 */
#ifndef SUPPORT_SIM_STATE_H
#define SUPPORT_SIM_STATE_H

#include "router/hub/topic/hub_state.h"
#include "tests/support/fake_store.h"
#include "tests/support/reader_place.h"
#include "tests/support/run_notes.h"
#include "tests/support/sim.h"

enum { SIM_WHO = 9, SIM_TOPICS = 4, SIM_PEERS = 40 };

/** Refusals within a minute that end no connection yet. Protocol: section 6. */
enum { SIM_REFUSALS = 600 };

/** Addressees and grants beyond those who take part. */
#define SIM_ABSENT (1U << SIM_WHO)

/**
 * One entry of a topic's order: an envelope or a presence.
 *
 * text        as everybody has to receive it
 * kind        as delivered; "" for presence
 * kind_sent   as said
 * who         who said it; meaningless for presence
 * to          addressees, one bit per instance; 0 = everyone
 * connection  over which it was said, of one that is pending
 * serial      envelopes before it
 * cost        bytes in the log's memory: frame and note; 0 for presence
 * before      sum of the costs of all entries before
 */
struct sim_entry {
    char *text;
    size_t len;
    char id[80];
    char kind[80], kind_sent[80];
    int who;
    unsigned to;
    uint64_t connection;
    bool presence;
    int64_t wall_ms;
    size_t serial;
    size_t cost;
    size_t before;
};

enum sim_charge_type { CHARGE_MESSAGE, CHARGE_REFUSAL, CHARGE_JOIN };

/** What counted against a participant's rates. */
struct sim_charge {
    int64_t mono_ms;
    int identity;
    size_t bytes;
    enum sim_charge_type type;
};

/**
 * One topic, from its creation until it vanishes.
 *
 * envelopes how many of the entries are envelopes
 * presence  how many are presence
 * told      index up to which everybody may read: presence behind it is not published
 * base      entries there were before the call under way
 * history   index of the first retained entry
 * stands    the place that was told last
 * roster    who is there, going by presence
 * empty_ms  mono_ms since when nobody is
 * vague     a `leave` was lost to a failed allocation: the roster may name too many
 * lost      memory had no room for what is stored: the hub lets go of the topic
 * pending   what the hub has accepted and the store has not answered, in that order
 * handed    how many of them the store has
 */
struct sim_topic {
    char name[8];
    bool exists;
    struct sim_entry *entries;
    size_t count, size;
    size_t envelopes, presence, told;
    size_t base, history, retained, retained_bytes;
    size_t stands;
    unsigned roster;
    bool vague, lost;
    int64_t empty_ms;
    struct sim_entry *pending;
    size_t pending_count, pending_size, handed;
    struct sim_charge *charges;
    size_t charge_count, charge_size;
    struct reader_place places[SIM_WHO]; /* what each participant remembers */
    size_t read[SIM_WHO];                /* index up to which it was handed everything */
};

enum sim_note_type { NOTE_WELCOME, NOTE_UPDATE, NOTE_ERROR, NOTE_CLOSE };

/** A private frame a peer has to receive next, in order. */
struct sim_note {
    enum sim_note_type type;
    enum mcpx_err err;
    char id[80]; /* correlation of an error; "" = none */
    char kind[80];
    bool resumed, is_unknown; /* whether what an error is about is stored */
    size_t count;
};

/**
 * One connection: `who` is an instance, `key` what it came with. Who waits has no peer yet, but a
 * `bearer`, and has last asked when hub_waits was `waits`; who is joining has a peer, and a join
 * that is not committed. Indexes of entries:
 *
 * next         what it reads next
 * joined       its own join
 * heard_from   presence from here on is told; what is before its welcome told
 * replay_end   entries before it are history
 * wanted       envelopes of history, at most
 */
struct sim_peer {
    struct peer *peer; /* NULL = free */
    struct sim_topic *topic;
    int who;
    const char *key;
    struct admission admission;
    struct reader_place asked; /* what the admission borrows, if it has to wait */
    struct grant *bearer;
    uint64_t waits, connection;
    bool is_honest; /* it names what it remembers, or nothing */
    bool joining, entered;
    bool directed, stalled, held_back, disconnected, closed, lossy;
    enum mcpx_err doom; /* what the step under way has to disconnect it for */
    enum mcpx_err why;
    size_t next, joined, heard_from, replay_end, wanted;
    struct sim_note *notes;
    size_t note_count, note_size;
    const struct sim_grant *grant;
    int64_t grant_expires_ms, token_expires_ms;
    bool expiry_told, update_due; /* of the grant that expires */
    bool is_owed_welcome;
    char capabilities[200]; /* as a welcome has to show them, joined by spaces */
    int64_t heard_ms;
    int64_t takeovers[3];
};

/** A grant set; the conditions are those of the last pattern. Patterns end with NULL. */
struct sim_grant {
    const char *patterns[4];
    unsigned to;
    bool expires;
    const char *deny;
};

/**
 * A simulation.
 *
 * has_trouble    the store fails now and then
 * commit_faults  memory runs out now and then when a message is committed
 */
struct sim {
    struct dice dice, chance;
    const char *name;
    struct sim_tally *tally;
    struct hub_config config;
    struct hub *hub;
    struct mcpx_now now;
    struct sim_topic topics[SIM_TOPICS];
    struct sim_peer peers[SIM_PEERS];
    struct stats expected;
    uint64_t step, ids, connections;
    bool faults, fault_fired, ticked, is_bulky, is_draining;
    bool has_trouble, commit_faults;
    struct fake_store store;
    int64_t next_tick_ms;
    char *pending; /* text the step under way has to append */
    size_t pending_len;
    struct sim_entry pending_entry;
    struct sim_topic *pending_topic;
    struct run_notes notes;
};

/* ---- sim_check.c: who there may be, what is said about a run, the whole ---- */

/** The id of an instance. */
const char *sim_id(int who);

/** The instance with that id; SIM_WHO when there is none. */
int sim_who(const char *id);

/** Whose instance it is: the participant itself, which is the instance with number 1. */
int sim_identity(int who);

/** The instance of a participant with that number; SIM_WHO when it may have none. */
int sim_instance(int identity, unsigned number);

/** Notes a line of the transcript. */
#define sim_say(sim, ...)                                                                     \
    run_notes_add(&(sim)->notes, (sim)->step, (sim)->now.mono_ms, __VA_ARGS__)

/** Prints the failure and the transcript, and aborts, unless `holds`. */
void sim_require(struct sim *sim, bool holds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Arms the next allocation failure, if this run has them and chance will have it. */
void sim_fault_begin(struct sim *sim);

/** Disarms; notes in fault_fired whether one failed. */
void sim_fault_end(struct sim *sim);

/* ---- sim_model.c: the account of topics ---- */

/** Takes note of what was appended, of who was disconnected, and checks both. After every call. */
void sim_sync(struct sim *sim);

/** True when who reads this entry next holds on to more of the log than its backlog. */
bool sim_is_behind(const struct sim *sim, const struct sim_topic *topic, size_t index);

/** True when a peer's stream holds this entry. */
bool sim_wants(const struct sim_peer *peer, size_t index);

/** Envelopes before the entry with this index (0..count). */
size_t sim_serial_at(const struct sim_topic *topic, size_t index);

/** Index of the retained entry with this id, or `count`. */
size_t sim_find(const struct sim_topic *topic, const char *id);

/** The same, or what is pending; NULL when there is none. */
const struct sim_entry *sim_accepted(const struct sim_topic *topic, const char *id);

/** Adds an entry, of which it takes the text, and forgets what history may not hold any more. */
void sim_append(struct sim *sim, struct sim_topic *topic, const struct sim_entry *entry);

/** Bytes that an envelope takes in the log's memory if it is appended now. */
size_t sim_cost(const struct sim *sim, const struct sim_topic *topic,
                const struct sim_entry *entry);

/** A peer whose grants changed is owed a welcome: one for all changes until it reads. */
void sim_note_update(struct sim *sim, struct sim_peer *peer);

/** True for who is in its topic: not joining, and not on the way out. */
static inline bool sim_is_in(const struct sim_peer *peer)
{
    return peer->peer && !peer->joining && !peer->disconnected;
}

/** Forgets entries older than history may be. */
void sim_age(struct sim *sim, struct sim_topic *topic);

/** The peer of a participant that is in the topic, or NULL. */
struct sim_peer *sim_present(struct sim *sim, const struct sim_topic *topic, int who);

/** Any connection, disconnected ones included; a free one when there is none. */
struct sim_peer *sim_pick(struct sim *sim);

/** How many are there; `all` counts all connections. */
size_t sim_count(const struct sim *sim, const struct sim_topic *topic, bool all);

/** Forgets a topic that vanished. */
void sim_topic_clear(struct sim_topic *topic);

/* ---- sim_reader.c: what participants receive ---- */

/** Adds to what a peer has to receive in private. */
void sim_expect(struct sim_peer *peer, const struct sim_note *note);

/** Moves a peer's account past what is not for it. */
void sim_advance(struct sim_peer *peer);

/** Pulls at most `runs` runs for a peer and checks them; true when nothing was left. */
bool sim_pull(struct sim *sim, struct sim_peer *peer, size_t runs);

/** Pulls for everybody whose turn it is until nobody has one, and checks that nobody waits. */
void sim_pull_all(struct sim *sim);

/* ---- sim_private.c: welcome, errors and farewells ---- */

/** Checks a private text frame against the next note. */
void sim_read_private(struct sim *sim, struct sim_peer *peer, struct mcpx_slice text);

/** Checks a close frame. */
void sim_read_close(struct sim *sim, struct sim_peer *peer, int code);

/* ---- sim_admit.c: coming in ---- */

/** Somebody joins, resumes, takes over, or is refused. */
void sim_join(struct sim *sim);

/** Asks the hub, twice; may fail with MCPX_ENOMEM when an allocation fails. */
enum mcpx_err sim_admit(struct sim *sim, struct sim_peer *peer, struct grant *grant);

/** Where the stream of who comes in now has to begin, and what its welcome has to say. */
struct sim_note sim_begin(struct sim *sim, struct sim_peer *peer);

/** It has come in, in the place of `old` if that is not NULL. */
void sim_settle_join(struct sim *sim, struct sim_peer *peer, struct sim_peer *old,
                     const struct sim_note *welcome);

/** Its welcome has to wait, as in the edge. */
void sim_hold_back(struct sim *sim, struct sim_peer *peer);

/** Somebody's grants change. */
void sim_regrant(struct sim *sim);

/** Notes the capabilities of a peer as a welcome has to show them from now on. */
void sim_capabilities(const struct sim *sim, struct sim_peer *peer);

/* ---- sim_place.c: coming back ---- */

/** Checks the place that presence or a position tells, and returns its serial. */
size_t sim_read_stand(struct sim *sim, const struct sim_topic *topic, const json_t *payload);

/** Before what its readers were told last leaves the window, they are told again. */
void sim_check_stand(struct sim *sim, const struct sim_topic *topic);

/** A participant remembers what it has just read. */
void sim_note_place(const struct sim *sim, const struct sim_peer *peer,
                    const struct sim_entry *entry);

/** The place in a welcome: all up to it was handed over or is history, and nothing behind it. */
void sim_check_place(struct sim *sim, struct sim_peer *peer, const json_t *root);

/** Whether a place is good, and the index where it goes on. */
bool sim_can_resume(const struct sim *sim, const struct sim_topic *topic,
                    const struct admission *admission, size_t *next);

/** Never a silent hole: who named its own place misses nothing that it has not read. */
void sim_check_hole(struct sim *sim, struct sim_peer *peer);

/** Before its welcome is written a joiner may lose what came before it, if there is a reason. */
void sim_note_shorter(struct sim *sim, struct sim_peer *peer);

/** True when the id has left the window and is among the last of its sender that did. */
bool sim_is_used(const struct sim_topic *topic, const char *id);

/* ---- sim_talk.c: messages ---- */

/** Somebody says something, good or bad. */
void sim_talk(struct sim *sim);

/** Counts something against the rates of a peer's participant in its topic. */
void sim_charge(struct sim *sim, const struct sim_peer *peer, size_t bytes,
                enum sim_charge_type type);

/** How often that happened within the last minute. */
uint64_t sim_charged(const struct sim *sim, const struct sim_peer *peer,
                     enum sim_charge_type type);

/** Somebody says nonsense until the connection ends. */
void sim_flood(struct sim *sim);

/* ---- sim.c: time, and going ---- */

/** So much time passes, and the hub is told. */
void sim_pass(struct sim *sim, size_t ms);

/** A connection is gone; a participant takes bytes again. */
void sim_depart(struct sim *sim, struct sim_peer *peer);
void sim_unstall(struct sim *sim, struct sim_peer *peer);

/* ---- sim_commit.c: who comes in has to wait for the store, and crashes ---- */

/** Somebody wants to come in, with this grant, which is taken. */
void sim_ask(struct sim *sim, struct sim_peer *peer, struct grant *grant);

/** Who waits asks again, if what it waits for may have ended. */
void sim_retry(struct sim *sim);

/** Something happens to the store, or to the hub. */
void sim_commit_step(struct sim *sim);

/** The store works, everybody is served and comes again after a crash; then they go. */
void sim_commit_finish(struct sim *sim);

/* ---- sim_store.c: what the hub submits, and what it is answered ---- */

/** The message that was accepted is pending from now on. */
void sim_hold(struct sim *sim, const struct sim_peer *peer);

/** May so many bytes more be pending, or be refused? */
void sim_check_limit(struct sim *sim, const struct sim_peer *peer, enum mcpx_err err);

/** Takes what the hub has to do, at most `count`, and checks it. */
void sim_take_tasks(struct sim *sim, size_t count);

/** The store writes, answers, loads and fails, all by chance. */
void sim_store_write(struct sim *sim);
void sim_store_answer(struct sim *sim, size_t count);
void sim_store_load(struct sim *sim);
void sim_store_spoil(struct sim *sim);

/** Everything that waits is stored, answered and loaded. */
void sim_store_all(struct sim *sim);

/* ---- sim_check.c: the whole ---- */

/** Compares counters and rosters. */
void sim_check(struct sim *sim);

/** Rosters as presence tells them and as connections make them are the same. */
void sim_check_roster(struct sim *sim, struct sim_topic *topic);

/** Compares a topic's history with what the HTTP API would show. */
void sim_check_history(struct sim *sim, struct sim_topic *topic);

#endif
