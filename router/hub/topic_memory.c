/*
 * topic_memory.c - how a topic takes less memory: what nobody needs is freed, and readers that hold
 * on to too much because they are slow lose their place.
 */
#include "router/hub/topic_memory.h"

#include "router/hub/cursor.h"
#include "router/hub/hub_state.h"

/*
 * News is short and everybody reads it soon, so it may lag less than envelopes; the setting for
 * those serves for both.
 */
enum { NEWS_SHARE = 4 };

/* Moves a reader past what is not for it; true when that takes it out of the oldest segment. */
static bool moves_on(struct peer *peer)
{
    const struct segment *home = peer->cursor.reader.home;

    (void)cursor_has_more(peer);
    return peer->cursor.reader.home != home;
}

/* Takes a reader off log and news; hub_condemn_slow does the rest. */
static void drop_reader(struct topic *topic, struct peer *peer)
{
    peer->missed = topic->log.head - peer->cursor.next;
    if (!list_is_empty(&peer->cursor.news.link)) /* else it has no welcome yet */
        peer->missed += topic->news.added - peer->cursor.news.next;
    log_reader_release(&peer->cursor.reader);
    news_reader_leave(&peer->cursor.news);
    list_append(&topic->hub->slow, &peer->cursor.reader.link);
}

/*
 * Takes the readers off that hold on to too much because their sockets are full. Those that only
 * wait for their turn are none of them: they make the edge write before it reads on
 * (hub_is_pressed). Nor are those for whom there is nothing in it: they move on. Both return true
 * when nobody is left.
 */
static bool drop_slow_from_log(struct topic *topic, struct link *readers)
{
    struct link *next;

    for (struct link *link = readers->next; link != readers; link = next) {
        struct peer *peer = LIST_ELEMENT(link, struct peer, cursor.reader.link);

        next = link->next;
        if (!moves_on(peer) && peer->stalled && peer->cursor.next < topic->log.head)
            drop_reader(topic, peer);
    }
    return list_is_empty(readers);
}

static bool drop_slow_from_news(struct topic *topic, struct link *readers)
{
    struct link *next;

    for (struct link *link = readers->next; link != readers; link = next) {
        struct peer *peer = LIST_ELEMENT(link, struct peer, cursor.news.link);

        next = link->next;
        if (peer->owed & OWED_WELCOME && peer->welcome.first)
            news_reader_leave(
                &peer->cursor.news); /* its welcome was not taken: there is another */
        else if (peer->stalled)
            drop_reader(topic, peer);
    }
    return list_is_empty(readers);
}

void topic_trim(struct topic *topic)
{
    size_t backlog = topic->hub->config.backlog_bytes;
    struct link *overdue;

    do {
        while (log_drop(&topic->log))
            ;
        overdue = log_overdue(&topic->log);
    } while (overdue && drop_slow_from_log(topic, overdue));
    topic->hub->pressed |= overdue != NULL;
    do {
        news_drop(&topic->news);
        overdue = news_overdue(&topic->news, (backlog + NEWS_SHARE - 1) / NEWS_SHARE);
    } while (overdue && drop_slow_from_news(topic, overdue));
    topic->hub->pressed |= overdue != NULL;
    pool_count(topic);
}

bool topic_drop_slow(struct topic *topic)
{
    struct link *readers = log_oldest_readers(&topic->log);
    const struct link *last = topic->hub->slow.previous;
    bool dropped = readers && drop_slow_from_log(topic, readers);

    readers = news_overdue(&topic->news, 1);
    if (readers)
        (void)drop_slow_from_news(topic, readers);
    if (!dropped && topic->hub->slow.previous == last) {
        topic->hub->pressed = true;
        return false;
    }
    topic_trim(topic);
    return true;
}
