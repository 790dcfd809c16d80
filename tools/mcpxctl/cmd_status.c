/*
 * cmd_status.c - shows the router's health, its participants and slow consumers, from several calls
 * of the HTTP API; and the grants of participants. The calls without a token come first, so a bad
 * token hides neither health nor lag.
 */
#include "tools/mcpxctl/core/verbs.h"

#include "lib/json/json_write.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/core/line.h"

#include <stdlib.h>

/* ---- status ---- */

/*
 * Numbers of /metrics.
 *
 * metric   its name in /metrics
 * member   its name in our JSON
 * format   of a line of our table; seconds become milliseconds for %t
 */
static const struct number_row {
    const char *metric, *member, *format;
} numbers[] = {
    {"mcpx_connections", "connections", "connections   %s\n"},
    {"mcpx_topics", "topics_total", "all topics    %s\n"},
    {"mcpx_reader_lag_max_envelopes", "reader_lag_envelopes",
     "reader lag    %s envelopes behind, slowest subscriber\n"},
    {"mcpx_reader_lag_max_seconds", "reader_lag_seconds",
     "longest wait  %t, slowest subscriber\n"},
    {"mcpx_unsent_bytes", "unsent_bytes", "unsent        %b not taken by subscribers yet\n"},
    {"mcpx_outbox_bytes", "outbox_bytes", "waiting       %b for single participants\n"},
    {"mcpx_slow_consumers_total", "slow_consumers",
     "slow readers  %s disconnected since the start\n"},
};

enum { NUMBERS = sizeof numbers / sizeof *numbers };

enum { HEALTH, READINESS, METRICS, TOPICS, PARTICIPANTS, ANSWERS };

/* The answers, unchanged, and the JSON in them; empty when there is none. */
struct findings {
    struct connection where;
    struct mcpx_text answers[ANSWERS];
    struct mcpx_slice values[ANSWERS];
    bool ready;
    bool knows_topics;
};

/* A number of the metrics, from the line that begins with its name and a blank; absent if none. */
static struct mcpx_slice number_of(const struct findings *found, const char *metric)
{
    const char *at = found->answers[METRICS].text;
    size_t len = strlen(metric);

    while (at && (strncmp(at, metric, len) != 0 || at[len] != ' ')) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    if (!at)
        return (struct mcpx_slice){NULL, 0};
    at += len + 1;
    return (struct mcpx_slice){at, strspn(at, "0123456789.")};
}

static int ask(struct findings *found, struct http_call call, int answer)
{
    return connection_call(&found->where, call, &found->answers[answer],
                           answer == METRICS ? NULL : &found->values[answer]);
}

/* The calls that need no token. */
static void ask_health(struct findings *found)
{
    must(ask(found, (struct http_call){.path = "/health"}, HEALTH));
    if (!mcpx_json_get(found->values[HEALTH], "status").text)
        end_with(STATUS_FAILED, "%s answers without a status; is it an MCPx router?",
                 found->where.api);
    /* The status decides; a proxy may answer in its own words. */
    found->ready =
        connection_call(&found->where, (struct http_call){.path = "/readyz", .quiet = true},
                        &found->answers[READINESS], NULL) == STATUS_OK;
    (void)mcpx_json_check(mcpx_text_view(&found->answers[READINESS]), 0,
                          &found->values[READINESS], NULL);
    must(ask(found, (struct http_call){.path = "/metrics"}, METRICS));
}

/* The calls that need a token. */
static int ask_topics(const struct arguments *arguments, struct findings *found)
{
    int status;

    found->where.may_be_nobody = true;
    status = connection_authenticate(arguments, &found->where);
    if (status == STATUS_OK && !found->where.token && !found->where.client.cert_file)
        return STATUS_OK;
    if (status == STATUS_OK)
        status = ask(found, (struct http_call){.path = "/v0.1/topics"}, TOPICS);
    if (status == STATUS_OK)
        status = ask(found, (struct http_call){.path = "participants"}, PARTICIPANTS);
    found->knows_topics = status == STATUS_OK;
    return status;
}

/* Appends the items of a list in an answer, or their `member`, with commas; "none" for no item. */
static void add_list(struct mcpx_text *out, struct mcpx_slice value, const char *list,
                     const char *member)
{
    bool any = text_list(out, "", mcpx_json_get(value, list), member);

    if (mcpx_json_get(value, "next").text)
        mcpx_text_puts(out, ", and more");
    mcpx_text_puts(out, any ? "\n" : "none\n");
}

/* More of the answer follows the number: strtod stops there. */
static void add_number(struct mcpx_text *out, const char *format, struct mcpx_slice number)
{
    double factor = strstr(format, "%t") ? 1000 : 1;

    if (number.len > 0)
        mx_format(out, format, (uint64_t)(strtod(number.text, NULL) * factor));
}

static void add_table(struct mcpx_text *out, const struct findings *found)
{
    struct mcpx_slice health = found->values[HEALTH];

    text_format(out, "router        %s\nhealth        %v, ", found->where.client.url,
                mcpx_json_get(health, "status"));
    mcpx_text_puts(out, found->ready ? "ready\n" : "not ready: ");
    if (!found->ready)
        add_list(out, found->values[READINESS], "reasons", NULL);
    add_number(out, "uptime        %t\n", mcpx_json_get(health, "uptime"));
    for (size_t i = 0; i < NUMBERS; i++)
        add_number(out, numbers[i].format, number_of(found, numbers[i].metric));
    if (found->where.client.topic && !found->where.token && !found->knows_topics)
        text_format(out, "topic         %s, not shown without a token\n",
                    found->where.client.topic);
    if (!found->knows_topics)
        return;
    mcpx_text_puts(out, "topics        ");
    add_list(out, found->values[TOPICS], "topics", NULL);
    text_format(out, "topic         %s\nparticipants  ", found->where.client.topic);
    add_list(out, found->values[PARTICIPANTS], "participants", "id");
}

static void add_json(struct mcpx_text *out, const struct findings *found)
{
    mx_scoped_text object = {0};
    struct mcpx_slice reasons = mcpx_json_get(found->values[READINESS], "reasons");

    mx_format(&object, "{\"url\":%q,\"health\":%s,\"ready\":%s", found->where.client.url,
              found->values[HEALTH], found->ready);
    if (reasons.text)
        mx_json_add_raw(&object, "reasons", reasons);
    for (size_t i = 0; i < NUMBERS; i++) {
        struct mcpx_slice number = number_of(found, numbers[i].metric);

        if (number.len > 0)
            mx_json_add_raw(&object, numbers[i].member, number);
    }
    if (found->knows_topics)
        mx_format(&object, ",\"topics\":%s,\"topic\":%q,\"participants\":%s",
                  mcpx_json_get(found->values[TOPICS], "topics"), found->where.client.topic,
                  mcpx_json_get(found->values[PARTICIPANTS], "participants"));
    mx_json_end_object(&object);
    text_compact(out, mcpx_text_view(&object));
    mcpx_text_puts(out, "\n");
}

static int cmd_status(const struct arguments *arguments)
{
    struct findings found = {.ready = false};
    struct mcpx_text out = {0};
    int status = STATUS_OK;

    must(connection_read_router(arguments, &found.where));
    ask_health(&found);
    if (found.where.client.topic)
        status = ask_topics(arguments, &found);
    (arguments_have(arguments, "--json") ? add_json : add_table)(&out, &found);
    status = output_print(&out, status == STATUS_OK && !found.ready ? STATUS_FAILED : status);
    for (int i = 0; i < ANSWERS; i++)
        mcpx_text_fini(&found.answers[i]);
    connection_fini(&found.where);
    return status;
}

/* ---- who ---- */

static void add_participant(struct mcpx_text *out, struct mcpx_slice participant, bool colour)
{
    paint_begin(out, PAINT_NAME, colour);
    text_visible_value(out, mcpx_json_get(participant, "id"), SIZE_MAX);
    paint_end(out, PAINT_NAME, colour);
    if (!text_list(out, "  ", mcpx_json_get(participant, "capabilities"), NULL))
        mcpx_text_puts(out, "  (no grants)");
    mcpx_text_puts(out, "\n");
}

static int cmd_who(const struct arguments *arguments)
{
    bool json = arguments_have(arguments, "--json"), colour = colour_for(arguments);
    mx_scoped_text answer = {0};
    MX_SCOPED(connection_fini) struct connection where = {0};
    struct mcpx_text out = {0};
    struct mcpx_slice value;

    must(connection_read(arguments, 0, 0, &where));
    must(connection_call(&where, (struct http_call){.path = "participants"}, &answer, &value));
    MCPX_JSON_EACH(walk, mcpx_json_get(value, "participants")) {
        if (json) {
            text_compact(&out, walk.value);
            mcpx_text_puts(&out, "\n");
        } else {
            add_participant(&out, walk.value, colour);
        }
    }
    if (mcpx_json_get(value, "next").text)
        complain("there are more participants; these are the first of them, by id");
    return output_print_list(arguments, &where, &out, "nobody is connected");
}

const struct command status_verbs[] = {
    {"status", NULL, 0, 0, false, "is the router well, who is there, who lags",
     "Prints health, connections and lag, which anybody may ask, and with a topic and a token "
     "the topics that the token is good for and who is connected to the topic. Without a "
     "token all else is shown. Exits 0 for a router that is healthy and ready, 1 for one that "
     "takes no connections or answers something else, 5 for one that cannot be reached or "
     "does not take the token, 124 for one that does not answer.",
     ONE_OBJECT_OPTIONS, connect_options, cmd_status, "look"},
    {"who", NULL, 0, 0, false, "who is connected, and what each may say",
     "Prints the participants and their capabilities. Does not join the topic.",
     LISTING_OPTIONS, connect_options, cmd_who, "most used"},
    {.name = NULL},
};
