/*
 * topic.c - a topic keeps its peers in an array sorted by participant id: a welcome lists them in
 * that order, and a round of fan-out walks memory in a straight line. A hash table beside it finds
 * one by name, because a message may name a hundred addressees.
 */
#include "router/hub/topic/topic.h"

#include "lib/base/ident.h"
#include "lib/base/rows.h"
#include "lib/json/json_write.h"
#include "router/hub/topic/hub_state.h"
#include "router/hub/topic/notice.h"

#include <stdlib.h>

/*
 * The delay of presence, so that many joins take few writes. Each publication is a write to all,
 * some ten microseconds each: a delay of a tenth of a millisecond per participant bounds that
 * at about a tenth of the processor. Protocol: section 5.
 */
enum { TELL_MIN_MS = 50, TELL_MAX_MS = 1000, PEERS_PER_TELL_MS = 10 };

/* Refusals in a minute after which the connection ends. Protocol: section 6. */
static const uint64_t refusals_per_minute = 600;

static struct rates rates_of(const struct hub_config *config)
{
    return (struct rates){.messages.per_minute = config->messages_per_minute,
                          .bytes.per_minute = config->bytes_per_minute,
                          .refusals.per_minute = refusals_per_minute,
                          .joins.per_minute = config->joins_per_minute};
}

void topic_set_rates(struct topic *topic, struct mcpx_now now)
{
    struct rates fresh = rates_of(&topic->hub->config);

    accounts_set_rates(&topic->accounts, &fresh, now);
}

struct topic *topic_new(struct hub *hub, struct mcpx_slice name, struct usage *maker)
{
    const struct hub_config *config = &hub->config;
    struct log_bounds bounds = {config->history_count, config->history_bytes,
                                config->history_age_ms, config->backlog_bytes, 0};
    struct rates fresh = rates_of(config);
    unsigned char random[TOPIC_EPOCH_LEN / 2];
    struct topic *topic = malloc(sizeof *topic + name.len);

    if (!topic)
        return NULL;
    *topic = (struct topic){.hub = hub,
                            .maker = maker,
                            .empty_ms = hub->now.mono_ms,
                            .part.list = LOG_BUDGET_NOWHERE};
    topic->name = (struct mcpx_slice){(char *)(topic + 1), name.len};
    memcpy(topic + 1, name.text, name.len);
    hub->chance.fill(hub->chance.context, random, sizeof random);
    mx_hex_format(random, sizeof random, topic->epoch);
    accounts_init(&topic->accounts, hub->key, &fresh);
    log_init(&topic->log, hub->key, &bounds);
    presence_init(&topic->presence);
    list_init(&topic->in_dirty);
    list_init(&topic->in_unpublished);
    list_init(&topic->delivery.in_written);
    list_init(&topic->in_hub);
    list_init(&topic->part.link);
    list_init(&topic->in_idle);
    maker->topics++;
    return topic;
}

bool topic_enter(struct topic *topic)
{
    struct hub *hub = topic->hub;

    if (!by_name_insert(topic))
        return false;
    list_append(&hub->topics, &topic->in_hub);
    topic_set_rates(topic, hub->now); /* the settings may have changed meanwhile */
    topic_settle(topic);
    return true;
}

void topic_empty(struct topic *topic)
{
    if (!list_is_empty(&topic->in_hub))
        by_name_remove(topic);
    list_remove(&topic->in_hub);
    list_remove(&topic->in_idle);
    list_remove(&topic->in_dirty);
    list_remove(&topic->in_unpublished);
    list_remove(&topic->delivery.in_written);
    log_budget_forget(topic);
    topic->maker->topics--;
    usage_close(topic->hub, topic->maker);
    accounts_fini(&topic->accounts);
    log_fini(&topic->log);
    presence_fini(&topic->presence);
    mcpx_text_fini(&topic->listed);
    free(topic->peers);
    free(topic->free_seats);
    mx_map_fini(&topic->people);
}

void topic_free(struct topic *topic)
{
    topic_empty(topic);
    free(topic);
}

void topic_settle(struct topic *topic)
{
    list_remove(&topic->in_idle);
    if (topic->holders == 0 && topic->pending == 0)
        list_append(&topic->hub->idle, &topic->in_idle);
}

/* Index of the first peer whose participant does not sort before `id`. Is it that one? */
static size_t place_of(const struct topic *topic, struct mcpx_slice id, bool *found)
{
    size_t low = 0, high = topic->peer_count, row;

    MX_SEARCH(low, high, row, mcpx_slice_compare(topic->peers[row]->id, id) < 0);
    *found = low < topic->peer_count && mcpx_slice_equal(topic->peers[low]->id, id);
    return low;
}

struct peer *topic_peer(const struct topic *topic, struct mcpx_slice id)
{
    return mx_map_find(&topic->people, mx_map_hash(topic->hub->key, id),
                       offsetof(struct peer, id), id);
}

static void unindex_peer(struct topic *topic, const struct peer *peer)
{
    mx_map_remove(&topic->people, mx_map_hash(topic->hub->key, peer->id), (uintptr_t)peer);
}

bool topic_reserve(struct topic *topic)
{
    size_t size = topic->peer_size ? topic->peer_size * 2 : 4;
    struct peer **peers;
    uint32_t *free_seats;

    if (!mx_map_reserve(&topic->people))
        return false;
    if (topic->peer_count < topic->peer_size)
        return true;
    peers = realloc(topic->peers, size * sizeof(struct peer *));
    if (!peers)
        return false;
    topic->peers = peers;
    free_seats = realloc(topic->free_seats, size * sizeof *free_seats);
    if (!free_seats)
        return false;
    topic->free_seats = free_seats;
    topic->peer_size = size;
    return true;
}

void topic_insert(struct topic *topic, struct peer *peer)
{
    bool found;
    size_t place = place_of(topic, peer->id, &found);

    if (found) {
        unindex_peer(topic, topic->peers[place]);
    } else {
        memmove(topic->peers + place + 1, topic->peers + place,
                (topic->peer_count - place) * sizeof(struct peer *));
        topic->peer_count++;
        topic->turn += place < topic->turn; /* a round under way goes on where it was, */
        topic->turns_left +=
            topic->turns_left > 0; /* and all peers of the round are still offered */
    }
    topic->peers[place] = peer;
    mcpx_text_reset(&topic->listed);
    mx_map_put(&topic->people, mx_map_hash(topic->hub->key, peer->id), (uintptr_t)peer);
    /* In a takeover two peers have seats for a moment: the reserve is one more than peers. */
    peer->seat =
        topic->free_seat_count ? topic->free_seats[--topic->free_seat_count] : topic->seats++;
    topic->directed += peer->cursor.directed;
}

void topic_remove(struct topic *topic, struct peer *peer, struct mcpx_now now)
{
    bool found;
    size_t place = place_of(topic, peer->id, &found);

    log_reader_release(&peer->cursor.reader);
    presence_reader_leave(&peer->cursor.presence);
    if (peer->seat != PEER_NO_SEAT) {
        topic->free_seats[topic->free_seat_count++] = peer->seat;
        topic->directed -= peer->cursor.directed;
        peer->seat = PEER_NO_SEAT;
    }
    if (!found || topic->peers[place] != peer)
        return;
    unindex_peer(topic, peer);
    mcpx_text_reset(&topic->listed);
    topic->peer_count--;
    memmove(topic->peers + place, topic->peers + place + 1,
            (topic->peer_count - place) * sizeof(struct peer *));
    topic->turn -= place < topic->turn;
    if (topic->turns_left > topic->peer_count)
        topic->turns_left = topic->peer_count;
    if (topic->peer_count == 0) {
        topic->empty_ms = now.mono_ms;
        log_budget_count(topic);
    }
}

void topic_forget_old(struct topic *topic, int64_t mono_ms)
{
    log_forget_old(&topic->log, mono_ms);
    topic_trim(topic);
}

/* Offers new entries to all peers; a round under way continues for one more full pass. */
static void set_dirty(struct topic *topic)
{
    if (list_is_empty(&topic->in_dirty))
        list_append(&topic->hub->dirty, &topic->in_dirty);
    topic->turns_left = topic->peer_count;
}

/* ---- presence ---- */

static void publish(struct topic *topic)
{
    if (!topic->presence.open)
        return;
    presence_publish(&topic->presence);
    list_remove(&topic->in_unpublished);
    set_dirty(topic);
}

void topic_publish(struct topic *topic)
{
    publish(topic);
    topic_trim(topic);
}

static int64_t tell_delay(const struct topic *topic)
{
    size_t ms = topic->peer_count / PEERS_PER_TELL_MS;

    return ms < TELL_MIN_MS ? TELL_MIN_MS : ms > TELL_MAX_MS ? TELL_MAX_MS : (int64_t)ms;
}

/* Inserts behind all due earlier; the search only passes topics with many participants. */
static void queue_unpublished(struct topic *topic)
{
    struct link *unpublished = &topic->hub->unpublished;
    struct link *before = unpublished->previous;

    topic->publish_ms = topic->hub->now.mono_ms + tell_delay(topic);
    while (before != unpublished &&
           LIST_ELEMENT(before, struct topic, in_unpublished)->publish_ms > topic->publish_ms)
        before = before->previous;
    list_append(before->next, &topic->in_unpublished);
}

static enum mcpx_err tell(struct topic *topic, struct mcpx_slice text)
{
    if (!presence_add(&topic->presence, text, topic->log.head))
        return MCPX_ENOMEM;
    if (list_is_empty(&topic->in_unpublished))
        queue_unpublished(topic);
    if (topic->presence.open->frames.len >= PRESENCE_BATCH_MAX)
        publish(topic);
    topic_trim(topic);
    return MCPX_OK;
}

enum mcpx_err topic_tell_presence(const struct peer *peer, const char *event,
                                  const char *reason, struct mcpx_text *copy)
{
    struct mcpx_slice text;
    enum mcpx_err err;

    if (!notice_presence(peer, event, reason, &text) ||
        (copy && !mcpx_text_reserve(copy, FRAME_HEAD_MAX + text.len)))
        return MCPX_ENOMEM;
    err = tell(peer->topic, text);
    if (!err && copy)
        frame_add(copy, text);
    return err;
}

/* ---- envelopes ---- */

/*
 * Finds the seat of each addressee once, so that readers need not search for their names: a
 * thousand directed readers would compare a hundred names each. False when memory runs out.
 */
static bool find_seats(const struct topic *topic, struct log_message *message)
{
    struct mcpx_text *seats = &topic->hub->seats;

    if (topic->directed == 0 || message->to_count == 0)
        return true;
    mcpx_text_reset(seats);
    if (!mcpx_text_reserve(seats, topic->seats / 8 + 1))
        return false;
    seats->len = topic->seats / 8 + 1;
    memset(seats->text, 0, seats->len);
    for (size_t i = 0; i < message->to_count; i++) {
        const struct peer *peer = topic_peer(topic, message->to[i]);

        if (peer)
            seats->text[peer->seat / 8] |= (char)(1 << peer->seat % 8);
    }
    message->seats = mcpx_text_view(seats);
    return true;
}

/* The usual message needs no further memory. */
bool topic_make_room(struct topic *topic, const struct log_message *message, size_t others)
{
    size_t growth;

    if (topic->hub->log_budget.max == 0)
        return true;
    topic->log.bounds.share = log_budget_share(topic->hub);
    growth = log_growth(&topic->log, message);
    return growth == 0 || reclaim_room(topic->hub, growth + others);
}

enum mcpx_err topic_append(struct topic *topic, struct log_message *message, bool committed)
{
    enum mcpx_err err;

    if (!find_seats(topic, message))
        return MCPX_ENOMEM;
    if (!topic_make_room(topic, message, 0) && !committed)
        return MCPX_ESPACE;
    err = log_append(&topic->log, message);
    if (!err)
        publish(topic);
    topic_trim(topic); /* a failed append may have taken memory, too */
    if (!err)
        set_dirty(topic);
    return err;
}

enum mcpx_err topic_append_stored(struct topic *topic, const struct log_message *message)
{
    enum mcpx_err err;

    if (!topic_make_room(topic, message, 0))
        (void)log_shorten(&topic->log); /* the newest matter most */
    err = log_append(&topic->log, message);
    topic_trim(topic);
    return err;
}

void topic_finish_loading(struct topic *topic)
{
    uint64_t head = topic->log.head;

    topic->delivery.round = topic->delivery.written = topic->delivery.timed = head;
    topic->told = head;
    topic->empty_ms = topic->hub->now.mono_ms;
    log_order_times(&topic->log);
    topic_forget_old(topic, topic->hub->now.mono_ms);
}

/* True when the next messages may push others out of the window. */
static bool is_filling(const struct log *log)
{
    return log->history > 0 || 2 * log->retained_bytes > log->bounds.bytes ||
           (log->bounds.count && 2 * (log->head - log->history) > log->bounds.count);
}

void topic_tell_position(struct topic *topic)
{
    const struct log *log = &topic->log;
    struct mcpx_slice text;

    if (topic->told >= log->history + (log->head - log->history) / 2 || !is_filling(log))
        return;
    if (topic->peer_count > 0 && notice_position(topic, &text) && tell(topic, text) == MCPX_OK)
        topic->told = log->head;
}

/* ---- queries of the HTTP API ---- */

struct mcpx_slice topic_write_participants(const struct topic *topic,
                                           const struct name_page *page, size_t bytes_max,
                                           struct mcpx_text *out)
{
    bool found = false;
    size_t place = page->after.text ? place_of(topic, page->after, &found) : 0;
    size_t begin = place + found, end = begin;
    size_t limit_bytes = bytes_max < SIZE_MAX - out->len ? out->len + bytes_max : SIZE_MAX;

    mx_json_begin_array(out, NULL);
    for (; end < topic->peer_count && end - begin < page->limit && out->len <= limit_bytes;
         end++)
        notice_participant(topic->peers[end], out);
    mx_json_end_array(out);
    return end < topic->peer_count ? topic->peers[end - 1]->id : (struct mcpx_slice){0};
}
