/*
 * gated_note.c - the transcript, and questions about rows that more than one part asks.
 */
#include "tests/support/gated_state.h"

#include <stdio.h>

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

const char *gated_string(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text ? text : "";
}

int gated_number(const struct gated *sim, const struct visitor *visitor)
{
    return (int)(visitor - sim->visitors);
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
