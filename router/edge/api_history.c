/*
 * api_history.c - pages of a topic's history. Envelopes come from the hub as text and stay text:
 * reading them into values to write them again would change numbers and lose members that stand
 * twice in a payload. An answer is bounded, because it leaves in one write; what does not fit is
 * not even copied, because nobody would be charged for it.
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
