/*
 * subs.c - what participants want to hear: a row for each resource that one of them watches, and
 * for each level of log messages that one has set; and what the server is asked to report.
 *
 * The server sees one client, so participants share its subscription to a resource: `about` of
 * their rows is the number of an IMPORT_LISTEN in `calls`. A leaving participant may end thousands
 * at once, so no step may search all rows for each.
 *
 * A server of 2026-07-28 has one subscriptions/listen for changes of its lists, one for each task
 * that a participant has, one for each resource that participants watch. A resources/subscribe is
 * written as such a request under its own number, and answered when the server acknowledges it.
 * Rejected: one request for all, because a server refuses all of it for one of its parts, so a
 * participant could end what others have.
 *
 * Before 2026-07-28 a participant sets a level for all its requests; since then a request names
 * one. An older server has one level: the lowest that is wanted. Its messages go to everybody, and
 * each client drops what is below its own level. A server of 2026-07-28 is told with each request,
 * and its messages go to participants with such a request under way.
 */
#include "tools/mcpx-bridge/import/state.h"

#include "lib/base/ident.h"

#include <mcpx/envelope.h>

/*
 * Most rows of all participants together. A server of 2026-07-28 has a request for each resource,
 * and one with the official SDK takes 1024.
 */
enum { SUBS_MAX = 10000, LISTENED_MAX = 800 };

enum {
    PAUSE_MS = 1000, /* before there is another listen for one that ended */
    TASKS_MAX = 200  /* tasks with a listen; whose does not have one can ask for its state */
};

/* ---- what the server is asked to report ---- */

static bool can_listen(const struct import *import)
{
    return import->handshake == IMPORT_MODERN &&
           bridge_is(mcpx_json_get(import_can(import, "resources"), "subscribe"), "true");
}

/* Only declared changes: a server may refuse others, or end. */
static void cover_lists(struct import *import)
{
    static const char *const lists[] = {"tools", "prompts", "resources"};
    mx_scoped_text wanted = {0};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (bridge_is(mcpx_json_get(import_can(import, lists[i]), "listChanged"), "true"))
            mx_format(&wanted, "%s\"%sListChanged\":true",
                      wanted.len ? "," : "\"notifications\":{", lists[i]);
    if (!wanted.len || bridge_calls_find(&import->calls, import->listen.lists))
        return;
    mcpx_text_puts(&wanted, "}");
    import->listen.lists =
        import_request(import, IMPORT_LISTEN, "subscriptions/listen", mcpx_text_view(&wanted))
            ->number;
}

/* The subscription to a resource at the server, perhaps about to be ended; NULL: there is none. */
static struct bridge_call *reported(const struct import *import, struct mcpx_slice uri)
{
    uint64_t hash = (uint64_t)import_number_of(import->pool, uri);

    return mx_map_find(&import->listen.by_uri, hash, offsetof(struct bridge_call, context),
                       uri);
}

static void note(struct import *import, struct bridge_call *call)
{
    call->bound = (uint64_t)import_number_of(import->pool, call->context);
    mx_map_reserve(&import->listen.by_uri);
    mx_map_put(&import->listen.by_uri, call->bound, (uintptr_t)call);
}

/* Writes one request for each thing that none is about; `pattern` of its params. */
static void cover(struct import *import, struct bridge_calls *rows, const char *pattern)
{
    const char *method =
        import->handshake == IMPORT_MODERN ? "subscriptions/listen" : "resources/subscribe";
    bool is_shared = rows == &import->subs;
    size_t left = is_shared ? rows->count : TASKS_MAX;

    for (struct bridge_call *row = rows->first; row && left > 0; row = row->next) {
        struct bridge_call *call = bridge_calls_find(&import->calls, row->about);
        mx_scoped_text params = {0};

        if (row->task) /* it is over */
            continue;
        if (!call && is_shared)
            call = reported(import, row->context);
        if (!call) {
            mx_format(&params, pattern, row->context);
            call = import_request_about(import, IMPORT_LISTEN, method, row->context,
                                        mcpx_text_view(&params));
            if (is_shared)
                note(import, call);
        }
        row->about = call->number;
        call->stage = 1;
        left -= call->written; /* what is refused takes no place */
    }
}

/* Ends what the server reports for nobody. */
static void end(struct import *import, struct bridge_call *call)
{
    mx_scoped_text params = mx_formatted("\"uri\":%q", call->context);

    if (call->written && import->handshake == IMPORT_MODERN) {
        import_cancel(import, call, "no participant needs it any more");
    } else if (call->written) {
        import_request(import, IMPORT_HOUSEKEEPING, "resources/unsubscribe",
                       mcpx_text_view(&params));
        import->listen.ended = import->calls.last_number;
    }
    mx_map_remove(&import->listen.by_uri, call->bound, (uintptr_t)call);
    bridge_calls_drop(&import->calls, call);
}

void import_listen(struct import *import)
{
    bool is_modern = import->handshake == IMPORT_MODERN;

    import->listen.due_at = INT64_MAX;
    if (is_modern) {
        cover_lists(import);
        cover(import, &import->tasks, "\"notifications\":{\"taskIds\":[%q]}");
    }
    cover(import, &import->subs,
          is_modern ? "\"notifications\":{\"resourceSubscriptions\":[%q]}" : "\"uri\":%q");
    BRIDGE_EACH_CALL(call, &import->calls) {
        if (call->purpose == IMPORT_LISTEN && call->number != import->listen.lists &&
            call->stage-- == 0)
            end(import, call);
    }
}

/* ---- its acknowledgement, and its end ---- */

bool import_listen_add(const struct import *import, const struct bridge_call *call,
                       struct mcpx_text *out)
{
    if (!can_listen(import) || !bridge_is(call->method, "resources/subscribe"))
        return false;
    mx_format(out,
              "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"subscriptions/listen\",\"params\":"
              "{\"notifications\":{\"resourceSubscriptions\":[%q]}}}",
              call->context);
    return true;
}

static int64_t subscription_of(struct mcpx_slice params)
{
    struct mcpx_slice meta = mcpx_json_get(params, "_meta");
    int64_t number = 0;

    (void)bridge_number(mcpx_json_get(meta, IMPORT_META "subscriptionId"), &number);
    return number;
}

struct bridge_call *import_listen_acknowledged(struct import *import, struct mcpx_slice params)
{
    struct bridge_call *call = bridge_calls_find(&import->calls, subscription_of(params));
    struct mcpx_slice agreed = mcpx_json_get(params, "notifications");

    if (!call || !call->written || !can_listen(import) ||
        !bridge_is(call->method, "resources/subscribe"))
        return NULL;
    MCPX_JSON_EACH_WHILE(!call->stage, walk, mcpx_json_get(agreed, "resourceSubscriptions"))
        call->stage = mcpx_json_equals(walk.value, call->context);
    if (!call->stage)
        import_cancel(import, call, "it does not report the resource");
    return call;
}

void import_own_over(struct import *import, struct bridge_call *call,
                     const struct mcpx_rpc *rpc)
{
    bool is_listen = call->purpose == IMPORT_LISTEN;

    if (is_listen && rpc && rpc->form != MCPX_RPC_ERROR && import->handshake == IMPORT_LEGACY)
        return;
    mx_map_remove(&import->listen.by_uri, call->bound, (uintptr_t)call);
    call->written = false;
    if (is_listen && rpc && rpc->form == MCPX_RPC_ERROR)
        return;
    if (is_listen && import->listen.due_at == INT64_MAX)
        import->listen.due_at = import->pool->now_ms + PAUSE_MS;
    bridge_calls_drop(&import->calls, call);
}

/* ---- what participants want ---- */

static int64_t number_of(const struct import *import, struct bridge_who who,
                         struct mcpx_slice uri)
{
    mx_scoped_text name = mx_formatted("%s\n%s\n%s", who.topic, who.id, uri);

    return import_number_of(import->pool, mcpx_text_view(&name));
}

/* The lowest of the levels that others than this one have set, and of `level`; 0: none. */
static unsigned lowest(const struct import *import, struct bridge_who who, unsigned level)
{
    for (const struct bridge_call *row = import->levels.first; row; row = row->next)
        if (!bridge_who_is(row->who, who) && (!level || row->level < level))
            level = row->level;
    return level;
}

void import_tell_level(struct import *import, unsigned asked)
{
    mx_scoped_text params = {0};

    asked = lowest(import, (struct bridge_who){0}, asked);
    if (!asked || asked == import->log_level || import->handshake != IMPORT_LEGACY ||
        !import_can(import, "logging").text)
        return;
    import->log_level = asked;
    mx_format(&params, "\"level\":%q", bridge_log_name(asked));
    import_request(import, IMPORT_HOUSEKEEPING, "logging/setLevel", mcpx_text_view(&params));
}

/* A request goes to the server: an older one is told its level; it gets that of its participant. */
static void note_level(struct import *import, struct bridge_call *call)
{
    const struct bridge_call *row = NULL;

    if (import->handshake == IMPORT_MODERN && !call->level && import->levels.count)
        row = bridge_calls_find(&import->levels,
                                number_of(import, call->who, (struct mcpx_slice){0}));
    if (row)
        call->level = row->level;
    if (import->handshake == IMPORT_LEGACY && call->level &&
        (!import->log_level || call->level < import->log_level))
        import_tell_level(import, call->level);
}

bool import_takes(struct import *import, struct bridge_call *call, const char **why)
{
    bool listens = can_listen(import);

    if (bridge_is(call->method, "resources/subscribe")) {
        if (listens && !call->context.text)
            *why = "params.uri is missing, or too long";
        return *why || reported(import, call->context);
    }
    if (bridge_is(call->method, "resources/unsubscribe")) {
        if (listens || reported(import, call->context) ||
            bridge_calls_find(&import->subs, number_of(import, call->who, call->context)))
            return true; /* the server would end the subscription of others, too */
        import->listen.ended = call->number;
        return false;
    }
    if (!bridge_is(call->method, "logging/setLevel")) {
        note_level(import, call);
        return false;
    }
    if (!call->level)
        *why = "params.level is not a level";
    return import_can(import, "logging").text &&
           (*why || import->handshake == IMPORT_MODERN ||
            lowest(import, call->who, call->level) != call->level);
}

/* Replaces a row; `adds`: by another one. Returns why it cannot; NULL: it does. */
static const char *put(struct import *import, struct bridge_calls *rows,
                       const struct bridge_call *call, bool adds, int64_t about)
{
    struct bridge_call row = {.number = number_of(import, call->who, call->context),
                              .who = call->who,
                              .context = call->context,
                              .level = call->level,
                              .about = about};
    struct bridge_call *known = bridge_calls_find(rows, row.number);

    if (known)
        bridge_calls_drop(rows, known);
    if (!adds)
        return NULL;
    known = bridge_calls_add(rows, &row);
    if (bridge_may_have(known->holder->calls, rows->count,
                        about && can_listen(import) ? LISTENED_MAX : SUBS_MAX))
        return NULL;
    bridge_calls_drop(rows, known);
    return "your subscriptions have reached the bridge's limit; this one would get no updates";
}

const char *import_agreed(struct import *import, const struct bridge_call *call)
{
    struct bridge_call listen = {.purpose = IMPORT_LISTEN,
                                 .number = call->number,
                                 .method = MCPX_SLICE("subscriptions/listen"),
                                 .context = call->context,
                                 .written = true};
    bool is_on = bridge_is(call->method, "resources/subscribe");
    const struct bridge_call *other;
    const char *why;
    bool is_new;

    if (bridge_is(call->method, "logging/setLevel")) {
        why = put(import, &import->levels, call, true, 0);
        if (call->written)
            import->log_level = call->level;
        import_tell_level(import, 0);
        return why;
    }
    if (!call->context.text || (!is_on && !bridge_is(call->method, "resources/unsubscribe")))
        return NULL;
    if (is_on && call->written && !call->stage && can_listen(import))
        return "the server does not report changes of this resource";
    other = is_on ? reported(import, call->context) : NULL;
    /* what an older server has ended since for another participant is asked for again */
    is_new =
        import->handshake == IMPORT_MODERN || (!other && call->number > import->listen.ended);
    if (is_on && call->written && is_new)
        note(import, bridge_calls_add(&import->calls, &listen)); /* `call` is dropped next */
    why = put(import, &import->subs, call, is_on, other ? other->number : listen.number);
    if (why || !is_on || (call->written && (other || !is_new)))
        import->listen.due_at = 0;
    return why;
}

void import_subs_left(struct import *import, struct bridge_who who)
{
    struct bridge_calls *const tables[] = {&import->subs, &import->levels, &import->tasks};
    size_t count = who.id.text ? 2 : 3; /* whoever comes back still has tasks */

    for (size_t i = 0; i < count; i++)
        BRIDGE_EACH_CALL(row, tables[i]) {
            if (row->who.topic != who.topic ||
                (who.id.text && !mcpx_slice_equal(row->who.id, who.id)))
                continue;
            bridge_calls_drop(tables[i], row);
            import->listen.due_at = 0;
        }
}

/* ---- what they hear ---- */

/* Tells the participants of the rows whose `stage` is set, each once, and clears that. */
static void notify_marked(struct import *import, const struct bridge_calls *rows,
                          struct mcpx_slice notice)
{
    struct mcpx_slice to[MCPX_TO_MAX];

    for (size_t topic = 0; topic < import->config->topics; topic++) {
        struct mcpx_draft draft = {.to = to, .payload = notice};

        for (struct bridge_call *row = rows->first; row; row = row->next) {
            if (!row->stage || row->who.topic != topic)
                continue;
            row->stage = 0;
            if (!mx_id_is_among(row->who.id, to, draft.to_count))
                to[draft.to_count++] = row->who.id;
            if (draft.to_count < MCPX_TO_MAX)
                continue;
            import_notify_topic(import, topic, &draft);
            draft.to_count = 0;
        }
        if (draft.to_count > 0)
            import_notify_topic(import, topic, &draft);
    }
}

void import_subs_updated(struct import *import, const struct mcpx_rpc *rpc)
{
    int64_t number = subscription_of(rpc->params);
    struct mcpx_slice uri = rpc->context;
    bool found = number != 0;

    for (struct bridge_call *row = import->subs.first; row; row = row->next) {
        row->stage = number ? row->about == number : mcpx_slice_equal(uri, row->context);
        found = found || row->stage;
    }
    for (struct bridge_call *row = import->subs.first; row && !found; row = row->next)
        row->stage = uri.len > row->context.len &&
                     memcmp(uri.text, row->context.text, row->context.len) == 0;
    notify_marked(import, &import->subs, rpc->text);
}

void import_log(struct import *import, const struct mcpx_rpc *rpc)
{
    unsigned level = bridge_log_level(mcpx_json_get(rpc->params, "level"));

    if (import->handshake != IMPORT_MODERN) {
        import_notify(import, rpc->text);
        return;
    }
    /* `stage` of calls is free here: only import_listen and an acknowledgement use it, at once */
    for (struct bridge_call *call = import->calls.first; call; call = call->next)
        call->stage = call->purpose == IMPORT_PARTICIPANT && call->written &&
                      bridge_log_passes(call->level, level);
    notify_marked(import, &import->calls, rpc->text);
}
