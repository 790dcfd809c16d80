/*
 * watch.c - the client's subscriptions. Before 2026-07-28 it subscribes to resources one by one and
 * gets changes of lists without a subscription. Since then it keeps one request open for all, and
 * every notification has the id of the request.
 */
#include "tools/mcpx-bridge/expose/state.h"

/* Most resources that the client can watch. */
enum { WATCHES_MAX = 4096 };

static struct bridge_call *find(const struct expose *x, struct mcpx_slice participant,
                                struct mcpx_slice uri)
{
    struct bridge_call *watch = x->watches.first;

    while (watch && !(mcpx_slice_equal(watch->context, uri) &&
                      mcpx_slice_equal(watch->who.id, participant)))
        watch = watch->next;
    return watch;
}

void expose_watch(struct expose *x, const struct bridge_call *call, struct mcpx_slice shown)
{
    bool on = bridge_is(call->method, "resources/subscribe");
    bool off = bridge_is(call->method, "resources/unsubscribe");
    struct bridge_call *watch = on || off ? find(x, call->who.id, call->context) : NULL;
    struct bridge_call from = {.who = call->who, .context = call->context, .token = shown};

    if (watch && (shown.text ? off : on))
        bridge_calls_drop(&x->watches, watch);
    else if (!watch && on && shown.text && x->watches.count < WATCHES_MAX)
        bridge_calls_add(&x->watches, &from);
    else if (!watch && on && shown.text)
        expose_note(x, "the client watches too many resources, one is left out");
}

void expose_watch_renew(struct expose *x, struct mcpx_slice participant)
{
    for (const struct bridge_call *watch = x->watches.first; watch; watch = watch->next)
        if (mcpx_slice_equal(watch->who.id, participant))
            expose_send_own(x, EXPOSE_FOR_NOBODY, participant, "resources/subscribe",
                            mx_formatted("{\"uri\":%q}", watch->context));
}

/* Adds the id of the client's subscriptions/listen to params; takes `plain`. */
static struct mcpx_text subscribed(const struct expose *x, struct mcpx_text plain)
{
    mx_scoped_text meta =
        mx_formatted("{\"io.modelcontextprotocol/subscriptionId\":%s}", &x->client.listen);
    struct mcpx_text out = {0};

    bridge_add_with(&out, mcpx_text_view(&plain), "_meta", &meta);
    mcpx_text_fini(&plain);
    return out;
}

void expose_watch_updated(struct expose *x, struct mcpx_slice participant,
                          const struct mcpx_rpc *rpc)
{
    const struct bridge_call *watch = NULL;
    struct mcpx_text params = {0};
    mx_scoped_text own = {0};

    if (mcpx_json_add_unescaped(&own, mcpx_json_get(rpc->params, "uri")))
        watch = find(x, participant, mcpx_text_view(&own));
    if (watch && expose_may_tell(x)) {
        bridge_add_with_string(&params, rpc->params, "uri", watch->token);
        expose_tell_notice(x, "notifications/resources/updated",
                           x->client.listen.len ? subscribed(x, params) : params);
    }
}

void expose_tell_changed(struct expose *x, enum expose_list list)
{
    if (x->client.initialized)
        expose_tell_notice(x, expose_lists[list].changed, (struct mcpx_text){0});
    else if (x->client.listen.len && x->client.wants[list])
        expose_tell_notice(x, expose_lists[list].changed,
                           subscribed(x, mx_formatted("%s", "{}")));
}

/* A bridge cannot subscribe in a server's own revision, so single resources are left out. */
bool expose_listen(struct expose *x, const struct expose_request *request)
{
    static const char *const members[EXPOSE_LIST_COUNT] = {
        [EXPOSE_TOOLS] = "toolsListChanged",
        [EXPOSE_RESOURCES] = "resourcesListChanged",
        [EXPOSE_PROMPTS] = "promptsListChanged"};
    struct mcpx_slice wanted = mcpx_json_get(request->rpc->params, "notifications");
    struct mcpx_json_change without = {.name = "resourceSubscriptions"};
    mx_scoped_text agreed = {0};

    if (mcpx_json_type(wanted) != MCPX_JSON_OBJECT) {
        expose_tell_error(x, request->rpc->id, BRIDGE_BAD_PARAMS,
                          "params.notifications is missing: an object that says what "
                          "to hear about");
        return true;
    }
    for (size_t i = 0; i < EXPOSE_LIST_COUNT; i++)
        x->client.wants[i] =
            members[i] && bridge_is(mcpx_json_get(wanted, members[i]), "true");
    mcpx_text_reset(&x->client.listen);
    mcpx_text_slice(&x->client.listen, request->rpc->id);
    mcpx_json_add_changed(&agreed, wanted, &without, 1);
    expose_tell_notice(x, "notifications/subscriptions/acknowledged",
                       subscribed(x, mx_formatted("{\"notifications\":%s}", &agreed)));
    return true;
}

bool expose_listen_end(struct expose *x, struct mcpx_slice id)
{
    if (!x->client.listen.len || !mcpx_json_same(mcpx_text_view(&x->client.listen), id))
        return false;
    mcpx_text_reset(&x->client.listen);
    return true;
}
