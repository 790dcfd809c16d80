/*
 * api_topics.c - questions about topics. A topic nobody has joined yet answers like an empty one:
 * that is what clients of the original router expect, and whoever holds a token for a topic may
 * know that it is empty. Lists come in pages: who asks in a loop for ten thousand names, sorted and
 * written each time, would make everybody else wait for a second. The hub keeps topics and
 * participants sorted, so a page begins where the one before ended, and costs what is in it.
 */
#include "lib/base/ident.h"
#include "lib/json/json_write.h"
#include "router/api/api.h"
#include <mcpx/json.h>

#include <stdlib.h>

enum {
    NAMES_MAX = 1000,      /* in one answer */
    LOOKED_MAX = 16384,    /* topics looked at for one answer */
    BLOCK = 1024,          /* of them asked about at once */
    WORK_MAX = 1 << 20,    /* for one answer: struct token_topics */
    BYTES_MAX = 128 * 1024 /* of a list of participants */
};

bool api_is_topic(struct mcpx_slice topic, struct http_reply *reply)
{
    if (mcpx_topic_name_is_valid(topic))
        return true;
    http_reply_fail(reply, MCPX_ETOPIC,
                    "topic must be 1 to 256 bytes without control characters");
    return false;
}

bool api_params_read(const struct api_call *call, struct http_param *params, size_t count,
                     struct mcpx_text *scratch, struct http_reply *reply)
{
    enum http_param_fault fault;
    size_t bad = 0;

    if (!mcpx_text_reserve(scratch, call->query.len)) {
        http_reply_fail(reply, MCPX_ENOMEM, NULL);
        return false;
    }
    fault = http_params_read(call->query, params, count, scratch, &bad);
    if (!fault)
        return true;
    http_reply_fail(reply, MCPX_EREQUEST, params[bad].name);
    mcpx_text_puts(&reply->detail, fault == HTTP_PARAM_TWICE
                                       ? " is given twice"
                                       : " has malformed percent-encoding");
    return false;
}

bool api_number_read(const struct http_param *param, size_t least, size_t most, size_t *out,
                     struct http_reply *reply)
{
    size_t value = *out;

    if (!param->value.text || (http_decimal(param->value, most, &value) && value >= least)) {
        *out = value;
        return true;
    }
    http_reply_fail(reply, MCPX_EREQUEST, param->name);
    mx_format(&reply->detail, " must be a number from %s to %s", least, most);
    return false;
}

bool api_page_read(const struct api_call *call, struct mcpx_text *scratch,
                   struct name_page *page, struct http_reply *reply)
{
    struct http_param params[] = {{.name = "limit"}, {.name = "after"}};

    if (!api_params_read(call, params, 2, scratch, reply))
        return false;
    *page = (struct name_page){NAMES_MAX, params[1].value};
    return api_number_read(&params[0], 1, NAMES_MAX, &page->limit, reply);
}

/* Existing clients know no pages: nothing is added where everything was told. */
void api_page_end(struct mcpx_slice next, struct mcpx_text *out)
{
    if (next.text)
        mx_json_add_bool(out, "complete", false);
    mx_json_add_optional(out, "next", next);
    mx_json_end_object(out);
}

/* A walk along the topics; `next` is the name to go on behind. */
struct listing {
    struct token_topic block[BLOCK];
    const struct topic *at;
    size_t looked, told, work;
    struct mcpx_slice next;
};

/* Takes as many topics as one question may hold. */
static size_t take_block(struct listing *listing)
{
    size_t count = 0;

    for (; listing->at && count < BLOCK; listing->at = topic_following(listing->at))
        listing->block[count++].name = topic_name(listing->at);
    return count;
}

/* Tells those that are covered, but for those its participant is kept out of; false when the answer
 * is long enough. */
static bool tell_block(const struct api_call *call, struct listing *listing, size_t count,
                       size_t limit, struct mcpx_text *out)
{
    for (size_t i = 0; i < count; i++) {
        if (listing->told == limit || listing->looked == LOOKED_MAX)
            return false;
        listing->looked++;
        listing->next = listing->block[i].name;
        if (!listing->block[i].covered ||
            changes_bar(call->api->changes, call->grant->identity, listing->next,
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
        enum mcpx_err err =
            tokens_cover(call->api->config->tokens, &call->claimant, call->now, &topics);

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

void api_topics(const struct api_call *call, struct http_reply *reply)
{
    struct listing *listing = malloc(sizeof *listing);
    struct mcpx_text scratch = {0};
    struct name_page page;
    enum mcpx_err err = MCPX_ENOMEM;

    if (!api_page_read(call, &scratch, &page, reply))
        goto out;
    if (listing) {
        listing->at = hub_topic_after(call->api->hub, page.after);
        listing->looked = listing->told = 0;
        listing->work = WORK_MAX;
        err = list_topics(call, listing, page.limit, &reply->body);
    }
    if (err)
        http_reply_fail(reply, err, NULL);
out:
    mcpx_text_fini(&scratch);
    free(listing);
}

void api_participants(const struct api_call *call, struct http_reply *reply)
{
    const struct topic *topic = hub_topic_find(call->api->hub, call->name);
    struct mcpx_slice next = {0};
    struct mcpx_text scratch = {0};
    struct name_page page;

    if (api_page_read(call, &scratch, &page, reply)) {
        mcpx_text_puts(&reply->body, "{\"participants\":");
        if (topic)
            next = topic_write_participants(topic, &page, BYTES_MAX, &reply->body);
        else
            mcpx_text_puts(&reply->body, "[]");
        api_page_end(next, &reply->body);
    }
    mcpx_text_fini(&scratch);
}

/* UINT64_MAX stands for "unlimited" and reads null. */
static void write_rate(const char *name, uint64_t left, struct mcpx_text *out)
{
    if (left > INT64_MAX)
        mx_json_add_raw(out, name, MCPX_SLICE("null"));
    else
        mx_json_add_number(out, name, (int64_t)left);
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
    mx_json_begin_object(&reply->body, NULL);
    write_rate("messages", rate.messages, &reply->body);
    write_rate("bytes", rate.bytes, &reply->body);
    mcpx_json_add_member(&reply->body, "resetTime", mcpx_slice_of(reset));
    mx_json_end_object(&reply->body);
}

/*
 * Pages of a topic's history. Envelopes come from the hub as text and stay text: reading them into
 * values to write them again would change numbers and lose members that stand twice in a payload.
 * An answer is bounded, because it leaves in one write; what does not fit is not even copied,
 * because nobody would be charged for it.
 */
enum {
    HISTORY_DEFAULT = 100,
    HISTORY_MAX = 1000,
    /* of one array of envelopes; the answer holds it twice, and leaves in one write */
    HISTORY_BYTES_MAX = 128 * 1024
};

/* The query of a history request. `scratch` keeps the decoded ids. */
static bool read_page(struct mcpx_slice query, struct mcpx_text *scratch, struct page *page,
                      struct http_reply *reply)
{
    struct http_param params[] = {{.name = "limit"}, {.name = "before"}, {.name = "after"}};
    enum http_param_fault fault;
    size_t bad = 0;

    if (!mcpx_text_reserve(scratch, query.len)) {
        http_reply_fail(reply, MCPX_ENOMEM, NULL);
        return false;
    }
    fault = http_params_read(query, params, 3, scratch, &bad);
    if (fault) {
        http_reply_fail(reply, MCPX_EREQUEST, params[bad].name);
        mcpx_text_puts(&reply->detail, fault == HTTP_PARAM_TWICE
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
            mcpx_text_puts(&reply->detail, " must be an envelope id of 1 to 256 bytes");
            return false;
        }
    }
    return true;
}

/*
 * Whoever reads on needs to know from where (`next`). Existing clients ignore members they do not
 * know.
 */
static void write_history(const struct mcpx_text *array, const struct page *page,
                          const struct page_end *end, struct mcpx_text *body)
{
    bool complete = !end->more || end->count == page->limit;

    mx_format(body, "{\"history\":%s,\"messages\":%s,\"complete\":%s", array, array, complete);
    if (end->more)
        mcpx_json_add_member(body, "next", end->last);
    mx_json_end_object(body);
}

/* False when there is a problem, or the topic has to be waited for. */
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

void api_history(const struct api_call *call, struct http_reply *reply)
{
    struct mcpx_text scratch = {0}, array = {0};
    const struct topic *topic;
    struct page page;
    enum mcpx_err err = MCPX_OK;
    struct page_end end = {.count = 0};

    if (!read_page(call->query, &scratch, &page, reply) || !open_topic(call, reply))
        goto out;
    topic = hub_topic_find(call->api->hub, call->name);
    if (topic)
        err = topic_write_history(topic, &page, HISTORY_BYTES_MAX, &array, &end);
    else if (page.before.text || page.after.text)
        err = MCPX_ENOTFOUND;
    else
        mcpx_text_puts(&array, "[]");
    if (err) {
        http_reply_fail(reply, err,
                        err == MCPX_ENOTFOUND ? "before or after names no retained envelope"
                                              : NULL);
    } else if (array.failed) {
        http_reply_fail(reply, MCPX_ENOMEM, NULL);
    } else {
        write_history(&array, &page, &end, &reply->body);
    }
out:
    mcpx_text_fini(&array);
    mcpx_text_fini(&scratch);
}
