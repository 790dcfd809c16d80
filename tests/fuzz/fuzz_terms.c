/*
 * fuzz_terms.c - three lines: terms, a call, and how it ends. Whatever they are: a call that was
 * told has exactly one result, each call leaves one line of validation unless nobody validates,
 * answers are JSON, and where the terms have no say a call and its result keep their bytes.
 */
#include "tests/fuzz/fuzz.h"

#include <mcpx/json.h>
#include <mcpx/terms.h>

static const char tool_list[] =
    "{\"tools\":[{\"name\":\"sum\",\"inputSchema\":{\"type\":\"object\",\"required\":[\"a\"],"
    "\"properties\":{\"a\":{\"type\":\"integer\"}}},\"outputSchema\":{\"type\":\"object\","
    "\"required\":[\"sum\"]}},{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\"}},"
    "{\"name\":\"n.echo\"},{\"name\":\"bad\",\"inputSchema\":{\"type\":5}}]}";

/* What is under test, and what it has written down. */
struct edge {
    struct mcpx_contracts *contracts;
    struct mcpx_schema_report report;
    struct mcpx_terms *terms;
    struct mcpx_tools *tools;
    struct mcpx_calls *calls;
    bool is_silent; /* nobody looks, and nobody changes anything */
    bool is_off;
    size_t told;
    size_t results;
    size_t lines;
};

/* Compiled once: that takes longer than all the rest. */
static struct mcpx_shelf *shelf;

static struct mcpx_contracts *contracts_once(void)
{
    static struct mcpx_contracts *contracts;

    if (!shelf)
        shelf = mcpx_shelf_new();
    if (!contracts)
        contracts = mcpx_contracts_new(shelf);
    return contracts;
}

/* The next line, which is taken off. */
static struct mcpx_slice next_line(struct mcpx_slice *rest)
{
    const char *end = rest->len ? memchr(rest->text, '\n', rest->len) : NULL;
    struct mcpx_slice line = {rest->text, end ? (size_t)(end - rest->text) : rest->len};
    size_t used = end ? line.len + 1 : line.len;

    rest->text += used;
    rest->len -= used;
    return line;
}

/* The value in a line; absent when it is no JSON. */
static struct mcpx_slice value_of(struct mcpx_slice line)
{
    struct mcpx_slice value = {0};

    mcpx_json_check(line, 400, &value, NULL);
    return value;
}

static void read_records(struct edge *edge)
{
    enum mcpx_record which;
    struct mcpx_slice line;

    while (mcpx_calls_next_record(edge->calls, &which, &line)) {
        struct mcpx_slice name = mcpx_json_get(value_of(line), "eventName");

        if (which == MCPX_RECORD_TELEMETRY)
            must(mcpx_contracts_validate(edge->contracts, MCPX_CONTRACT_EVENT, line,
                                         &edge->report) == MCPX_OK);
        edge->told += mcpx_json_equals(name, MCPX_SLICE("mcp.tool.call"));
        edge->results += mcpx_json_equals(name, MCPX_SLICE("mcp.tool.result"));
        edge->lines += which == MCPX_RECORD_VALIDATION;
    }
}

static void check_answer(const struct mcpx_call_answer *answer)
{
    must(mcpx_json_type(value_of(answer->text)) == MCPX_JSON_OBJECT);
    if (answer->is_error)
        must(mcpx_json_get(mcpx_json_get(answer->text, "data"), "canonical_code").text);
}

static void end_call(struct edge *edge, struct mcpx_call *call, struct mcpx_slice text)
{
    struct mcpx_call_end end = {
        .type = text.text ? (enum mcpx_call_end_type)(text.len % 4) : MCPX_CALL_FAILED,
        .cause = MCPX_CAUSE_TIMEOUT,
        .now = {1, 2000},
    };
    struct mcpx_call_answer answer;

    if (end.type != MCPX_CALL_FAILED)
        end.text = text;
    must(mcpx_calls_answer(edge->calls, call, &end, &answer) == MCPX_OK);
    if (edge->is_silent && edge->is_off && end.text.text)
        must(answer.text.text == text.text && answer.text.len == text.len);
    if (answer.text.text != text.text)
        check_answer(&answer);
}

static void play(struct edge *edge, struct mcpx_slice payload, struct mcpx_slice end)
{
    static const unsigned char random[MCPX_CALL_RANDOM_LEN] = {1};
    struct mcpx_call_request request = {
        .payload = payload, .tools = edge->tools, .now = {0, 1000}, .random = random};
    struct mcpx_admission admission;

    must(mcpx_calls_admit(edge->calls, &request, &admission) == MCPX_OK);
    read_records(edge);
    if (admission.call) {
        must(edge->told == 1 && edge->results == 0 && edge->lines == 0);
        must(!edge->is_silent || !admission.params.text);
        end_call(edge, admission.call, end);
        read_records(edge);
    } else {
        check_answer(&admission.answer);
    }
    must(edge->told == edge->results && edge->told <= 1);
    must(edge->lines == !edge->is_off);
    must(mcpx_calls_count(edge->calls) == 0);
}

static bool has(struct mcpx_slice terms, const char *name, const char *word)
{
    return mcpx_json_equals(mcpx_json_get(terms, name), mcpx_slice_of(word));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcpx_slice rest = {(const char *)data, size};
    struct mcpx_slice terms = next_line(&rest), payload = value_of(next_line(&rest));
    struct edge edge = {.contracts = contracts_once(),
                        .tools = mcpx_tools_new(shelf, (struct mcpx_slice){0})};
    struct mcpx_calls_options options = {
        .contracts = edge.contracts,
        .side = size % 2 ? MCPX_SIDE_CLIENT : MCPX_SIDE_SERVER,
        .transport = "ws",
        .participant = MCPX_SLICE("p"),
        .deterministic = size % 3 == 0,
    };
    enum mcpx_err err;

    must(edge.contracts && edge.tools);
    must(mcpx_tools_add(edge.tools, mcpx_slice_of(tool_list), NULL) == MCPX_OK);
    err = mcpx_terms_read(edge.contracts, terms, &edge.report, &edge.terms);
    must((err == MCPX_OK) == (edge.report.count == 0));
    if (!err && mcpx_json_type(payload) == MCPX_JSON_OBJECT) {
        terms = value_of(terms);
        edge.is_off = has(terms, "validate", "off");
        edge.is_silent =
            options.side == MCPX_SIDE_SERVER && !mcpx_json_get(terms, "context").text &&
            !mcpx_json_get(terms, "aliases").text && !mcpx_terms_change_lists(edge.terms);
        options.terms = edge.terms;
        edge.calls = mcpx_calls_new(&options);
        must(edge.calls);
        play(&edge, payload, value_of(rest));
    }
    mcpx_calls_free(edge.calls);
    mcpx_terms_free(edge.terms);
    mcpx_tools_free(edge.tools);
    mcpx_schema_report_fini(&edge.report);
    return 0;
}
