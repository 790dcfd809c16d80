/*
 * sqlite_topics.h - what the writer knows of the topics that are open: their rows of the table
 * `topic`.
 */
#ifndef STORE_SQLITE_TOPICS_H
#define STORE_SQLITE_TOPICS_H

#include "lib/core/map.h"
#include "router/hub/list.h"

struct sqlite3_stmt;

/** A row of `topic`. `row` is 0 as long as there is none. */
struct extent {
    int64_t row;
    uint64_t first, last; /* serials; without entries the last is one less than the first */
    uint64_t bytes;       /* of the texts */
};

/**
 * An open topic.
 *
 * now      as the transaction at hand sees it
 * stored   as the database has it
 * stale    the database may have changed: look again
 * changed  in the list of those that the transaction at hand changes, or in none
 */
struct open_topic {
    struct mcpx_slice name;
    struct extent now, stored;
    bool stale;
    struct link changed;
    struct link link;
};

/** All of them. */
struct open_topics {
    struct mx_map map;
    struct mx_map_key key;
    struct link all;
    struct link changed;
};

/** Makes an empty table. */
void open_topics_init(struct open_topics *table);

/** Frees the table and all in it. */
void open_topics_fini(struct open_topics *table);

/** The topic of this name, or NULL. */
struct open_topic *open_topics_find(const struct open_topics *table, struct mcpx_slice name);

/** The same; added, and stale, if it is not there. NULL when memory runs out. */
struct open_topic *open_topics_get(struct open_topics *table, struct mcpx_slice name);

/** Takes one out and frees it. */
void open_topics_drop(struct open_topics *table, struct open_topic *topic);

/** The transaction at hand changes it. */
void open_topics_change(struct open_topics *table, struct open_topic *topic);

/** The transaction has ended: committed, or all is again as it was. */
void open_topics_settle(struct open_topics *table, bool committed);

#endif
