/*
 * holders.c - "the oldest goes" lets whoever comes fastest push out all others; "the newest is
 * turned away" lets a thousand silent ones keep everybody out. Here whoever holds most makes room
 * for others, so a crowd costs itself. Networks count too, or 65,536 networks of 64 bits, which
 * anybody can rent for nothing, would be as many people.
 *
 * An address and its network are both holders; a network has no places, only a count.
 */
#include "router/edge/holders.h"

#include <stdlib.h>

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
