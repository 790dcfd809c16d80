/*
 * api_history.c - pages of a topic's history. Envelopes come from the hub as text and stay text:
 * reading them into values to write them again would change numbers and lose members that stand
 * twice in a payload. An answer is bounded, because it leaves in one write.
 */
#include "lib/core/format.h"
#include "lib/core/json_write.h"
#include "router/edge/api.h"
#include "router/edge/http_query.h"
#include <mcpx/json.h>

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
 * a whole message. It is taken off again, unless it is the only one. Returns whether nothing
 * was cut for its length.
 */
static bool trim_history(struct mcpx_text *array, size_t limit, bool *more)
{
    size_t comma;

    if (array->len <= HISTORY_BYTES_MAX)
        return true;
    comma = last_comma(mcpx_text_view(array));
    if (comma == 0)
        return limit == 1 || !*more;
    array->len = comma;
    mcpx_text_add(array, "]", 1);
    *more = true;
    return false;
}

/* The raw id of the last envelope of a JSON array, which has one. */
static struct mcpx_slice last_id(const struct mcpx_text *array)
{
    struct mcpx_slice last = {0};
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, mcpx_text_view(array));
    while (mcpx_json_walk_next(&walk))
        last = walk.value;
    return mcpx_json_get(last, "id");
}

/*
 * Whoever reads on needs to know from where (`next`). Existing clients ignore members they do not
 * know.
 */
static void write_history(const struct mcpx_text *array, bool complete, bool more,
                          struct mcpx_text *body)
{
    struct mcpx_slice next = more ? last_id(array) : (struct mcpx_slice){0};

    mx_format(body, "{\"history\":%s,\"messages\":%s,\"complete\":%s", array, array, complete);
    if (next.text)
        mx_json_add_raw(body, "next", next);
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
    bool complete, more = false;

    if (!read_page(call->query, &scratch, &page, reply) || !open_topic(call, reply))
        goto out;
    topic = hub_topic_find(call->api->hub, call->name);
    if (topic)
        err = topic_write_history(topic, &page, HISTORY_BYTES_MAX, &array, &more);
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
        complete = trim_history(&array, page.limit, &more);
        write_history(&array, complete, more, &reply->body);
    }
out:
    mcpx_text_fini(&array);
    mcpx_text_fini(&scratch);
}
