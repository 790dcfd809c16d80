/*
 * topic.h - one room: its participants, sorted, its log and its presence.
 */
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

/** Its participants have the rates that the hub's settings say now. */
void topic_set_rates(struct topic *topic, struct mcpx_now now);

/** Puts it into the hub. False when memory runs out. */
bool topic_enter(struct topic *topic);

/** Takes it out of the hub and frees it; no peer may point to it any more. */
void topic_free(struct topic *topic);

/** Takes it out of the hub, and frees all but the topic itself and its name: free() does that. */
void topic_empty(struct topic *topic);

/** Is it idle? Nobody points to it, nothing is pending. To be called when that may have changed. */
void topic_settle(struct topic *topic);

/** Makes sure that the next topic_insert cannot fail; false when memory runs out. */
bool topic_reserve(struct topic *topic);

/** Puts a peer in its place by its id, replacing one of the same id, and seats it. */
void topic_insert(struct topic *topic, struct peer *peer);

/** Takes a peer out of the room, its cursor too; harmless when it is not in it. */
void topic_remove(struct topic *topic, struct peer *peer, struct mcpx_now now);

/**
 * Appends a message to the log, its seats filled in, publishes the presence before it, and frees
 * what nobody needs. Leaves slow readers to hub_disconnect_slow.
 *
 * committed   it was accepted when there was room (topic_make_room): that it is more than all logs
 *             may take does not stop it
 *
 * Returns MCPX_OK, MCPX_ENOMEM, or MCPX_ESPACE when all logs together take what they may and none
 * can be made shorter (nothing has changed).
 */
enum mcpx_err topic_append(struct topic *topic, struct log_message *message, bool committed);

/** Makes room for a message, behind so many bytes of others; false when there is none. */
bool topic_make_room(struct topic *topic, const struct log_message *message, size_t others);

/** Appends a message that was stored, to a topic that is being loaded. MCPX_OK or MCPX_ENOMEM. */
enum mcpx_err topic_load(struct topic *topic, const struct log_message *message);

/** It has been loaded: what is appended from now on is new. */
void topic_loaded(struct topic *topic);

/**
 * Adds the presence of a peer to the presence of its topic, to be published with the next message
 * or after a while. Leaves slow readers to hub_disconnect_slow.
 *
 * copy   NULL, or gets its frame appended as well
 *
 * Returns MCPX_OK or MCPX_ENOMEM (nothing has changed).
 */
enum mcpx_err topic_tell_presence(const struct peer *peer, const char *event,
                                  const char *reason, struct mcpx_text *copy);

/** Publishes the presence now. Leaves slow readers to hub_disconnect_slow. */
void topic_publish(struct topic *topic);

/** Forgets what is older than history may be. Leaves slow readers to hub_disconnect_slow. */
void topic_forget_old(struct topic *topic, int64_t mono_ms);

/**
 * Tells everybody where the topic stands (system/position), when what they were told last has come
 * to the older half of a window that moves, or is about to: who comes back can then name a place
 * that is still retained. To be called after an envelope was appended, or the window was moved.
 * Protocol: section 5.
 */
void topic_tell_position(struct topic *topic);

/** Frees what nobody needs or may hold any longer, and counts what is left. */
void topic_trim(struct topic *topic);

/**
 * Makes room for so many bytes more: of the participant whose topics (those that it joined first)
 * hold most, the largest topic loses its oldest segment of history; when none of them has any to
 * give, the largest loses readers that lag with a full socket (left to hub_disconnect_slow). A
 * topic that was loaded from a store counts by itself.
 *
 * From 15/16 of the bound on room is made before it is missed, so that readers who only wait for
 * their turn get it (hub_is_pressed) before anything is refused. False when there is no room.
 */
bool reclaim_room(struct hub *hub, size_t growth);

#endif
