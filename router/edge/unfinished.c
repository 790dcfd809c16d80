/*
 * unfinished.c - the bound is for all, the loss for whoever causes it: to close the connection
 * whose piece happens to be one too many would let one participant with many half-sent messages
 * close everybody else's. Who holds how much is added up only when the bound is reached; that costs
 * somebody a connection each time, so it cannot happen often.
 */
#include "router/edge/unfinished.h"

#include "router/edge/bounds.h"

#include <stdlib.h>

static struct mcpx_slice owner_of(const struct connection *connection)
{
    return peer_grant(connection->peer)->identity;
}

/* By owner; of one owner the largest first. */
static int compare(const void *left, const void *right)
{
    const struct connection *a = *(struct connection *const *)left;
    const struct connection *b = *(struct connection *const *)right;
    int order = mcpx_slice_compare(owner_of(a), owner_of(b));

    if (order)
        return order;
    return (a->message_size < b->message_size) - (a->message_size > b->message_size);
}

/* The first connection of the owner with the largest sum. */
static struct connection *heaviest(struct connection *const *sorted, size_t count)
{
    struct connection *heaviest = sorted[0];
    size_t most = 0;

    for (size_t i = 0, begin = 0; i < count; begin = i) {
        size_t sum = 0;

        for (; i < count && mcpx_slice_equal(owner_of(sorted[i]), owner_of(sorted[begin]));
             i++)
            sum += sorted[i]->message_size;
        if (sum > most) {
            most = sum;
            heaviest = sorted[begin];
        }
    }
    return heaviest;
}

/* Who has to give way; of several that hold as much, the one who was `latest` to ask for more. */
static struct connection *find_victim(struct edge *edge, struct connection *latest)
{
    struct connection **sorted = malloc(edge->unfinished_count * sizeof *sorted);
    struct connection *victim = latest;
    size_t count = 0;

    if (!sorted)
        return latest;
    for (struct link *link = edge->unfinished_all.next; link != &edge->unfinished_all;
         link = link->next)
        sorted[count++] = LIST_ELEMENT(link, struct connection, in_unfinished);
    qsort(sorted, count, sizeof *sorted, compare);
    victim = heaviest(sorted, count);
    if (victim->message_size == latest->message_size &&
        mcpx_slice_equal(owner_of(victim), owner_of(latest)))
        victim = latest;
    free(sorted);
    return victim;
}

static void condemn(struct connection *connection, struct mcpx_now now)
{
    struct edge *edge = connection->edge;

    if (log_permits(&edge->refuse_log, now.mono_ms))
        LOG(LOG_WARN, "unfinished_messages",
            log_text("participant", peer_id(connection->peer)), log_identity(connection->peer),
            log_connection(connection), log_number("bytes", (int64_t)connection->message_size),
            log_number("of", (int64_t)edge->unfinished));
    unfinished_end(connection);
    hub_condemn(edge->hub, connection->peer, MCPX_EFLOOD, now);
}

void unfinished_count(struct connection *connection)
{
    struct edge *edge = connection->edge;
    size_t held = mx_frames_held(&connection->frames);

    if (!connection->message_due_ms) {
        connection->message_due_ms = edge_now(edge).mono_ms + UNFINISHED_MS;
        list_append(&edge->unfinished_all, &connection->in_unfinished);
        edge->unfinished_count++;
    }
    edge->unfinished += held - connection->message_size;
    connection->message_size = held;
    while (edge->unfinished > bounds_buffers(edge->config) && edge->unfinished_count)
        condemn(find_victim(edge, connection), edge_now(edge));
}

void unfinished_end(struct connection *connection)
{
    struct edge *edge = connection->edge;

    if (mx_frames_is_open(&connection->frames))
        mx_frames_skip(&connection->frames);
    if (!connection->message_due_ms)
        return;
    list_remove(&connection->in_unfinished);
    edge->unfinished_count--;
    edge->unfinished -= connection->message_size;
    connection->message_size = 0;
    connection->message_due_ms = 0;
}

/* One that sends a byte now and then would otherwise keep its buffer for ever. */
void unfinished_watch(struct connection *connection, struct mcpx_now now)
{
    if (connection->message_due_ms && connection->message_due_ms <= now.mono_ms)
        condemn(connection, now);
}
