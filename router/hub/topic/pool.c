/*
 * pool.c - anybody who may create topics chooses how many there are, so bounds per topic bound
 * nothing. There is one bound on all topics, and the rule of everything shared: of the largest
 * holder, the participant for whom the topics were created, the largest topic gives back. A heap
 * finds the holder, and the topic is searched among its topics, of which each participant may have
 * a fixed number.
 *
 * A topic that can give nothing leaves the lines until it changes.
 *
 * A tally counts what comes and goes, so asking for a share reads one number. An empty tally is
 * freed at once: a table of everybody who ever came would be memory that anybody can fill.
 */
#include "router/hub/topic/account.h"

#include "router/hub/topic/hub_state.h"

#include <stdlib.h>

/* ---- tallies ---- */

struct tally *tally_find(const struct hub *hub, struct mcpx_slice identity)
{
    return mx_map_find(&hub->tallies, mx_map_hash(hub->key, identity),
                       offsetof(struct tally, identity), identity);
}

/* The name of a tally is in two parts. */
static struct tally *make(struct hub *hub, struct mcpx_slice sort, struct mcpx_slice name)
{
    size_t len = sort.len + name.len;
    struct tally *tally = malloc(sizeof *tally + len);

    if (!tally || !mx_map_reserve(&hub->tallies)) {
        free(tally);
        return NULL;
    }
    *tally = (struct tally){.identity = {(const char *)(tally + 1), len}};
    for (size_t i = 0; i < POOL_LINES; i++)
        list_init(&tally->lines[i]);
    list_init(&tally->peers);
    memcpy(tally + 1, sort.text, sort.len);
    memcpy((char *)(tally + 1) + sort.len, name.text, name.len);
    mx_map_put(&hub->tallies, mx_map_hash(hub->key, tally->identity), (uintptr_t)tally);
    return tally;
}

struct tally *tally_open(struct hub *hub, const struct grant *grant)
{
    struct tally *tally = tally_find(hub, grant->identity);

    return tally ? tally : make(hub, MCPX_SLICE(""), grant->identity);
}

/* No participant has such a name. */
struct tally *tally_open_loaded(struct hub *hub, struct mcpx_slice topic)
{
    return make(hub, MCPX_SLICE("\n"), topic);
}

void tally_close(struct hub *hub, struct tally *tally)
{
    if (!tally || tally->topics > 0 || tally->connections > 0 || tally->openings > 0 ||
        tally->pending > 0)
        return;
    mx_map_remove(&hub->tallies, mx_map_hash(hub->key, tally->identity), (uintptr_t)tally);
    free(tally);
}

/* ---- lines ---- */

/* What it holds now, and where it stands. Without memory to count that at its maker's: nowhere. */
static void place(struct topic *topic, size_t memory, enum pool_line line)
{
    struct pool *pool = &topic->hub->pool;
    struct pool_part *part = &topic->part;
    struct mcpx_slice maker = topic->maker->identity;
    size_t before = part->line <= POOL_HELD ? part->memory : 0;
    size_t offered = line <= POOL_HELD ? memory : 0;

    if (offered > before && !mx_holders_add(&pool->makers, maker, offered - before)) {
        line = POOL_NOWHERE;
        offered = 0;
    }
    if (offered < before)
        mx_holders_remove(&pool->makers, maker, before - offered);
    pool->used += memory - part->memory;
    topic->hub->stats.log_bytes = pool->used;
    part->memory = memory;
    part->line = line;
    list_remove(&part->link);
    if (line <= POOL_HELD)
        list_append(&topic->maker->lines[line], &part->link);
    else if (line == POOL_WAITING)
        list_append(&pool->waiting, &part->link);
}

void pool_enter(struct topic *topic, enum pool_line line)
{
    place(topic, topic->part.memory, line);
}

void pool_count(struct topic *topic)
{
    size_t memory = topic_memory(topic);

    if (memory != topic->part.memory || topic->part.line != POOL_HISTORY)
        place(topic, memory, topic->hub->pool.max ? POOL_HISTORY : POOL_NOWHERE);
}

void pool_forget(struct topic *topic)
{
    place(topic, 0, POOL_NOWHERE);
}

size_t pool_share(const struct hub *hub)
{
    return hub->pool.max / (hub->stats.topics ? hub->stats.topics : 1);
}

/* ---- giving back ---- */

static struct topic *largest_of(const struct link *line)
{
    struct topic *largest = NULL;

    for (struct link *link = line->next; link != line; link = link->next) {
        struct topic *topic = LIST_ELEMENT(link, struct topic, part.link);

        if (!largest || topic->part.memory > largest->part.memory)
            largest = topic;
    }
    return largest;
}

struct topic *pool_first(const struct hub *hub)
{
    const struct mx_holders *makers = &hub->pool.makers;
    const struct tally *maker =
        makers->count ? tally_find(hub, mx_holders_largest(makers)) : NULL;
    struct topic *first = NULL;

    for (size_t i = 0; maker && !first && i < POOL_LINES; i++)
        first = largest_of(&maker->lines[i]);
    return first;
}

void pool_retry_waiting(struct hub *hub)
{
    struct link *waiting = &hub->pool.waiting;

    while (!list_is_empty(waiting))
        pool_enter(LIST_ELEMENT(waiting->next, struct topic, part.link), POOL_HISTORY);
}
