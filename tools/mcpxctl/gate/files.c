/*
 * files.c - the items telemetry, sbom and evidence: what an edge and a build have written down.
 */
#include "lib/core/format.h"
#include "tools/mcpxctl/gate/bill.h"
#include "tools/mcpxctl/gate/events.h"
#include "tools/mcpxctl/gate/gate.h"
#include <mcpx/digest.h>

#include <errno.h>
#include <sys/stat.h>

/* Each line keeps its contract and becomes an event. */
static bool read_events(struct gate *gate, struct mcpx_slice log, struct events *events,
                        struct mcpx_text *detail)
{
    struct mcpx_text fault = {0};
    size_t begin = 0;
    bool good = true;

    for (size_t line = 1; good && begin < log.len; line++) {
        const char *at = log.text + begin;
        const char *end = memchr(at, '\n', log.len - begin);
        struct mcpx_slice text = {at, end ? (size_t)(end - at) : log.len - begin};

        good = gate_keeps(gate, MCPX_CONTRACT_EVENT, text, &fault);
        if (!good)
            mx_format(detail, "line %s %s", line, &fault);
        else if (mcpx_json_check(text, 0, &text, NULL) || !events_add(events, text, line))
            good = !(detail->failed = true);
        begin += text.len + 1;
    }
    mcpx_text_fini(&fault);
    return good;
}

/* The calls of this gate are among them. */
static bool has_ours(const struct gate *gate, const struct events *events,
                     struct mcpx_text *detail)
{
    struct mcpx_slice rest = mcpx_text_view(&gate->called);

    while (rest.len > 0) {
        size_t len = (size_t)((const char *)memchr(rest.text, '\n', rest.len) - rest.text);
        struct mcpx_slice id = {rest.text, len};

        if (!events_have(events, id)) {
            mx_format(detail, "the call %s, just made, is not in it", id);
            return false;
        }
        rest.text += len + 1;
        rest.len -= len + 1;
    }
    return true;
}

enum gate_verdict gate_item_telemetry(struct gate *gate, struct mcpx_text *detail)
{
    const char *path = arguments_value(gate->arguments, "--telemetry");
    struct mcpx_text log = {0};
    struct events events = {.count = 0};
    bool good;

    if (!path) {
        mcpx_text_puts(detail, "--telemetry FILE names the log of the edge");
        return GATE_SKIP;
    }
    /* An edge that answers this has written down what came before. */
    good = gate_fetch_tools(gate) && gate_read_file(gate, path, &log, detail) &&
           read_events(gate, mcpx_text_view(&log), &events, detail) &&
           events_pair_up(&events, detail) && has_ours(gate, &events, detail);
    if (good)
        mx_format(detail, "events: %s", events.count);
    events_fini(&events);
    mcpx_text_fini(&log);
    return good ? GATE_PASS : GATE_FAIL;
}

enum gate_verdict gate_item_sbom(struct gate *gate, struct mcpx_text *detail)
{
    const char *path = arguments_value(gate->arguments, "--sbom");
    struct mcpx_text text = {0};
    const char *fault = NULL;
    size_t count = 0;
    bool good;

    if (!path) {
        mcpx_text_puts(detail, "--sbom FILE names the bill of materials");
        return GATE_SKIP;
    }
    good = gate_read_file(gate, path, &text, detail);
    if (good)
        fault = bill_fault(mcpx_text_view(&text), &count);
    if (fault)
        mx_format(detail, "%s: %s", path, fault);
    else if (good)
        mx_format(detail, "packages: %s", count);
    mcpx_text_fini(&text);
    return good && !fault ? GATE_PASS : GATE_FAIL;
}

/* Writes a piece of evidence, and its line of the list. */
static bool keep(const char *folder, const char *name, const struct mcpx_text *text,
                 struct mcpx_text *sums, struct mcpx_text *detail)
{
    struct mcpx_text path = {0};
    char sum[MCPX_SHA256_LEN + 1];
    bool kept;

    gate_path(&path, folder, name);
    kept = !path.failed && !text->failed &&
           mcpx_digest_bytes(mcpx_text_view(text), sum) == MCPX_OK;
    if (!kept)
        detail->failed = true;
    else
        mx_format(sums, "%s  %s\n", sum, name);
    kept = kept && gate_write(path.text, mcpx_text_view(text), detail);
    mcpx_text_fini(&path);
    return kept;
}

/* The same with a copy of the file that an option names, where it was given. */
static bool keep_copy(struct gate *gate, const char *option, const char *name,
                      struct mcpx_text *sums, struct mcpx_text *detail)
{
    const char *from = arguments_value(gate->arguments, option);
    const char *folder = arguments_value(gate->arguments, "--evidence");
    struct mcpx_text text = {0};
    bool kept = !from || (gate_read_file(gate, from, &text, detail) &&
                          keep(folder, name, &text, sums, detail));

    mcpx_text_fini(&text);
    return kept;
}

enum gate_verdict gate_item_evidence(struct gate *gate, struct mcpx_text *detail)
{
    const char *folder = arguments_value(gate->arguments, "--evidence");
    struct mcpx_text sums = {0}, list = {0};
    bool kept;

    if (!folder) {
        mcpx_text_puts(detail, "--evidence DIR names a folder for it");
        return GATE_SKIP;
    }
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        mx_format(detail, "%s: %s", folder, strerror(errno));
        return GATE_FAIL;
    }
    kept = gate_fetch_handshake(gate) &&
           keep(folder, "report.jsonl", &gate->report, &sums, detail) &&
           keep(folder, "capabilities.json", &gate->handshake, &sums, detail) &&
           keep_copy(gate, "--telemetry", "telemetry.jsonl", &sums, detail) &&
           keep_copy(gate, "--sbom", "sbom.json", &sums, detail);
    if (kept)
        gate_path(&list, folder, "SHA256SUMS");
    detail->failed |= sums.failed || list.failed;
    kept = kept && !detail->failed && gate_write(list.text, mcpx_text_view(&sums), detail);
    if (kept)
        mx_format(detail, "%s lists it", &list);
    mcpx_text_fini(&sums);
    mcpx_text_fini(&list);
    return kept ? GATE_PASS : GATE_FAIL;
}
