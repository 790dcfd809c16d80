/*
 * fuzz_import.c - any life of an import: lines of any text from the server, requests,
 * notifications and answers of any shape from participants, deaths, departures and time in any
 * order. What goes to the server is one JSON-RPC message on one line, under an id of its own; every
 * request is either answered, under its own id, or dropped, and that exactly once by the time the
 * server is gone for good.
 * Includes import.h and libc only.
 *
 * The input is lines; the first byte says what the rest is:
 *   s TEXT   the server writes        r RPC   a request    n RPC   a notification
 *   a RPC    an answer to question 1  u d f   starts, dies, fails for good
 *   l        a participant leaves     t NUMBER   time passes   x   a question expires
 * A digit after r, n, l names the participant.
 */
#include "tools/mcpx-bridge/import.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { REQUESTS_MAX = 64 };

struct request {
    char envelope[8];
    char who[2];
    struct mcpx_text rpc_id;
    size_t answers;
};

struct stage {
    struct import *import;
    struct mcpx_now now;
    struct request requests[REQUESTS_MAX];
    size_t count, questions;
    bool over;
};

static void must(bool holds)
{
    if (!holds)
        abort();
}

static enum mcpx_err on_write(void *user, struct mcpx_slice line)
{
    struct stage *stage = user;
    struct mcpx_slice value;
    struct mcpx_rpc rpc;

    must(!memchr(line.text, '\n', line.len));
    must(mcpx_json_check(line, 0, &value, NULL) == MCPX_OK);
    must(mcpx_rpc_read(value, &rpc, NULL) == MCPX_OK && rpc.form != MCPX_RPC_BODY);
    return stage->now.mono_ms % 7 == 6 ? MCPX_ELIMIT : MCPX_OK;
}

static void on_kill(void *user)
{
    (void)user;
}

static enum mcpx_err on_respond(void *user, struct mcpx_slice envelope,
                                struct mcpx_slice payload)
{
    struct stage *stage = user;
    struct mcpx_rpc rpc;

    if (payload.len > 4096)
        return MCPX_ETOOBIG;
    must(mcpx_rpc_read(payload, &rpc, NULL) == MCPX_OK);
    must(rpc.form == MCPX_RPC_RESULT || rpc.form == MCPX_RPC_ERROR);
    for (size_t i = 0; i < stage->count; i++) {
        struct request *request = &stage->requests[i];

        if (!mcpx_slice_equal(envelope, mcpx_slice_of(request->envelope)))
            continue;
        must(mcpx_slice_equal(rpc.id, mcpx_text_view(&request->rpc_id)));
        must(request->answers++ == 0);
        return MCPX_OK;
    }
    abort();
}

/* What is dropped was not answered, and will not be. */
static void on_drop(void *user, struct mcpx_slice request)
{
    struct stage *stage = user;

    for (size_t i = 0; i < stage->count; i++)
        if (mcpx_slice_equal(request, mcpx_slice_of(stage->requests[i].envelope)))
            must(stage->requests[i].answers++ == 0);
}

static enum mcpx_err on_send(void *user, const struct mcpx_draft *draft, struct mcpx_slice *id)
{
    struct stage *stage = user;
    struct mcpx_slice value;

    must(mcpx_json_check(draft->payload, 0, &value, NULL) == MCPX_OK);
    must(mcpx_json_type(value) == MCPX_JSON_OBJECT);
    if (draft->tag)
        stage->questions++;
    if (id)
        *id = MCPX_SLICE("q");
    return stage->now.mono_ms % 5 == 4 ? MCPX_ECAPABILITY : MCPX_OK;
}

static void on_forget(void *user, struct mcpx_slice id)
{
    (void)user;
    must(mcpx_slice_equal(id, MCPX_SLICE("q")));
}

static bool on_may(void *user, struct mcpx_slice kind)
{
    (void)user;
    (void)kind;
    return true;
}

static struct mcpx_slice on_self(void *user)
{
    (void)user;
    return MCPX_SLICE("s");
}

static size_t on_message_max(void *user)
{
    (void)user;
    return 4096;
}

static void on_log(void *user, const char *text)
{
    (void)user;
    for (; *text; text++)
        must((unsigned char)*text >= ' ');
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
    envelope->id = mcpx_slice_of(row->envelope);
    event->type = MCPX_EVENT_REQUEST;
    import_event(stage->import, event, stage->now);
}

static void notification(struct stage *stage, struct mcpx_event *event)
{
    if (event->rpc->form != MCPX_RPC_NOTIFICATION && event->rpc->form != MCPX_RPC_BODY)
        return;
    event->type = MCPX_EVENT_NOTIFICATION;
    import_event(stage->import, event, stage->now);
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
        import_event(stage->import, &event, stage->now);
    }
}

static void state(struct stage *stage, enum mcpx_child_state to, int64_t retry_ms)
{
    struct mcpx_child_report report = {to, 1, -1, 9, retry_ms, "killed"};

    if (stage->over)
        return;
    stage->over = to == MCPX_CHILD_FAILED;
    import_state(stage->import, &report, stage->now);
}

static void happen(struct stage *stage, struct mcpx_slice line)
{
    struct mcpx_slice rest = {line.text + 1, line.len ? line.len - 1 : 0};
    struct mcpx_event event = {.presence = MCPX_PRESENCE_LEAVE, .tag = (void *)1};
    int64_t deadline;

    switch (line.len ? line.text[0] : 0) {
    case 's':
        import_line(stage->import, rest, stage->now);
        break;
    case 'u':
        state(stage, MCPX_CHILD_STARTING, 0);
        break;
    case 'd':
        state(stage, MCPX_CHILD_DOWN, 500);
        break;
    case 'f':
        state(stage, MCPX_CHILD_FAILED, -1);
        break;
    case 'l':
        event.type = MCPX_EVENT_PRESENCE;
        event.participant = (struct mcpx_slice){rest.text, rest.len ? 1 : 0};
        import_event(stage->import, &event, stage->now);
        break;
    case 'x':
        event.type = MCPX_EVENT_EXPIRED;
        import_event(stage->import, &event, stage->now);
        break;
    case 't':
        stage->now.mono_ms += (int64_t)(rest.len * 997);
        import_tick(stage->import, stage->now);
        deadline = import_deadline(stage->import);
        must(deadline > stage->now.mono_ms);
        break;
    default:
        participant(stage, line);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct stage stage;
    struct import_port port = {on_write, on_kill, on_respond,     on_drop, on_send, on_forget,
                               on_may,   on_self, on_message_max, on_log,  &stage};
    const char *at = (const char *)data, *end = at + size;

    stage = (struct stage){.now = {1000, 1000}};
    must(import_new(&(struct import_config){0}, &port, &stage.import) == MCPX_OK);
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((newline ? newline : end) - at);

        happen(&stage, (struct mcpx_slice){at, len});
        at += len + 1;
    }
    happen(&stage, MCPX_SLICE("f"));
    for (size_t i = 0; i < stage.count; i++) {
        must(stage.requests[i].answers == 1);
        mcpx_text_fini(&stage.requests[i].rpc_id);
    }
    import_free(stage.import);
    return 0;
}
