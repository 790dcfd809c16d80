/*
 * stats.c - the classes of times. A round of deliveries takes milliseconds, a match less than one
 * of them, so each has bounds of its own.
 */
#include "router/hub/topic/stats.h"

#include "router/hub/topic/hub_state.h"

const unsigned stats_delivery_ms[STATS_BOUNDS] = {1, 2, 5, 10, 20, 50, 100, 200, 1000, 5000};
const unsigned stats_match_ns[STATS_BOUNDS] = {100,  250,   500,    1000,    2500,
                                               5000, 10000, 100000, 1000000, 10000000};

const char *cap_setting(enum cap cap)
{
#define CAP_SETTING(constant, setting) [constant] = (setting),
    static const char *const settings[CAP_COUNT] = {CAP_TABLE(CAP_SETTING)};
#undef CAP_SETTING

    return settings[cap];
}

void times_add(struct times *times, const unsigned *bounds, uint64_t count, uint64_t time)
{
    size_t at = 0;

    while (at < STATS_BOUNDS && time > bounds[at])
        at++;
    times->counts[at] += count;
    times->sum += count * time;
}

/*
 * How long envelopes take, from when they are accepted until each reader has had a turn to be
 * written to. It is timed once for each round of a topic, not for each reader: a round is a
 * hundred writes, or ten thousand. What was accepted since the round before counts as if it had
 * been accepted together with the oldest of it. Readers whose sockets are full are not waited for,
 * nor is what a reader could not be handed in its turn: hub_lag tells of that.
 */

void delivery_init(struct delivery *delivery)
{
    *delivery = (struct delivery){.round = 0};
    list_init(&delivery->in_written);
}

static void set_written(struct topic *topic, uint64_t written)
{
    struct delivery *delivery = &topic->delivery;

    delivery->written = written;
    delivery->round = topic->log.head;
    if (written > delivery->timed && list_is_empty(&delivery->in_written))
        list_append(&topic->hub->written, &delivery->in_written);
}

void delivery_came_round(struct topic *topic)
{
    set_written(topic, topic->delivery.round);
}

void delivery_done(struct topic *topic)
{
    set_written(topic, topic->log.head);
}

/* Of what the log has dropped nobody knows any more when it was accepted. */
static void time_topic(struct topic *topic, int64_t mono_ms)
{
    struct delivery *delivery = &topic->delivery;
    uint64_t oldest = delivery->timed > topic->log.tail ? delivery->timed : topic->log.tail;
    int64_t ms;

    if (oldest < delivery->written) {
        ms = mono_ms - log_entry(&topic->log, oldest)->mono_ms;
        times_add(&topic->hub->stats.delivery, stats_delivery_ms, delivery->written - oldest,
                  ms > 0 ? (uint64_t)ms : 0);
    }
    delivery->timed = delivery->written;
}

void hub_note_written(struct hub *hub, struct mcpx_now now)
{
    while (!list_is_empty(&hub->written)) {
        struct topic *topic =
            LIST_ELEMENT(hub->written.next, struct topic, delivery.in_written);

        list_remove(&topic->delivery.in_written);
        time_topic(topic, now.mono_ms);
    }
}
