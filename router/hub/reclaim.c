/*
 * reclaim.c - room for a message is taken from who needs it least, a step at a time: the pool says
 * from whom, and the topic's log and readers say whether it has any.
 */
#include "router/hub/reclaim.h"

#include "router/hub/hub_state.h"
#include "router/hub/topic_memory.h"

/* The part of the bound that is kept for what is on its way. */
enum { SPARE_PART = 16 };

static bool shorten(struct topic *topic)
{
    if (!log_shorten(&topic->log))
        return false;
    topic->hub->stats.shortened++;
    pool_count(topic);
    return true;
}

/* The first topic gives back what it can, or goes where it is not asked again in vain. */
static void take_from(struct topic *topic)
{
    if (topic->part.line == POOL_HELD)
        pool_enter(topic, topic_drop_slow(topic) ? POOL_OCCUPIED : POOL_WAITING);
    else if (shorten(topic))
        return;
    else if (topic->part.line == POOL_OCCUPIED)
        pool_enter(topic, POOL_HELD);
    else
        pool_leave(&topic->part);
}

static bool has_room(const struct pool *pool, size_t growth)
{
    return growth <= pool->max && pool->used <= pool->max - growth;
}

bool reclaim_room(struct hub *hub, size_t growth)
{
    struct pool *pool = &hub->pool;
    size_t spare = pool->max / SPARE_PART;
    struct topic *topic;

    if (pool->max == 0)
        return true;
    while (!has_room(pool, growth + spare) && (topic = pool_first(pool)))
        take_from(topic);
    return has_room(pool, growth);
}
