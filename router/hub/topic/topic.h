/* topic.h - one topic: its participants, sorted, its log and its presence. */
#ifndef HUB_TOPIC_H
#define HUB_TOPIC_H

#include "router/hub/topic/peer.h"

#include <stdbool.h>

struct hub;
struct log_message;
struct usage;
struct topic;

/**
 * Makes an empty topic, in no list or table of the hub yet, on its maker's usage; `name` is copied.
 * NULL when memory runs out.
 */
struct topic *topic_new(struct hub *hub, struct mcpx_slice name, struct usage *maker);

/** Sets the rates of its participants from the hub's current settings. */
void topic_set_rates(struct topic *topic, struct mcpx_now now);

/** Puts it into the hub. False when memory runs out. */
bool topic_enter(struct topic *topic);

/** Takes it out of the hub and frees it; no peer may point to it any more. */
void topic_free(struct topic *topic);

/** Takes it out of the hub, and frees all but the topic itself and its name: free() does that. */
void topic_empty(struct topic *topic);

/** Lists it as idle when it has no peers and submissions. Call it when that may have changed. */
void topic_settle(struct topic *topic);

/** Makes sure that the next topic_insert cannot fail; false when memory runs out. */
bool topic_reserve(struct topic *topic);

/** Puts a peer in its place by its id, replacing one of the same id, and seats it. */
void topic_insert(struct topic *topic, struct peer *peer);

/** Takes a peer and its cursor out of the topic; harmless when it is not in it. */
void topic_remove(struct topic *topic, struct peer *peer, struct mcpx_now now);

/**
 * Appends a message to the log, its seats filled in, publishes the presence before it, and frees
 * unused memory. Leaves slow consumers to hub_disconnect_slow.
 *
 * committed   it was accepted when there was room (topic_make_room): the bound on all logs no
 *             longer stops it
 *
 * Returns MCPX_OK, MCPX_ENOMEM, or MCPX_ESPACE when all logs together are at their bound and none
 * can be made shorter (nothing has changed).
 */
enum mcpx_err topic_append(struct topic *topic, struct log_message *message, bool committed);

/** Makes room for a message and for `others` bytes before it; false when there is none. */
bool topic_make_room(struct topic *topic, const struct log_message *message, size_t others);

/** Appends a stored message to a topic that is being loaded. MCPX_OK or MCPX_ENOMEM. */
enum mcpx_err topic_append_stored(struct topic *topic, const struct log_message *message);

/** The load is complete: later messages are new. */
void topic_finish_loading(struct topic *topic);

/**
 * Adds the presence of a peer to the presence of its topic, to be published with the next message
 * or after a while. Leaves slow consumers to hub_disconnect_slow.
 *
 * copy   NULL, or gets its frame appended as well
 *
 * Returns MCPX_OK or MCPX_ENOMEM (nothing has changed).
 */
enum mcpx_err topic_tell_presence(const struct peer *peer, const char *event,
                                  const char *reason, struct mcpx_text *copy);

/** Publishes the presence now. Leaves slow consumers to hub_disconnect_slow. */
void topic_publish(struct topic *topic);

/** Forgets history beyond the bound of age. Leaves slow consumers to hub_disconnect_slow. */
void topic_forget_old(struct topic *topic, int64_t mono_ms);

/**
 * Sends system/position to all when their last position is in the older half of a window that moves
 * or is about to. A returning client can then name a retained position. Call it after an envelope
 * was appended, or the window was moved. Protocol: section 5.
 */
void topic_tell_position(struct topic *topic);

/** Frees unused memory and that of slow consumers, and counts the rest. */
void topic_trim(struct topic *topic);

/**
 * Makes room for `growth` bytes. Topics count for their maker, its first participant; one loaded
 * from a store counts by itself. The maker with the most bytes gives way: its largest topic loses
 * its oldest segment of history. If none of its topics has history to give, the largest loses
 * lagging readers with a full socket (left to hub_disconnect_slow).
 *
 * It starts at 15/16 of the bound, so that readers with free sockets are written to
 * (hub_is_pressed) before anything is refused. False without room.
 */
bool reclaim_room(struct hub *hub, size_t growth);

#endif
