/*
 * cmd_gate.c - asks the items of a release gate in turn and reports each as soon as it is known.
 */
#include "tools/mcpxctl/core/verbs.h"

#include "lib/json/json_write.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/gate/gate.h"

#include <stdio.h>

static const char verb[] = "gate";

/* The order matters: an edge's log has the calls of items before, evidence has their report. */
static const struct item {
    const char *name;
    enum gate_verdict (*ask)(struct gate *gate, struct mcpx_text *detail);
} items[] = {
    {"handshake", gate_item_handshake}, {"context", gate_item_context},
    {"aliases", gate_item_aliases},     {"telemetry", gate_item_telemetry},
    {"drift", gate_item_drift},         {"sbom", gate_item_sbom},
    {"evidence", gate_item_evidence},
};

static bool is_asked_for(const struct arguments *arguments, const char *item)
{
    const struct option_word *word;
    bool only = false, named = false;

    for (size_t at = 0; (word = arguments_next(arguments, "--only", &at));) {
        only = true;
        named = named || strcmp(word->value, item) == 0;
    }
    return named || !only;
}

/* Prints what an item came to. */
static void report(struct gate *gate, const char *item, enum gate_verdict verdict,
                   const struct mcpx_text *detail)
{
    static const char *const words[] = {
        [GATE_PASS] = "pass", [GATE_FAIL] = "fail", [GATE_SKIP] = "skip"};
    struct mcpx_text line = {0}, out = {0};

    mx_format(&line, "{\"item\":%q,\"verdict\":%q,\"detail\":%q}\n", item, words[verdict],
              detail);
    mx_format(&gate->report, "%s", &line);
    if (arguments_have(gate->arguments, "--json")) {
        mx_format(&out, "%s", &line);
    } else {
        mx_format(&out, "%s  %s", words[verdict], item);
        for (size_t i = strlen(item); i < strlen("handshake"); i++)
            mcpx_text_puts(&out, " ");
        text_format(&out, "  %s\n", detail);
    }
    mcpx_text_fini(&line);
    output_print(&out, STATUS_OK);
    fflush(stdout);
}

/* Asks every item that is wanted. Returns STATUS_FAILED when one of them says no. */
static int ask_items(struct gate *gate)
{
    bool release = arguments_have(gate->arguments, "--release");
    bool refused = false;

    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        struct mcpx_text detail = {0};
        enum gate_verdict verdict;

        if (!is_asked_for(gate->arguments, items[i].name))
            continue;
        verdict = items[i].ask(gate, &detail);
        if (gate->status == STATUS_OK)
            report(gate, items[i].name, verdict, &detail);
        mcpx_text_fini(&detail);
        if (gate->status != STATUS_OK)
            return gate->status;
        refused = refused || verdict == GATE_FAIL || (release && verdict == GATE_SKIP);
    }
    return refused ? STATUS_FAILED : STATUS_OK;
}

/* Joins, and makes sure that the server is there. */
static int prepare(struct gate *gate)
{
    struct mcpx_slice to = mcpx_slice_of(arguments_value(gate->arguments, "--to"));
    int status;

    gate->shelf = mcpx_shelf_new();
    gate->contracts = mcpx_contracts_new(gate->shelf);
    status = gate_read_context(gate);
    if (status == STATUS_OK)
        status = live_join(gate->arguments, 0, &gate->live);
    if (status == STATUS_OK && !live_has_all(&gate->live, &to, 1, "mcpxctl who tells who is"))
        status = STATUS_ABSENT;
    return status;
}

static void gate_fini(struct gate *gate)
{
    live_leave(&gate->live);
    mcpx_schema_report_fini(&gate->judged);
    mcpx_contracts_free(gate->contracts);
    mcpx_shelf_free(gate->shelf);
    mcpx_text_fini(&gate->handshake);
    mcpx_text_fini(&gate->context);
    mcpx_text_fini(&gate->tools);
    mcpx_text_fini(&gate->called);
    mcpx_text_fini(&gate->report);
}

int cmd_gate(const struct arguments *arguments)
{
    struct gate gate = {.arguments = arguments,
                        .folder = arguments->operands[0],
                        .live = {.verb = verb},
                        .status = STATUS_OK};
    int status = prepare(&gate);

    if (status == STATUS_OK)
        status = ask_items(&gate);
    gate_fini(&gate);
    return status;
}
