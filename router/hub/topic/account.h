/*
 * account.h - what a topic remembers about one participant, whichever of its connections it comes
 * by: rates, and which of its instances are there. It outlives the connections for as long as the
 * rates owe something, so that a new connection is no way round them.
 */
#ifndef HUB_ACCOUNT_H
#define HUB_ACCOUNT_H

#include "lib/base/bucket.h"
#include "router/hub/log/list.h"
#include "router/hub/topic/hub_config.h"

/**
 * So many tokens flow in per minute, and at most a minute's worth is there: below 2^44; 0 = no
 * limit. Zeroed but for that it is full.
 */
struct bucket {
    uint64_t per_minute;
    struct mx_bucket cell;
};

/** Another rate from now on; nobody owes more than a minute of it. */
void bucket_set_rate(struct bucket *bucket, uint64_t per_minute, struct mcpx_now now);

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

/**
 * One participant in one topic. Owned by the accounts it is in.
 *
 * in_idle     link among those that nobody uses
 * taken       one bit per instance that is there, the lowest for number 1
 * rates       shared by all of them
 * identity    the participant; lives as long as the account
 */
struct account {
    struct link in_idle;
    uint64_t taken;
    struct rates rates;
    struct mcpx_slice identity;
};

/**
 * The accounts of one topic.
 *
 * map          all of them, by hash of the identity
 * idle         those that nobody uses, oldest first
 * fresh        the rates of a new account: full buckets
 */
struct accounts {
    struct mx_map_key key;
    struct mx_map map;
    struct link idle;
    size_t idle_count;
    struct rates fresh;
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
 * That instance has left. After the last one the account is idle, or freed when it owes nothing:
 * do not use it any more.
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

#endif
