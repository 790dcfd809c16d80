/*
 * reclaim.h - room for a message when all topics' logs together have used up theirs.
 * Protocol: section 5 (bounds).
 */
#ifndef HUB_RECLAIM_H
#define HUB_RECLAIM_H

#include <mcpx/base.h>

struct hub;

/**
 * Makes room for so many bytes more: takes the oldest segment of history of the topic that has
 * been empty for longest, until none of those has any; then of the topic that holds most, within
 * a quarter; and only then takes readers off that lag with a full socket, likewise (they are left
 * to hub_condemn_slow). All that first among the topics of a maker whose topics hold more than half
 * of the bound together, until they hold less than three eighths, and only then among the others'.
 * Each step costs the same however many topics there are.
 *
 * From 15/16 of the bound on room is made before it is missed, so that readers who only wait for
 * their turn get it (hub_is_pressed) before anything is refused. False when there is no room.
 */
bool reclaim_room(struct hub *hub, size_t growth);

#endif
