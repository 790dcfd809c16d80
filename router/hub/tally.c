/*
 * tally.c - topics and connections are counted where they come and go, so asking for a share is
 * one look at a number. Tallies without anything on them go at once: a table of everybody who
 * ever came would be memory that anybody can fill.
 */
#include "router/hub/tally.h"

#include "router/hub/hub_state.h"

#include <stdlib.h>

/* No participant has an empty name. */
const struct grant tally_nobody = {.identity = {"", 0}};

struct tally *tally_find(const struct hub *hub, const struct grant *grant)
{
    return mx_map_find(&hub->tallies, mx_map_hash(hub->key, grant->identity),
                       offsetof(struct tally, identity), grant->identity);
}

struct tally *tally_open(struct hub *hub, const struct grant *grant)
{
    struct tally *tally = tally_find(hub, grant);
    size_t len = grant->identity.len;

    if (tally)
        return tally;
    tally = malloc(sizeof *tally + len);
    if (!tally || !mx_map_reserve(&hub->tallies)) {
        free(tally);
        return NULL;
    }
    *tally = (struct tally){.identity = {(const char *)(tally + 1), len}};
    list_init(&tally->made);
    list_init(&tally->peers);
    memcpy(tally + 1, grant->identity.text, len);
    mx_map_put(&hub->tallies, mx_map_hash(hub->key, tally->identity), (uintptr_t)tally);
    return tally;
}

void tally_close(struct hub *hub, struct tally *tally)
{
    if (!tally || tally->topics > 0 || tally->connections > 0 || tally->openings > 0 ||
        tally->pending > 0)
        return;
    mx_map_remove(&hub->tallies, mx_map_hash(hub->key, tally->identity), (uintptr_t)tally);
    free(tally);
}
