/*
 * account.h - the state of one participant in a topic, shared by its connections: rates and
 * connected instances. The account outlives the connections until its buckets are full again. Also
 * the usage of participants in the whole hub.
 */
#ifndef HUB_ACCOUNT_H
#define HUB_ACCOUNT_H

#include "lib/base/bucket.h"
#include "lib/base/holders.h"
#include "router/hub/log/list.h"
#include "router/hub/topic/hub_config.h"
#include "router/policy/grants/grant.h"

/**
 * `per_minute` tokens flow in per minute, and it holds at most a minute's worth: below 2^44; 0 = no
 * limit. With `cell` zeroed it is full.
 */
struct bucket {
    uint64_t per_minute;
    struct mx_bucket cell;
};

/** True, and the tokens are gone, when there are `tokens` left; false changes nothing. */
bool bucket_take(struct bucket *bucket, uint64_t tokens, struct mcpx_now now);

/**
 * Milliseconds until bucket_take(tokens) would succeed; 0 when it would now. More tokens than
 * the bucket ever holds count as a full bucket.
 */
int64_t bucket_wait_ms(const struct bucket *bucket, uint64_t tokens, struct mcpx_now now);

/** Tokens left now; UINT64_MAX without limit. */
uint64_t bucket_left(const struct bucket *bucket, struct mcpx_now now);

/** The buckets of one participant in one topic. Protocol: sections 7 and 8. */
struct rates {
    struct bucket messages;
    struct bucket bytes;
    struct bucket refusals;
    struct bucket joins;
};

/** Maximum of unused accounts per topic; the oldest is forgotten first. */
enum { ACCOUNTS_IDLE_MAX = 1024 };

/** One participant in one topic. Owned by the accounts it is in. */
struct account {
    struct link in_idle;        /* link among unused accounts */
    uint64_t taken;             /* one bit per connected instance, the lowest for number 1 */
    struct rates rates;         /* shared by all of them */
    struct mcpx_slice identity; /* the participant; lives as long as the account */
};

/** The accounts of one topic. */
struct accounts {
    struct mx_map_key key;
    struct mx_map map; /* all of them, by hash of the identity */
    struct link idle;  /* unused ones, oldest first */
    size_t idle_count;
    struct rates fresh; /* the rates of a new account: full buckets */
};

/** Prepares an empty table. `fresh` is copied. */
void accounts_init(struct accounts *accounts, struct mx_map_key key,
                   const struct rates *fresh);

/** Sets other rates, for old and new accounts. Tokens taken so far stay taken. */
void accounts_set_rates(struct accounts *accounts, const struct rates *fresh,
                        struct mcpx_now now);

/** Frees every account; no peer may use one any more. */
void accounts_fini(struct accounts *accounts);

/** The account of a participant, or NULL. */
struct account *accounts_find(const struct accounts *accounts, struct mcpx_slice identity);

/**
 * The account of a participant, made when there is none; `identity` is copied then. It is idle
 * until account_enter: enter it before another is opened. NULL when memory runs out.
 */
struct account *accounts_open(struct accounts *accounts, struct mcpx_slice identity);

/** The instance with that number (1 .. INSTANCES_MAX) has joined. */
void account_enter(struct accounts *accounts, struct account *account, unsigned number);

/**
 * That instance has left. After the last one the account is idle, or it owes nothing and is gone.
 */
void account_leave(struct accounts *accounts, struct account *account, unsigned number,
                   struct mcpx_now now);

/** Is the instance with that number (1 .. INSTANCES_MAX) there? */
static inline bool account_has(const struct account *account, unsigned number)
{
    return account->taken >> (number - 1) & 1;
}

/** The lowest number up to `max` that is free; 0 when there is none. `account` may be NULL. */
unsigned account_free_number(const struct account *account, unsigned max);

/** Frees the idle accounts that owe nothing any more. */
void accounts_expire(struct accounts *accounts, struct mcpx_now now);

/*
 * ---- usage of participants in the hub, and the memory budget of all topics' logs: the topic that
 * gives memory back next when the budget is used up (topic.h). Protocol: section 5 (bounds).
 */

struct hub;
struct topic;

/**
 * The list of a topic.
 *
 * LOG_BUDGET_HISTORY   it may be able to give back history
 * LOG_BUDGET_HELD      a subscriber still reads the memory it could give back
 * LOG_BUDGET_WAITING   that subscriber waits to be written to: checked after the next round
 * LOG_BUDGET_NOWHERE   it has nothing to give back: checked again when it changes
 */
enum log_budget_list {
    LOG_BUDGET_HISTORY,
    LOG_BUDGET_HELD,
    LOG_BUDGET_WAITING,
    LOG_BUDGET_NOWHERE
};

/** Lists of topics with memory to give back, in the order of use. */
enum { LOG_BUDGET_LISTS = LOG_BUDGET_HELD + 1 };

/**
 * One participant's usage. It exists while it counts anything. A loaded topic has no known maker,
 * so it has a usage of its own.
 */
struct usage {
    struct mcpx_slice identity;
    size_t topics;                       /* existing topics that it made */
    struct link lists[LOG_BUDGET_LISTS]; /* those of them with memory to give back */
    size_t connections;                  /* its peers, disconnected ones included */
    struct link peers;                   /* the same as a list, oldest first */
    size_t loads;                        /* topics being opened at its request */
    size_t pending; /* bytes of their messages that were not answered (hub_parts.h) */
    size_t unsent;  /* bytes that the edge holds for them because their sockets were full */
    /* The edge's loop iteration of its last message, and its cost in that iteration. */
    uint64_t turn, cost;
    uint64_t round;   /* the round (output.c) in which they were last sent much */
    uint64_t written; /* bytes of that */
};

/** The usage of a participant, or NULL when nothing is on it. */
struct usage *usage_find(const struct hub *hub, struct mcpx_slice identity);

/** The usage of a grant's participant, made when there is none; NULL when memory runs out. */
struct usage *usage_open(struct hub *hub, const struct grant *grant);

/** A usage for one topic that is loaded; NULL when memory runs out. */
struct usage *usage_open_loaded(struct hub *hub, struct mcpx_slice topic);

/** Frees a usage that counts nothing. Call it after a count has fallen. NULL is allowed. */
void usage_close(struct hub *hub, struct usage *usage);

/** All logs' memory. */
struct log_budget {
    size_t max;               /* bytes; 0 = no bound, and nothing below is kept */
    size_t used;              /* bytes that all topics hold */
    struct mx_holders makers; /* bytes in the lists of each usage */
    struct link waiting;      /* topics with readers still to be written to */
};

/** A topic's part: its last count, also in the lists of its maker. */
struct log_budget_part {
    struct link link;
    size_t memory;
    enum log_budget_list list;
};

/**
 * Counts the memory of a topic (topic_memory), and moves it back to LOG_BUDGET_HISTORY. Call it
 * whenever that memory may have changed, or the last participant has left.
 */
void log_budget_count(struct topic *topic);

/** Removes a topic that is about to be freed. Its maker must still exist. */
void log_budget_forget(struct topic *topic);

/** The next topic to give memory back, or NULL; `part.list` is its list. */
struct topic *log_budget_first(const struct hub *hub);

/** Moves a topic to another list. */
void log_budget_enter(struct topic *topic, enum log_budget_list list);

/** A round is over: checks the waiting topics again, because their readers may have read on. */
void log_budget_retry_waiting(struct hub *hub);

/** The quota of one topic when all have the same, in bytes; 0 = no bound. */
size_t log_budget_share(const struct hub *hub);

#endif
