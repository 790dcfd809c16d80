/*
 * sqlite_topics.c - open topics by name. A topic without entries keeps its row, and with it its
 * epoch and its serials, for as long as the hub has it: so the writer has to know which are open.
 */
#include "router/store/edge/sqlite_topics.h"

#include <sqlite3.h>
#include <stdlib.h>

void open_topics_init(struct open_topics *table)
{
    *table = (struct open_topics){0};
    sqlite3_randomness(sizeof table->key, &table->key);
    list_init(&table->all);
    list_init(&table->changed);
}

void open_topics_fini(struct open_topics *table)
{
    while (!list_is_empty(&table->all))
        open_topics_drop(table, LIST_ELEMENT(table->all.next, struct open_topic, link));
    mx_map_fini(&table->map);
}

struct open_topic *open_topics_find(const struct open_topics *table, struct mcpx_slice name)
{
    return mx_map_find(&table->map, mx_map_hash(table->key, name),
                       offsetof(struct open_topic, name), name);
}

struct open_topic *open_topics_get(struct open_topics *table, struct mcpx_slice name)
{
    struct open_topic *topic = open_topics_find(table, name);

    if (topic || !mx_map_reserve(&table->map))
        return topic;
    topic = malloc(sizeof *topic + name.len);
    if (!topic)
        return NULL;
    *topic = (struct open_topic){.name = {(char *)(topic + 1), name.len}, .stale = true};
    memcpy(topic + 1, name.text, name.len);
    list_init(&topic->changed);
    list_append(&table->all, &topic->link);
    mx_map_put(&table->map, mx_map_hash(table->key, name), (uint64_t)(uintptr_t)topic);
    return topic;
}

void open_topics_drop(struct open_topics *table, struct open_topic *topic)
{
    mx_map_remove(&table->map, mx_map_hash(table->key, topic->name),
                  (uint64_t)(uintptr_t)topic);
    list_remove(&topic->changed);
    list_remove(&topic->link);
    free(topic);
}

void open_topics_change(struct open_topics *table, struct open_topic *topic)
{
    if (list_is_empty(&topic->changed))
        list_append(&table->changed, &topic->changed);
}

void open_topics_settle(struct open_topics *table, bool committed)
{
    while (!list_is_empty(&table->changed)) {
        struct open_topic *topic =
            LIST_ELEMENT(table->changed.next, struct open_topic, changed);

        list_remove(&topic->changed);
        if (committed)
            topic->stored = topic->now;
        else
            topic->now = topic->stored;
    }
}
