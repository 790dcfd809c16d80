/*
 * api_topics.c - questions about topics. A topic without a participant so far answers like an empty
 * one: clients of the original router expect it, and a caller with a token for the topic may know
 * it. Lists come in pages: a client requesting ten thousand names in a loop, sorted and written
 * each time, would delay all others for a second. The hub keeps topics and participants sorted. So
 * a page begins at the end of the previous one, and costs only its own rows.
 */
#include "lib/json/json_write.h"
#include "router/api/api.h"
#include <mcpx/json.h>

#include <stdlib.h>

enum {
    LOOKED_MAX = 16384,    /* topics examined for one answer */
    BLOCK = 1024,          /* topics of one question to tokens.h */
    WORK_MAX = 1 << 20,    /* for one answer: struct token_topics */
    BYTES_MAX = 128 * 1024 /* of a list of participants */
};

/* A walk along the topics; `next` is the last name examined. */
struct listing {
    struct token_topic block[BLOCK];
    const struct topic *at;
    size_t looked, told, work;
    struct mcpx_slice next;
};

static size_t take_block(struct listing *listing)
{
    size_t count = 0;

    for (; listing->at && count < BLOCK; listing->at = topic_following(listing->at))
        listing->block[count++].name = topic_name(listing->at);
    return count;
}

/* Writes the covered topics, but not those with a ban of the participant. Returns false when the
 * answer is long enough. */
static bool tell_block(const struct api_call *call, struct listing *listing, size_t count,
                       size_t limit, struct mcpx_text *out)
{
    for (size_t i = 0; i < count; i++) {
        if (listing->told == limit || listing->looked == LOOKED_MAX)
            return false;
        listing->looked++;
        listing->next = listing->block[i].name;
        if (!listing->block[i].covered ||
            change_list_banned_until(
                changes_find(call->api->changes, call->grant->identity, listing->next),
                call->now.wall_ms))
            continue;
        listing->told++;
        mx_json_add_item(out, listing->block[i].name);
    }
    return true;
}

static enum mcpx_err list_topics(const struct api_call *call, struct listing *listing,
                                 size_t limit, struct mcpx_text *out)
{
    bool goes_on = true;
    size_t count;

    mx_json_begin_object(out, NULL);
    mx_json_begin_array(out, "topics");
    while (goes_on && (count = take_block(listing)) > 0) {
        struct token_topics topics = {listing->block, count, listing->work};
        enum mcpx_err err = tokens_check_topics(call->api->config->tokens, &call->credentials,
                                                call->now, &topics);

        if (err)
            return err;
        listing->work = topics.work;
        goes_on = tell_block(call, listing, topics.count, limit, out) && topics.count == count;
    }
    mx_json_end_array(out);
    if (goes_on)
        listing->next = (struct mcpx_slice){0};
    api_page_end(listing->next, out);
    return MCPX_OK;
}

static void answer_topics(const struct api_call *call, struct http_reply *reply)
{
    struct listing *listing = malloc(sizeof *listing);
    const struct name_page page = api_page(call);
    enum mcpx_err err = MCPX_ENOMEM;

    if (listing) {
        listing->at = hub_topic_after(call->api->hub, page.after);
        listing->looked = listing->told = 0;
        listing->work = WORK_MAX;
        err = list_topics(call, listing, page.limit, &reply->body);
    }
    if (err)
        http_reply_fail(reply, err, NULL);
    free(listing);
}

static void answer_participants(const struct api_call *call, struct http_reply *reply)
{
    const struct topic *topic = hub_topic_find(call->api->hub, call->name);
    const struct name_page page = api_page(call);
    struct mcpx_slice next = {0};

    mcpx_text_puts(&reply->body, "{\"participants\":");
    if (topic)
        next = topic_write_participants(topic, &page, BYTES_MAX, &reply->body);
    else
        mcpx_text_puts(&reply->body, "[]");
    api_page_end(next, &reply->body);
}

/* UINT64_MAX stands for "unlimited" and reads null. */
static void write_rate(const char *name, uint64_t left, struct mcpx_text *out)
{
    if (left > INT64_MAX)
        mx_json_add_raw(out, name, MCPX_SLICE("null"));
    else
        mx_json_add_number(out, name, (int64_t)left);
}

static void answer_rate_limit(const struct api_call *call, struct http_reply *reply)
{
    const struct topic *topic = hub_topic_find(call->api->hub, call->name);
    struct rate_state rate;

    if (!topic || !topic_rate(topic, call->grant->identity, call->now, &rate)) {
        http_reply_fail(reply, MCPX_ENOTFOUND, "Participant not found in topic");
        return;
    }
    mx_json_begin_object(&reply->body, NULL);
    write_rate("messages", rate.messages, &reply->body);
    write_rate("bytes", rate.bytes, &reply->body);
    mx_json_add_time(&reply->body, "resetTime", call->now.wall_ms + rate.full_in_ms);
    mx_json_end_object(&reply->body);
}

/*
 * Pages of a topic's history. Envelopes come from the hub as text and stay text: parsing and
 * writing them again would change numbers and lose duplicate members of a payload. An answer is
 * bounded, because it leaves in one write. Envelopes beyond the bound are not copied, because their
 * cost would be charged to no participant. The answer holds an array twice.
 */
enum { HISTORY_BYTES_MAX = 128 * 1024 };

/* `next` is where a client continues. Existing clients ignore unknown members. */
static void write_history(const struct mcpx_text *array, const struct page *page,
                          const struct page_end *end, struct mcpx_text *body)
{
    bool complete = !end->more || end->count == page->limit;

    mx_format(body, "{\"history\":%s,\"messages\":%s,\"complete\":%s", array, array, complete);
    if (end->more)
        mcpx_json_add_member(body, "next", end->last);
    mx_json_end_object(body);
}

/* Returns false with a problem, or when the request must wait for the topic. */
static bool open_topic(const struct api_call *call, struct http_reply *reply)
{
    enum mcpx_err err = hub_open(call->api->hub, call->grant, call->name, call->now);

    if (!err)
        return true;
    http_reply_fail(reply, err, NULL);
    if (err == MCPX_EOPENING) {
        mcpx_text_slice(&reply->detail, call->name);
        reply->grant = grant_ref(call->grant);
    } else if (err == MCPX_EUNAVAILABLE)
        mcpx_text_puts(&reply->detail, "the topic cannot be loaded now; try again later");
    return false;
}

static void answer_history(const struct api_call *call, struct http_reply *reply)
{
    const struct page page = {api_number(call, "limit", 100), api_param(call, "before")->value,
                              api_param(call, "after")->value};
    mx_scoped_text array = {0};
    const struct topic *topic;
    enum mcpx_err err = MCPX_OK;
    struct page_end end = {.count = 0};

    if (!open_topic(call, reply))
        return;
    topic = hub_topic_find(call->api->hub, call->name);
    if (topic)
        err = topic_write_history(topic, &page, HISTORY_BYTES_MAX, &array, &end);
    else if (page.before.text || page.after.text)
        err = MCPX_ENOTFOUND;
    else
        mcpx_text_puts(&array, "[]");
    if (!err && array.failed)
        err = MCPX_ENOMEM;
    if (err)
        http_reply_fail(reply, err,
                        err == MCPX_ENOTFOUND ? "before or after names no retained envelope"
                                              : NULL);
    else
        write_history(&array, &page, &end, &reply->body);
}

static const struct http_param history[] = {
    {API_NUMBER("limit", 1, 1000)}, {API_ID("before")}, {API_ID("after")}, {API_END}};

const struct api_route api_topics_routes[] = {
    {HTTP_GET, "/v0.1/topics", "the token's topics", .handle = answer_topics,
     .access = ACCESS_TOKEN, .query = api_page_params},
    {HTTP_GET, "/v0.1/topics/{topic}/participants", "connected participants",
     .handle = answer_participants, .access = ACCESS_TOPIC, .query = api_page_params},
    {HTTP_GET, "/v0.1/topics/{topic}/history", "retained envelopes, newest first",
     .handle = answer_history, .access = ACCESS_TOPIC, .query = history},
    {HTTP_GET, "/v0.1/topics/{topic}/rate-limit", "what its participant may still send",
     .handle = answer_rate_limit, .access = ACCESS_TOPIC},
    {.path = NULL},
};
