/*
 * api_topics.c - questions about topics. A topic nobody has joined yet answers like an empty one:
 * that is what clients of the original router expect, and whoever holds a token for a topic may
 * know that it is empty.
 * Includes api.h, http_query.h and layer 1.
 */
#include "lib/core/ident.h"
#include "lib/core/json.h"
#include "router/edge/api.h"
#include "router/edge/http_query.h"

#include <stdlib.h>

enum {
    HISTORY_DEFAULT = 100,
    HISTORY_MAX = 1000,
    /* of one array of envelopes; the answer holds it twice, and leaves in one write */
    HISTORY_BYTES_MAX = 128 * 1024
};

static int compare_names(const void *a, const void *b)
{
    return mcpx_slice_compare(*(const struct mcpx_slice *)a, *(const struct mcpx_slice *)b);
}

/*
 * The token is asked once per topic, because only it knows the patterns of its topics. A token
 * that was good a moment ago and is not for this topic is refused with MCPX_EFORBIDDEN.
 */
static enum mcpx_err covers_topic(const struct api_call *call, struct mcpx_slice topic,
                                  bool *covered)
{
    struct grant *grant = NULL;
    enum mcpx_err err =
        tokens_verify(call->api->config->tokens, call->bearer, topic, call->now, &grant);

    grant_unref(grant);
    *covered = err == MCPX_OK;
    return err == MCPX_ENOMEM ? err : MCPX_OK;
}

/* Collects the names of covered topics; `names` has room for all. */
static enum mcpx_err collect_topics(const struct api_call *call, struct mcpx_slice *names,
                                    size_t *count)
{
    const struct topic *topic = NULL;

    while ((topic = hub_topic_next(call->api->hub, topic))) {
        bool covered;

        if (covers_topic(call, topic_name(topic), &covered))
            return MCPX_ENOMEM;
        if (covered)
            names[(*count)++] = topic_name(topic);
    }
    return MCPX_OK;
}

void api_topics(const struct api_call *call, struct http_reply *reply)
{
    const struct topic *topic = NULL;
    struct mcpx_slice *names;
    size_t total = 0, count = 0;

    while ((topic = hub_topic_next(call->api->hub, topic)))
        total++;
    names = calloc(total + 1, sizeof *names);
    if (!names || collect_topics(call, names, &count)) {
        http_reply_fail(reply, MCPX_ENOMEM, NULL);
        goto out;
    }
    qsort(names, count, sizeof *names, compare_names);
    mx_strbuf_puts(&reply->body, "{\"topics\":[");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            mx_strbuf_add(&reply->body, ",", 1);
        mx_json_string(&reply->body, names[i]);
    }
    mx_strbuf_puts(&reply->body, "]}");
out:
    free(names);
}

void api_participants(const struct api_call *call, struct http_reply *reply)
{
    const struct topic *topic = hub_topic_find(call->api->hub, call->name);

    mx_strbuf_puts(&reply->body, "{\"participants\":");
    if (topic)
        topic_write_participants(topic, &reply->body);
    else
        mx_strbuf_puts(&reply->body, "[]");
    mx_strbuf_add(&reply->body, "}", 1);
}

/* The query of a history request. `scratch` keeps the decoded ids. */
static bool read_page(struct mcpx_slice query, struct mx_strbuf *scratch, struct page *page,
                      struct http_reply *reply)
{
    struct http_param params[] = {{.name = "limit"}, {.name = "before"}, {.name = "after"}};
    enum http_param_fault fault;
    size_t bad = 0;

    if (!mx_strbuf_reserve(scratch, query.len)) {
        http_reply_fail(reply, MCPX_ENOMEM, NULL);
        return false;
    }
    fault = http_params_read(query, params, 3, scratch, &bad);
    if (fault) {
        http_reply_fail(reply, MCPX_EREQUEST, params[bad].name);
        mx_strbuf_puts(&reply->detail, fault == HTTP_PARAM_TWICE
                                           ? " is given twice"
                                           : " has malformed percent-encoding");
        return false;
    }
    *page = (struct page){HISTORY_DEFAULT, params[1].value, params[2].value};
    if (params[0].value.text &&
        (!http_decimal(params[0].value, HISTORY_MAX, &page->limit) || page->limit == 0)) {
        http_reply_fail(reply, MCPX_EREQUEST, "limit must be a number from 1 to 1000");
        return false;
    }
    for (bad = 1; bad < 3; bad++) {
        if (params[bad].value.text &&
            (params[bad].value.len == 0 || params[bad].value.len > MCPX_ID_MAX)) {
            http_reply_fail(reply, MCPX_EREQUEST, params[bad].name);
            mx_strbuf_puts(&reply->detail, " must be an envelope id of 1 to 256 bytes");
            return false;
        }
    }
    return true;
}

/* Offset of the comma before the last element of a JSON array; 0 when it has no comma. */
static size_t last_comma(struct mcpx_slice array)
{
    size_t depth = 0, comma = 0;
    bool in_string = false;

    for (size_t i = 0; i < array.len; i++) {
        char byte = array.text[i];

        if (in_string && byte == '\\')
            i++;
        else if (byte == '"')
            in_string = !in_string;
        else if (in_string)
            continue;
        else if (byte == '{' || byte == '[')
            depth++;
        else if (byte == '}' || byte == ']')
            depth--;
        else if (byte == ',' && depth == 1)
            comma = i;
    }
    return comma;
}

/*
 * The hub stops once it is past the bound, so the last envelope may stick out, and by as much as
 * a whole message. It is taken off again, unless it is the only one. Returns whether all that
 * was asked for is there.
 */
static bool trim_history(struct mx_strbuf *array, size_t limit)
{
    size_t comma;

    if (array->len <= HISTORY_BYTES_MAX)
        return true;
    comma = last_comma(mx_strbuf_text(array));
    if (comma == 0)
        return limit == 1;
    array->len = comma;
    mx_strbuf_add(array, "]", 1);
    return false;
}

static void write_history(const struct mx_strbuf *array, bool complete, struct mx_strbuf *body)
{
    mx_strbuf_puts(body, "{\"history\":");
    mx_strbuf_slice(body, mx_strbuf_text(array));
    mx_strbuf_puts(body, ",\"messages\":");
    mx_strbuf_slice(body, mx_strbuf_text(array));
    mx_strbuf_puts(body, complete ? ",\"complete\":true}" : ",\"complete\":false}");
}

void api_history(const struct api_call *call, struct http_reply *reply)
{
    const struct topic *topic = hub_topic_find(call->api->hub, call->name);
    struct mx_strbuf scratch = {0}, array = {0};
    struct page page;
    enum mcpx_err err = MCPX_OK;

    if (!read_page(call->query, &scratch, &page, reply))
        goto out;
    if (topic)
        err = topic_write_history(topic, &page, HISTORY_BYTES_MAX, &array);
    else if (page.before.text || page.after.text)
        err = MCPX_ENOTFOUND;
    else
        mx_strbuf_puts(&array, "[]");
    if (err)
        http_reply_fail(reply, err, "before or after names no retained envelope");
    else if (array.failed)
        http_reply_fail(reply, MCPX_ENOMEM, NULL);
    else
        write_history(&array, trim_history(&array, page.limit), &reply->body);
out:
    mx_strbuf_fini(&array);
    mx_strbuf_fini(&scratch);
}

/* UINT64_MAX stands for "unlimited" and reads null. */
static void write_rate(const char *name, uint64_t left, struct mx_strbuf *out)
{
    mx_strbuf_add(out, "\"", 1);
    mx_strbuf_puts(out, name);
    mx_strbuf_puts(out, "\":");
    if (left > INT64_MAX)
        mx_strbuf_puts(out, "null");
    else
        mx_strbuf_number(out, (int64_t)left);
    mx_strbuf_add(out, ",", 1);
}

void api_rate_limit(const struct api_call *call, struct http_reply *reply)
{
    const struct topic *topic = hub_topic_find(call->api->hub, call->name);
    const struct peer *peer = topic ? topic_peer(topic, call->grant->participant) : NULL;
    char reset[MX_TIME_LEN + 1];
    struct rate_state rate;

    if (!peer) {
        http_reply_fail(reply, MCPX_ENOTFOUND, "Participant not found in topic");
        return;
    }
    rate = peer_rate(peer, call->now);
    mx_time_format(call->now.wall_ms + rate.full_in_ms, reset);
    mx_strbuf_add(&reply->body, "{", 1);
    write_rate("messages", rate.messages, &reply->body);
    write_rate("bytes", rate.bytes, &reply->body);
    mx_json_member(&reply->body, "resetTime", mcpx_slice_of(reset));
    mx_strbuf_add(&reply->body, "}", 1);
}
