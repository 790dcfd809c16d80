/*
 * watch.c - the client's subscriptions. Before 2026-07-28 it subscribes to resources one by one and
 * gets changes of lists without a subscription. Since then it keeps requests open, each for lists,
 * resources and tasks, and every notification has the id of its request. To the servers both are
 * the same: the bridge subscribes to resources one by one, and acknowledges a request when it
 * knows which servers agreed, or waits no longer.
 */
#include "tools/mcpx-bridge/expose/state.h"

/*
 * Most resources and tasks that the client can watch, subscriptions that it can keep, and resources
 * of one that are in no list: to find their owners takes long.
 */
enum { WATCHES_MAX = 4096, LISTENS_MAX = 16, UNLISTED_MAX = 256 };

/*
 * A watch: `list` is its space, `context` the server's name of the item, `token` the client's,
 * `about` its subscription; 0: that of resources/subscribe.
 */
static bool is_same(const struct bridge_call *one, const struct bridge_call *other)
{
    return one->list == other->list && mcpx_slice_equal(one->context, other->context) &&
           mcpx_slice_equal(one->who.id, other->who.id);
}

/* Another watch of the same, of the same subscription or of any; NULL: there is none. */
static struct bridge_call *find(const struct expose *x, const struct bridge_call *like,
                                bool any)
{
    struct bridge_call *watch = x->watches.first;

    while (watch &&
           !(watch != like && (any || watch->about == like->about) && is_same(watch, like)))
        watch = watch->next;
    return watch;
}

void expose_watch(struct expose *x, const struct bridge_call *call, struct mcpx_slice shown)
{
    bool on = bridge_is(call->method, "resources/subscribe");
    bool off = bridge_is(call->method, "resources/unsubscribe");
    struct bridge_call from = {
        .list = EXPOSE_URI, .who = call->who, .context = call->context, .token = shown};
    struct bridge_call *watch = on || off ? find(x, &from, false) : NULL;

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
        if (watch->list == EXPOSE_URI && mcpx_slice_equal(watch->who.id, participant))
            expose_send_own(x, EXPOSE_FOR_NOBODY, participant, "resources/subscribe",
                            mx_formatted("{\"uri\":%q}", watch->context));
}

/* ---- notifications ---- */

/* Sends one with the id of its subscription, NULL: of none. Takes `params`, an object. */
static void tell(struct expose *x, const struct bridge_call *listen, const char *method,
                 struct mcpx_text params)
{
    struct mcpx_text out = {0}, id;

    if (!listen) {
        expose_tell_notice(x, method, params);
        return;
    }
    id = mx_formatted("%s", listen->id);
    bridge_add_meta(&out, mcpx_text_view(&params), EXPOSE_META "subscriptionId", &id);
    mcpx_text_fini(&id);
    expose_tell_notice(x, method, out);
    mcpx_text_fini(&params);
}

void expose_watch_updated(struct expose *x, struct mcpx_slice participant,
                          const struct mcpx_rpc *rpc)
{
    bool is_task = bridge_is(rpc->method, "notifications/tasks");
    const char *member = is_task ? "taskId" : "uri";
    struct bridge_call like = {.list = is_task ? EXPOSE_TASK_ID : EXPOSE_URI,
                               .who.id = participant};
    mx_scoped_text own = {0};

    if (!mcpx_json_add_unescaped(&own, mcpx_json_get(rpc->params, member)))
        return;
    like.context = mcpx_text_view(&own);
    for (const struct bridge_call *watch = x->watches.first; watch; watch = watch->next) {
        const struct bridge_call *listen;
        struct mcpx_text params = {0};

        if (!is_same(watch, &like))
            continue;
        listen = bridge_calls_find(&x->listens, watch->about);
        if ((listen && !listen->written) || !expose_may_tell(x))
            continue;
        bridge_add_with_string(&params, rpc->params, member, watch->token);
        tell(x, listen, is_task ? "notifications/tasks" : "notifications/resources/updated",
             params);
    }
}

void expose_tell_changed(struct expose *x, enum expose_list list)
{
    if (x->client.initialized)
        expose_tell_notice(x, expose_lists[list].changed, (struct mcpx_text){0});
    for (const struct bridge_call *listen = x->listens.first; listen; listen = listen->next)
        if (listen->written && listen->list >> list & 1)
            tell(x, listen, expose_lists[list].changed, mx_formatted("%s", "{}"));
}

/* ---- subscriptions of 2026-07-28 ---- */

/* Appends the names of what it watches there, as a member. */
static void add_watched(const struct expose *x, const struct bridge_call *listen,
                        enum expose_space space, const char *member, struct mcpx_text *out)
{
    mx_scoped_text names = {0};

    for (const struct bridge_call *watch = x->watches.first; watch; watch = watch->next)
        if (watch->about == listen->number && watch->list == space)
            mx_format(&names, "%s%q", names.len ? "," : "", watch->token);
    if (names.len)
        mx_format(out, "%s\"%s\":[%s]", out->len ? "," : "", member, &names);
}

/* Tells what is honoured. Changes count from now on, also of lists that the client never saw. */
static void acknowledge(struct expose *x, struct bridge_call *listen)
{
    mx_scoped_text agreed = {0};

    for (size_t i = 0; i < EXPOSE_LIST_COUNT; i++) {
        if (!x->told[i])
            x->told[i] = expose_list_hash(x, (enum expose_list)i);
        if (listen->list >> i & 1)
            mx_format(&agreed, "%s\"%sListChanged\":true", agreed.len ? "," : "",
                      expose_lists[i].member);
    }
    add_watched(x, listen, EXPOSE_URI, "resourceSubscriptions", &agreed);
    add_watched(x, listen, EXPOSE_TASK_ID, "taskIds", &agreed);
    listen->written = true;
    tell(x, listen, "notifications/subscriptions/acknowledged",
         mx_formatted("{\"notifications\":{%s}}", &agreed));
}

/* Ends a watch of a subscription, and the server's if it was the last one. */
static void unwatch(struct expose *x, struct bridge_call *watch)
{
    if (watch->list == EXPOSE_URI && expose_catalog_find(&x->catalog, watch->who.id) &&
        !find(x, watch, true))
        expose_send_own(x, EXPOSE_FOR_NOBODY, watch->who.id, "resources/unsubscribe",
                        mx_formatted("{\"uri\":%q}", watch->context));
    bridge_calls_drop(&x->watches, watch);
}

void expose_listen_heard(struct expose *x, const struct bridge_call *call)
{
    struct bridge_call *watch = bridge_calls_find(&x->watches, call->about);
    struct bridge_call *listen = watch ? bridge_calls_find(&x->listens, watch->about) : NULL;

    if (watch && !call->written && call->due_ms <= x->now.mono_ms)
        unwatch(x, watch); /* the server may agree later */
    else if (watch && !call->written)
        bridge_calls_drop(&x->watches, watch);
    if (listen && --listen->progress == 0)
        acknowledge(x, listen);
}

/* Adds a resource or task, `raw`, to a subscription; one of `unlisted` resources less may come. */
static void watch_one(struct expose *x, struct bridge_call *listen, enum expose_space space,
                      struct mcpx_slice raw, int *unlisted)
{
    mx_scoped_text shown = {0}, params = mx_formatted("{\"uri\":%s}", raw);
    struct mcpx_rpc rpc = {.method = MCPX_SLICE("resources/subscribe"),
                           .params = mcpx_text_view(&params)};
    bool is_task = space == EXPOSE_TASK_ID, is_ours;
    struct bridge_call from = {.list = space, .about = listen->number}, *watch, *call;
    MX_SCOPED(expose_route_fini) struct expose_route route = {0};

    if (!mcpx_json_add_unescaped(&shown, raw))
        return;
    from.token = route.item.own = mcpx_text_view(&shown);
    is_ours = !is_task && expose_room_has(x, EXPOSE_RESOURCES, from.token);
    if (!is_ours && !expose_names_find(&x->names, space, from.token, &route.item) &&
        (is_task || (*unlisted)-- <= 0))
        return;
    if (!is_ours && !is_task && expose_route_find(x, &rpc, &route) != EXPOSE_ROUTED)
        return;
    from.who.id = route.item.participant;
    from.context = route.item.own;
    if (find(x, &from, false))
        return;
    watch = bridge_calls_add(&x->watches, &from);
    if (is_task || is_ours)
        return;
    call = expose_send_own(x, EXPOSE_FOR_LISTEN, from.who.id, "resources/subscribe",
                           mx_formatted("%s", &route.params));
    if (!call) { /* there is no grant */
        bridge_calls_drop(&x->watches, watch);
        return;
    }
    bridge_calls_defer(&x->calls, call, x->now.mono_ms + EXPOSE_HOLD_MS);
    call->about = watch->number;
    listen->progress++;
}

void expose_listen(struct expose *x, const struct expose_request *request)
{
    struct mcpx_slice id = request->rpc->id;
    struct mcpx_slice wanted = mcpx_json_get(request->rpc->params, "notifications");
    struct bridge_call from = {.id = id}, *listen;
    int tries = WATCHES_MAX, unlisted = UNLISTED_MAX;

    expose_listen_end(x, id);
    if (mcpx_json_type(wanted) != MCPX_JSON_OBJECT) {
        expose_tell_error(x, id, BRIDGE_BAD_PARAMS,
                          "params.notifications is missing: an object that says what to hear "
                          "about");
        return;
    }
    if (x->listens.count == LISTENS_MAX) {
        expose_tell_error(x, id, BRIDGE_UNAVAILABLE,
                          "the client has 16 subscriptions already");
        return;
    }
    if (mcpx_json_get(wanted, "taskIds").text && expose_lacks_tasks(x, request))
        return;
    for (size_t i = 0; i < EXPOSE_LIST_COUNT; i++) {
        mx_scoped_text name = mx_formatted("%sListChanged", expose_lists[i].member);

        if (i != EXPOSE_TEMPLATES && bridge_is(mcpx_json_get(wanted, name.text), "true"))
            from.list |= 1U << i;
    }
    listen = bridge_calls_add(&x->listens, &from);
    MCPX_JSON_EACH_WHILE(tries-- > 0 && x->watches.count < WATCHES_MAX, walk,
                         mcpx_json_get(wanted, "resourceSubscriptions"))
        watch_one(x, listen, EXPOSE_URI, walk.value, &unlisted);
    MCPX_JSON_EACH_WHILE(tries-- > 0 && x->watches.count < WATCHES_MAX, walk,
                         mcpx_json_get(wanted, "taskIds"))
        watch_one(x, listen, EXPOSE_TASK_ID, walk.value, &unlisted);
    if (listen->progress == 0)
        acknowledge(x, listen);
}

bool expose_listen_end(struct expose *x, struct mcpx_slice id)
{
    struct bridge_call *listen = x->listens.first;

    while (listen && !mcpx_json_same(listen->id, id))
        listen = listen->next;
    if (!listen)
        return false;
    BRIDGE_EACH_CALL(watch, &x->watches) {
        if (watch->about == listen->number)
            unwatch(x, watch);
    }
    bridge_calls_drop(&x->listens, listen);
    return true;
}

void expose_listens_close(struct expose *x)
{
    for (struct bridge_call *listen; (listen = x->listens.first);) {
        mx_scoped_text result = mx_formatted(
            "{\"resultType\":\"complete\",\"_meta\":{\"" EXPOSE_META "subscriptionId\":%s}}",
            listen->id);
        struct mcpx_text out = {0};

        bridge_add_result(&out, listen->id, mcpx_text_view(&result));
        expose_tell(x, out);
        bridge_calls_drop(&x->listens, listen);
    }
}
