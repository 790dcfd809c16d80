/*
 * fuzz_import.c - any life of an import: lines of any text from the server, requests,
 * notifications and answers of any shape from participants, deaths, departures and time in any
 * order. What goes to the server is one JSON-RPC message on one line, under an id of its own; every
 * request is either answered, under its own id, or dropped, and that exactly once by the time the
 * server is gone for good.
 *
 * The input is lines; the first byte says what the rest is. Where the first line is "i", each
 * participant has a server of its own, at most two at a time.
 *   s TEXT   the server writes        r RPC   a request    n RPC   a notification
 *   a RPC    an answer to question 1  u d f   starts, dies, fails for good
 *   l        a participant leaves     t NUMBER   time passes   x   a question expires
 * A digit after r, n, l names the participant, an even one in another topic than an odd one.
 * S, U, D, F and a digit are s, u, d, f of that server.
 */
#include "tests/fuzz/fuzz.h"
#include "tools/mcpx-bridge/import/pool.h"

#include <stdio.h>
#include <stdlib.h>

enum { REQUESTS_MAX = 64, ISOLATE_MAX = 2, SERVERS_MAX = 1 + 2 * ISOLATE_MAX };
enum { TOPICS = 2, MESSAGE_MAX = 4096 };

struct request {
    char envelope[8];
    char who[2];
    struct mcpx_text rpc_id;
    size_t answers;
};

struct stage {
    struct import_pool *pool;
    bool runs[SERVERS_MAX];
    struct mcpx_now now;
    struct request requests[REQUESTS_MAX];
    size_t count, questions;
};

static enum mcpx_err act_write(struct stage *stage, const struct bridge_action *action)
{
    struct mcpx_slice value;
    struct mcpx_rpc rpc;

    must(action->server < SERVERS_MAX && stage->runs[action->server]);
    must(!memchr(action->text.text, '\n', action->text.len));
    must(mcpx_json_check(action->text, 0, &value, NULL) == MCPX_OK);
    must(mcpx_rpc_read(value, &rpc, NULL) == MCPX_OK && rpc.form != MCPX_RPC_BODY);
    return stage->now.mono_ms % 7 == 6 ? MCPX_ELIMIT : MCPX_OK;
}

static enum mcpx_err act_start(struct stage *stage, const struct bridge_action *action)
{
    size_t server = action->server;

    must(server > 0 && server < SERVERS_MAX && !stage->runs[server] && action->about.len);
    if (stage->now.mono_ms % 3 == 2)
        return MCPX_ESYSTEM;
    stage->runs[server] = true;
    return MCPX_OK;
}

static enum mcpx_err act_respond(struct stage *stage, const struct bridge_action *action)
{
    struct mcpx_slice value;
    struct mcpx_rpc rpc;

    if (action->text.len > MESSAGE_MAX)
        return MCPX_ETOOBIG;
    must(mcpx_json_check(action->text, 0, &value, NULL) == MCPX_OK);
    must(mcpx_rpc_read(action->text, &rpc, NULL) == MCPX_OK);
    must(rpc.form == MCPX_RPC_RESULT || rpc.form == MCPX_RPC_ERROR);
    for (size_t i = 0; i < stage->count; i++) {
        struct request *request = &stage->requests[i];

        if (!mcpx_slice_equal(action->about, mcpx_slice_of(request->envelope)))
            continue;
        must(action->topic == (size_t)(request->who[0] & 1));
        must(mcpx_slice_equal(rpc.id, mcpx_text_view(&request->rpc_id)));
        must(request->answers++ == 0);
        return MCPX_OK;
    }
    abort();
}

/* What is dropped was not answered, and will not be. */
static void act_drop(struct stage *stage, const struct bridge_action *action)
{
    for (size_t i = 0; i < stage->count; i++)
        if (mcpx_slice_equal(action->about, mcpx_slice_of(stage->requests[i].envelope)))
            must(stage->requests[i].answers++ == 0);
}

static enum mcpx_err act_send(struct stage *stage, const struct bridge_action *action)
{
    struct mcpx_slice value;

    must(action->topic < TOPICS);
    must(mcpx_json_check(action->draft.payload, 0, &value, NULL) == MCPX_OK);
    must(mcpx_json_type(value) == MCPX_JSON_OBJECT);
    if (action->draft.tag)
        stage->questions++;
    return stage->now.mono_ms % 5 == 4 ? MCPX_ECAPABILITY : MCPX_OK;
}

static enum mcpx_err act(struct stage *stage, const struct bridge_action *action)
{
    switch (action->type) {
    case BRIDGE_WRITE:
        return act_write(stage, action);
    case BRIDGE_KILL:
        must(stage->runs[action->server]);
        break;
    case BRIDGE_START:
        return act_start(stage, action);
    case BRIDGE_STOP:
        must(action->server > 0 && stage->runs[action->server]);
        break;
    case BRIDGE_RESPOND:
        return act_respond(stage, action);
    case BRIDGE_DROP:
        act_drop(stage, action);
        break;
    case BRIDGE_SEND:
        return act_send(stage, action);
    case BRIDGE_FORGET:
        must(mcpx_slice_equal(action->about, MCPX_SLICE("q")));
        break;
    case BRIDGE_LOG:
        for (size_t i = 0; i < action->text.len; i++)
            must((unsigned char)action->text.text[i] >= ' ');
        break;
    }
    return MCPX_OK;
}

/* After every input: all that is wanted is done. */
static void act_on_all(struct stage *stage)
{
    const struct bridge_action *action;

    while ((action = import_pool_next(stage->pool, stage->now)) != NULL) {
        struct bridge_outcome outcome = {.err = act(stage, action)};

        if (action->type == BRIDGE_SEND && !outcome.err)
            outcome.id = MCPX_SLICE("q");
        import_pool_done(stage->pool, &outcome, stage->now);
    }
}

/* By the sender's name; a departure names nobody else. */
static void tell(struct stage *stage, const struct mcpx_event *event, char who)
{
    import_pool_event(stage->pool, (size_t)(who & 1), event, stage->now);
    act_on_all(stage);
}

static void request(struct stage *stage, struct mcpx_event *event)
{
    struct request *row = &stage->requests[stage->count];
    struct mcpx_envelope *envelope = (struct mcpx_envelope *)event->envelope;

    if (event->rpc->form != MCPX_RPC_REQUEST || stage->count == REQUESTS_MAX)
        return;
    stage->count++;
    snprintf(row->envelope, sizeof row->envelope, "e%zu", stage->count);
    mcpx_text_slice(&row->rpc_id, event->rpc->id);
    row->who[0] = envelope->from.text[0];
    envelope->id = mcpx_slice_of(row->envelope);
    event->type = MCPX_EVENT_REQUEST;
    tell(stage, event, row->who[0]);
}

static void notification(struct stage *stage, struct mcpx_event *event)
{
    if (event->rpc->form != MCPX_RPC_NOTIFICATION && event->rpc->form != MCPX_RPC_BODY)
        return;
    event->type = MCPX_EVENT_NOTIFICATION;
    tell(stage, event, event->envelope->from.text[0]);
}

/* What a participant does: rNRPC, nNRPC, aNRPC. */
static void participant(struct stage *stage, struct mcpx_slice line)
{
    struct mcpx_envelope envelope;
    struct mcpx_slice value;
    struct mcpx_rpc rpc;
    struct mcpx_event event = {.envelope = &envelope, .rpc = &rpc};

    if (line.len < 3 ||
        mcpx_json_check((struct mcpx_slice){line.text + 2, line.len - 2}, 0, &value, NULL) ||
        mcpx_rpc_read(value, &rpc, NULL))
        return;
    mcpx_envelope_init(&envelope);
    envelope.from = (struct mcpx_slice){line.text + 1, 1};
    envelope.payload = value;
    if (line.text[0] == 'r')
        request(stage, &event);
    else if (line.text[0] == 'n')
        notification(stage, &event);
    else if (rpc.form == MCPX_RPC_RESULT || rpc.form == MCPX_RPC_ERROR) {
        event.type = MCPX_EVENT_RESPONSE;
        event.tag = (void *)(uintptr_t)(line.text[1] - '0');
        tell(stage, &event, '0');
    }
}

static void state(struct stage *stage, size_t server, enum mcpx_child_state to,
                  int64_t retry_ms)
{
    struct mcpx_child_report report = {to, 1, -1, 9, retry_ms, "killed"};

    if (server >= SERVERS_MAX || !stage->runs[server])
        return;
    stage->runs[server] = to != MCPX_CHILD_FAILED;
    import_pool_state(stage->pool, server, &report, stage->now);
    act_on_all(stage);
}

/* What a server does; `text` begins with the letter. */
static void serve(struct stage *stage, size_t server, char what, struct mcpx_slice rest)
{
    if (what == 's' && server < SERVERS_MAX && stage->runs[server]) {
        import_pool_line(stage->pool, server, rest, stage->now);
        act_on_all(stage);
    } else if (what == 'u')
        state(stage, server, MCPX_CHILD_STARTING, 0);
    else if (what == 'd')
        state(stage, server, MCPX_CHILD_DOWN, 500);
    else if (what == 'f')
        state(stage, server, MCPX_CHILD_FAILED, -1);
}

static void pass(struct stage *stage, int64_t ms)
{
    stage->now.mono_ms += ms;
    import_pool_tick(stage->pool, stage->now);
    act_on_all(stage);
    must(import_pool_deadline(stage->pool) > stage->now.mono_ms);
}

static void happen(struct stage *stage, struct mcpx_slice line)
{
    struct mcpx_slice rest = {line.text + 1, line.len ? line.len - 1 : 0};
    struct mcpx_event event = {.presence = MCPX_PRESENCE_LEAVE, .tag = (void *)1};
    char what = line.len ? line.text[0] : '\0';

    if (what && strchr("sudf", what)) {
        serve(stage, 0, what, rest);
    } else if (what && strchr("SUDF", what) && rest.len) {
        serve(stage, (size_t)(rest.text[0] - '0'), (char)(what | 0x20),
              (struct mcpx_slice){rest.text + 1, rest.len - 1});
    } else if (what == 'l') {
        event.type = MCPX_EVENT_PRESENCE;
        event.participant = (struct mcpx_slice){rest.text, rest.len ? 1 : 0};
        tell(stage, &event, rest.len ? rest.text[0] : '0');
    } else if (what == 'x') {
        event.type = MCPX_EVENT_EXPIRED;
        tell(stage, &event, '0');
    } else if (what == 't') {
        pass(stage, (int64_t)(rest.len * 997));
    } else {
        participant(stage, line);
    }
}

/* All servers end, those that waited for another's end, too. */
static void end(struct stage *stage)
{
    state(stage, 0, MCPX_CHILD_FAILED, -1);
    for (size_t round = 0; round < SERVERS_MAX; round++) {
        for (size_t i = 1; i < SERVERS_MAX; i++)
            state(stage, i, MCPX_CHILD_FAILED, -1);
        pass(stage, 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct stage stage;
    struct import_config config = {.topics = TOPICS};
    const char *at = (const char *)data, *end_at = at + size;

    stage = (struct stage){.now = {1000, 1000}, .runs = {true}};
    if (size > 1 && data[0] == 'i' && data[1] == '\n')
        config.isolate_max = ISOLATE_MAX;
    stage.pool = import_pool_new(&config);
    for (size_t i = 0; i < TOPICS; i++)
        import_pool_joined(stage.pool, i, MCPX_SLICE("s"), MESSAGE_MAX,
                           (struct mcpx_slice){0});
    while (at < end_at) {
        const char *newline = memchr(at, '\n', (size_t)(end_at - at));
        size_t len = (size_t)((newline ? newline : end_at) - at);

        happen(&stage, (struct mcpx_slice){at, len});
        at += len + 1;
    }
    end(&stage);
    for (size_t i = 0; i < stage.count; i++) {
        must(stage.requests[i].answers == 1);
        mcpx_text_fini(&stage.requests[i].rpc_id);
    }
    import_pool_free(stage.pool);
    return 0;
}
