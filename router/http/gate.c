/*
 * gate.c - an attempt is charged to its address, and the charge moves to the participant as soon
 * as that is known. So a thousand people behind one address cost it nothing, and a thousand
 * attempts without a token cost nobody else anything. Where both share an address, their
 * credentials tell them apart.
 *
 * The bound on all addresses together is for botnets. It refuses those first that ask most: a
 * bound that refused everybody would be what an attacker wants.
 */
#include "router/http/gate.h"

#include <stdlib.h>

/* Requests may come in a burst of so many seconds' worth. */
static const uint64_t burst_s = 10;

struct gate {
    struct mx_buckets addresses, networks, participants, looks;
    struct mx_bucket all, all_looks;
    struct mx_rate all_rate, all_looks_rate;
};

static struct mx_rate per_second(uint64_t rate, uint64_t shares)
{
    return (struct mx_rate){rate * shares * 60, rate * shares};
}

struct gate *gate_new(struct chance chance, uint64_t connects_per_s,
                      uint64_t requests_per_minute)
{
    struct gate *gate = calloc(1, sizeof *gate);

    if (!gate)
        return NULL;
    chance.fill(chance.context, &gate->addresses.key, sizeof gate->addresses.key);
    gate->networks.key = gate->participants.key = gate->looks.key = gate->addresses.key;
    gate_set_rates(gate, connects_per_s, requests_per_minute);
    return gate;
}

/* A debt from a higher rate would take long to be paid at a lower one. */
static void set_rate(struct mx_buckets *buckets, struct mx_rate rate)
{
    if (buckets->rate.per_minute == rate.per_minute)
        return;
    buckets->rate = rate;
    memset(buckets->cells, 0, sizeof buckets->cells);
}

void gate_set_rates(struct gate *gate, uint64_t connects_per_s, uint64_t requests_per_minute)
{
    uint64_t burst = requests_per_minute * burst_s / 60;

    set_rate(&gate->addresses, per_second(connects_per_s, 1));
    set_rate(&gate->networks, per_second(connects_per_s, GATE_NETWORK_SHARES));
    set_rate(&gate->participants, (struct mx_rate){requests_per_minute, burst ? burst : 1});
    set_rate(&gate->looks, per_second(connects_per_s, GATE_LOOK_SHARES));
    if (gate->all_rate.per_minute != connects_per_s * GATE_ALL_SHARES * 60)
        gate->all = gate->all_looks = (struct mx_bucket){0};
    gate->all_rate = per_second(connects_per_s, GATE_ALL_SHARES);
    gate->all_looks_rate = per_second(connects_per_s, GATE_LOOK_ALL_SHARES);
}

void gate_free(struct gate *gate)
{
    free(gate);
}

/* Would there be room if the share were only a part of what it is? */
static bool is_modest(const struct gate *gate, struct mcpx_slice address, int64_t now_ms)
{
    uint64_t burst = gate->addresses.rate.burst;
    uint64_t rest = burst - burst / GATE_MODEST_PART;

    return mx_buckets_wait_ms(&gate->addresses, address, rest ? rest : 1, now_ms) == 0;
}

bool gate_admits(struct gate *gate, struct address from, struct mcpx_now now)
{
    struct address net = address_network(from);
    struct mcpx_slice address = address_slice(&from), network = address_slice(&net);
    int64_t now_ms = now.mono_ms;

    if (gate->addresses.rate.per_minute == 0)
        return true;
    if (mx_buckets_wait_ms(&gate->addresses, address, 1, now_ms) ||
        mx_buckets_wait_ms(&gate->networks, network, 1, now_ms))
        return false;
    if (mx_bucket_wait_ms(&gate->all, gate->all_rate, 1, now_ms) &&
        !is_modest(gate, address, now_ms))
        return false;
    mx_buckets_spend(&gate->addresses, address, 1, now_ms);
    mx_buckets_spend(&gate->networks, network, 1, now_ms);
    mx_bucket_spend(&gate->all, gate->all_rate, 1, now_ms);
    return true;
}

bool gate_looks(struct gate *gate, struct address from, uint64_t looks, struct mcpx_now now)
{
    struct mcpx_slice address = address_slice(&from);

    if (mx_buckets_wait_ms(&gate->looks, address, looks, now.mono_ms) ||
        !mx_bucket_take(&gate->all_looks, gate->all_looks_rate, looks, now.mono_ms))
        return false;
    mx_buckets_spend(&gate->looks, address, looks, now.mono_ms);
    return true;
}

static void give_back(struct gate *gate, struct address from, uint64_t looks, int64_t now_ms)
{
    struct address net = address_network(from);

    if (looks) {
        mx_buckets_return(&gate->looks, address_slice(&from), looks, now_ms);
        mx_bucket_return(&gate->all_looks, gate->all_looks_rate, looks, now_ms);
        return;
    }
    mx_buckets_return(&gate->addresses, address_slice(&from), 1, now_ms);
    mx_buckets_return(&gate->networks, address_slice(&net), 1, now_ms);
    mx_bucket_return(&gate->all, gate->all_rate, 1, now_ms);
}

int64_t gate_knows(struct gate *gate, struct address from, uint64_t looks,
                   struct mcpx_slice participant, struct mcpx_now now)
{
    int64_t wait_ms;

    if (!gate)
        return 0;
    wait_ms = mx_buckets_wait_ms(&gate->participants, participant, 1, now.mono_ms);
    if (wait_ms > 0)
        return wait_ms; /* refusals are not free: its address has paid for this one */
    give_back(gate, from, looks, now.mono_ms);
    mx_buckets_spend(&gate->participants, participant, 1, now.mono_ms);
    return 0;
}

void gate_charge(struct gate *gate, struct mcpx_slice participant, uint64_t cost,
                 struct mcpx_now now)
{
    if (gate && cost > 0)
        mx_buckets_spend(&gate->participants, participant, cost, now.mono_ms);
}
