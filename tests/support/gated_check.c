/*
 * gated_check.c - the transcript, and questions about rows that more than one part asks. When the
 * store works and everybody reads, nothing may be left: no submission, no
 * waiting, no unread row, and everybody agrees on who is there.
 */
#include "tests/support/gated_state.h"

#include <stdio.h>
#include <stdlib.h>

void gated_require(struct gated *sim, bool holds, const char *format, ...)
{
    const struct hub_config *config = &sim->config;
    va_list arguments;

    if (holds)
        return;
    fprintf(
        stderr,
        "\n%s\n%s; history %zu, replay %zu; backlog %zu; pending %zu; linger %d; topics %zu\n",
        sim->name, config->stored ? "stored" : "audited", config->history_count,
        config->replay, config->backlog_bytes, config->pending_bytes, (int)config->linger_ms,
        config->topics_max);
    va_start(arguments, format);
    run_notes_end(&sim->notes, sim->step, sim->name, format, arguments);
}

size_t gated_topic_number(const struct gated *sim, const struct fake_topic *topic)
{
    return (size_t)(topic - sim->store.topics);
}

bool gated_wants(const struct visitor *visitor, size_t serial)
{
    const struct fake_row *row = &visitor->topic->rows[serial - 1];

    for (size_t i = 0; visitor->directed && i < row->to_count; i++)
        if (strcmp(row->to[i], visitor->id) == 0)
            return true;
    return !visitor->directed || row->to_count == 0;
}

size_t gated_next_wanted(const struct visitor *visitor, size_t serial)
{
    while (serial <= visitor->topic->committed && !gated_wants(visitor, serial))
        serial++;
    return serial;
}

size_t gated_oldest(const struct gated *sim, const struct fake_topic *topic, size_t newest)
{
    size_t oldest = topic->loaded_from;

    if (sim->config.history_count && newest - oldest + 1 > sim->config.history_count)
        oldest = newest + 1 - sim->config.history_count;
    return oldest;
}

size_t gated_find(const struct fake_topic *topic, const char *id)
{
    for (size_t serial = topic->committed; serial > 0; serial--)
        if (topic->rows[serial - 1].text && strcmp(topic->rows[serial - 1].id, id) == 0)
            return serial;
    return 0;
}

/* ---- history, as HTTP would show it ---- */

void gated_check_history(struct gated *sim, const struct fake_topic *topic)
{
    const struct topic *real = hub_topic_find(sim->hub, mcpx_slice_of(topic->name));
    size_t oldest = gated_oldest(sim, topic, topic->committed);
    struct mcpx_text text = {0}, expected = {0};
    struct page page = {.limit = SIZE_MAX};
    struct page_end end = {.more = true};

    gated_pull(sim, SIZE_MAX); /* the topic may have been closed, and begun anew */
    if (!real || topic->is_lost)
        return;
    if (topic_write_history(real, &page, SIZE_MAX, &text, &end))
        abort();
    mcpx_text_slice(&expected, MCPX_SLICE("["));
    for (size_t serial = topic->committed; serial >= oldest && serial > 0; serial--) {
        const struct fake_row *row = &topic->rows[serial - 1];

        mcpx_text_slice(&expected,
                        serial < topic->committed ? MCPX_SLICE(",") : MCPX_SLICE(""));
        mcpx_text_slice(&expected, (struct mcpx_slice){row->text, row->len});
    }
    mcpx_text_slice(&expected, MCPX_SLICE("]"));
    gated_require(sim, mcpx_slice_equal(mcpx_text_view(&text), mcpx_text_view(&expected)),
                  "%s shows %.*s\nexpected %.*s", topic->name, (int)text.len, text.text,
                  (int)expected.len, expected.text);
    mcpx_text_fini(&text);
    mcpx_text_fini(&expected);
}

/* ---- settling ---- */

static void close_ended(struct gated *sim)
{
    for (size_t i = 0; i < VISITORS; i++) {
        struct visitor *visitor = &sim->visitors[i];

        if (visitor->state == THERE && visitor->stalled) {
            visitor->stalled = false;
            peer_unstall(visitor->peer, sim->now);
        }
        if (visitor->state == THERE && visitor->closed)
            gated_depart(sim, visitor);
    }
}

static bool is_settled(const struct gated *sim)
{
    for (size_t i = 0; i < VISITORS; i++)
        if (sim->visitors[i].state == WAITING || sim->visitors[i].closed)
            return false;
    return hub_pending(sim->hub) == 0;
}

/* Presence waits up to 50 ms to be told, leaves that were refused a second to be submitted. */
static void serve_all(struct gated *sim)
{
    for (int round = 0; round < 100; round++) {
        gated_store_all(sim);
        gated_retry(sim);
        gated_read_all(sim);
        close_ended(sim);
        sim->now.mono_ms += 100;
        sim->now.wall_ms += 100;
        hub_tick(sim->hub, sim->now);
        if (round > 14 && is_settled(sim))
            break;
    }
    gated_store_all(sim);
    gated_read_all(sim);
}

static bool is_in(const struct visitor *visitor, const struct fake_topic *topic)
{
    return visitor->state == THERE && visitor->topic == topic;
}

static bool knows(const struct visitor *visitor, const char *id)
{
    for (size_t i = 0; i < visitor->roster_count; i++)
        if (strcmp(visitor->roster[i], id) == 0)
            return true;
    return false;
}

static void check_visitor(struct gated *sim, const struct visitor *visitor)
{
    size_t others = 0;

    gated_require(sim, visitor->state != WAITING, "v%d waits for ever", visitor->number);
    if (visitor->state == AWAY)
        return;
    gated_require(sim, visitor->greeted && visitor->is_announced, "v%d never came in",
                  visitor->number);
    gated_require(sim, gated_next_wanted(visitor, visitor->next) > visitor->topic->committed,
                  "v%d never gets #%zu", visitor->number, visitor->next);
    gated_require(sim, visitor->owed_count == 0, "v%d is never told of %s", visitor->number,
                  visitor->owed[0].id);
    for (size_t i = 0; i < VISITORS; i++) {
        if (!is_in(&sim->visitors[i], visitor->topic))
            continue;
        others++;
        gated_require(sim, knows(visitor, sim->visitors[i].id), "v%d does not know of v%d",
                      visitor->number, (int)i);
    }
    gated_require(sim, visitor->roster_count == others,
                  "v%d believes %zu to be there, not %zu", visitor->number,
                  visitor->roster_count, others);
}

void gated_settle(struct gated *sim)
{
    if (sim->store.has_failed)
        return;
    for (size_t i = 0; i < FAKE_TOPICS; i++)
        sim->store.topics[i].is_damaged = false;
    serve_all(sim);
    gated_require(sim, hub_pending(sim->hub) == 0, "%zu are pending for ever",
                  hub_pending(sim->hub));
    for (size_t i = 0; i < sim->message_count; i++)
        gated_require(sim, sim->messages[i].state != PENDING, "m%zu is never answered", i);
    for (size_t i = 0; i < VISITORS; i++)
        check_visitor(sim, &sim->visitors[i]);
    for (size_t i = 0; i < FAKE_TOPICS; i++)
        gated_check_history(sim, &sim->store.topics[i]);
    sim->tally->settled++;
}
