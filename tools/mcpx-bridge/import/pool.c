/*
 * pool.c - finds the server of a message, and starts and stops servers. A server is made at its
 * owner's first request, and ends after an idle time. A new participant never ends the process of a
 * present one. At the limit the requester's own idle servers give way, then those of owners that
 * left; else the request is refused. An ending process still counts, so a new one may wait for it.
 *
 * Lists are asked of server 0 alone. Rejected: a process for each participant that reads lists,
 * because many participants read lists and few call.
 */
#include "tools/mcpx-bridge/import/ask.h"

#include <stdlib.h>

/* One participant may have one in OF_ONE of all processes. */
enum { OF_ONE = 4 };

/* The usual settings. */
enum {
    REQUEST_MS = 300000,
    QUESTION_MS = 3600000,
    IDLE_MS = 600000,
    CALLS_MAX = 10000,
    WAIT_BYTES = 64 << 20,
    ANSWERS_MAX = 16 << 20
};

/* Settings with defaults for absent values. */
static struct import_config whole(struct import_config config)
{
    config.topics = config.topics ? config.topics : 1;
    config.capabilities = config.capabilities ? config.capabilities : IMPORT_CAPABILITIES;
    config.request_ms = config.request_ms ? config.request_ms : REQUEST_MS;
    config.question_ms = config.question_ms ? config.question_ms : QUESTION_MS;
    config.isolate_idle_ms = config.isolate_idle_ms ? config.isolate_idle_ms : IDLE_MS;
    config.calls_max = config.calls_max ? config.calls_max : CALLS_MAX;
    config.wait_bytes = config.wait_bytes ? config.wait_bytes : WAIT_BYTES;
    config.answers_max = config.answers_max ? config.answers_max : ANSWERS_MAX;
    return config;
}

static struct import *new_server(struct import_pool *pool, size_t number,
                                 struct bridge_who owner)
{
    char *at;
    struct import *import = bridge_room(sizeof *import, owner.id.len, &at);

    import->pool = pool;
    import->config = &pool->config;
    import->number = number;
    import->owner = (struct bridge_who){owner.topic, mx_keep(&at, owner.id)};
    import->idle_at = import->tools.due_at = import->listen.due_at = INT64_MAX;
    return import;
}

static void free_server(struct import *import)
{
    if (!import)
        return;
    bridge_calls_fini(&import->calls);
    bridge_calls_fini(&import->asks);
    bridge_calls_fini(&import->tasks);
    bridge_calls_fini(&import->subs);
    bridge_calls_fini(&import->levels);
    mx_map_fini(&import->listen.by_uri);
    mcpx_tools_free(import->tools.known);
    mcpx_tools_free(import->tools.coming);
    mcpx_text_fini(&import->tools.doubts);
    mcpx_text_fini(&import->greeting);
    mcpx_text_fini(&import->outage);
    mcpx_text_fini(&import->outage_data);
    mcpx_text_fini(&import->failure);
    free(import);
}

struct import_pool *import_pool_new(const struct import_config *config)
{
    struct import_pool *pool = calloc(1, sizeof *pool);
    struct mx_map_key key = {{0}}; /* of hash tables: random and secret */

    pool->config = whole(*config);
    pool->checks = (struct bridge_checks){config->terms, config->view.user, config->view.now,
                                          config->view.chance, NULL};
    if (config->view.chance)
        config->view.chance(config->view.user, &key, sizeof key);
    pool->size = 1 + 2 * config->isolate_max;
    pool->servers = calloc(pool->size, sizeof *pool->servers);
    pool->topics = calloc(pool->config.topics, sizeof *pool->topics);
    for (size_t i = 0; i < pool->config.topics; i++) {
        struct import_topic *topic = &pool->topics[i];

        topic->held.key = topic->shares.key = key;
        topic->held.cap = pool->config.answers_max;
        topic->held.total = 4 * topic->held.cap;
        topic->due_ms = INT64_MAX;
    }
    pool->servers[0] = new_server(pool, 0, (struct bridge_who){0});
    pool->servers[0]->phase = IMPORT_RUNNING;
    return pool;
}

void import_pool_free(struct import_pool *pool)
{
    if (pool->row)
        bridge_row_free(pool->row);
    bridge_output_fini(&pool->output);
    for (size_t i = 0; i < pool->config.topics; i++)
        import_turns_fini(&pool->topics[i]);
    for (size_t i = 0; i < pool->size; i++)
        free_server(pool->servers[i]);
    mcpx_calls_free(pool->checks.calls);
    bridge_calls_fini(&pool->task_tools);
    free(pool->servers);
    free(pool->topics);
    free(pool);
}

size_t import_pool_size(const struct import_pool *pool)
{
    return pool->size;
}

const char *import_pool_failure(const struct import_pool *pool)
{
    return pool->servers[0]->failure.text;
}

const char *import_pool_outage(const struct import_pool *pool)
{
    return import_is_ready(pool->servers[0]) ? NULL : pool->servers[0]->outage.text;
}

struct mcpx_calls *import_pool_calls(const struct import_pool *pool)
{
    return pool->checks.calls;
}

/* ---- servers of one participant ---- */

static void start_waiting(struct import_pool *pool)
{
    for (size_t i = 1; i < pool->size && pool->alive < pool->config.isolate_max; i++) {
        struct import *server = pool->servers[i];

        if (!server || server->phase != IMPORT_WAITING)
            continue;
        import_want_about(server, BRIDGE_START, server->owner.topic, server->owner.id);
        server->phase = IMPORT_RUNNING;
        pool->alive++;
    }
}

/* It has a process, or waits for one. */
static bool is_alive(const struct import *server)
{
    return server && (server->phase == IMPORT_WAITING || server->phase == IMPORT_RUNNING);
}

size_t import_pool_server(const struct import_pool *pool, struct bridge_who who)
{
    for (size_t i = 1; i < pool->size; i++)
        if (is_alive(pool->servers[i]) && bridge_who_is(pool->servers[i]->owner, who))
            return i;
    return 0;
}

/** The servers that are not ending: their number, and the one that is idle for the longest. */
struct usage {
    size_t count;
    struct import *idle;
};

/* Of an identity in all topics; absent: of all, and idle ones only of owners that left. */
static struct usage usage_of(const struct import_pool *pool, struct mcpx_slice identity)
{
    struct usage usage = {0};

    for (size_t i = 1; i < pool->size; i++) {
        struct import *server = pool->servers[i];

        if (!is_alive(server) ||
            (identity.text && !mcpx_slice_equal(mcpx_identity_of(server->owner.id), identity)))
            continue;
        usage.count++;
        if (server->idle_at < INT64_MAX && (identity.text || server->is_away) &&
            (!usage.idle || server->idle_at < usage.idle->idle_at))
            usage.idle = server;
    }
    return usage;
}

/* Makes a server. Its number; 0 when there is none, `why` then says why. */
static size_t make_server(struct import_pool *pool, struct bridge_who who, const char **why)
{
    struct usage own = usage_of(pool, mcpx_identity_of(who.id));
    struct usage all = usage_of(pool, (struct mcpx_slice){0});
    bool is_full = all.count >= pool->config.isolate_max;
    size_t share = pool->config.isolate_max < OF_ONE ? 1 : pool->config.isolate_max / OF_ONE;
    bool has_share = own.count < share;
    struct import *victim = own.idle || !has_share ? own.idle : all.idle;
    size_t at = 1;

    while (at < pool->size && pool->servers[at])
        at++;
    *why = is_full ? "all server processes of the bridge are in use (--isolate-max)"
                   : "all server processes for you are in use (--isolate-max)";
    if ((is_full || !has_share) && !victim)
        return 0;
    if (is_full || !has_share)
        import_stop(victim);
    *why = "too many server processes are ending";
    if (at == pool->size)
        return 0;
    pool->servers[at] = new_server(pool, at, who);
    return at;
}

/* ---- requests ---- */

/* True for requests with the same answer for all: the greeting and lists. */
static bool is_shared(struct mcpx_slice method)
{
    return bridge_is_any(method, "initialize", "ping", "server/discover", "tools/list",
                         "prompts/list", "resources/list", "resources/templates/list");
}

/* That of the requester; for a task, that of the participant that approved its call. */
static size_t server_for(const struct import_pool *pool, const struct bridge_call *call)
{
    size_t own = import_pool_server(pool, call->who), at = own;

    for (size_t i = 1; i < pool->size && import_task_is_foreign(pool->servers[at], call); i++)
        at = is_alive(pool->servers[i]) ? i : at;
    return import_task_is_foreign(pool->servers[at], call) ? own : at;
}

void import_pool_request(struct import_pool *pool, size_t topic,
                         const struct mcpx_event *event, struct mcpx_now now)
{
    const struct bridge_call call = import_draft_of(topic, event);
    struct bridge_who who = call.who;
    const char *why = "too many answers wait to be sent to you (--answers-max)";
    bool is_own = pool->config.isolate_max && !is_shared(event->rpc->method), is_full;
    size_t at = is_own ? server_for(pool, &call) : 0;
    const struct bridge_holder *holder = bridge_calls_holder(&pool->servers[at]->calls, who);

    is_full = import_turns_are_full(&pool->topics[topic], who.id, holder ? holder->calls : 0,
                                    holder ? holder->longest : 0);
    if (is_own && !at && !is_full)
        at = make_server(pool, who, &why);
    if (is_full || (is_own && !at))
        at = 0;
    else
        why = NULL;
    import_take_request(pool->servers[at], topic, event, why, now);
    start_waiting(pool);
}

void import_pool_joined(struct import_pool *pool, size_t topic, struct mcpx_slice self,
                        size_t message_max, struct mcpx_slice limits)
{
    struct import_topic *state = &pool->topics[topic];

    import_turns_limit(state, limits);
    state->message_max = message_max;
    state->self_len = self.len <= sizeof state->self ? self.len : 0;
    if (state->self_len)
        memcpy(state->self, self.text, state->self_len);
    if (!pool->edge_len) {
        pool->edge_len = state->self_len;
        memcpy(pool->edge, state->self, state->self_len);
    }
}

/* ---- states and time ---- */

void import_pool_tick(struct import_pool *pool, struct mcpx_now now)
{
    pool->now_ms = now.mono_ms;
    for (size_t i = 0; i < pool->size; i++) {
        if (!pool->servers[i])
            continue;
        import_tick(pool->servers[i], now);
        if (pool->servers[i]->idle_at <= now.mono_ms)
            import_stop(pool->servers[i]);
    }
    start_waiting(pool);
}

/* The next tick starts a process that waits for another's end. */
int64_t import_pool_deadline(const struct import_pool *pool)
{
    int64_t first = INT64_MAX;

    for (size_t i = 0; i < pool->config.topics; i++)
        if (pool->topics[i].due_ms < first)
            first = pool->topics[i].due_ms;
    for (size_t i = 0; i < pool->size; i++) {
        const struct import *server = pool->servers[i];
        int64_t due = server ? import_deadline(server) : INT64_MAX;

        if (server && server->phase == IMPORT_WAITING &&
            pool->alive < pool->config.isolate_max)
            due = 0;
        if (due < first)
            first = due;
    }
    return first;
}

void import_pool_look_after(struct import_pool *pool, struct mcpx_now now)
{
    for (size_t i = 1; i < pool->size; i++) {
        struct import *server = pool->servers[i];

        if (server && server->phase == IMPORT_OVER) {
            free_server(server);
            pool->servers[i] = NULL;
        } else if (server && server->phase == IMPORT_RUNNING) {
            const struct bridge_call *task = server->is_away ? NULL : server->tasks.first;

            while (task && (task->task || task->progress < (int64_t)server->starts)) /* over */
                task = task->next;
            if (task || server->calls.holder_count || server->subs.count || server->asks.count)
                server->idle_at = INT64_MAX;
            else if (server->idle_at == INT64_MAX)
                server->idle_at = now.mono_ms + pool->config.isolate_idle_ms;
        }
    }
}
