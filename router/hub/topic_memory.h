/*
 * topic_memory.h - how a topic takes less memory, and which slow readers lose their place for it.
 * They are left to hub_condemn_slow.
 */
#ifndef HUB_TOPIC_MEMORY_H
#define HUB_TOPIC_MEMORY_H

#include <stdbool.h>

struct topic;

/** Frees what nobody needs or may hold any longer, and counts what is left. */
void topic_trim(struct topic *topic);

/**
 * Takes readers with full sockets off the oldest part of the log, however little they lag; joiners
 * that await their welcome do without what they would have had of it. True when anybody gave way.
 */
bool topic_drop_slow(struct topic *topic);

#endif
