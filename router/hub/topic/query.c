/*
 * query.c - finds topics, and answers the HTTP API's questions about them. Answers are JSON text,
 * because the router must pass on envelopes byte for byte.
 */
#include "router/hub/topic/query.h"

#include "lib/base/rows.h"
#include "lib/json/json_write.h"
#include "router/hub/topic/hub_state.h"
#include "router/hub/topic/stats.h"

/* ---- topics by name: moving the tail for a new one costs less than sorting for each page ---- */

/* The index of the first topic whose name is not before this one. Is it the topic of that name? */
static size_t place_of(const struct hub *hub, struct mcpx_slice name, bool *found)
{
    size_t low = 0, high = hub->stats.topics, row;

    MX_SEARCH(low, high, row, mcpx_slice_compare(hub->by_name[row]->name, name) < 0);
    *found = low < hub->stats.topics && mcpx_slice_equal(hub->by_name[low]->name, name);
    return low;
}

bool by_name_insert(struct topic *topic)
{
    struct hub *hub = topic->hub;
    size_t count = hub->stats.topics, place;
    bool found;

    if (!mx_make_room(&hub->by_name, count, &hub->by_name_size, sizeof(struct topic *)))
        return false;
    place = place_of(hub, topic->name, &found);
    memmove(hub->by_name + place + 1, hub->by_name + place,
            (count - place) * sizeof(struct topic *));
    hub->by_name[place] = topic;
    hub->stats.topics++;
    return true;
}

void by_name_remove(const struct topic *topic)
{
    struct hub *hub = topic->hub;
    bool found;
    size_t place = place_of(hub, topic->name, &found);

    hub->stats.topics--;
    memmove(hub->by_name + place, hub->by_name + place + 1,
            (hub->stats.topics - place) * sizeof(struct topic *));
}

const struct topic *hub_topic_find(const struct hub *hub, struct mcpx_slice name)
{
    bool found;
    size_t place = place_of(hub, name, &found);

    return found ? hub->by_name[place] : NULL;
}

const struct topic *hub_topic_after(const struct hub *hub, struct mcpx_slice name)
{
    bool found = false;
    size_t place = name.text ? place_of(hub, name, &found) : 0;

    place += found;
    return place < hub->stats.topics ? hub->by_name[place] : NULL;
}

const struct topic *topic_following(const struct topic *topic)
{
    return hub_topic_after(topic->hub, topic->name);
}

struct mcpx_slice topic_name(const struct topic *topic)
{
    return topic->name;
}

bool topic_rate(const struct topic *topic, struct mcpx_slice identity, struct mcpx_now now,
                struct rate_state *out)
{
    const struct account *account = accounts_find(&topic->accounts, identity);
    const struct bucket *messages, *bytes;
    int64_t messages_ms, bytes_ms;

    if (!account || account->taken == 0)
        return false;
    messages = &account->rates.messages;
    bytes = &account->rates.bytes;
    messages_ms = bucket_wait_ms(messages, messages->per_minute, now);
    bytes_ms = bucket_wait_ms(bytes, bytes->per_minute, now);
    *out = (struct rate_state){bucket_left(messages, now), bucket_left(bytes, now),
                               messages_ms > bytes_ms ? messages_ms : bytes_ms};
    return true;
}

/* ---- lag ---- */

enum { LAG_PAUSE_MS = 1000 };

const unsigned hub_lag_steps[HUB_LAG_STEPS] = {1, 10, 100, 1000, 10000};

/* Bytes of frames from an entry on, without notes. */
static uint64_t bytes_from(const struct entry *entry)
{
    const struct segment *segment = entry->segment;
    uint64_t bytes = segment->frames - entry->offset;

    while ((segment = segment->next) != NULL)
        bytes += segment->frames;
    return bytes;
}

/* Only live traffic counts: neither history nor envelopes missed before the join. */
static void count_lag(const struct peer *peer, int64_t mono_ms, struct lag *lag)
{
    const struct log *log = &peer->topic->log;
    const struct cursor *cursor = &peer->cursor;
    uint64_t next = cursor->next > cursor->joined ? cursor->next : cursor->joined;
    uint64_t behind = log->head - next;
    uint64_t bytes;
    int64_t ms;

    if (peer->state != PEER_OPEN || behind == 0)
        return;
    bytes = bytes_from(log_entry(log, next));
    ms = mono_ms - log_entry(log, next)->mono_ms;
    if (lag->max_bytes < bytes)
        lag->max_bytes = bytes;
    if (lag->max_ms < ms)
        lag->max_ms = ms;
    if (lag->max_envelopes < behind)
        lag->max_envelopes = behind;
    for (size_t i = 0; i < HUB_LAG_STEPS && behind >= hub_lag_steps[i]; i++)
        lag->behind[i]++;
}

const struct lag *hub_lag(struct hub *hub, struct mcpx_now now)
{
    struct lag *lag = &hub->lag;

    if (lag->asked_ms && now.mono_ms - lag->asked_ms < LAG_PAUSE_MS)
        return lag;
    *lag = (struct lag){.asked_ms = now.mono_ms};
    LIST_EACH(link, &hub->peers)
        count_lag(LIST_ELEMENT(link, struct peer, in_hub), now.mono_ms, lag);
    return lag;
}

/* ---- history ---- */

/* The serials a page may show: [from, to). */
static enum mcpx_err page_range(const struct log *log, const struct page *page, uint64_t *from,
                                uint64_t *to)
{
    uint64_t after, before;

    *from = log->history;
    *to = log->head;
    if (page->after.text) {
        if (!log_find(log, page->after, &after))
            return MCPX_ENOTFOUND;
        *from = after + 1;
    }
    if (page->before.text) {
        if (!log_find(log, page->before, &before))
            return MCPX_ENOTFOUND;
        *to = before;
    }
    return MCPX_OK;
}

enum mcpx_err topic_write_history(const struct topic *topic, const struct page *page,
                                  size_t bytes_max, struct mcpx_text *out,
                                  struct page_end *end)
{
    const struct log *log = &topic->log;
    size_t left = bytes_max;
    uint64_t from, to;
    enum mcpx_err err = page_range(log, page, &from, &to);

    if (err)
        return err;
    *end = (struct page_end){.count = 0};
    mx_json_begin_array(out, NULL);
    for (; to > from && end->count < page->limit; to--) {
        const struct entry *entry = log_entry(log, to - 1);
        struct mcpx_slice text = entry_text(entry);

        if (end->count > 0 && text.len + 2 > left) /* with a comma, and the bracket */
            break;
        left -= text.len + 1 < left ? text.len + 1 : left;
        mx_json_add_raw(out, NULL, text);
        end->count++;
        end->last = entry_id(entry);
    }
    mx_json_end_array(out);
    end->more = to > from;
    return MCPX_OK;
}

size_t topic_participants(const struct topic *topic)
{
    return topic->peer_count;
}

/* ---- figures: a round of deliveries takes milliseconds, a match less than one of them. */

const struct mx_classes stats_delivery_ms = {
    {1, 2, 5, 10, 20, 50, 100, 200, 1000, 5000}, 10, 1000};
const struct mx_classes stats_match_ns = {
    {100, 250, 500, 1000, 2500, 5000, 10000, 100000, 1000000, 10000000}, 10, 1000000000};

const char *cap_setting(enum cap cap)
{
#define CAP_SETTING(constant, setting) [constant] = (setting),
    static const char *const settings[CAP_COUNT] = {CAP_TABLE(CAP_SETTING)};
#undef CAP_SETTING

    return settings[cap];
}

/*
 * How long envelopes take, from when they are accepted until each reader has had a turn to be
 * written to. It is timed once for each round of a topic, not for each reader: a round is a
 * hundred writes, or ten thousand. All envelopes since the round before count with the time of the
 * oldest. Readers with full sockets do not delay the figure, nor do envelopes left over from a
 * reader's turn: hub_lag counts those.
 */

void delivery_reached(struct topic *topic, uint64_t written)
{
    struct delivery *delivery = &topic->delivery;

    delivery->written = written;
    delivery->round = topic->log.head;
    if (written > delivery->timed && list_is_empty(&delivery->in_written))
        list_append(&topic->hub->written, &delivery->in_written);
}

/* Skips dropped entries: the log no longer has their times. */
static void time_topic(struct topic *topic, int64_t mono_ms)
{
    struct delivery *delivery = &topic->delivery;
    uint64_t oldest = delivery->timed > topic->log.tail ? delivery->timed : topic->log.tail;
    int64_t ms;

    if (oldest < delivery->written) {
        ms = mono_ms - log_entry(&topic->log, oldest)->mono_ms;
        mx_histogram_add(&topic->hub->stats.delivery, &stats_delivery_ms,
                         delivery->written - oldest, ms > 0 ? (uint64_t)ms : 0);
    }
    delivery->timed = delivery->written;
}

void hub_note_written(struct hub *hub, struct mcpx_now now)
{
    LIST_EACH(link, &hub->written) {
        list_remove(link);
        time_topic(LIST_ELEMENT(link, struct topic, delivery.in_written), now.mono_ms);
    }
}
