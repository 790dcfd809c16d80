/*
 * reader_place.c - a dozen lines, so that a client in any language needs no more.
 */
#include "tests/support/reader_place.h"

#include <stdio.h>
#include <string.h>

const char *reader_string(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text ? text : "";
}

void reader_place_note(struct reader_place *place, const json_t *envelope)
{
    const json_t *topic = json_object_get(json_object_get(envelope, "payload"), "topic");
    const char *epoch = reader_string(topic, "epoch");

    if (strcmp(reader_string(envelope, "from"), "system:gateway") != 0) {
        snprintf(place->after, sizeof place->after, "%s", reader_string(envelope, "id"));
    } else if (*epoch) {
        snprintf(place->epoch, sizeof place->epoch, "%s", epoch);
        place->serial = (uint64_t)json_integer_value(json_object_get(topic, "serial"));
        place->after[0] = '\0';
    }
}

void reader_place_ask(const struct reader_place *place, struct admission *admission)
{
    if (*place->epoch)
        admission->epoch = mcpx_slice_of(place->epoch);
    admission->serial = place->serial;
    if (*place->after)
        admission->after = mcpx_slice_of(place->after);
}
