/*
 * topic_memory.h - how a topic takes less memory, and which readers pay for it. Those are left in
 * `hub->fallen`, for hub_settle. Includes topic.h.
 */
#ifndef HUB_TOPIC_MEMORY_H
#define HUB_TOPIC_MEMORY_H

#include "router/hub/topic.h"

/** Frees what nobody needs or may hold any longer, and counts what is left. */
void topic_trim(struct topic *topic);

/**
 * Takes readers with full sockets off the oldest part of the log, however little they lag. True
 * when that let go of some of it.
 */
bool topic_shed(struct topic *topic);

#endif
