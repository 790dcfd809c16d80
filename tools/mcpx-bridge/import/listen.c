/*
 * listen.c - what a server of 2026-07-28 reports: changes of its lists, of the tasks that
 * participants have, and of the resources that they watch. Participants subscribe to resources one
 * by one, as at older servers; the server gets one request for all, and a new one when that set
 * changes. The next request waits for the acknowledgement of the one before, and for a rate: each
 * names the whole set. A participant's subscription is answered when the server has acknowledged
 * the request that covers it.
 */
#include "tools/mcpx-bridge/import/state.h"
#include "tools/mcpx-bridge/import/subs.h"

/* Requests are written at once, four of them; then there is one in a second. */
static const struct mx_rate rate = {60, 4};

/* True for a subscription that waits for the server's acknowledgement. */
static bool is_waiting(const struct bridge_call *call)
{
    return call->purpose == IMPORT_PARTICIPANT && call->written &&
           bridge_is(call->method, "resources/subscribe");
}

/* ---- the request ---- */

/* Only declared changes: a server may refuse others, or end. */
static void add_lists(const struct import *import, struct mcpx_text *out)
{
    static const char *const lists[] = {"tools", "prompts", "resources"};
    struct mcpx_slice can = mcpx_json_get(mcpx_text_view(&import->greeting), "capabilities");

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (bridge_is(mcpx_json_get(mcpx_json_get(can, lists[i]), "listChanged"), "true"))
            mx_format(out, "%s\"%sListChanged\":true", out->len ? "," : "", lists[i]);
}

/* Puts the text's hash into a set; false: it has it. */
static bool is_new(const struct import_pool *pool, struct mx_map *set, struct mcpx_slice text)
{
    uint64_t hash = (uint64_t)import_number_of(pool, text);
    size_t at = 0;

    if (mx_map_next(set, hash, &at))
        return false;
    mx_map_reserve(set);
    mx_map_put(set, hash, 1);
    return true;
}

/*
 * `number`: that of the request. What waits of one participant; then it is the next one's turn: a
 * server may refuse the whole request for one of its URIs.
 */
static void add_resources(struct import *import, int64_t number, struct mcpx_text *out)
{
    const struct bridge_holder *turn = NULL;
    mx_scoped_text uris = {0};
    struct mx_map added = {0};

    import_subs_add_uris(&import->subs, &uris);
    for (struct bridge_call *call = import->calls.first; call; call = call->next) {
        if (!is_waiting(call))
            continue;
        turn = turn ? turn : call->holder;
        if (call->holder != turn) {
            import->listen.due_at = 0;
            continue;
        }
        call->about = number;
        if (!import_subs_have(&import->subs, call->context) &&
            is_new(import->pool, &added, call->context))
            mx_format(&uris, "%s%q", uris.len ? "," : "", call->context);
    }
    import->listen.tries = turn != NULL;
    mx_map_fini(&added);
    if (uris.len)
        mx_format(out, "%s\"resourceSubscriptions\":[%s]", out->len ? "," : "", &uris);
}

/* Tasks that participants have; one that is over does not change any more. */
static void add_tasks(const struct import *import, struct mcpx_text *out)
{
    mx_scoped_text ids = {0};

    for (const struct bridge_call *row = import->tasks.first; row; row = row->next)
        if (!row->task)
            mx_format(&ids, "%s%q", ids.len ? "," : "", row->context);
    if (ids.len)
        mx_format(out, "%s\"taskIds\":[%s]", out->len ? "," : "", &ids);
}

/* The server need not report to that request any more. */
static void end(struct import *import, int64_t number)
{
    struct bridge_call *call = bridge_calls_find(&import->calls, number);

    if (!call)
        return;
    import_cancel(import, call, "another subscription replaces it");
    bridge_calls_drop(&import->calls, call);
}

static void ask(struct import *import)
{
    struct import_listen *listen = &import->listen;
    mx_scoped_text wanted = {0}, params = {0};

    add_lists(import, &wanted);
    add_resources(import, import->calls.last_number + 1, &wanted);
    add_tasks(import, &wanted);
    if (!wanted.len) {
        end(import, listen->number);
        listen->number = 0;
        return;
    }
    mx_format(&params, "\"notifications\":{%s}", &wanted);
    import_request(import, IMPORT_HOUSEKEEPING, "subscriptions/listen",
                   mcpx_text_view(&params));
    listen->next = import->calls.last_number;
}

int64_t import_listen_deadline(const struct import *import)
{
    return import->listen.next || import->handshake != IMPORT_MODERN ? INT64_MAX
                                                                     : import->listen.due_at;
}

void import_listen_tick(struct import *import, struct mcpx_now now)
{
    struct import_listen *listen = &import->listen;

    if (import_listen_deadline(import) > now.mono_ms)
        return;
    if (mx_bucket_take(&listen->asked, rate, 1, now.mono_ms)) {
        listen->due_at = INT64_MAX;
        ask(import);
    } else {
        listen->due_at = now.mono_ms + mx_bucket_wait_ms(&listen->asked, rate, 1, now.mono_ms);
    }
}

/* ---- its acknowledgement, and its end ---- */

/* True when a notification names another request. */
static bool is_of_other(struct mcpx_slice params, int64_t number)
{
    struct mcpx_slice id = mcpx_json_get(mcpx_json_get(params, "_meta"),
                                         "io.modelcontextprotocol/subscriptionId");
    int64_t read;

    return id.text && (!bridge_number(id, &read) || read != number);
}

bool import_listen_is_former(const struct import *import, struct mcpx_slice params)
{
    return import->listen.number && is_of_other(params, import->listen.number);
}

/* Settles the subscriptions that the request covers. `agreed`: hashes of URIs. */
static void settle(struct import *import, int64_t number, const struct mx_map *agreed)
{
    for (struct bridge_call *call = import->calls.first; call; call = call->next) {
        size_t at = 0;

        if (!is_waiting(call) || call->about != number)
            continue;
        call->stage =
            mx_map_next(agreed, (uint64_t)import_number_of(import->pool, call->context), &at)
                ? IMPORT_AGREED
                : IMPORT_REFUSED;
    }
}

void import_listen_acknowledged(struct import *import, struct mcpx_slice params)
{
    struct import_listen *listen = &import->listen;
    int64_t number = listen->next;
    struct mx_map agreed = {0};

    if (!number || is_of_other(params, number))
        return;
    MCPX_JSON_EACH(
        walk, mcpx_json_get(mcpx_json_get(params, "notifications"), "resourceSubscriptions")) {
        mx_scoped_text uri = {0};

        mcpx_json_add_unescaped(&uri, walk.value);
        (void)is_new(import->pool, &agreed, mcpx_text_view(&uri));
    }
    end(import, listen->number);
    listen->number = number;
    listen->next = 0;
    settle(import, number, &agreed);
    mx_map_fini(&agreed);
}

void import_listen_ended(struct import *import, int64_t number)
{
    struct import_listen *listen = &import->listen;

    if (number == listen->number)
        listen->number = listen->due_at = 0;
    if (number == listen->next) {
        listen->next = 0;
        settle(import, number, &(struct mx_map){0});
        if (listen->tries && import->tasks.count)
            listen->due_at = 0; /* new ones may not be covered */
    }
}

/* ---- subscriptions of participants ---- */

enum import_taken import_listen_takes(struct import *import, struct bridge_call *call,
                                      struct mcpx_now now)
{
    struct mcpx_slice can = mcpx_json_get(mcpx_text_view(&import->greeting), "capabilities");
    struct import_listen *listen = &import->listen;
    bool is_on = bridge_is(call->method, "resources/subscribe");

    if (import->handshake != IMPORT_MODERN ||
        !bridge_is(mcpx_json_get(mcpx_json_get(can, "resources"), "subscribe"), "true") ||
        !(is_on || bridge_is(call->method, "resources/unsubscribe")))
        return IMPORT_PASSED;
    if (is_on && !call->context.text)
        return IMPORT_REFUSED;
    if (!is_on || (!listen->next && listen->due_at == INT64_MAX &&
                   import_subs_have(&import->subs, call->context)))
        return IMPORT_AGREED;
    call->written = true;
    bridge_calls_release(&import->calls, call);
    bridge_calls_defer(&import->calls, call, now.mono_ms + import->config->request_ms);
    listen->due_at = now.mono_ms;
    import_listen_tick(import, now);
    return IMPORT_KEPT;
}
