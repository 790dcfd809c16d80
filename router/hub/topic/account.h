/*
 * account.h - what a topic remembers about one participant, whichever of its connections it comes
 * by: rates, and which of its instances are there. It outlives the connections for as long as the
 * rates owe something. And what participants have in the whole hub.
 */
#ifndef HUB_ACCOUNT_H
#define HUB_ACCOUNT_H

#include "lib/base/bucket.h"
#include "lib/base/holders.h"
#include "router/hub/log/list.h"
#include "router/hub/topic/hub_config.h"
#include "router/policy/grants/grant.h"

/**
 * So many tokens flow in per minute, and at most a minute's worth is there: below 2^44; 0 = no
 * limit. Zeroed but for that it is full.
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

/** Accounts that nobody uses, kept per topic; the oldest is forgotten first. */
enum { ACCOUNTS_IDLE_MAX = 1024 };

/** One participant in one topic. Owned by the accounts it is in. */
struct account {
    struct link in_idle; /* link among those that nobody uses */
    uint64_t taken;      /* one bit per instance that is there, the lowest for number 1 */
    struct rates rates;  /* shared by all of them */
    struct mcpx_slice identity; /* the participant; lives as long as the account */
};

/** The accounts of one topic. */
struct accounts {
    struct mx_map_key key;
    struct mx_map map; /* all of them, by hash of the identity */
    struct link idle;  /* those that nobody uses, oldest first */
    size_t idle_count;
    struct rates fresh; /* the rates of a new account: full buckets */
};

/** Prepares an empty table. `fresh` is copied. */
void accounts_init(struct accounts *accounts, struct mx_map_key key,
                   const struct rates *fresh);

/** Other rates from now on, for all accounts, old and new. What was spent stays spent. */
void accounts_set_rates(struct accounts *accounts, const struct rates *fresh,
                        struct mcpx_now now);

/** Frees every account; no peer may use one any more. */
void accounts_fini(struct accounts *accounts);

/** The account of a participant, or NULL. */
struct account *accounts_find(const struct accounts *accounts, struct mcpx_slice identity);

/**
 * The account of a participant, made when there is none; `identity` is copied then. It is idle
 * until account_enter, so it is to be entered before another is opened. NULL when memory runs out.
 */
struct account *accounts_open(struct accounts *accounts, struct mcpx_slice identity);

/** The instance with that number (1 .. INSTANCES_MAX) is there. */
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
 * ---- what participants have in the hub, and the memory that all topics' logs have together: who
 * is the next to give some back when it is used up (topic.h). Protocol: section 5 (bounds).
 */

struct hub;
struct topic;

/**
 * Where a topic stands.
 *
 * LOG_BUDGET_HISTORY   it may be able to give back history
 * LOG_BUDGET_HELD      what it could give back is still to be read by somebody
 * LOG_BUDGET_WAITING   by a subscriber that waits for its turn: looked at after the next round
 * LOG_BUDGET_NOWHERE   it can give nothing back as far as is known: looked at again when it changes
 */
enum log_budget_line {
    LOG_BUDGET_HISTORY,
    LOG_BUDGET_HELD,
    LOG_BUDGET_WAITING,
    LOG_BUDGET_NOWHERE
};

/** Lines of topics that can give something back, in the order in which they do. */
enum { LOG_BUDGET_LINES = LOG_BUDGET_HELD + 1 };

/**
 * One participant's usage. It is there as long as anything is on it. A topic that was loaded came
 * to be for nobody who is known: it is on a usage of its own.
 */
struct usage {
    struct mcpx_slice identity;
    size_t topics; /* topics that came to be for it and are still there */
    struct link lines[LOG_BUDGET_LINES]; /* those of them that can give something back */
    size_t connections;                  /* its peers, disconnected ones included */
    struct link peers;                   /* the same as a list, oldest first */
    size_t loads;   /* topics that are being opened because it asked for them */
    size_t pending; /* bytes of their messages that were not answered (hub_parts.h) */
    size_t unsent;  /* bytes that the edge holds for them because their sockets were full */
    /* The edge's loop turn in which it was last heard, and what it has cost in that one. */
    uint64_t turn, cost;
    uint64_t round;   /* the round of turns (output.c) in which they were last sent much */
    uint64_t written; /* bytes of that */
};

/** The usage of a participant, or NULL when nothing is on it. */
struct usage *usage_find(const struct hub *hub, struct mcpx_slice identity);

/** That of who a grant belongs to, made when there is none; NULL when memory runs out. */
struct usage *usage_open(struct hub *hub, const struct grant *grant);

/** A usage for one topic that is loaded; NULL when memory runs out. */
struct usage *usage_open_loaded(struct hub *hub, struct mcpx_slice topic);

/** Frees it when nothing is on it. To be called when something was taken off. NULL is allowed. */
void usage_close(struct hub *hub, struct usage *usage);

/** All logs' memory. */
struct log_budget {
    size_t max;               /* bytes; 0 = no bound, and nothing below is kept */
    size_t used;              /* bytes that all topics hold */
    struct mx_holders makers; /* what the usages have in their lines */
    struct link waiting;      /* topics whose readers have not had their turn */
};

/** A topic's part: what it was last counted with, in the lines at its maker's, too. */
struct log_budget_part {
    struct link link;
    size_t memory;
    enum log_budget_line line;
};

/**
 * Counts what a topic holds now (topic_memory), and has it asked again for some of that. To be
 * called whenever that may have changed, or its last participant has left.
 */
void log_budget_count(struct topic *topic);

/** A topic goes, with all it holds. Its maker is still there. */
void log_budget_forget(struct topic *topic);

/** The topic that gives something back next, or NULL; `part.line` says what. */
struct topic *log_budget_first(const struct hub *hub);

/** Puts a topic into another line. */
void log_budget_enter(struct topic *topic, enum log_budget_line line);

/** A round is over: who waited for it may have read what was in the way. */
void log_budget_retry_waiting(struct hub *hub);

/** What one topic may have so that all have the same; 0 = no bound. */
size_t log_budget_share(const struct hub *hub);

#endif
