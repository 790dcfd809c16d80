/*
 * http_admission.c - decides on the upgrade of a connection. Each refusal is an HTTP answer with a
 * reason, before there is a WebSocket. Rejected: accepting first and closing with a code; scripts
 * and proxies read statuses but not close codes. Protocol: section 7.
 */
#include "router/api/api.h"

#include "lib/base/digits.h"
#include "lib/json/json_write.h"

static const char *read_instance(const struct api_call *call, struct admission *admission)
{
    struct mcpx_slice instance = api_param(call, "instance")->value;
    struct mcpx_slice key = api_param(call, "instance_key")->value;
    uint64_t number = INSTANCE_AUTO;

    if (!instance.text)
        return key.text ? "instance_key is for those who give instance" : NULL;
    if (!mcpx_slice_equal(instance, MCPX_SLICE("auto")) &&
        (!mx_decimal_read(instance, INSTANCES_MAX, &number) || number == 0))
        return "instance must be auto or a number from 1 to 64";
    admission->instance = (unsigned)number;
    admission->instance_key = key;
    return NULL;
}

/* Returns the fault, or NULL. An id alone is not a resume position: section 5. */
static const char *read_admission(const struct api_call *call, struct admission *admission)
{
    struct mcpx_slice routing = api_param(call, "routing")->value;
    const struct http_param *history = api_param(call, "history");
    const struct http_param *epoch = api_param(call, "epoch");
    const struct http_param *serial = api_param(call, "serial");

    if (mcpx_slice_equal(routing, MCPX_SLICE("all")))
        admission->routing = ROUTING_ALL;
    else if (mcpx_slice_equal(routing, MCPX_SLICE("directed")))
        admission->routing = ROUTING_DIRECTED;
    else if (routing.text)
        return "routing must be all or directed";
    if (!epoch->value.text != !serial->value.text)
        return "epoch and serial belong together: give both as the router told them";
    admission->topic = api_param(call, "topic")->value;
    admission->has_history = history->value.text;
    admission->history = history->number;
    admission->after = api_param(call, "after")->value;
    admission->epoch = epoch->value;
    admission->serial = serial->number;
    return read_instance(call, admission);
}

/* Our epochs are shorter. Another router's may be longer, and is unknown here. */
static const struct http_param joining[] = {
    {API_TOPIC},
    {API_TEXT("routing")},
    {API_NUMBER("history", 0, 1000000)},
    {API_ID("after")},
    {"epoch", HTTP_TEXT, false, 1, 64, .must = "epoch must be 1 to 64 bytes"},
    {"serial", HTTP_NUMBER, .most = SIZE_MAX,
     .must = "serial must be a number of at most 18 digits"},
    {API_TEXT("instance")},
    {"instance_key", HTTP_TEXT, false, 1, 64, .must = "instance_key must be 1 to 64 bytes"},
    {API_TEXT("ticket")},
    {API_TEXT("token")},
    {API_END}};

bool api_read_admission(struct api_call *call, struct mcpx_slice query,
                        struct http_reply *reply)
{
    const char *fault;

    if (!api_read_query(call, joining, query, reply))
        return false;
    fault = read_admission(call, call->request->join);
    return !fault || http_reply_fail(reply, MCPX_EREQUEST, fault);
}

/* ---- admission ---- */

enum mcpx_err http_admission_ask(struct hub *hub, const struct grant *grant,
                                 const struct admission *admission, struct mcpx_now now)
{
    enum mcpx_err err = hub_may_admit(hub, grant, admission, now);
    enum mcpx_err opened;

    if (err != MCPX_EOPENING)
        return err;
    opened = hub_open(hub, grant, admission->topic, now);
    if (opened == MCPX_EUNAVAILABLE)
        return MCPX_ENOTNOW;
    return opened ? opened : err;
}

void api_join(const struct api_call *call, struct http_reply *reply)
{
    const struct http_api *api = call->api;
    struct grant *grant = grant_ref(call->grant);
    enum mcpx_err err = changes_admit(api->changes, call->name, call->now.wall_ms, &grant);

    if (!err && api->going)
        err = MCPX_EGOING;
    if (!err && api->store && store_figures(api->store)->sqlite.state == STAGE_FAILED)
        err = MCPX_ENOTNOW;
    if (!err)
        err = http_admission_ask(api->hub, grant, call->request->join, call->now);
    if (err && err != MCPX_EOPENING) {
        api_refuse(call, err, reply);
        grant_unref(grant);
        return;
    }
    reply->err = err;
    reply->grant = grant;
}
