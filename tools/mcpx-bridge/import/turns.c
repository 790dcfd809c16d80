/*
 * turns.c - a queue for each receiver before the session. The session has one queue and the router
 * one rate for us, so many or long messages to one receiver would delay all others. A session gets
 * a little at a time, from each receiver's queue in turn. Rejected: turns inside the session,
 * because an application's messages keep their order there.
 *
 * Notifications of changes have a queue of their own, without duplicates: behind ten thousand log
 * lines they would arrive minutes late, and a lost one would never arrive.
 */
#include "tools/mcpx-bridge/import/state.h"

#include "lib/base/digits.h"

#include <mcpx/envelope.h>
#include <mcpx/json.h>

#include <stdlib.h>

/*
 * A session has ROOM messages that it has not sent, and a LONG one only while few bytes are under
 * way. ROW is what a message takes besides its payload. Of what a receiver gets in a minute, one
 * part of AT_ONCE may come at once.
 */
enum {
    ROOM = 64,
    LONG = 65536,
    ROW = 512,
    AT_ONCE = 16,
    CHANGE_LOOKS = 256 /* rows compared with a new one */
};

static const struct bridge_row line = {.action.type = BRIDGE_LOG};

/* Largest rate (bucket.h). */
static const uint64_t rate_max = (uint64_t)1 << 35;

/** The queue of one receiver. Since it exists: `dropped` notifications, and its longest message. */
struct import_turn {
    struct import_turn *next;
    struct bridge_output rows;
    uint64_t dropped, longest;
    struct mcpx_slice receiver;
};

static bool is_notice(const struct bridge_row *row)
{
    return row && row->action.type == BRIDGE_SEND && !row->action.draft.tag;
}

static struct mcpx_slice receiver_of(const struct bridge_row *row)
{
    const struct mcpx_draft *draft = &row->action.draft;

    if (row->is_change)
        return MCPX_SLICE("changes\n"); /* not an id */
    if (row->action.type == BRIDGE_RESPOND)
        return mcpx_identity_of(row->who);
    return draft->to_count == 1 ? mcpx_identity_of(draft->to[0]) : MCPX_SLICE("*");
}

static uint64_t size_of(const struct bridge_row *row)
{
    return row->action.text.len + row->action.draft.payload.len + ROW;
}

/* ---- queues ---- */

/* The link to that receiver's queue, or to none behind the last; receiver absent: always that. */
static struct import_turn **find(struct import_topic *topic, struct mcpx_slice receiver)
{
    struct import_turn **at = &topic->first;

    while (*at && !(receiver.text && mcpx_slice_equal((*at)->receiver, receiver)))
        at = &(*at)->next;
    return at;
}

static struct import_turn *new_queue(struct mcpx_slice receiver)
{
    char *at;
    struct import_turn *turn = bridge_room(sizeof *turn, receiver.len, &at);

    turn->receiver = mx_keep(&at, receiver);
    return turn;
}

/* Takes out the first row; the queue stays, also when it is empty. */
static struct bridge_row *take_first(struct import_topic *topic, struct import_turn *turn)
{
    struct bridge_row *row = bridge_output_take(&turn->rows);

    mx_holders_remove(&topic->held, turn->receiver, size_of(row));
    return row;
}

/* Another one's turn: a queue goes behind all others, or is freed when nothing waits in it. */
static void end_turn(struct import_topic *topic, struct import_turn **at,
                     struct bridge_output *output)
{
    struct import_turn *turn = *at;

    *at = turn->next;
    turn->next = NULL;
    if (turn->rows.first) {
        *find(topic, (struct mcpx_slice){0}) = turn;
        return;
    }
    if (turn->dropped)
        bridge_output_put(output, line,
                          mx_formatted("%s notifications to %s were dropped", turn->dropped,
                                       turn->receiver));
    free(turn);
}

/* ---- too much ---- */

static bool is_full(const struct import_topic *topic, struct mcpx_slice receiver, int caps)
{
    return mx_holders_held(&topic->held, receiver) >= topic->held.cap * (uint64_t)caps;
}

/* Makes room for a notification. False when it must be dropped itself: an answer is first in the
 * queue. */
static bool make_room(struct import_topic *topic, struct import_turn *turn,
                      struct bridge_output *output)
{
    if (turn->dropped++ == 0)
        bridge_output_put(output, line,
                          mx_formatted("--answers-max is reached: the bridge drops the oldest "
                                       "notifications to %s",
                                       turn->receiver));
    while (is_full(topic, turn->receiver, 1) && is_notice(turn->rows.first))
        bridge_row_free(take_first(topic, turn));
    return !is_full(topic, turn->receiver, 1);
}

/* True when the same notification to the same receivers waits already. */
static bool waits_already(const struct import_turn *turn, const struct bridge_row *row)
{
    const struct mcpx_draft *draft = &row->action.draft;
    const struct bridge_row *other = turn->rows.first;

    for (int i = 0; other && i < CHANGE_LOOKS; i++, other = other->next) {
        const struct mcpx_draft *waiting = &other->action.draft;
        bool same = waiting->to_count == draft->to_count &&
                    mcpx_slice_equal(waiting->payload, draft->payload);

        for (size_t to = 0; same && to < draft->to_count; to++)
            same = mcpx_slice_equal(waiting->to[to], draft->to[to]);
        if (same)
            return true;
    }
    return false;
}

/* Adds a message to its queue. Returns a message given up, or NULL. */
static struct bridge_row *add(struct import_topic *topic, struct bridge_row *row,
                              struct bridge_output *output)
{
    struct mcpx_slice receiver = receiver_of(row);
    struct import_turn **at = find(topic, receiver), *turn = *at;
    bool full = is_full(topic, receiver, row->is_substitute ? 2 : 1);

    if (turn && ((row->is_change && waits_already(turn, row)) ||
                 (full && is_notice(row) && !make_room(topic, turn, output)))) {
        bridge_row_free(row);
        return NULL;
    }
    if (full && !is_notice(row))
        return row;
    if (!turn)
        turn = *at = new_queue(receiver);
    mx_holders_add(&topic->held, receiver, size_of(row));
    row->is_given_up = false; /* a substitute is a copy of what it stands for */
    bridge_output_append(&turn->rows, row);
    if (size_of(row) > turn->longest)
        turn->longest = size_of(row);
    if (topic->held.held <= topic->held.total || topic->held.held == size_of(row))
        return NULL; /* a single message is sent, however long it is */
    at = find(topic, mx_holders_largest(&topic->held));
    row = take_first(topic, *at);
    if (!(*at)->rows.first)
        end_turn(topic, at, output);
    return row;
}

/* ---- turns ---- */

/*
 * Spends what the first message costs, a full bucket at most. Beyond its quota a receiver gets only
 * tokens that leave a full quota's burst for a newcomer. False: not enough tokens yet.
 */
static bool spend(struct import_topic *topic, const struct import_turn *turn, int64_t now_ms)
{
    uint64_t cost = size_of(turn->rows.first) + topic->worth, most = topic->shares.rate.burst;
    uint64_t asked = cost < most ? cost : most;
    int64_t share_ms = mx_buckets_wait_ms(&topic->shares, turn->receiver, asked, now_ms);
    int64_t rest_ms = mx_bucket_wait_ms(&topic->sent, topic->rate, asked + most, now_ms);
    int64_t wait_ms = share_ms < rest_ms ? share_ms : rest_ms;

    if (wait_ms > 0) {
        if (now_ms + wait_ms < topic->due_ms)
            topic->due_ms = now_ms + wait_ms;
        return false;
    }
    if (share_ms == 0)
        mx_buckets_spend(&topic->shares, turn->receiver, cost, now_ms);
    mx_bucket_spend(&topic->sent, topic->rate, cost, now_ms);
    return true;
}

/* The next message of a topic that may go now, or NULL. */
static struct bridge_row *take(struct import_pool *pool, size_t number, int64_t now_ms)
{
    struct import_topic *topic = &pool->topics[number];
    const struct import_view *view = &pool->config.view;
    struct import_turn *turn;
    size_t count = 0, bytes = 0;
    bool hurries = view->unsent && !view->unsent(view->user, number, &count, &bytes);
    struct bridge_row *row;

    topic->due_ms = INT64_MAX;
    if (!hurries && count >= ROOM)
        return NULL;
    for (struct import_turn **at = &topic->first; (turn = *at) != NULL; at = &turn->next) {
        if (!hurries && ((bytes >= LONG && size_of(turn->rows.first) >= LONG) ||
                         !spend(topic, turn, now_ms)))
            continue;
        row = take_first(topic, turn);
        row->is_given_up = hurries && is_notice(row); /* requesters need answers */
        end_turn(topic, at, &pool->output);
        return row;
    }
    return NULL;
}

struct bridge_row *import_turns_next(struct import_pool *pool, int64_t now_ms)
{
    struct bridge_output *output = &pool->output;
    struct bridge_row *row, *out;

    do {
        out = row = output->first ? bridge_output_take(output) : NULL;
        if (row && (row->action.type == BRIDGE_RESPOND || row->action.type == BRIDGE_SEND)) {
            out = add(&pool->topics[row->action.topic], row, output);
            if (out)
                out->is_given_up = true;
        }
        for (size_t i = 0; !out && i < pool->config.topics; i++)
            out = take(pool, i, now_ms);
    } while (!out && output->first);
    return out;
}

bool import_turns_are_full(struct import_topic *topic, struct mcpx_slice participant,
                           size_t under_way, uint64_t longest)
{
    struct mcpx_slice receiver = mcpx_identity_of(participant);
    const struct import_turn *turn = *find(topic, receiver);

    if (turn && turn->longest > longest)
        longest = turn->longest;
    return (turn || under_way > 0) &&
           mx_holders_ask(&topic->held, receiver, longest * (under_way + 1)) ==
               MX_SHARING_OVER_CAP;
}

/* ---- from beginning to end ---- */

/* 0 = none. */
static uint64_t limit_of(struct mcpx_slice limits, const char *name)
{
    uint64_t limit = 0;

    mx_decimal_clamp(mcpx_json_get(limits, name), rate_max, &limit);
    return limit;
}

void import_turns_limit(struct import_topic *topic, struct mcpx_slice limits)
{
    uint64_t messages = limit_of(limits, "messages_per_minute");
    uint64_t bytes = limit_of(limits, "bytes_per_minute");
    uint64_t rate = bytes ? bytes : rate_max, half = messages || bytes ? rate / 2 : 0;

    topic->worth = messages ? rate / messages : 0;
    topic->rate = (struct mx_rate){2 * half, half / AT_ONCE * 2};
    topic->shares.rate = (struct mx_rate){half, half / AT_ONCE};
}

void import_turns_fini(struct import_topic *topic)
{
    for (struct import_turn *turn = topic->first, *next; turn; turn = next) {
        next = turn->next;
        bridge_output_fini(&turn->rows);
        free(turn);
    }
    mx_holders_fini(&topic->held);
    bridge_calls_fini(&topic->clients);
}
