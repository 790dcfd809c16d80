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

static int64_t or_else(int64_t value, int64_t usual)
{
    return value > 0 ? value : usual;
}

/* Settings with defaults for absent values. */
static struct import_config whole(struct import_config config)
{
    config.topics = config.topics ? config.topics : 1;
    config.capabilities = config.capabilities ? config.capabilities : IMPORT_CAPABILITIES;
    config.request_ms = or_else(config.request_ms, REQUEST_MS);
    config.question_ms = or_else(config.question_ms, QUESTION_MS);
    config.isolate_idle_ms = or_else(config.isolate_idle_ms, IDLE_MS);
    config.calls_max = config.calls_max ? config.calls_max : CALLS_MAX;
    config.wait_bytes = config.wait_bytes ? config.wait_bytes : WAIT_BYTES;
    config.answers_max = config.answers_max ? config.answers_max : ANSWERS_MAX;
    return config;
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
    pool->servers[0] = import_new(pool, 0, (struct bridge_who){0});
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
        import_free(pool->servers[i]);
    bridge_checks_fini(&pool->checks);
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

/* Its process is gone. */
static void finish(struct import *server)
{
    server->phase = IMPORT_OVER;
    server->pool->alive--;
}

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

/* The number of that participant's server; 0 when it has none. */
static size_t number_of(const struct import_pool *pool, struct bridge_who who)
{
    for (size_t i = 1; i < pool->size; i++)
        if (is_alive(pool->servers[i]) && bridge_who_is(pool->servers[i]->owner, who))
            return i;
    return 0;
}

static bool is_of(const struct import *server, struct mcpx_slice identity)
{
    return mcpx_slice_equal(mcpx_identity_of(server->owner.id), identity);
}

/* Counts the servers not ending of an identity in all topics; `identity` absent: of all. */
static size_t count_servers(const struct import_pool *pool, struct mcpx_slice identity)
{
    size_t count = 0;

    for (size_t i = 1; i < pool->size; i++)
        count += is_alive(pool->servers[i]) &&
                 (!identity.text || is_of(pool->servers[i], identity));
    return count;
}

/* The longest idle server of an identity; absent: of all owners that left. */
static struct import *longest_idle(const struct import_pool *pool, struct mcpx_slice identity)
{
    struct import *longest = NULL;

    for (size_t i = 1; i < pool->size; i++) {
        struct import *server = pool->servers[i];

        if (is_alive(server) && server->idle_at < INT64_MAX &&
            (identity.text ? is_of(server, identity) : server->is_away) &&
            (!longest || server->idle_at < longest->idle_at))
            longest = server;
    }
    return longest;
}

/* Makes a server. Its number; 0 when there is none, `why` then says why. */
static size_t make_server(struct import_pool *pool, struct bridge_who who, const char **why)
{
    struct mcpx_slice identity = mcpx_identity_of(who.id), nobody = {0};
    bool is_full = count_servers(pool, nobody) >= pool->config.isolate_max;
    size_t share = pool->config.isolate_max < OF_ONE ? 1 : pool->config.isolate_max / OF_ONE;
    bool has_share = count_servers(pool, identity) < share;
    struct import *victim = longest_idle(pool, identity);
    size_t at = 1;

    while (at < pool->size && pool->servers[at])
        at++;
    if (!victim && has_share)
        victim = longest_idle(pool, nobody);
    *why = is_full ? "all server processes of the bridge are in use (--isolate-max)"
                   : "all server processes for you are in use (--isolate-max)";
    if ((is_full || !has_share) && !victim)
        return 0;
    if (is_full || !has_share)
        import_stop(victim);
    *why = "too many server processes are ending";
    if (at == pool->size)
        return 0;
    pool->servers[at] = import_new(pool, at, who);
    return at;
}

/* ---- events ---- */

/* True for requests with the same answer for all: the greeting and lists. */
static bool is_shared(struct mcpx_slice method)
{
    return bridge_is_any(method, "initialize", "ping", "server/discover", "tools/list",
                         "prompts/list", "resources/list", "resources/templates/list");
}

static void on_request(struct import_pool *pool, size_t topic, const struct mcpx_event *event,
                       struct mcpx_now now)
{
    struct bridge_who who = {topic, event->envelope->from};
    const char *why = "too many answers wait to be sent to you (--answers-max)";
    bool is_own = pool->config.isolate_max && !is_shared(event->rpc->method), is_full;
    size_t at = is_own ? number_of(pool, who) : 0;
    const struct bridge_holder *holder = bridge_calls_holder(&pool->servers[at]->calls, who);

    is_full = import_turns_are_full(&pool->topics[topic], who.id, holder ? holder->calls : 0,
                                    holder ? holder->longest : 0);
    if (is_own && !at && !is_full)
        at = make_server(pool, who, &why);
    if (is_full || (is_own && !at)) {
        import_turn_away(pool->servers[0], topic, event, why);
        return;
    }
    import_take_request(pool->servers[at], topic, event, now);
    start_waiting(pool);
}

/* Only the requester may cancel; the envelope's correlation and the JSON-RPC id both count. */
static struct bridge_call *call_of(const struct import *import, size_t topic,
                                   const struct mcpx_event *event)
{
    struct bridge_who who = {topic, event->envelope->from};
    struct mcpx_slice about = event->envelope->correlation_id;
    struct mcpx_slice id = mcpx_json_get(event->rpc->params, "requestId");
    struct bridge_call *call = about.text || id.text ? import->calls.last : NULL;

    while (call && (call->purpose != IMPORT_PARTICIPANT || !bridge_who_is(call->who, who) ||
                    (about.text && !mcpx_slice_equal(call->came_in, about)) ||
                    (id.text && !mcpx_json_same(call->id, id))))
        call = call->previous;
    return call;
}

/* To the sender's own server. Cancelled lists are those of the shared one. */
static void on_notification(const struct import_pool *pool, size_t topic,
                            const struct mcpx_event *event)
{
    size_t at = number_of(pool, (struct bridge_who){topic, event->envelope->from});
    struct bridge_call *call;

    if (!bridge_is(event->rpc->method, "notifications/cancelled")) {
        if (at || !pool->config.isolate_max)
            import_notified(pool->servers[at], event);
        return;
    }
    call = call_of(pool->servers[at], topic, event);
    if (!call && at) {
        at = 0;
        call = call_of(pool->servers[at], topic, event);
    }
    if (call)
        import_cancelled(pool->servers[at], call, event->rpc);
}

/* The server that asked a question; server 0 when none did. */
static struct import *asker_of(const struct import_pool *pool, const void *tag)
{
    size_t at = pool->size;

    while (--at > 0 &&
           !(pool->servers[at] && bridge_calls_of_tag(&pool->servers[at]->asks, tag)))
        ;
    return pool->servers[at];
}

static void on_presence(struct import_pool *pool, struct bridge_who who, bool has_left)
{
    size_t own = number_of(pool, who);

    if (own)
        pool->servers[own]->is_away = has_left;
    for (size_t i = 0; has_left && i < pool->size; i++)
        if (pool->servers[i])
            import_left(pool->servers[i], who);
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
}

void import_pool_event(struct import_pool *pool, size_t topic, const struct mcpx_event *event,
                       struct mcpx_now now)
{
    pool->now_ms = now.mono_ms;
    switch (event->type) {
    case MCPX_EVENT_REQUEST:
        on_request(pool, topic, event, now);
        break;
    case MCPX_EVENT_NOTIFICATION:
        on_notification(pool, topic, event);
        break;
    case MCPX_EVENT_RESPONSE:
        import_ask_answered(asker_of(pool, event->tag), event->tag, event->rpc);
        break;
    case MCPX_EVENT_EXPIRED:
        import_ask_failed(asker_of(pool, event->tag), event->tag, BRIDGE_TIMED_OUT,
                          "no participant answered in time");
        break;
    case MCPX_EVENT_REFUSED:
        import_refused(asker_of(pool, event->tag), event);
        break;
    case MCPX_EVENT_VIOLATION:
        import_violated(pool->servers[0], topic, event);
        break;
    case MCPX_EVENT_PRESENCE:
        on_presence(pool, (struct bridge_who){topic, event->participant},
                    event->presence == MCPX_PRESENCE_LEAVE);
        break;
    case MCPX_EVENT_LEFT:
        for (size_t i = 0; event->retry_ms < 0 && i < pool->size; i++)
            if (pool->servers[i])
                import_topic_gone(pool->servers[i], topic);
        break;
    default:
        break;
    }
}

/* ---- states and time ---- */

void import_pool_state(struct import_pool *pool, size_t server,
                       const struct mcpx_child_report *report, struct mcpx_now now)
{
    pool->now_ms = now.mono_ms;
    if (server > 0 &&
        (report->state == MCPX_CHILD_STOPPED || report->state == MCPX_CHILD_FAILED))
        finish(pool->servers[server]);
    import_state(pool->servers[server], report, now);
}

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

/* ---- actions ---- */

/* Without further actions: frees the servers that ended, and starts or stops idle times. */
static void look_after_servers(struct import_pool *pool, struct mcpx_now now)
{
    for (size_t i = 1; i < pool->size; i++) {
        struct import *server = pool->servers[i];

        if (server && server->phase == IMPORT_OVER) {
            import_free(server);
            pool->servers[i] = NULL;
        } else if (server && server->phase == IMPORT_RUNNING) {
            if (server->calls.holder_count || server->subs.count || server->asks.count)
                server->idle_at = INT64_MAX;
            else if (server->idle_at == INT64_MAX)
                server->idle_at = now.mono_ms + pool->config.isolate_idle_ms;
        }
    }
}

const struct bridge_action *import_pool_next(struct import_pool *pool, struct mcpx_now now)
{
    static const struct bridge_outcome no_room = {.err = MCPX_ELIMIT};

    while (!pool->row && (pool->row = import_turns_next(pool, now.mono_ms)) != NULL)
        if (pool->row->is_given_up)
            import_pool_done(pool, &no_room, now);
    if (!pool->row)
        look_after_servers(pool, now);
    return pool->row ? &pool->row->action : NULL;
}

/* The server of a message may be gone before the message's turn. */
void import_pool_done(struct import_pool *pool, const struct bridge_outcome *outcome,
                      struct mcpx_now now)
{
    struct bridge_row *row = pool->row;
    size_t at = pool->servers[row->action.server] ? row->action.server : 0;
    struct mcpx_child_report report = {MCPX_CHILD_FAILED,          0, -1, 0, -1,
                                       mcpx_strerror(outcome->err)};

    pool->row = NULL;
    if (row->action.type == BRIDGE_START && outcome->err) {
        import_pool_state(pool, at, &report, now);
        start_waiting(pool);
    } else {
        import_done(pool->servers[at], row, outcome);
    }
    bridge_row_free(row);
}
