/*
 * What breaks for whom: a bridge under memory pressure crashes, or leaves somebody waiting for
 * ever without a word in the log. Whichever allocation fails, each request is answered or the log
 * says that it is not.
 */
#include "tests/support/fault_alloc.h"
#include "tools/mcpx-bridge/import/pool.h"

#include <criterion/criterion.h>

struct counts {
    size_t answers, logs, drops;
};

static enum mcpx_err on_write(void *user, size_t server, struct mcpx_slice line)
{
    (void)user;
    (void)server;
    (void)line;
    return MCPX_OK;
}

static void on_kill(void *user, size_t server)
{
    (void)user;
    (void)server;
}

static enum mcpx_err on_start(void *user, size_t server, struct import_who owner)
{
    (void)user;
    (void)server;
    (void)owner;
    return MCPX_OK;
}

static void on_stop(void *user, size_t server)
{
    (void)user;
    (void)server;
}

static enum mcpx_err on_respond(void *user, size_t topic, struct mcpx_slice request,
                                struct mcpx_slice payload)
{
    (void)topic;
    (void)request;
    (void)payload;
    ((struct counts *)user)->answers++;
    return MCPX_OK;
}

static void on_drop(void *user, size_t topic, struct mcpx_slice request)
{
    (void)topic;
    (void)request;
    ((struct counts *)user)->drops++;
}

static enum mcpx_err on_send(void *user, size_t topic, const struct mcpx_draft *draft,
                             struct mcpx_slice *id)
{
    (void)user;
    (void)topic;
    (void)draft;
    if (id)
        *id = MCPX_SLICE("q");
    return MCPX_OK;
}

static void on_forget(void *user, size_t topic, struct mcpx_slice id)
{
    (void)user;
    (void)topic;
    (void)id;
}

static bool on_may(void *user, size_t topic, struct mcpx_slice kind)
{
    (void)user;
    (void)topic;
    (void)kind;
    return true;
}

static struct mcpx_slice on_self(void *user, size_t topic)
{
    (void)user;
    (void)topic;
    return MCPX_SLICE("self");
}

static size_t on_message_max(void *user, size_t topic)
{
    (void)user;
    (void)topic;
    return 0;
}

static void on_log(void *user, const char *text)
{
    (void)text;
    ((struct counts *)user)->logs++;
}

static void ask(struct import_pool *pool, const char *envelope_id, const char *text)
{
    struct mcpx_envelope envelope;
    struct mcpx_rpc rpc;
    struct mcpx_event event = {.type = MCPX_EVENT_REQUEST, .envelope = &envelope, .rpc = &rpc};

    mcpx_envelope_init(&envelope);
    envelope.id = mcpx_slice_of(envelope_id);
    envelope.from = MCPX_SLICE("ann");
    cr_assert_eq(mcpx_rpc_read(mcpx_slice_of(text), &rpc, NULL), MCPX_OK);
    import_pool_event(pool, 0, &event, (struct mcpx_now){1000, 1000});
}

static void live(struct import_pool *pool)
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

    import_pool_state(pool, 0, &report, now);
    for (size_t i = 0; i < 2; i++)
        import_pool_line(pool, 0, mcpx_slice_of(lines[i]), now);
    ask(pool, "e1",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"x\","
        "\"_meta\":{\"progressToken\":1}}}");
    ask(pool, "e2",
        "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"resources/subscribe\","
        "\"params\":{\"uri\":\"f:///a\"}}");
    for (size_t i = 0; i < 3; i++)
        import_pool_line(pool, 0, mcpx_slice_of(more[i]), now);
    ask(pool, "e3", "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}");
    report.state = MCPX_CHILD_DOWN;
    report.signal = 9;
    report.retry_ms = -1;
    import_pool_state(pool, 0, &report, now);
}

Test(import_memory, is_never_short_in_silence)
{
    size_t nth = 0;
    bool failed;

    do {
        struct counts counts = {0};
        struct import_port port = {on_write,       on_kill, on_start,  on_stop, on_respond,
                                   on_drop,        on_send, on_forget, on_may,  on_self,
                                   on_message_max, on_log,  &counts};
        struct import_pool *pool = NULL;
        size_t usual_logs = 2; /* ready, gone */

        fault_alloc_arm(++nth);
        if (import_pool_new(&(struct import_config){0}, &port, &pool) == MCPX_OK)
            live(pool);
        else
            counts.answers = 3;
        failed = fault_alloc_disarm();
        cr_expect(counts.answers == 3 || counts.logs > usual_logs,
                  "allocation %zu fails: %zu answers, %zu sentences", nth, counts.answers,
                  counts.logs);
        import_pool_free(pool);
    } while (failed);
    cr_expect_gt(nth, 20);
}

/* With a server of its own, a participant is answered by a process that ended at once. */
Test(import_memory, is_never_short_in_silence_where_everybody_has_a_server)
{
    const struct import_config config = {.isolate_max = 2};
    size_t nth = 0;
    bool failed;

    do {
        struct counts counts = {0};
        struct import_port port = {on_write,       on_kill, on_start,  on_stop, on_respond,
                                   on_drop,        on_send, on_forget, on_may,  on_self,
                                   on_message_max, on_log,  &counts};
        struct mcpx_child_report report = {MCPX_CHILD_FAILED, 1, 3, 0, -1, "exited"};
        struct import_pool *pool = NULL;

        fault_alloc_arm(++nth);
        if (import_pool_new(&config, &port, &pool) == MCPX_OK) {
            ask(pool, "e1",
                "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\","
                "\"params\":{\"name\":\"x\"}}");
            if (!counts.answers && !counts.logs)
                import_pool_state(pool, 1, &report, (struct mcpx_now){1000, 1000});
        } else {
            counts.answers = 1;
        }
        failed = fault_alloc_disarm();
        cr_expect(counts.answers == 1 || counts.logs > 0 || counts.drops == 1,
                  "allocation %zu fails: nobody hears of it", nth);
        import_pool_free(pool);
    } while (failed);
    cr_expect_gt(nth, 8);
}
