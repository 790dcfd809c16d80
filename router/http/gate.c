/*
 * gate.c - an attempt is charged before anything is known but its address, and the charge moves to
 * the participant as soon as one is known. So a thousand people behind one address cost it nothing,
 * and a thousand attempts of somebody without a token cost nobody else anything. Where a thousand
 * people and the somebody share an address, they are told apart by what they show.
 *
 * The bound on all addresses together is for botnets. It turns away first who asks most, because a
 * bound that turned everybody away would itself be what an attacker wants.
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

/* What was spent at one rate would take long to flow back at a lower one. */
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

/*
 * "the oldest goes" lets whoever comes fastest push out all others; "the newest is turned away"
 * lets a thousand silent ones keep everybody out. Here whoever holds most makes room for others,
 * so a crowd costs itself. Networks count too, or 65,536 networks of 64 bits, which anybody can
 * rent for nothing, would be as many people.
 *
 * An address and its network are both holders; a network has no places, only a count.
 */

/* `network` is NULL in a network; `count` is that of its addresses together. */
struct holder {
    struct link in_all; /* in no list for a network */
    struct holder *network;
    struct link places; /* oldest first */
    size_t count;
    struct address address;
};

void holders_init(struct holders *holders, struct mx_map_key key)
{
    *holders = (struct holders){.key = key};
    list_init(&holders->all);
}

void holders_fini(struct holders *holders)
{
    mx_map_fini(&holders->by_address);
}

/* Addresses and networks stand in one map: an IPv4 address is its own network. */
static uint64_t hash_of(const struct holders *holders, const struct address *address,
                        bool is_network)
{
    uint64_t hash = mx_map_hash(holders->key, address_slice(address));

    return is_network ? ~hash : hash;
}

static struct holder *find(const struct holders *holders, const struct address *address,
                           bool is_network)
{
    uint64_t hash = hash_of(holders, address, is_network);
    size_t at = 0;
    uint64_t value;

    while ((value = mx_map_next(&holders->by_address, hash, &at))) {
        struct holder *holder = (struct holder *)(uintptr_t)value;

        if (memcmp(&holder->address, address, sizeof *address) == 0 &&
            !holder->network == is_network)
            return holder;
    }
    return NULL;
}

static void forget(struct holders *holders, struct holder *holder)
{
    if (!holder || holder->count > 0)
        return;
    mx_map_remove(&holders->by_address, hash_of(holders, &holder->address, !holder->network),
                  (uintptr_t)holder);
    list_remove(&holder->in_all);
    free(holder);
}

/* The holder of this address, made when there is none; NULL when memory runs out. */
static struct holder *find_or_make(struct holders *holders, struct address address,
                                   struct holder *network)
{
    struct holder *holder = find(holders, &address, !network);

    if (holder)
        return holder;
    holder = malloc(sizeof *holder);
    if (!holder || !mx_map_reserve(&holders->by_address)) {
        free(holder);
        return NULL;
    }
    *holder = (struct holder){.network = network, .address = address};
    list_init(&holder->in_all);
    list_init(&holder->places);
    if (network)
        list_append(&holders->all, &holder->in_all);
    mx_map_put(&holders->by_address, hash_of(holders, &address, !network), (uintptr_t)holder);
    return holder;
}

bool holders_add(struct holders *holders, struct address address, struct holding *holding)
{
    struct holder *network = find_or_make(holders, address_network(address), NULL);
    struct holder *holder = network ? find_or_make(holders, address, network) : NULL;

    list_init(&holding->link);
    holding->holder = holder;
    if (!holder) {
        forget(holders, network);
        return false;
    }
    holding->number = ++holders->last_number;
    list_append(&holder->places, &holding->link);
    holder->count++;
    network->count++;
    holders->count++;
    return true;
}

void holders_remove(struct holders *holders, struct holding *holding)
{
    struct holder *holder = holding->holder, *network;

    if (!holder)
        return;
    network = holder->network;
    list_remove(&holding->link);
    holding->holder = NULL;
    holder->count--;
    network->count--;
    holders->count--;
    forget(holders, holder);
    forget(holders, network);
}

static struct holding *oldest_of(const struct holder *holder)
{
    return LIST_ELEMENT(holder->places.next, struct holding, link);
}

static bool goes_before(const struct holder *a, const struct holder *b)
{
    if (a->network->count != b->network->count)
        return a->network->count > b->network->count;
    if (a->count != b->count)
        return a->count > b->count;
    return oldest_of(a)->number < oldest_of(b)->number;
}

struct holding *holders_excess(const struct holders *holders)
{
    const struct holder *most = NULL;

    for (const struct link *link = holders->all.next; link != &holders->all;
         link = link->next) {
        const struct holder *holder = LIST_ELEMENT(link, const struct holder, in_all);

        if (!most || goes_before(holder, most))
            most = holder;
    }
    return most ? oldest_of(most) : NULL;
}
