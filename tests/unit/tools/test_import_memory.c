/*
 * What breaks for whom: a bridge under memory pressure crashes, or leaves somebody waiting for
 * ever without a word in the log. Whichever allocation fails, each request is answered or the log
 * says that it is not.
 */
#include "tests/support/fault_alloc.h"
#include "tools/mcpx-bridge/import.h"

#include <criterion/criterion.h>

struct counts {
    size_t answers, logs;
};

static enum mcpx_err on_write(void *user, struct mcpx_slice line)
{
    (void)user;
    (void)line;
    return MCPX_OK;
}

static void on_kill(void *user)
{
    (void)user;
}

static enum mcpx_err on_respond(void *user, struct mcpx_slice request,
                                struct mcpx_slice payload)
{
    (void)request;
    (void)payload;
    ((struct counts *)user)->answers++;
    return MCPX_OK;
}

static void on_drop(void *user, struct mcpx_slice request)
{
    (void)user;
    (void)request;
}

static enum mcpx_err on_send(void *user, const struct mcpx_draft *draft, struct mcpx_slice *id)
{
    (void)user;
    (void)draft;
    if (id)
        *id = MCPX_SLICE("q");
    return MCPX_OK;
}

static void on_forget(void *user, struct mcpx_slice id)
{
    (void)user;
    (void)id;
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
    return MCPX_SLICE("self");
}

static size_t on_message_max(void *user)
{
    (void)user;
    return 0;
}

static void on_log(void *user, const char *text)
{
    (void)text;
    ((struct counts *)user)->logs++;
}

static void ask(struct import *import, const char *envelope_id, const char *text)
{
    struct mcpx_envelope envelope;
    struct mcpx_rpc rpc;
    struct mcpx_event event = {.type = MCPX_EVENT_REQUEST, .envelope = &envelope, .rpc = &rpc};

    mcpx_envelope_init(&envelope);
    envelope.id = mcpx_slice_of(envelope_id);
    envelope.from = MCPX_SLICE("ann");
    cr_assert_eq(mcpx_rpc_read(mcpx_slice_of(text), &rpc, NULL), MCPX_OK);
    import_event(import, &event, (struct mcpx_now){1000, 1000});
}

static void live(struct import *import)
{
    static const char *const lines[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"no\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"protocolVersion\":\"2025-11-25\"}}",
    };
    static const char *const more[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"sampling/createMessage\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"a\":1}}",
    };
    struct mcpx_now now = {1000, 1000};
    struct mcpx_child_report report = {MCPX_CHILD_STARTING, 1, -1, 0, 0, "is starting"};

    import_state(import, &report, now);
    for (size_t i = 0; i < 2; i++)
        import_line(import, mcpx_slice_of(lines[i]), now);
    ask(import, "e1",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"x\","
        "\"_meta\":{\"progressToken\":1}}}");
    ask(import, "e2",
        "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"resources/subscribe\","
        "\"params\":{\"uri\":\"f:///a\"}}");
    for (size_t i = 0; i < 3; i++)
        import_line(import, mcpx_slice_of(more[i]), now);
    ask(import, "e3", "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}");
    report.state = MCPX_CHILD_DOWN;
    report.signal = 9;
    report.retry_ms = -1;
    import_state(import, &report, now);
}

Test(import_memory, is_never_short_in_silence)
{
    size_t nth = 0;
    bool failed;

    do {
        struct counts counts = {0};
        struct import_port port = {on_write,       on_kill,   on_respond, on_drop,
                                   on_send,        on_forget, on_may,     on_self,
                                   on_message_max, on_log,    &counts};
        struct import *import = NULL;
        size_t usual_logs = 2; /* ready, gone */

        fault_alloc_arm(++nth);
        if (import_new(&(struct import_config){0}, &port, &import) == MCPX_OK)
            live(import);
        else
            counts.answers = 3;
        failed = fault_alloc_disarm();
        cr_expect(counts.answers == 3 || counts.logs > usual_logs,
                  "allocation %zu fails: %zu answers, %zu sentences", nth, counts.answers,
                  counts.logs);
        import_free(import);
    } while (failed);
    cr_expect_gt(nth, 20);
}
