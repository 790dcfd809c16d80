/*
 * transcript.c - how messages read:
 *
 *     welcome alice [chat,chat/x] with bob,carol; head m7; history 2; resumed
 *     welcome again alice [chat]; head m7                   after a change of grants
 *     presence leave bob (timeout)
 *     history m1 m2 complete                                one line per page
 *     error rate_limited re m9 retry_after_ms=10            members that the error is known by
 *     chat m1 from alice                                    everything else: kind, id, from
 */
#include "tests/support/transcript.h"

#include <stdio.h>
#include <string.h>

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text ? text : "null";
}

/* "a,b": the strings of an array, or a member of its objects. */
static void put_names(struct mcpx_text *out, const json_t *array, const char *member)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *item = json_array_get(array, i);

        mcpx_text_puts(out, i > 0 ? "," : "");
        mcpx_text_puts(out, member ? text_of(item, member) : json_string_value(item));
    }
}

static void put_welcome(struct mcpx_text *out, const json_t *payload)
{
    const json_t *you = json_object_get(payload, "you");
    const json_t *others = json_object_get(payload, "participants");
    const json_t *history = json_object_get(payload, "history");
    json_int_t count = json_integer_value(json_object_get(history, "count"));
    char number[32];

    mcpx_text_puts(out, history ? "welcome " : "welcome again ");
    mcpx_text_puts(out, text_of(you, "id"));
    mcpx_text_puts(out, " [");
    put_names(out, json_object_get(you, "capabilities"), NULL);
    mcpx_text_puts(out, "]");
    if (json_array_size(others) > 0) {
        mcpx_text_puts(out, " with ");
        put_names(out, others, "id");
    }
    mcpx_text_puts(out, "; head ");
    mcpx_text_puts(out, text_of(json_object_get(payload, "topic"), "head"));
    if (count > 0) {
        snprintf(number, sizeof number, "; history %d", (int)count);
        mcpx_text_puts(out, number);
    }
    if (json_is_true(json_object_get(payload, "resumed")))
        mcpx_text_puts(out, "; resumed");
}

static void put_presence(struct mcpx_text *out, const json_t *payload)
{
    mcpx_text_puts(out, "presence ");
    mcpx_text_puts(out, text_of(payload, "event"));
    mcpx_text_puts(out, " ");
    mcpx_text_puts(out, text_of(json_object_get(payload, "participant"), "id"));
    if (json_object_get(payload, "reason")) {
        mcpx_text_puts(out, " (");
        mcpx_text_puts(out, text_of(payload, "reason"));
        mcpx_text_puts(out, ")");
    }
}

static void put_history(struct mcpx_text *out, const json_t *payload)
{
    const json_t *envelopes = json_object_get(payload, "envelopes");

    mcpx_text_puts(out, "history");
    for (size_t i = 0; i < json_array_size(envelopes); i++) {
        mcpx_text_puts(out, " ");
        mcpx_text_puts(out, text_of(json_array_get(envelopes, i), "id"));
    }
    if (json_is_true(json_object_get(payload, "complete")))
        mcpx_text_puts(out, " complete");
}

static void put_error(struct mcpx_text *out, const json_t *envelope, const json_t *payload)
{
    static const char *const members[] = {"field", "reason", "would_allow", "alternative",
                                          "outcome"};
    static const char *const numbers[] = {"retry_after_ms", "missed"};
    char number[64];

    mcpx_text_puts(out, "error ");
    mcpx_text_puts(out, text_of(payload, "error"));
    if (json_object_get(envelope, "correlation_id")) {
        mcpx_text_puts(out, " re ");
        mcpx_text_puts(out, text_of(envelope, "correlation_id"));
    }
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (!json_object_get(payload, members[i]))
            continue;
        mcpx_text_puts(out, " ");
        mcpx_text_puts(out, members[i]);
        mcpx_text_puts(out, "=");
        mcpx_text_puts(out, text_of(payload, members[i]));
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const json_t *value = json_object_get(payload, numbers[i]);

        snprintf(number, sizeof number, " %s=%d", numbers[i], (int)json_integer_value(value));
        mcpx_text_puts(out, value ? number : "");
    }
}

void transcript_put(struct mcpx_text *out, const json_t *envelope)
{
    const json_t *payload = json_object_get(envelope, "payload");
    const char *kind = text_of(envelope, "kind");

    if (strcmp(kind, "system/welcome") == 0) {
        put_welcome(out, payload);
    } else if (strcmp(kind, "system/presence") == 0) {
        put_presence(out, payload);
    } else if (strcmp(kind, "system/history") == 0) {
        put_history(out, payload);
    } else if (strcmp(kind, "system/error") == 0) {
        put_error(out, envelope, payload);
    } else {
        mcpx_text_puts(out, kind);
        mcpx_text_puts(out, " ");
        mcpx_text_puts(out, text_of(envelope, "id"));
        mcpx_text_puts(out, " from ");
        mcpx_text_puts(out, text_of(envelope, "from"));
    }
}
