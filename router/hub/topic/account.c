/*
 * account.c - accounts are found by a hash of the participant's identity. Accounts of participants
 * that have left are also in a list, because their bucket of joins is not full yet. Buckets fill
 * within a minute, so the list is short. Rejected: rates in each peer, handed on to the next; two
 * instances would have the rates of two participants.
 */
#include "router/hub/topic/account.h"

#include <stdlib.h>

/* ---- token buckets ---- */

static struct mx_rate rate_of(const struct bucket *bucket)
{
    return (struct mx_rate){bucket->per_minute, bucket->per_minute};
}

/* At most a full bucket, else one large message could never be sent. */
static uint64_t cost_of(const struct bucket *bucket, uint64_t tokens)
{
    return tokens < bucket->per_minute ? tokens : bucket->per_minute;
}

/* Sets another rate; a participant owes at most a minute of it. */
static void bucket_set_rate(struct bucket *bucket, uint64_t per_minute, struct mcpx_now now)
{
    uint64_t owed = bucket->per_minute ? bucket->per_minute - bucket_left(bucket, now) : 0;

    if (bucket->per_minute == per_minute)
        return;
    *bucket = (struct bucket){.per_minute = per_minute};
    mx_bucket_spend(&bucket->cell, rate_of(bucket), cost_of(bucket, owed), now.mono_ms);
}

bool bucket_take(struct bucket *bucket, uint64_t tokens, struct mcpx_now now)
{
    return mx_bucket_take(&bucket->cell, rate_of(bucket), cost_of(bucket, tokens),
                          now.mono_ms);
}

int64_t bucket_wait_ms(const struct bucket *bucket, uint64_t tokens, struct mcpx_now now)
{
    return mx_bucket_wait_ms(&bucket->cell, rate_of(bucket), cost_of(bucket, tokens),
                             now.mono_ms);
}

uint64_t bucket_left(const struct bucket *bucket, struct mcpx_now now)
{
    return bucket->per_minute ? mx_bucket_left(&bucket->cell, rate_of(bucket), now.mono_ms)
                              : UINT64_MAX;
}

/* ---- accounts ---- */

void accounts_init(struct accounts *accounts, struct mx_map_key key, const struct rates *fresh)
{
    *accounts = (struct accounts){.key = key, .fresh = *fresh};
    list_init(&accounts->idle);
}

void accounts_fini(struct accounts *accounts)
{
    for (size_t i = 0; i < accounts->map.size; i++)
        free((struct account *)(uintptr_t)accounts->map.slots[i].value);
    mx_map_fini(&accounts->map);
    list_init(&accounts->idle);
    accounts->idle_count = 0;
}

void accounts_set_rates(struct accounts *accounts, const struct rates *fresh,
                        struct mcpx_now now)
{
    accounts->fresh = *fresh;
    for (size_t i = 0; i < accounts->map.size; i++) {
        struct account *account = (struct account *)(uintptr_t)accounts->map.slots[i].value;

        if (!account)
            continue;
        bucket_set_rate(&account->rates.messages, fresh->messages.per_minute, now);
        bucket_set_rate(&account->rates.bytes, fresh->bytes.per_minute, now);
        bucket_set_rate(&account->rates.joins, fresh->joins.per_minute, now);
    }
}

static void remove_idle(struct accounts *accounts, struct account *account)
{
    accounts->idle_count -= !list_is_empty(&account->in_idle);
    list_remove(&account->in_idle);
}

static void account_free(struct accounts *accounts, struct account *account)
{
    remove_idle(accounts, account);
    mx_map_remove(&accounts->map, mx_map_hash(accounts->key, account->identity),
                  (uintptr_t)account);
    free(account);
}

/* Forgets the oldest beyond ACCOUNTS_IDLE_MAX. */
static void add_idle(struct accounts *accounts, struct account *account)
{
    list_append(&accounts->idle, &account->in_idle);
    accounts->idle_count++;
    while (accounts->idle_count > ACCOUNTS_IDLE_MAX)
        account_free(accounts, LIST_ELEMENT(accounts->idle.next, struct account, in_idle));
}

struct account *accounts_find(const struct accounts *accounts, struct mcpx_slice identity)
{
    return mx_map_find(&accounts->map, mx_map_hash(accounts->key, identity),
                       offsetof(struct account, identity), identity);
}

struct account *accounts_open(struct accounts *accounts, struct mcpx_slice identity)
{
    struct account *account = accounts_find(accounts, identity);

    if (account || !mx_map_reserve(&accounts->map))
        return account;
    account = malloc(sizeof *account + identity.len);
    if (!account)
        return NULL;
    *account = (struct account){.rates = accounts->fresh};
    account->identity = (struct mcpx_slice){(const char *)(account + 1), identity.len};
    memcpy(account + 1, identity.text, identity.len);
    mx_map_put(&accounts->map, mx_map_hash(accounts->key, identity), (uintptr_t)account);
    list_init(&account->in_idle);
    add_idle(accounts, account);
    return account;
}

static uint64_t bit_of(unsigned number)
{
    return UINT64_C(1) << (number - 1);
}

void account_enter(struct accounts *accounts, struct account *account, unsigned number)
{
    remove_idle(accounts, account);
    account->taken |= bit_of(number);
}

static bool is_full(const struct bucket *bucket, struct mcpx_now now)
{
    return bucket_wait_ms(bucket, bucket->per_minute, now) == 0;
}

static bool owes_nothing(const struct rates *rates, struct mcpx_now now)
{
    return is_full(&rates->messages, now) && is_full(&rates->bytes, now) &&
           is_full(&rates->refusals, now) && is_full(&rates->joins, now);
}

void account_leave(struct accounts *accounts, struct account *account, unsigned number,
                   struct mcpx_now now)
{
    account->taken &= ~bit_of(number);
    if (account->taken != 0)
        return;
    if (owes_nothing(&account->rates, now))
        account_free(accounts, account);
    else
        add_idle(accounts, account);
}

unsigned account_free_number(const struct account *account, unsigned max)
{
    for (unsigned number = 1; number <= max && number <= INSTANCES_MAX; number++)
        if (!account || !account_has(account, number))
            return number;
    return 0;
}

void accounts_expire(struct accounts *accounts, struct mcpx_now now)
{
    LIST_EACH(link, &accounts->idle) {
        struct account *account = LIST_ELEMENT(link, struct account, in_idle);

        if (owes_nothing(&account->rates, now))
            account_free(accounts, account);
    }
}
