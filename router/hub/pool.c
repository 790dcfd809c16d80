/*
 * pool.c - bounds per topic multiply with the number of topics, which whoever may create topics
 * chooses. So there is one bound on all of them, and an order in which they give back. The order is
 * the rule "whoever needs it least, then whoever has most", kept in lists that are right after every
 * change, because looking for the largest of ten thousand topics at each message would be what an
 * attacker wants. Exact order by size would need a heap; within a quarter is fair enough and costs
 * two list operations.
 *
 * A topic that can give nothing leaves the lists until it changes. So no topic is looked at twice
 * in vain, however often room is wanted.
 * Includes hub_state.h.
 */
#include "router/hub/pool.h"

#include "router/hub/hub_state.h"

/* The part of the bound that is kept for what is on its way. */
enum { POOL_SPARE_PART = 16 };

static void sizes_init(struct pool_sizes *sizes)
{
    for (size_t i = 0; i < POOL_CLASSES; i++)
        list_init(&sizes->classes[i]);
    memset(sizes->taken, 0, sizeof sizes->taken);
}

void pool_init(struct pool *pool, size_t max)
{
    pool->max = max;
    pool->used = 0;
    list_init(&pool->empty);
    list_init(&pool->waiting);
    sizes_init(&pool->peopled);
    sizes_init(&pool->held);
}

void pool_part_init(struct pool_part *part)
{
    *part = (struct pool_part){.line = POOL_NOWHERE};
    list_init(&part->link);
}

/* The place of the highest bit, and the two bits behind it. */
static unsigned char class_of(size_t memory)
{
    unsigned power = 0;

    for (size_t rest = memory; rest > 7; rest >>= 1)
        power++;
    return (unsigned char)(power * 4 + ((memory >> power) & 3) + (memory > 3 ? 4 : 0));
}

static struct pool_sizes *sizes_of(struct pool *pool, enum pool_line line)
{
    return line == POOL_HELD ? &pool->held : &pool->peopled;
}

/* ---- lines ---- */

static void quit(struct pool *pool, struct pool_part *part)
{
    struct pool_sizes *sizes = sizes_of(pool, part->line);

    list_remove(&part->link);
    if ((part->line == POOL_PEOPLED || part->line == POOL_HELD) &&
        list_is_empty(&sizes->classes[part->class]))
        sizes->taken[part->class / 64] &= ~(UINT64_C(1) << part->class % 64);
    part->line = POOL_NOWHERE;
}

static void enter(struct pool *pool, struct pool_part *part, enum pool_line line)
{
    struct pool_sizes *sizes = sizes_of(pool, line);

    quit(pool, part);
    part->line = (unsigned char)line;
    if (line == POOL_EMPTY || line == POOL_WAITING) {
        list_append(line == POOL_EMPTY ? &pool->empty : &pool->waiting, &part->link);
        return;
    }
    part->class = class_of(part->memory);
    list_append(&sizes->classes[part->class], &part->link);
    sizes->taken[part->class / 64] |= UINT64_C(1) << part->class % 64;
}

static struct topic *first_of(struct link *line)
{
    return list_is_empty(line) ? NULL : LIST_ELEMENT(line->next, struct topic, part.link);
}

/* The highest bit; `word` has one. */
static unsigned highest(uint64_t word)
{
    unsigned bit = 0;

    for (unsigned step = 32; step > 0; step /= 2) {
        if (word >> step) {
            word >>= step;
            bit += step;
        }
    }
    return bit;
}

static struct topic *largest_of(struct pool_sizes *sizes)
{
    for (size_t i = POOL_CLASSES / 64; i > 0; i--) {
        if (sizes->taken[i - 1])
            return first_of(&sizes->classes[(i - 1) * 64 + highest(sizes->taken[i - 1])]);
    }
    return NULL;
}

/* ---- counting ---- */

void pool_count(struct topic *topic)
{
    struct pool *pool = &topic->hub->pool;
    struct pool_part *part = &topic->part;
    enum pool_line line = topic->peer_count ? POOL_PEOPLED : POOL_EMPTY;
    size_t memory = topic_memory(topic);

    if (memory == part->memory && part->line == line)
        return;
    pool->used += memory - part->memory;
    part->memory = memory;
    topic->hub->stats.log_bytes = pool->used;
    if (pool->max != 0 && (line == POOL_PEOPLED || part->line != POOL_EMPTY))
        enter(pool, part, line);
}

void pool_forget(struct topic *topic)
{
    struct pool *pool = &topic->hub->pool;

    quit(pool, &topic->part);
    pool->used -= topic->part.memory;
    topic->hub->stats.log_bytes = pool->used;
}

size_t pool_share(const struct hub *hub)
{
    return hub->pool.max / (hub->stats.topics ? hub->stats.topics : 1);
}

/* ---- giving back ---- */

static bool shorten(struct topic *topic)
{
    if (!log_shorten(&topic->log))
        return false;
    topic->hub->stats.shortened++;
    pool_count(topic);
    return true;
}

/* True when something changed, so that it makes sense to go on. */
static bool take_some_back(struct hub *hub)
{
    struct pool *pool = &hub->pool;
    struct topic *topic = first_of(&pool->empty);

    if (topic) {
        if (!shorten(topic))
            quit(pool, &topic->part);
        return true;
    }
    topic = largest_of(&pool->peopled);
    if (topic) {
        if (!shorten(topic))
            enter(pool, &topic->part, POOL_HELD);
        return true;
    }
    topic = largest_of(&pool->held);
    if (!topic)
        return false;
    enter(pool, &topic->part, topic_shed(topic) ? POOL_PEOPLED : POOL_WAITING);
    return true;
}

void pool_look_again(struct hub *hub)
{
    struct pool *pool = &hub->pool;
    struct topic *topic;

    while ((topic = first_of(&pool->waiting)))
        enter(pool, &topic->part, POOL_PEOPLED);
}

static bool has_room(const struct pool *pool, size_t growth)
{
    return growth <= pool->max && pool->used <= pool->max - growth;
}

bool pool_make_room(struct hub *hub, size_t growth)
{
    struct pool *pool = &hub->pool;
    size_t spare = pool->max / POOL_SPARE_PART;

    if (pool->max == 0)
        return true;
    while (!has_room(pool, growth + spare) && take_some_back(hub))
        ;
    return has_room(pool, growth);
}
