/*
 * http_admission.c - finds the caller, and decides on the upgrade of a connection. Each refusal is
 * an HTTP answer with a reason, before there is a WebSocket. Rejected: accepting first and closing
 * with a code; scripts and proxies read statuses but not close codes. Protocol: section 7.
 */
#include "router/api/api.h"

#include "lib/base/digits.h"
#include "lib/json/json_write.h"
#include "lib/wire/http_head.h"

#include <strings.h>

/* A duplicate header arrives joined by ", ". Its space is not valid in a token. */
enum mcpx_err http_bearer(struct mcpx_slice authorization, struct mcpx_slice *bearer)
{
    const struct mcpx_slice scheme = MCPX_SLICE("Bearer");
    struct mcpx_slice token = authorization;

    if (token.len < scheme.len || strncasecmp(token.text, scheme.text, scheme.len) != 0 ||
        (token.len > scheme.len && token.text[scheme.len] != ' ')) {
        *bearer = (struct mcpx_slice){0};
        return MCPX_OK;
    }
    token = (struct mcpx_slice){token.text + scheme.len, token.len - scheme.len};
    token = mx_trim(token, " ");
    if (!mx_http_is_visible(token))
        return MCPX_ETOKEN;
    *bearer = token;
    return MCPX_OK;
}

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

/* ---- the caller ---- */

/* A ticket gives the present grant of the token or certificate it was issued for. */
static enum mcpx_err use_ticket(struct api_call *call, struct mcpx_slice topic)
{
    const struct mcpx_slice named = call->credentials.named;
    struct grant *issued = NULL;
    enum mcpx_err err = tickets_use(call->api->tickets, api_param(call, "ticket")->value,
                                    topic, call->now, &issued);

    if (!err && issued->needs_certificate && !named.text)
        err = MCPX_ETOKEN;
    if (!err)
        err = tokens_recheck(call->api->config->tokens, grant_base(issued), topic, call->now,
                             &call->grant);
    if (!err && named.text && !mcpx_slice_equal(named, call->grant->identity))
        err = MCPX_ETOKEN; /* it is of another participant */
    grant_unref(issued);
    return err == MCPX_ENOTFOUND ? MCPX_ETOKEN : err;
}

/*
 * A bearer token comes first. With a bad one, the query is not used: the client should notice its
 * error. A ticket precedes a token of the query, because it is safer.
 */
enum mcpx_err api_find_grant(struct api_call *call, struct mcpx_slice topic)
{
    const struct http_request *request = call->request;
    struct credentials *credentials = &call->credentials;

    credentials->named = request->named;
    if (request->caller)
        credentials->signature = &request->caller->signature;
    if (http_bearer(request->authorization, &credentials->bearer) != MCPX_OK)
        return MCPX_ETOKEN;
    if (request->join && !credentials->bearer.text) {
        if (api_param(call, "ticket")->value.text)
            return use_ticket(call, topic);
        if (call->api->config->query_token)
            credentials->bearer = api_param(call, "token")->value;
    }
    if (credentials->bearer.len == 0 && !credentials->named.text)
        return MCPX_ETOKEN;
    return tokens_ask(call->api->config->tokens, credentials, topic, call->now, &call->grant);
}

/* ---- refusals ---- */

/* Returns the detail for a caller without a valid credential. It names the kind of credential,
 * never its value. */
static const char *token_detail(const struct api_call *call)
{
    struct mcpx_slice bearer;

    if (call->request->named.text)
        return "Invalid certificate, or a token or ticket of another participant";
    if (http_bearer(call->request->authorization, &bearer) != MCPX_OK || bearer.text)
        return "Invalid token";
    if (call->request->join && api_param(call, "ticket")->value.text)
        return "ticket is unknown, used or expired, or its certificate is not shown";
    if (!call->request->join || !api_param(call, "token")->value.text)
        return "No token provided";
    return call->api->config->query_token
               ? "Invalid token"
               : "tokens in the query are not accepted here; use Authorization or a ticket";
}

/* Returns the detail for a refused caller; NULL = the error's own text. */
static const char *refusal_detail(const struct api_call *call, enum mcpx_err err)
{
    static const struct {
        enum mcpx_err err;
        const char *sentence;
    } rows[] = {
        {MCPX_EFORBIDDEN, "Access denied to topic"},
        {MCPX_ENOTOPIC, "topic does not exist and may not be created"},
        {MCPX_EFULL, "topic or router is full; try again later"},
        {MCPX_EPRESENT, "this participant is already connected to the topic"},
        {MCPX_EFLAPPING,
         "this participant was replaced more than three times within a minute, or came too "
         "often; is it running twice? With instance=auto both may stay"},
        {MCPX_EINSTANCES,
         "this participant is connected to the topic as often as it may be; end one of its "
         "connections, or raise auth.instances"},
        {MCPX_EGOING, "the router is going away"},
        {MCPX_ENOTNOW,
         "the router cannot load or store anything of this topic now; try again later"},
        {MCPX_EKICKED, "an administrator keeps this participant out of the topic for now"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].err == err)
            return rows[i].sentence;
    return err == MCPX_ETOKEN ? token_detail(call) : NULL;
}

bool api_over_cap(const struct api_call *call, enum mcpx_err err, enum cap cap,
                  struct http_reply *reply)
{
    hub_note_cap(call->api->hub, cap);
    http_reply_fail(reply, err, NULL);
    mx_format(&reply->detail, "%s (%s)", mcpx_strerror(err), cap_setting(cap));
    return false;
}

bool api_refuse(const struct api_call *call, enum mcpx_err err, struct http_reply *reply)
{
    if (err == MCPX_ESHARE)
        return api_over_cap(call, err, hub_cap_of(call->api->hub, call->grant), reply);
    return http_reply_fail(reply, err, refusal_detail(call, err));
}

struct grant *api_grant_in(const struct api_call *call, struct mcpx_slice topic,
                           struct http_reply *reply)
{
    const struct http_api *api = call->api;
    struct grant *grant = NULL;
    enum mcpx_err err =
        tokens_recheck(api->config->tokens, call->grant, topic, call->now, &grant);

    if (!err)
        err = changes_admit(api->changes, topic, call->now.wall_ms, &grant);
    if (!err)
        return grant;
    api_refuse(call, err, reply);
    grant_unref(grant);
    return NULL;
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
