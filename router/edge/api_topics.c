/*
 * api_topics.c - questions about topics. A topic nobody has joined yet answers like an empty one:
 * that is what clients of the original router expect, and whoever holds a token for a topic may
 * know that it is empty.
 * Includes api.h and layer 1.
 */
#include "lib/core/ident.h"
#include "router/edge/api.h"
#include <mcpx/json.h>

#include <stdlib.h>

static int compare_names(const void *a, const void *b)
{
    const struct token_topic *first = a, *second = b;

    return mcpx_slice_compare(first->name, second->name);
}

/* The names of all topics there are; NULL when memory runs out. The caller frees the array. */
static struct token_topic *collect_topics(const struct hub *hub, size_t *count)
{
    const struct topic *topic = NULL;
    struct token_topic *topics;
    size_t total = 0;

    while ((topic = hub_topic_next(hub, topic)))
        total++;
    topics = calloc(total + 1, sizeof *topics);
    if (!topics)
        return NULL;
    for (*count = 0; (topic = hub_topic_next(hub, topic)); (*count)++)
        topics[*count].name = topic_name(topic);
    return topics;
}

static void write_covered(const struct token_topic *topics, size_t count,
                          struct mcpx_text *out)
{
    const char *separator = "";

    mcpx_text_puts(out, "{\"topics\":[");
    for (size_t i = 0; i < count; i++) {
        if (!topics[i].covered)
            continue;
        mcpx_text_puts(out, separator);
        mcpx_json_add_string(out, topics[i].name);
        separator = ",";
    }
    mcpx_text_puts(out, "]}");
}

void api_topics(const struct api_call *call, struct http_reply *reply)
{
    size_t count = 0;
    struct token_topic *topics = collect_topics(call->api->hub, &count);
    enum mcpx_err err = MCPX_ENOMEM;

    if (topics)
        err = tokens_cover(call->api->config->tokens, call->bearer, call->now, topics, count);
    if (err) {
        http_reply_fail(reply, err, NULL);
    } else {
        qsort(topics, count, sizeof *topics, compare_names);
        write_covered(topics, count, &reply->body);
    }
    free(topics);
}

void api_participants(const struct api_call *call, struct http_reply *reply)
{
    const struct topic *topic = hub_topic_find(call->api->hub, call->name);

    mcpx_text_puts(&reply->body, "{\"participants\":");
    if (topic)
        topic_write_participants(topic, &reply->body);
    else
        mcpx_text_puts(&reply->body, "[]");
    mcpx_text_add(&reply->body, "}", 1);
}

/* UINT64_MAX stands for "unlimited" and reads null. */
static void write_rate(const char *name, uint64_t left, struct mcpx_text *out)
{
    mcpx_text_add(out, "\"", 1);
    mcpx_text_puts(out, name);
    mcpx_text_puts(out, "\":");
    if (left > INT64_MAX)
        mcpx_text_puts(out, "null");
    else
        mcpx_text_number(out, (int64_t)left);
    mcpx_text_add(out, ",", 1);
}

void api_rate_limit(const struct api_call *call, struct http_reply *reply)
{
    const struct topic *topic = hub_topic_find(call->api->hub, call->name);
    char reset[MX_TIME_LEN + 1];
    struct rate_state rate;

    if (!topic || !topic_rate(topic, call->grant->identity, call->now, &rate)) {
        http_reply_fail(reply, MCPX_ENOTFOUND, "Participant not found in topic");
        return;
    }
    mx_time_format(call->now.wall_ms + rate.full_in_ms, reset);
    mcpx_text_add(&reply->body, "{", 1);
    write_rate("messages", rate.messages, &reply->body);
    write_rate("bytes", rate.bytes, &reply->body);
    mcpx_json_add_member(&reply->body, "resetTime", mcpx_slice_of(reset));
    mcpx_text_add(&reply->body, "}", 1);
}
