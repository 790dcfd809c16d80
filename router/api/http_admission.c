/*
 * http_admission.c - may this connection be upgraded, and as which participant? Each refusal is an
 * HTTP answer with a reason, before there is a WebSocket. Accepting first and closing with a code
 * was refused, because scripts and proxies read statuses and nobody reads close codes. Protocol:
 * section 7.
 */
#include "router/api/api.h"

#include "lib/base/digits.h"
#include "lib/base/match.h"
#include "lib/wire/http_head.h"
#include "router/http/http_reply.h"

#include <strings.h>

/*
 * Two header values read strictly. An Origin that is not plain visible ASCII is nobody's, whatever
 * the patterns say: it is written back into a header. A header that came twice arrives joined by ",
 * ", and so holds a space that no token has.
 */
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

enum mcpx_err http_claimant(const struct http_request *request, struct claimant *out)
{
    *out = (struct claimant){.named = request->named};
    if (request->caller)
        out->signature = &request->caller->signature;
    return http_bearer(request->authorization, &out->bearer);
}

int64_t http_wait_ms(const struct http_api *api, const struct http_request *request,
                     struct mcpx_slice participant, struct mcpx_now now)
{
    uint64_t looks = request->caller ? request->caller->looks : 0;
    int64_t wait_ms = gate_knows(api->gate, request->from, looks, participant, now);

    if (wait_ms > 0)
        hub_note_cap(api->hub, CAP_REQUESTS);
    else if (request->caller)
        request->caller->is_good = true;
    return wait_ms;
}

bool http_origin_is_allowed(const struct config *config, struct mcpx_slice origin)
{
    if (!origin.text)
        return true;
    if (!mx_http_is_visible(origin))
        return false;
    return mx_glob_any_matches(config->origins.text, config->origins.count, origin);
}

enum {
    PARAM_TOPIC,
    PARAM_ROUTING,
    PARAM_HISTORY,
    PARAM_AFTER,
    PARAM_EPOCH,
    PARAM_SERIAL,
    PARAM_INSTANCE,
    PARAM_INSTANCE_KEY,
    PARAM_TICKET,
    PARAM_TOKEN,
    PARAM_COUNT
};

/* An epoch of ours is shorter; another router's may be longer, and names no topic here. */
static const struct http_param params_known[PARAM_COUNT] = {
    [PARAM_TOPIC] = {.name = "topic"},
    [PARAM_ROUTING] = {.name = "routing"},
    [PARAM_HISTORY] = {"history", HTTP_NUMBER, .most = 1000000,
                       .must = "history must be a number from 0 to 1000000"},
    [PARAM_AFTER] = {"after", .least = 1, .most = MCPX_ID_MAX,
                     .must = "after must be an envelope id of 1 to 256 bytes"},
    [PARAM_EPOCH] = {"epoch", .least = 1, .most = 64, .must = "epoch must be 1 to 64 bytes"},
    [PARAM_SERIAL] = {"serial", HTTP_NUMBER, .most = SIZE_MAX,
                      .must = "serial must be a number of at most 18 digits"},
    [PARAM_INSTANCE] = {.name = "instance"},
    [PARAM_INSTANCE_KEY] = {"instance_key", .least = 1, .most = 64,
                            .must = "instance_key must be 1 to 64 bytes"},
    [PARAM_TICKET] = {.name = "ticket"},
    [PARAM_TOKEN] = {.name = "token"}};

static enum mcpx_err refuse_admission(enum mcpx_err err, const char *why, const char **detail)
{
    *detail = why;
    return err;
}

static const char *read_instance(const struct http_param *params, struct admission *admission)
{
    struct mcpx_slice instance = params[PARAM_INSTANCE].value;
    struct mcpx_slice key = params[PARAM_INSTANCE_KEY].value;
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

/* What is wished besides the topic. An id alone is no place and asks for nothing: section 5. */
static const char *read_wishes(const struct http_param *params, struct admission *admission)
{
    struct mcpx_slice routing = params[PARAM_ROUTING].value;

    if (mcpx_slice_equal(routing, MCPX_SLICE("all")))
        admission->routing = ROUTING_ALL;
    else if (mcpx_slice_equal(routing, MCPX_SLICE("directed")))
        admission->routing = ROUTING_DIRECTED;
    else if (routing.text)
        return "routing must be all or directed";
    if (!params[PARAM_EPOCH].value.text != !params[PARAM_SERIAL].value.text)
        return "epoch and serial belong together: give both as the router told them";
    admission->has_history = params[PARAM_HISTORY].value.text;
    admission->history = params[PARAM_HISTORY].number;
    admission->after = params[PARAM_AFTER].value;
    admission->epoch = params[PARAM_EPOCH].value;
    admission->serial = params[PARAM_SERIAL].number;
    return read_instance(params, admission);
}

/* The query, into `params` and `admission`. A second topic is never a matter of which one wins. */
static enum mcpx_err read_query(struct mcpx_slice query, struct http_param *params,
                                struct admission *admission, struct mcpx_text *scratch,
                                const char **detail)
{
    struct mcpx_slice *topic = &params[PARAM_TOPIC].value;
    size_t bad = PARAM_TOPIC;
    const char *why = NULL;

    mcpx_text_reset(scratch);
    if (!mcpx_text_reserve(scratch, query.len))
        return refuse_admission(MCPX_ENOMEM, mcpx_strerror(MCPX_ENOMEM), detail);
    switch (http_params_read(query, params, PARAM_COUNT, scratch, &bad)) {
    case HTTP_PARAM_TWICE:
        why = bad == PARAM_TOPIC ? "topic is given twice" : "a parameter is given twice";
        break;
    case HTTP_PARAM_MALFORMED:
        why = "a parameter has malformed percent-encoding";
        break;
    case HTTP_PARAM_UNFIT:
        why = params[bad].must;
        break;
    case HTTP_PARAM_OK:
        bad = PARAM_TOPIC;
        if (!topic->text)
            why = "the parameter topic is required";
        else if (!mcpx_topic_name_is_valid(*topic))
            why = "topic must be 1 to 256 bytes of UTF-8 without control characters";
    }
    if (why)
        return refuse_admission(bad == PARAM_TOPIC ? MCPX_ETOPIC : MCPX_EREQUEST, why, detail);
    admission->topic = *topic;
    why = read_wishes(params, admission);
    return why ? refuse_admission(MCPX_EREQUEST, why, detail) : MCPX_OK;
}

/* A ticket is worth what the token or certificate it was issued for is worth now. */
static enum mcpx_err redeem(const struct http_api *api, const struct http_request *request,
                            const struct http_param *params, struct mcpx_now now,
                            struct grant **grant)
{
    struct mcpx_slice topic = params[PARAM_TOPIC].value;
    struct grant *issued = NULL;
    enum mcpx_err err =
        tickets_redeem(api->tickets, params[PARAM_TICKET].value, topic, now, &issued);

    if (!err && issued->needs_certificate && !request->named.text)
        err = MCPX_ETOKEN;
    if (!err)
        err = tokens_rejudge(api->config->tokens, grant_base(issued), topic, now, grant);
    grant_unref(issued);
    return err == MCPX_ENOTFOUND ? MCPX_ETOKEN : err;
}

/* Does its certificate stand for somebody else than whom the grant is for? */
static bool is_another(const struct http_request *request, const struct grant *grant)
{
    return request->named.text && !mcpx_slice_equal(request->named, grant->identity);
}

/*
 * A bearer token comes first and is not rescued by anything in the query: a client that sends a
 * bad one has a fault that should show. A ticket beats a token, being the safer of the two.
 */
static enum mcpx_err find_grant(const struct http_api *api, const struct http_request *request,
                                const struct http_param *params, struct mcpx_now now,
                                struct grant **grant)
{
    struct mcpx_slice topic = params[PARAM_TOPIC].value;
    struct claimant claimant;
    enum mcpx_err err;

    if (http_claimant(request, &claimant) != MCPX_OK)
        return MCPX_ETOKEN;
    if (!claimant.bearer.text && params[PARAM_TICKET].value.text) {
        err = redeem(api, request, params, now, grant);
        return err || !is_another(request, *grant) ? err : MCPX_ETOKEN;
    }
    if (!claimant.bearer.text && api->config->query_token)
        claimant.bearer = params[PARAM_TOKEN].value;
    if (claimant.bearer.len == 0 && !claimant.named.text)
        return MCPX_ETOKEN;
    return tokens_ask(api->config->tokens, &claimant, topic, now, grant);
}

/* The advice for a client that was not admitted. Names the credential used, never its value. */
static const char *token_detail(const struct http_api *api, const struct http_request *request,
                                const struct http_param *params)
{
    struct mcpx_slice bearer;

    if (request->named.text)
        return "Invalid certificate, or a token or ticket of somebody else";
    if (http_bearer(request->authorization, &bearer) != MCPX_OK || bearer.text)
        return "Invalid token";
    if (params[PARAM_TICKET].value.text)
        return "ticket is unknown, used or expired, or its certificate is not shown";
    if (!params[PARAM_TOKEN].value.text)
        return "No token provided";
    return api->config->query_token
               ? "Invalid token"
               : "tokens in the query are not accepted here; use Authorization or a ticket";
}

/* A sentence for who is not let in; counts a cap that is reached. */
static const char *admit_detail(struct hub *hub, const struct grant *grant, enum mcpx_err err)
{
    static const struct {
        enum mcpx_err err;
        const char *sentence;
    } rows[] = {
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
        {MCPX_EREQUESTS,
         "this participant connects and asks too often (limits.requests_per_minute); wait "
         "before the next attempt"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].err == err)
            return rows[i].sentence;
    if (err != MCPX_ESHARE)
        return mcpx_strerror(err);
    hub_note_cap(hub, hub_cap_of(hub, grant));
    if (hub_cap_of(hub, grant) == CAP_CONNECTIONS)
        return "this participant has as many connections (limits.connections_per_participant) "
               "as one may have";
    return "this participant has as many topics (topics.max_per_participant) as one may have";
}

/* Path, method and origin: what can be refused without reading the query. */
static enum mcpx_err check_head(const struct http_api *api, const struct http_request *request,
                                struct http_target *target, const char **detail)
{
    if (!http_target_parse(request->target, target))
        return refuse_admission(MCPX_EREQUEST, "request target must be a path", detail);
    if (!mcpx_slice_equal(target->path, MCPX_SLICE("/ws")) &&
        !mcpx_slice_equal(target->path, MCPX_SLICE("/v0.1/ws")))
        return refuse_admission(MCPX_ENOTFOUND, "WebSockets live at /ws and /v0.1/ws", detail);
    if (!mcpx_slice_equal(request->method, MCPX_SLICE("GET")))
        return refuse_admission(MCPX_EMETHOD, "a WebSocket begins with GET", detail);
    if (!http_origin_is_allowed(api->config, request->origin))
        return refuse_admission(MCPX_EORIGIN, "this origin is not allowed", detail);
    return MCPX_OK;
}

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

enum mcpx_err http_admission(const struct http_api *api, const struct http_request *request,
                             struct mcpx_now now, struct admission *admission,
                             struct mcpx_text *scratch, struct grant **grant,
                             const char **detail)
{
    struct http_param params[PARAM_COUNT];
    struct admission wish = {0};
    struct grant *found = NULL;
    struct http_target target;
    enum mcpx_err err;

    memcpy(params, params_known, sizeof params);
    err = check_head(api, request, &target, detail);
    if (!err)
        err = read_query(target.query, params, &wish, scratch, detail);
    if (err)
        return err;
    err = find_grant(api, request, params, now, &found);
    if (err == MCPX_ETOKEN) {
        grant_unref(found); /* a ticket of somebody else */
        return refuse_admission(err, token_detail(api, request, params), detail);
    }
    if (err == MCPX_EFORBIDDEN)
        return refuse_admission(err, "Access denied to topic", detail);
    if (!err)
        err = changes_admit(api->changes, wish.topic, now.wall_ms, &found);
    if (!err && http_wait_ms(api, request, found->identity, now))
        err = MCPX_EREQUESTS;
    if (!err && api->going)
        err = MCPX_EGOING;
    if (!err && api->store && store_figures(api->store)->sqlite.state == STAGE_FAILED)
        err = MCPX_ENOTNOW;
    if (!err)
        err = http_admission_ask(api->hub, found, &wish, now);
    if (err && err != MCPX_EOPENING) {
        *detail = admit_detail(api->hub, found, err);
        grant_unref(found);
        return err;
    }
    *admission = wish;
    *grant = found;
    return err;
}
