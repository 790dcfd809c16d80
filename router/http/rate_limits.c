/*
 * rate_limits.c - an attempt is charged to its address, and the charge moves to the participant as
 * soon as that is known. So a thousand participants behind one address do not use up its rate, and
 * a thousand attempts without a token affect only their own address. On a shared address,
 * credentials distinguish the two.
 *
 * The limit of all addresses together is for botnets. It refuses the busiest addresses first:
 * refusing everybody would be the attacker's aim.
 */
#include "router/http/rate_limits.h"

#include <stdlib.h>

/* A burst may have as many requests as the rate allows in this time. */
static const uint64_t burst_s = 10;

struct rate_limits {
    struct mx_buckets addresses, networks, participants, looks;
    struct mx_bucket all, all_looks;
    struct mx_rate all_rate, all_looks_rate;
};

static struct mx_rate per_second(uint64_t rate, uint64_t shares)
{
    return (struct mx_rate){rate * shares * 60, rate * shares};
}

struct rate_limits *rate_limits_new(struct chance chance, uint64_t connects_per_s,
                                    uint64_t requests_per_minute)
{
    struct rate_limits *rates = calloc(1, sizeof *rates);

    if (!rates)
        return NULL;
    chance.fill(chance.context, &rates->addresses.key, sizeof rates->addresses.key);
    rates->networks.key = rates->participants.key = rates->looks.key = rates->addresses.key;
    rate_limits_set_rates(rates, connects_per_s, requests_per_minute);
    return rates;
}

/* Clears the buckets: a debt at a higher rate would last long at a lower one. */
static void set_rate(struct mx_buckets *buckets, struct mx_rate rate)
{
    if (buckets->rate.per_minute == rate.per_minute)
        return;
    buckets->rate = rate;
    memset(buckets->cells, 0, sizeof buckets->cells);
}

void rate_limits_set_rates(struct rate_limits *rates, uint64_t connects_per_s,
                           uint64_t requests_per_minute)
{
    uint64_t burst = requests_per_minute * burst_s / 60;

    set_rate(&rates->addresses, per_second(connects_per_s, 1));
    set_rate(&rates->networks, per_second(connects_per_s, RATE_LIMITS_NETWORK_SHARES));
    set_rate(&rates->participants, (struct mx_rate){requests_per_minute, burst ? burst : 1});
    set_rate(&rates->looks, per_second(connects_per_s, RATE_LIMITS_LOOK_SHARES));
    if (rates->all_rate.per_minute != connects_per_s * RATE_LIMITS_ALL_SHARES * 60)
        rates->all = rates->all_looks = (struct mx_bucket){0};
    rates->all_rate = per_second(connects_per_s, RATE_LIMITS_ALL_SHARES);
    rates->all_looks_rate = per_second(connects_per_s, RATE_LIMITS_LOOK_ALL_SHARES);
}

void rate_limits_free(struct rate_limits *rates)
{
    free(rates);
}

/* Has the address spent at most 1/RATE_LIMITS_MODEST_PART of its quota? */
static bool is_modest(const struct rate_limits *rates, struct mcpx_slice address,
                      int64_t now_ms)
{
    uint64_t burst = rates->addresses.rate.burst;
    uint64_t rest = burst - burst / RATE_LIMITS_MODEST_PART;

    return mx_buckets_wait_ms(&rates->addresses, address, rest ? rest : 1, now_ms) == 0;
}

bool rate_limits_admits(struct rate_limits *rates, struct address from, struct mcpx_now now)
{
    struct address net = address_network(from);
    struct mcpx_slice address = address_slice(&from), network = address_slice(&net);
    int64_t now_ms = now.mono_ms;

    if (rates->addresses.rate.per_minute == 0)
        return true;
    if (mx_buckets_wait_ms(&rates->addresses, address, 1, now_ms) ||
        mx_buckets_wait_ms(&rates->networks, network, 1, now_ms))
        return false;
    if (mx_bucket_wait_ms(&rates->all, rates->all_rate, 1, now_ms) &&
        !is_modest(rates, address, now_ms))
        return false;
    mx_buckets_spend(&rates->addresses, address, 1, now_ms);
    mx_buckets_spend(&rates->networks, network, 1, now_ms);
    mx_bucket_spend(&rates->all, rates->all_rate, 1, now_ms);
    return true;
}

bool rate_limits_looks(struct rate_limits *rates, struct address from, uint64_t looks,
                       struct mcpx_now now)
{
    struct mcpx_slice address = address_slice(&from);

    if (mx_buckets_wait_ms(&rates->looks, address, looks, now.mono_ms) ||
        !mx_bucket_take(&rates->all_looks, rates->all_looks_rate, looks, now.mono_ms))
        return false;
    mx_buckets_spend(&rates->looks, address, looks, now.mono_ms);
    return true;
}

static void give_back(struct rate_limits *rates, struct address from, uint64_t looks,
                      int64_t now_ms)
{
    struct address net = address_network(from);

    if (looks) {
        mx_buckets_return(&rates->looks, address_slice(&from), looks, now_ms);
        mx_bucket_return(&rates->all_looks, rates->all_looks_rate, looks, now_ms);
        return;
    }
    mx_buckets_return(&rates->addresses, address_slice(&from), 1, now_ms);
    mx_buckets_return(&rates->networks, address_slice(&net), 1, now_ms);
    mx_bucket_return(&rates->all, rates->all_rate, 1, now_ms);
}

int64_t rate_limits_knows(struct rate_limits *rates, struct address from, uint64_t looks,
                          struct mcpx_slice participant, struct mcpx_now now)
{
    int64_t wait_ms;

    if (!rates)
        return 0;
    wait_ms = mx_buckets_wait_ms(&rates->participants, participant, 1, now.mono_ms);
    if (wait_ms > 0)
        return wait_ms; /* refusals are not free: its address has paid for this one */
    give_back(rates, from, looks, now.mono_ms);
    mx_buckets_spend(&rates->participants, participant, 1, now.mono_ms);
    return 0;
}

void rate_limits_charge(struct rate_limits *rates, struct mcpx_slice participant,
                        uint64_t cost, struct mcpx_now now)
{
    if (rates && cost > 0)
        mx_buckets_spend(&rates->participants, participant, cost, now.mono_ms);
}
