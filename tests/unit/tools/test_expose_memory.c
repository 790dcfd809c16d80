/*
 * What breaks for whom: a bridge under memory pressure crashes, or leaves its client waiting for
 * ever without a word. Whichever allocation fails, each request is answered, or the log says that
 * something was lost.
 */
#include "tests/support/fault_alloc.h"
#include "tools/mcpx-bridge/expose/expose.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { REQUESTS = 6 };

struct counts {
    size_t answers, notes, sent, broken;
    void *tags[64];
    char methods[64][32];
};

static void keep_draft(struct counts *counts, const struct mcpx_draft *draft)
{
    struct mcpx_slice method = mcpx_json_get(draft->payload, "method");
    size_t at = counts->sent++ % 64;
    struct mcpx_slice value;

    counts->broken += mcpx_json_check(draft->payload, 0, &value, NULL) != MCPX_OK;
    counts->tags[at] = draft->tag;
    snprintf(counts->methods[at], sizeof counts->methods[at], "%.*s", (int)method.len,
             method.text ? method.text : "");
}

static void fetch(struct expose *expose, struct counts *counts)
{
    const struct bridge_action *action;

    while ((action = expose_next(expose)) != NULL) {
        bool is_send = action->type == BRIDGE_SEND;
        struct bridge_outcome outcome = {.id = mcpx_slice_of(is_send ? "e" : "")};

        counts->notes += action->type == BRIDGE_LOG;
        counts->answers +=
            action->type == BRIDGE_WRITE && (mcpx_json_get(action->text, "result").text ||
                                             mcpx_json_get(action->text, "error").text);
        if (is_send)
            keep_draft(counts, &action->draft);
        expose_done(expose, &outcome, (struct mcpx_now){1000, 1000});
    }
}

static size_t message_max(const void *user)
{
    (void)user;
    return 100;
}

static bool may(const void *user, const struct mcpx_question *question)
{
    (void)user;
    return !mcpx_slice_equal(question->kind->text, MCPX_SLICE("mcp/request:tools/call:p"));
}

static bool could(const void *user, struct mcpx_slice participant,
                  const struct mcpx_kind *kind)
{
    (void)user;
    (void)participant;
    (void)kind;
    return true;
}

static bool roster(const void *user, size_t index, struct mcpx_slice *id)
{
    (void)user;
    *id = MCPX_SLICE("s");
    return index == 0;
}

static void tell(struct expose *expose, struct counts *counts, enum mcpx_event_type type,
                 void *tag, const char *payload)
{
    struct mcpx_envelope envelope;
    struct mcpx_rpc rpc;
    struct mcpx_event event = {.type = type, .tag = tag, .envelope = &envelope, .rpc = &rpc};

    mcpx_envelope_init(&envelope);
    envelope.id = MCPX_SLICE("q");
    envelope.from = MCPX_SLICE("s");
    envelope.to_count = 1;
    envelope.payload = mcpx_slice_of(payload);
    mcpx_rpc_read(envelope.payload, &rpc, NULL);
    expose_event(expose, &event, (struct mcpx_now){1000, 1000});
    fetch(expose, counts);
}

/* Everything that was sent and not answered yet is answered as its method deserves. */
static void answer_all(struct expose *expose, struct counts *counts, size_t *seen)
{
    static const char *const answers[][2] = {
        {"\"initialize\"",
         "{\"id\":1,\"result\":{\"capabilities\":{\"tools\":{},\"resources\":{}},"
         "\"instructions\":\"i\"}}"},
        {"\"tools/list\"",
         "{\"id\":1,\"result\":{\"tools\":[{\"name\":\"t\"},{\"name\":\"p\"}]}}"},
        {"\"resources/list\"", "{\"id\":1,\"result\":{\"resources\":[{\"uri\":\"r:1\"}]}}"},
        {"", "{\"id\":1,\"result\":{}}"},
    };

    for (; *seen < counts->sent && *seen < 64; ++*seen) {
        size_t row = 0;

        while (answers[row][0][0] && strcmp(answers[row][0], counts->methods[*seen]) != 0)
            row++;
        if (counts->tags[*seen] && strcmp(counts->methods[*seen], "\"prompts/get\"") != 0)
            tell(expose, counts, MCPX_EVENT_RESPONSE, counts->tags[*seen], answers[row][1]);
    }
}

static void live(struct expose *expose, struct counts *counts)
{
    static const char *const lines[REQUESTS] = {
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"capabilities\":"
        "{"
        "\"elicitation\":{}}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/"
        "call\",\"params\":{\"name\":\"s__t\","
        "\"_meta\":{\"progressToken\":1}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/"
        "call\",\"params\":{\"name\":\"s__p\","
        "\"_meta\":{\"progressToken\":2}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"resources/subscribe\",\"params\":{"
        "\"uri\":\"r:1\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/"
        "call\",\"params\":{\"name\":\"none\"}}"};
    struct mcpx_now now = {1000, 1000};
    size_t seen = 0;

    expose_event(expose, &(struct mcpx_event){.type = MCPX_EVENT_JOINED}, now);
    fetch(expose, counts);
    for (size_t i = 0; i < REQUESTS; i++) {
        expose_line(expose, mcpx_slice_of(lines[i]), now);
        fetch(expose, counts);
        if (i == 2)
            tell(expose, counts, MCPX_EVENT_REQUEST, NULL,
                 "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"elicitation/create\"}");
        answer_all(expose, counts, &seen);
        if (i == 0)
            expose_line(expose,
                        MCPX_SLICE("{\"jsonrpc\":\"2.0\",\"method\":"
                                   "\"notifications/initialized\"}"),
                        now);
        fetch(expose, counts);
    }
    for (int64_t ms = 2000; ms <= 1000000; ms += 998000) {
        expose_tick(expose, (struct mcpx_now){ms, ms});
        fetch(expose, counts);
    }
    expose_leave(expose, now);
    fetch(expose, counts);
}

static struct mcpx_instant instant(const void *user)
{
    (void)user;
    return (struct mcpx_instant){1000, 1000000};
}

static void be_short(const struct bridge_terms *terms)
{
    size_t nth = 0;
    bool failed;

    do {
        struct counts counts = {0};
        struct expose_view view = {&counts, may, could, roster, message_max, instant, NULL};
        struct expose_config config = {.topic = "room",
                                       .nonce = "n",
                                       .terms = terms,
                                       .request_ms = 60000,
                                       .proposal_ms = 60000,
                                       .heartbeat_ms = 15000};
        struct expose *expose = NULL;
        size_t usual_notes = 1; /* proposed */

        fault_alloc_arm(++nth);
        if (expose_new(&config, &view, &expose) == MCPX_OK)
            live(expose, &counts);
        else
            counts.answers = REQUESTS;
        failed = fault_alloc_disarm();
        cr_expect(counts.answers == REQUESTS || counts.notes > usual_notes,
                  "allocation %zu fails: %zu answers, %zu sentences", nth, counts.answers,
                  counts.notes);
        cr_expect_eq(counts.broken, 0, "allocation %zu fails: half a message is sent", nth);
        expose_free(expose);
    } while (failed);
    cr_expect_gt(nth, 50);
}

Test(expose_memory, is_never_short_in_silence)
{
    be_short(NULL);
}

Test(expose_memory, is_never_short_in_silence_under_terms)
{
    static const char *const texts[] = {
        "{}", "{\"result\":\"response.v1\",\"context\":{\"policy\":\"default\"}}"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct bridge_terms terms = {.deterministic = true};
        struct mcpx_schema_report report = {0};

        terms.shelf = mcpx_shelf_new();
        terms.contracts = mcpx_contracts_new(terms.shelf);
        cr_assert_eq(
            mcpx_terms_read(terms.contracts, mcpx_slice_of(texts[i]), &report, &terms.terms),
            MCPX_OK);
        mcpx_schema_report_fini(&report);
        be_short(&terms);
        bridge_terms_fini(&terms);
    }
}
