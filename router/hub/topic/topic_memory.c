/*
 * topic_memory.c - how a topic takes less memory: it frees unused memory, and slow consumers lose
 * their place.
 *
 * Room for a message comes from the largest holder, a step at a time: the log budget names the
 * topic, and the topic's log and readers decide whether it has any.
 */
#include "router/hub/topic/topic.h"

#include "router/hub/topic/account.h"
#include "router/hub/topic/hub_state.h"

/* Presence may lag less than envelopes: it is short, and all read it soon. */
enum { PRESENCE_SHARE = 4 };

/* Moves a reader past envelopes for others; true when it leaves the oldest segment. */
static bool moves_on(struct peer *peer)
{
    const struct segment *home = peer->cursor.reader.home;

    (void)cursor_has_more(peer);
    return peer->cursor.reader.home != home;
}

/* Takes a reader off log and presence; hub_disconnect_slow does the rest. */
static void drop_reader(struct topic *topic, struct peer *peer)
{
    peer->missed = topic->log.head - peer->cursor.next;
    if (!list_is_empty(&peer->cursor.presence.link)) /* else it awaits its welcome */
        peer->missed += topic->presence.added - peer->cursor.presence.next;
    log_reader_release(&peer->cursor.reader);
    presence_reader_leave(&peer->cursor.presence);
    list_append(&topic->hub->slow, &peer->cursor.reader.link);
}

/*
 * Takes a joiner out of the oldest segment, without the envelopes there. Only a written welcome
 * promises history. True when it had anything there.
 */
static bool does_without(struct peer *peer)
{
    const struct segment *home = peer->cursor.reader.home;

    return peer->stalled && peer_awaits_welcome(peer) && home &&
           cursor_do_without(peer, home->next ? home->next->first : peer->topic->log.head);
}

/* Makes a reader of the oldest segment give way, if it must. True when it did anything. */
static bool gives_way(struct topic *topic, struct peer *peer)
{
    const struct segment *home = peer->cursor.reader.home;
    bool has_moved = moves_on(peer) || does_without(peer);

    if (!peer->stalled || peer->held_back || peer->cursor.next == topic->log.head ||
        peer->cursor.reader.home != home)
        return has_moved;
    drop_reader(topic, peer);
    return true;
}

/*
 * Drops slow consumers: readers with full sockets and too large a backlog. Readers with free
 * sockets stay: for them the edge writes before it reads on (hub_is_pressed). Both return how many
 * gave way.
 */
static size_t drop_slow_from_log(struct topic *topic, struct link *readers)
{
    size_t count = 0;

    LIST_EACH(link, readers)
        count += gives_way(topic, LIST_ELEMENT(link, struct peer, cursor.reader.link));
    return count;
}

static size_t drop_slow_from_presence(struct topic *topic, struct link *readers)
{
    size_t count = 0;

    LIST_EACH(link, readers) {
        struct peer *peer = LIST_ELEMENT(link, struct peer, cursor.presence.link);

        if (peer_awaits_welcome(peer)) /* its peeked welcome was not taken: it gets another */
            presence_reader_leave(&peer->cursor.presence);
        else if (peer->stalled)
            drop_reader(topic, peer);
        else
            continue;
        count++;
    }
    return count;
}

void topic_trim(struct topic *topic)
{
    size_t backlog = topic->hub->config.backlog_bytes;
    struct link *overdue;

    do {
        while (log_drop(&topic->log))
            ;
        overdue = log_overdue(&topic->log);
        if (overdue)
            (void)drop_slow_from_log(topic, overdue);
    } while (overdue && list_is_empty(overdue));
    topic->hub->pressed |= overdue != NULL;
    do {
        presence_drop(&topic->presence);
        overdue = presence_overdue(&topic->presence,
                                   (backlog + PRESENCE_SHARE - 1) / PRESENCE_SHARE);
        if (overdue)
            (void)drop_slow_from_presence(topic, overdue);
    } while (overdue && list_is_empty(overdue));
    topic->hub->pressed |= overdue != NULL;
    log_budget_count(topic);
}

/*
 * Drops readers with full sockets from the oldest segment, however little they lag. Joiners that
 * await their welcome lose its history. True when any reader gave way.
 */
static bool drop_slow(struct topic *topic)
{
    struct link *readers = log_oldest_readers(&topic->log);
    size_t count = readers ? drop_slow_from_log(topic, readers) : 0;
    bool is_read = readers && list_is_empty(readers);

    readers = presence_overdue(&topic->presence, 1);
    if (readers)
        count += drop_slow_from_presence(topic, readers);
    if (count == 0 && !is_read) {
        topic->hub->pressed = true;
        return false;
    }
    topic_trim(topic);
    return true;
}

/* ---- room, taken from the largest holder ---- */

/* 1/16 of the bound is kept free for arriving messages. */
enum { SPARE_PART = 16 };

static bool shorten(struct topic *topic)
{
    if (!log_shorten(&topic->log))
        return false;
    topic->hub->stats.shortened++;
    log_budget_count(topic);
    return true;
}

/* A topic gives back memory, or moves to the list for its reason to give none. */
static void take_from(struct topic *topic)
{
    if (topic->part.list == LOG_BUDGET_HELD)
        log_budget_enter(topic, drop_slow(topic) ? LOG_BUDGET_HISTORY : LOG_BUDGET_WAITING);
    else if (!shorten(topic))
        log_budget_enter(topic, topic->peer_count > 0 ? LOG_BUDGET_HELD : LOG_BUDGET_NOWHERE);
}

static bool has_room(const struct log_budget *log_budget, size_t growth)
{
    return growth <= log_budget->max && log_budget->used <= log_budget->max - growth;
}

bool reclaim_room(struct hub *hub, size_t growth)
{
    struct log_budget *log_budget = &hub->log_budget;
    size_t spare = log_budget->max / SPARE_PART;
    struct topic *topic;

    if (log_budget->max == 0)
        return true;
    while (!has_room(log_budget, growth + spare) && (topic = log_budget_first(hub)))
        take_from(topic);
    return has_room(log_budget, growth);
}
