/*
 * pool.c - bounds per topic multiply with the number of topics, which whoever may create topics
 * chooses. So there is one bound on all of them, and an order in which they give back. The order is
 * the rule "whoever needs it least, then whoever has most", kept in lists that are right after
 * every change, because looking for the largest of ten thousand topics at each message would be
 * what an attacker wants. Exact order by size would need a heap; within a quarter is fair enough
 * and costs two list operations.
 *
 * A topic that can give nothing leaves the lists until it changes. So no topic is looked at twice
 * in vain, however often room is wanted.
 *
 * By that rule alone, who makes many topics and stays in them would empty everybody else's. So
 * topics count for their makers as well, and who has more than a share gives back first. There can
 * be one such maker at a time; its topics stand in lines of their own. It has to hold a good deal
 * less to be like the others again, so that all its topics seldom change lines.
 *
 * Tallies count where things come and go, so asking for a share is one look at a number. Those
 * without anything on them go at once: a table of everybody who ever came would be memory that
 * anybody can fill.
 */
#include "router/hub/topic/pool.h"

#include "router/hub/topic/hub_state.h"

#include <stdlib.h>

/* ---- tallies ---- */

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

/* ---- topics ---- */

/* A maker has too much above so many eighths of the bound, and no longer below so many. */
enum { GREEDY_ABOVE = 4, GREEDY_BELOW = 3, EIGHTHS = 8 };

static void sizes_init(struct pool_sizes *sizes)
{
    for (size_t i = 0; i < POOL_CLASSES; i++)
        list_init(&sizes->classes[i]);
    memset(sizes->taken, 0, sizeof sizes->taken);
}

static void lines_init(struct pool_lines *lines)
{
    list_init(&lines->empty);
    sizes_init(&lines->occupied);
    sizes_init(&lines->held);
}

void pool_init(struct pool *pool, size_t max)
{
    pool->max = max;
    pool->used = 0;
    list_init(&pool->waiting);
    lines_init(&pool->greedy);
    lines_init(&pool->others);
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

static struct pool_sizes *sizes_of(struct pool_lines *lines, enum pool_line line)
{
    return line == POOL_HELD ? &lines->held : &lines->occupied;
}

/* ---- lines ---- */

static bool has_sizes(enum pool_line line)
{
    return line == POOL_OCCUPIED || line == POOL_HELD;
}

void pool_leave(struct pool_part *part)
{
    struct pool_sizes *sizes;

    list_remove(&part->link);
    if (has_sizes(part->line)) {
        sizes = sizes_of(part->lines, part->line);
        if (list_is_empty(&sizes->classes[part->class]))
            sizes->taken[part->class / 64] &= ~(UINT64_C(1) << part->class % 64);
    }
    part->line = POOL_NOWHERE;
}

void pool_enter(struct topic *topic, enum pool_line line)
{
    struct pool *pool = &topic->hub->pool;
    struct pool_part *part = &topic->part;
    struct pool_lines *lines = topic->maker->greedy ? &pool->greedy : &pool->others;
    struct pool_sizes *sizes = sizes_of(lines, line);

    pool_leave(part);
    part->line = (unsigned char)line;
    part->lines = lines;
    if (!has_sizes(line)) {
        list_append(line == POOL_EMPTY ? &lines->empty : &pool->waiting, &part->link);
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

/* All topics of a maker go to the other lines; those that stand in none know it when they do. */
static void judge_maker(const struct pool *pool, struct tally *maker)
{
    size_t eighth = pool->max / EIGHTHS;
    bool greedy = !tally_is_nobodys(maker) &&
                  maker->bytes > eighth * (maker->greedy ? GREEDY_BELOW : GREEDY_ABOVE);

    if (greedy == maker->greedy)
        return;
    maker->greedy = greedy;
    for (struct link *link = maker->made.next; link != &maker->made; link = link->next) {
        struct topic *topic = LIST_ELEMENT(link, struct topic, in_made);

        if (topic->part.line == POOL_EMPTY || has_sizes(topic->part.line))
            pool_enter(topic, topic->part.line);
    }
}

/* A topic holds so much now. */
static void note_memory(struct topic *topic, size_t memory)
{
    struct pool *pool = &topic->hub->pool;

    pool->used += memory - topic->part.memory;
    topic->maker->bytes += memory - topic->part.memory;
    topic->part.memory = memory;
    topic->hub->stats.log_bytes = pool->used;
    if (pool->max != 0)
        judge_maker(pool, topic->maker);
}

void pool_count(struct topic *topic)
{
    enum pool_line line = topic->peer_count ? POOL_OCCUPIED : POOL_EMPTY;
    size_t memory = topic_memory(topic);

    if (memory == topic->part.memory && topic->part.line == line)
        return;
    note_memory(topic, memory);
    if (topic->hub->pool.max != 0 && (line == POOL_OCCUPIED || topic->part.line != POOL_EMPTY))
        pool_enter(topic, line);
}

void pool_forget(struct topic *topic)
{
    pool_leave(&topic->part);
    note_memory(topic, 0);
}

size_t pool_share(const struct hub *hub)
{
    return hub->pool.max / (hub->stats.topics ? hub->stats.topics : 1);
}

/* ---- giving back ---- */

static struct topic *first_in(struct pool_lines *lines)
{
    struct topic *topic = first_of(&lines->empty);

    if (!topic)
        topic = largest_of(&lines->occupied);
    return topic ? topic : largest_of(&lines->held);
}

struct topic *pool_first(struct pool *pool)
{
    struct topic *topic = first_in(&pool->greedy);

    return topic ? topic : first_in(&pool->others);
}

void pool_retry_waiting(struct hub *hub)
{
    struct pool *pool = &hub->pool;
    struct topic *topic;

    while ((topic = first_of(&pool->waiting)))
        pool_enter(topic, POOL_OCCUPIED);
}
