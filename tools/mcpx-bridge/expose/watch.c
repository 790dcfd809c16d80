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

/* The watch of that subscription; `about` 0: that of resources/subscribe; -1: any of them. */
static struct bridge_call *find(const struct expose *x, enum expose_space space,
                                const struct expose_item *item, int64_t about)
{
    struct bridge_call *watch = x->watches.first;

    while (watch && !((about < 0 || watch->about == about) && watch->list == space &&
                      mcpx_slice_equal(watch->context, item->own) &&
                      mcpx_slice_equal(watch->who.id, item->participant)))
        watch = watch->next;
    return watch;
}

/* Adds one for the client's name of an item, unless the subscription has it. */
static struct bridge_call *add(struct expose *x, enum expose_space space,
                               const struct expose_item *item, int64_t about,
                               struct mcpx_slice shown)
{
    struct bridge_call from = {.list = space,
                               .who.id = item->participant,
                               .context = item->own,
                               .about = about,
                               .token = shown};

    return find(x, space, item, about) ? NULL : bridge_calls_add(&x->watches, &from);
}

void expose_watch(struct expose *x, const struct bridge_call *call, struct mcpx_slice shown)
{
    bool on = bridge_is(call->method, "resources/subscribe");
    bool off = bridge_is(call->method, "resources/unsubscribe");
    struct expose_item item = {call->who.id, call->context};
    struct bridge_call *watch = on || off ? find(x, EXPOSE_URI, &item, 0) : NULL;

    if (watch && (shown.text ? off : on))
        bridge_calls_drop(&x->watches, watch);
    else if (on && shown.text && x->watches.count < WATCHES_MAX)
        add(x, EXPOSE_URI, &item, 0, shown);
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
    struct mcpx_json_change id = {EXPOSE_META "subscriptionId",
                                  listen ? listen->id : MCPX_SLICE("")};
    struct mcpx_slice meta = mcpx_json_get(mcpx_text_view(&params), "_meta");
    mx_scoped_text changed = {0};
    struct mcpx_text out = {0};

    if (!listen) {
        expose_tell_notice(x, method, params);
        return;
    }
    mcpx_json_add_changed(
        &changed, mcpx_json_type(meta) == MCPX_JSON_OBJECT ? meta : MCPX_SLICE("{}"), &id, 1);
    bridge_add_with(&out, mcpx_text_view(&params), "_meta", &changed);
    expose_tell_notice(x, method, out);
    mcpx_text_fini(&params);
}

void expose_watch_updated(struct expose *x, struct mcpx_slice participant,
                          const struct mcpx_rpc *rpc)
{
    bool is_task = bridge_is(rpc->method, "notifications/tasks");
    const char *member = is_task ? "taskId" : "uri";
    mx_scoped_text own = {0};

    if (!mcpx_json_add_unescaped(&own, mcpx_json_get(rpc->params, member)))
        return;
    for (const struct bridge_call *watch = x->watches.first; watch; watch = watch->next) {
        const struct bridge_call *listen;
        struct mcpx_text params = {0};

        if (watch->list != (is_task ? EXPOSE_TASK_ID : EXPOSE_URI) ||
            !mcpx_slice_equal(watch->context, mcpx_text_view(&own)) ||
            !mcpx_slice_equal(watch->who.id, participant))
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

static const char *const listed[EXPOSE_LIST_COUNT] = {[EXPOSE_TOOLS] = "toolsListChanged",
                                                      [EXPOSE_RESOURCES] =
                                                          "resourcesListChanged",
                                                      [EXPOSE_PROMPTS] = "promptsListChanged"};

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
            mx_format(&agreed, "%s\"%s\":true", agreed.len ? "," : "", listed[i]);
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
    const struct expose_participant *owner = expose_catalog_find(&x->catalog, watch->who.id);
    bool is_task = watch->list == EXPOSE_TASK_ID;
    mx_scoped_text own = mx_formatted("%s", watch->context);

    bridge_calls_drop(&x->watches, watch);
    if (owner && !is_task &&
        !find(x, EXPOSE_URI, &(struct expose_item){owner->id, mcpx_text_view(&own)}, -1))
        expose_send_own(x, EXPOSE_FOR_NOBODY, owner->id, "resources/unsubscribe",
                        mx_formatted("{\"uri\":%q}", &own));
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

static bool is_listed(const struct expose *x, struct mcpx_slice raw)
{
    mx_scoped_text uri = {0};
    struct expose_item item;

    return mcpx_json_add_unescaped(&uri, raw) &&
           expose_names_find(&x->names, EXPOSE_URI, mcpx_text_view(&uri), &item);
}

static void watch_resource(struct expose *x, struct bridge_call *listen, struct mcpx_slice raw)
{
    mx_scoped_text params = mx_formatted("{\"uri\":%s}", raw);
    struct mcpx_rpc rpc = {.method = MCPX_SLICE("resources/subscribe"),
                           .params = mcpx_text_view(&params)};
    MX_SCOPED(expose_route_fini) struct expose_route route = {0};
    struct bridge_call *call = NULL;

    if (expose_route_find(x, &rpc, &route) == EXPOSE_ROUTED &&
        !find(x, EXPOSE_URI, &route.item, listen->number))
        call = expose_send_own(x, EXPOSE_FOR_LISTEN, route.item.participant,
                               "resources/subscribe", mx_formatted("%s", &route.params));
    if (!call) /* or there is no grant */
        return;
    bridge_calls_defer(&x->calls, call, x->now.mono_ms + EXPOSE_HOLD_MS);
    call->about =
        add(x, EXPOSE_URI, &route.item, listen->number, mcpx_text_view(&route.name))->number;
    listen->progress++;
}

static void watch_task(struct expose *x, struct bridge_call *listen, struct mcpx_slice raw)
{
    mx_scoped_text shown = {0};
    struct expose_item item;

    if (mcpx_json_add_unescaped(&shown, raw) &&
        expose_names_find(&x->ids, EXPOSE_TASK_ID, mcpx_text_view(&shown), &item))
        add(x, EXPOSE_TASK_ID, &item, listen->number, mcpx_text_view(&shown));
}

/* True for a subscription that is refused. */
static bool refuse(struct expose *x, const struct expose_request *request)
{
    struct mcpx_slice wanted = mcpx_json_get(request->rpc->params, "notifications");

    if (mcpx_json_type(wanted) != MCPX_JSON_OBJECT)
        expose_tell_error(x, request->rpc->id, BRIDGE_BAD_PARAMS,
                          "params.notifications is missing: an object that says what "
                          "to hear about");
    else if (x->listens.count == LISTENS_MAX)
        expose_tell_error(x, request->rpc->id, BRIDGE_UNAVAILABLE,
                          "the client has 16 subscriptions already");
    else
        return mcpx_json_get(wanted, "taskIds").text && expose_lacks_tasks(x, request);
    return true;
}

void expose_listen(struct expose *x, const struct expose_request *request)
{
    struct mcpx_slice wanted = mcpx_json_get(request->rpc->params, "notifications");
    struct mcpx_slice resources = mcpx_json_get(wanted, "resourceSubscriptions");
    struct bridge_call from = {.id = request->rpc->id}, *listen;
    int tries = WATCHES_MAX, unlisted = UNLISTED_MAX;

    expose_listen_end(x, request->rpc->id);
    if (refuse(x, request))
        return;
    for (size_t i = 0; i < EXPOSE_LIST_COUNT; i++)
        if (listed[i] && bridge_is(mcpx_json_get(wanted, listed[i]), "true"))
            from.list |= 1U << i;
    listen = bridge_calls_add(&x->listens, &from);
    MCPX_JSON_EACH_WHILE(tries-- > 0 && x->watches.count < WATCHES_MAX, walk, resources)
        if (is_listed(x, walk.value) || unlisted-- > 0)
            watch_resource(x, listen, walk.value);
    MCPX_JSON_EACH_WHILE(tries-- > 0 && x->watches.count < WATCHES_MAX, walk,
                         mcpx_json_get(wanted, "taskIds"))
        watch_task(x, listen, walk.value);
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
    for (struct bridge_call *watch = x->watches.first, *next; watch; watch = next) {
        next = watch->next;
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
