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

static void act_on_all(struct import_pool *pool, struct counts *counts)
{
    const struct mcpx_now now = {1000, 1000};
    const struct bridge_action *action;

    while ((action = import_pool_next(pool, now)) != NULL) {
        struct bridge_outcome outcome = {0};

        counts->answers += action->type == BRIDGE_RESPOND;
        counts->drops += action->type == BRIDGE_DROP;
        counts->logs += action->type == BRIDGE_LOG;
        if (action->type == BRIDGE_SEND)
            outcome.id = MCPX_SLICE("q");
        import_pool_done(pool, &outcome, now);
    }
}

static void ask(struct import_pool *pool, struct counts *counts, const char *envelope_id,
                const char *text)
{
    struct mcpx_envelope envelope;
    struct mcpx_rpc rpc;
    struct mcpx_event event = {.type = MCPX_EVENT_REQUEST, .envelope = &envelope, .rpc = &rpc};

    mcpx_envelope_init(&envelope);
    envelope.id = mcpx_slice_of(envelope_id);
    envelope.from = MCPX_SLICE("ann");
    cr_assert_eq(mcpx_rpc_read(mcpx_slice_of(text), &rpc, NULL), MCPX_OK);
    import_pool_event(pool, 0, &event, (struct mcpx_now){1000, 1000});
    act_on_all(pool, counts);
}

static void tell(struct import_pool *pool, struct counts *counts, const char *text)
{
    import_pool_line(pool, 0, mcpx_slice_of(text), (struct mcpx_now){1000, 1000});
    act_on_all(pool, counts);
}

static void live(struct import_pool *pool, struct counts *counts)
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
    act_on_all(pool, counts);
    for (size_t i = 0; i < 2; i++)
        tell(pool, counts, lines[i]);
    ask(pool, counts, "e1",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"x\","
        "\"_meta\":{\"progressToken\":1}}}");
    ask(pool, counts, "e2",
        "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"resources/subscribe\","
        "\"params\":{\"uri\":\"f:///a\"}}");
    for (size_t i = 0; i < 3; i++)
        tell(pool, counts, more[i]);
    ask(pool, counts, "e3", "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}");
    report.state = MCPX_CHILD_DOWN;
    report.signal = 9;
    report.retry_ms = -1;
    import_pool_state(pool, 0, &report, now);
    act_on_all(pool, counts);
}

/*
 * A life of a pool, with each allocation failing once: all three are answered, or it is said why
 * not. Returns how many allocations a life has.
 */
static size_t shorten(const struct import_config *config,
                      void (*life)(struct import_pool *, struct counts *))
{
    size_t nth = 0;
    bool failed;

    do {
        struct counts counts = {0};
        struct import_pool *pool = NULL;
        size_t usual_logs = 2; /* ready, gone */

        fault_alloc_arm(++nth);
        if (import_pool_new(config, &pool) == MCPX_OK)
            life(pool, &counts);
        else
            counts.answers = 3;
        failed = fault_alloc_disarm();
        cr_expect(counts.answers == 3 || counts.logs > usual_logs,
                  "allocation %zu fails: %zu answers, %zu sentences", nth, counts.answers,
                  counts.logs);
        import_pool_free(pool);
    } while (failed);
    return nth;
}

Test(import_memory, is_never_short_in_silence)
{
    cr_expect_gt(shorten(&(struct import_config){0}, live), 20);
}

/* The same for calls under terms: the tools are read, one call breaks their schema, one is cut
   off. */
static void live_under_terms(struct import_pool *pool, struct counts *counts)
{
    struct mcpx_now now = {1000, 1000};
    struct mcpx_child_report report = {MCPX_CHILD_STARTING, 1, -1, 0, 0, "is starting"};

    import_pool_state(pool, 0, &report, now);
    act_on_all(pool, counts);
    tell(pool, counts,
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\","
         "\"capabilities\":{\"tools\":{}}}}");
    ask(pool, counts, "e1",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"x\","
        "\"arguments\":{\"a\":1}}}");
    tell(
        pool, counts,
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[{\"name\":\"x\",\"inputSchema\":"
        "{\"type\":\"object\",\"required\":[\"a\"]}}]}}");
    import_pool_tick(pool, (struct mcpx_now){12000, 12000});
    act_on_all(pool, counts);
    ask(pool, counts, "e2",
        "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"tools/"
        "call\",\"params\":{\"name\":\"x\"}}");
    tell(pool, counts, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[]}}");
    ask(pool, counts, "e3",
        "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":\"x\","
        "\"arguments\":{\"a\":1}}}");
    report.state = MCPX_CHILD_DOWN;
    report.signal = 9;
    report.retry_ms = -1;
    import_pool_state(pool, 0, &report, now);
    act_on_all(pool, counts);
}

static struct mcpx_instant instant(void *user)
{
    (void)user;
    return (struct mcpx_instant){1000, 1000000};
}

Test(import_memory, is_never_short_in_silence_under_terms)
{
    struct bridge_terms terms = {.deterministic = true};
    struct mcpx_schema_report report = {0};
    const struct import_config config = {
        .protocol = IMPORT_PROTOCOL_LEGACY, .terms = &terms, .view = {.now = instant}};

    terms.shelf = mcpx_shelf_new();
    terms.contracts = mcpx_contracts_new(terms.shelf);
    cr_assert_eq(mcpx_terms_read(terms.contracts, MCPX_SLICE("{\"result\":\"response.v1\"}"),
                                 &report, &terms.terms),
                 MCPX_OK);
    mcpx_schema_report_fini(&report);
    cr_expect_gt(shorten(&config, live_under_terms), 40);
    bridge_terms_fini(&terms);
}

/* With a server of its own, a participant is answered by a process that ended at once. */
Test(import_memory, is_never_short_in_silence_where_everybody_has_a_server)
{
    const struct import_config config = {.isolate_max = 2};
    size_t nth = 0;
    bool failed;

    do {
        struct counts counts = {0};
        struct mcpx_child_report report = {MCPX_CHILD_FAILED, 1, 3, 0, -1, "exited"};
        struct import_pool *pool = NULL;

        fault_alloc_arm(++nth);
        if (import_pool_new(&config, &pool) == MCPX_OK) {
            ask(pool, &counts, "e1",
                "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\","
                "\"params\":{\"name\":\"x\"}}");
            if (!counts.answers && !counts.logs)
                import_pool_state(pool, 1, &report, (struct mcpx_now){1000, 1000});
            act_on_all(pool, &counts);
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
