/*
 * holders.h - who holds how many of the places for connections without a token yet, and who has
 * to give one up.
 */
#ifndef EDGE_HOLDERS_H
#define EDGE_HOLDERS_H

#include "lib/core/map.h"
#include "router/edge/address.h"
#include "router/hub/list.h"

struct holder;

/** One place, part of what occupies it. `holder` is NULL while it is nobody's. */
struct holding {
    struct link link;
    struct holder *holder;
    uint64_t number; /* later ones have higher numbers */
};

/** Everybody who holds a place. Zeroed but for `key`, and after holders_init, it is empty. */
struct holders {
    struct link all;
    struct mx_map by_address;
    struct mx_map_key key;
    uint64_t last_number;
    size_t count; /* places taken */
};

/** Prepares an empty table. */
void holders_init(struct holders *holders, struct mx_map_key key);

/** Frees the table's own memory; nobody may hold a place any more. */
void holders_fini(struct holders *holders);

/** Gives an address one more place. False when memory runs out: then it has none. */
bool holders_add(struct holders *holders, struct address address, struct holding *holding);

/** The place is free again; harmless when it was. */
void holders_remove(struct holders *holders, struct holding *holding);

/**
 * The oldest place of the address that holds most, in the network (/48 for IPv6; an IPv4 address
 * is its own) that holds most; of several such, the oldest of all. NULL when there is none. Looks
 * at each address once.
 */
struct holding *holders_excess(const struct holders *holders);

#endif
