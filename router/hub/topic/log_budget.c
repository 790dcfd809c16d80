/*
 * log_budget.c - participants choose the number of topics, so bounds per topic do not bound the
 * memory. One bound covers all topics, with the rule of all shared resources: the largest holder
 * gives way. The holder is the participant that made the topics, and its largest topic gives memory
 * back. A heap finds the holder. The topic is searched among the holder's topics, whose number has
 * a limit.
 *
 * A topic with nothing to give leaves the lists until it changes.
 *
 * A usage is updated at each change, so a check of a quota reads one number. An empty usage is
 * freed at once: a table of all former participants would be memory for attackers to fill.
 */
#include "router/hub/topic/account.h"

#include "router/hub/topic/hub_state.h"

#include <stdlib.h>

/* ---- usages ---- */

struct usage *usage_find(const struct hub *hub, struct mcpx_slice identity)
{
    return mx_map_find(&hub->usages, mx_map_hash(hub->key, identity),
                       offsetof(struct usage, identity), identity);
}

/* The name of a usage is in two parts. */
static struct usage *make(struct hub *hub, struct mcpx_slice sort, struct mcpx_slice name)
{
    size_t len = sort.len + name.len;
    struct usage *usage = malloc(sizeof *usage + len);

    if (!usage || !mx_map_reserve(&hub->usages)) {
        free(usage);
        return NULL;
    }
    *usage = (struct usage){.identity = {(const char *)(usage + 1), len}};
    for (size_t i = 0; i < LOG_BUDGET_LISTS; i++)
        list_init(&usage->lists[i]);
    list_init(&usage->peers);
    memcpy(usage + 1, sort.text, sort.len);
    memcpy((char *)(usage + 1) + sort.len, name.text, name.len);
    mx_map_put(&hub->usages, mx_map_hash(hub->key, usage->identity), (uintptr_t)usage);
    return usage;
}

struct usage *usage_open(struct hub *hub, const struct grant *grant)
{
    struct usage *usage = usage_find(hub, grant->identity);

    return usage ? usage : make(hub, MCPX_SLICE(""), grant->identity);
}

/* No participant has such a name. */
struct usage *usage_open_loaded(struct hub *hub, struct mcpx_slice topic)
{
    return make(hub, MCPX_SLICE("\n"), topic);
}

void usage_close(struct hub *hub, struct usage *usage)
{
    if (!usage || usage->topics > 0 || usage->connections > 0 || usage->loads > 0 ||
        usage->pending > 0)
        return;
    mx_map_remove(&hub->usages, mx_map_hash(hub->key, usage->identity), (uintptr_t)usage);
    free(usage);
}

/* ---- lists ---- */

/* Sets a topic's memory and list. Without memory to count it at its maker: LOG_BUDGET_NOWHERE. */
static void place(struct topic *topic, size_t memory, enum log_budget_list list)
{
    struct log_budget *log_budget = &topic->hub->log_budget;
    struct log_budget_part *part = &topic->part;
    struct mcpx_slice maker = topic->maker->identity;
    size_t before = part->list <= LOG_BUDGET_HELD ? part->memory : 0;
    size_t offered = list <= LOG_BUDGET_HELD ? memory : 0;

    if (offered > before && !mx_holders_add(&log_budget->makers, maker, offered - before)) {
        list = LOG_BUDGET_NOWHERE;
        offered = 0;
    }
    if (offered < before)
        mx_holders_remove(&log_budget->makers, maker, before - offered);
    log_budget->used += memory - part->memory;
    topic->hub->stats.log_bytes = log_budget->used;
    part->memory = memory;
    part->list = list;
    list_remove(&part->link);
    if (list <= LOG_BUDGET_HELD)
        list_append(&topic->maker->lists[list], &part->link);
    else if (list == LOG_BUDGET_WAITING)
        list_append(&log_budget->waiting, &part->link);
}

void log_budget_enter(struct topic *topic, enum log_budget_list list)
{
    place(topic, topic->part.memory, list);
}

void log_budget_count(struct topic *topic)
{
    size_t memory = topic_memory(topic);

    if (memory != topic->part.memory || topic->part.list != LOG_BUDGET_HISTORY)
        place(topic, memory,
              topic->hub->log_budget.max ? LOG_BUDGET_HISTORY : LOG_BUDGET_NOWHERE);
}

void log_budget_forget(struct topic *topic)
{
    place(topic, 0, LOG_BUDGET_NOWHERE);
}

size_t log_budget_share(const struct hub *hub)
{
    return hub->log_budget.max / (hub->stats.topics ? hub->stats.topics : 1);
}

/* ---- giving back ---- */

static struct topic *largest_of(const struct link *list)
{
    struct topic *largest = NULL;

    for (struct link *link = list->next; link != list; link = link->next) {
        struct topic *topic = LIST_ELEMENT(link, struct topic, part.link);

        if (!largest || topic->part.memory > largest->part.memory)
            largest = topic;
    }
    return largest;
}

struct topic *log_budget_first(const struct hub *hub)
{
    const struct mx_holders *makers = &hub->log_budget.makers;
    const struct usage *maker =
        makers->count ? usage_find(hub, mx_holders_largest(makers)) : NULL;
    struct topic *first = NULL;

    for (size_t i = 0; maker && !first && i < LOG_BUDGET_LISTS; i++)
        first = largest_of(&maker->lists[i]);
    return first;
}

void log_budget_retry_waiting(struct hub *hub)
{
    struct link *waiting = &hub->log_budget.waiting;

    while (!list_is_empty(waiting))
        log_budget_enter(LIST_ELEMENT(waiting->next, struct topic, part.link),
                         LOG_BUDGET_HISTORY);
}
