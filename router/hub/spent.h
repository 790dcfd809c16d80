/*
 * spent.h - ids that were said and have left the retained window. They stay refused for a while:
 * who pushes an id out of history cannot say something else under it at once.
 */
#ifndef HUB_SPENT_H
#define HUB_SPENT_H

#include "lib/core/map.h"
#include "router/hub/list.h"

/** Ids remembered of one sender, and senders remembered, in one topic. Protocol: section 5. */
enum { SPENT_IDS_MAX = 256, SPENT_SENDERS_MAX = 1024 };

/** What a spent id has for a value in the log's index, where a retained one has its serial. */
#define SPENT_VALUE UINT64_MAX

/**
 * The spent ids of one topic, a share for each sender, so that no flood makes the topic forget
 * those of others. The index itself is the log's: a spent id needs no memory there that it did not
 * have.
 *
 * shares    who said something longest ago first
 * bytes     what the shares take
 */
struct spent {
    struct mx_map senders;
    struct link shares;
    size_t bytes;
};

/** Prepares an empty memory. */
void spent_init(struct spent *spent);

/** Frees it. */
void spent_fini(struct spent *spent);

/**
 * Makes room in a sender's share for what it is about to say, so that spent_note cannot fail. The
 * share of one sender too many is made in place of the one that was silent longest, whose ids go
 * out of the index. False when memory runs out (nothing has changed).
 */
bool spent_reserve(struct spent *spent, struct mx_map *ids, uint32_t sender);

/**
 * A retained id is spent: in the index its value becomes SPENT_VALUE, and the sender's oldest
 * beyond SPENT_IDS_MAX goes. Without a share it is forgotten at once.
 */
void spent_note(struct spent *spent, struct mx_map *ids, uint32_t sender,
                struct mx_map_slot retained);

/**
 * Forgets the share of who was silent longest, for want of memory. False when there is none. What
 * these say again under a spent id is then let pass.
 */
bool spent_forget(struct spent *spent, struct mx_map *ids);

#endif
