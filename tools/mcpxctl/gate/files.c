/*
 * files.c - the items that judge files. context: a document is judged by the contract here and by
 * the edge there, and both say what the name of its folder says; what is called is the handshake,
 * which changes nothing. telemetry, sbom and evidence: what an edge and a build have written down.
 */
#include "lib/json/json_write.h"
#include "tools/common/input.h"
#include "tools/mcpxctl/gate/compare.h"
#include "tools/mcpxctl/gate/gate.h"
#include <mcpx/digest.h>
#include <mcpx/terms.h>

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

/* ---- the item context ---- */

/* One of the two folders. */
struct sort {
    const char *folder;
    bool is_valid;
};

static int is_fixture(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);

    return len > 5 && strcmp(entry->d_name + len - 5, ".json") == 0;
}

/* The names of the fixtures, sorted; -1 when there is no folder. */
static int list(const struct gate *gate, const struct sort *sort, struct dirent ***out)
{
    struct mcpx_text path = {0};
    int count;

    mx_format(&path, "%s/%s", gate->folder, sort->folder);
    count = scandir(path.text, out, is_fixture, alphasort);
    mcpx_text_fini(&path);
    return count;
}

static void free_list(struct dirent **names, int count)
{
    for (int i = 0; i < count; i++)
        free(names[i]);
    if (count >= 0)
        free(names);
}

/* A way for a context into a call: the object that it is a member of. */
struct way {
    const char *begin;
    bool is_argument;
};

/* Asks the live edge with this context. Returns false with a `status`. */
static bool ask_edge(struct gate *gate, const struct way *way, struct mcpx_slice context,
                     const char **outcome)
{
    struct mcpx_text with = {0}, response = {0};
    struct mcpx_slice none = MCPX_SLICE("{}"), object;
    bool answered;

    mx_format(&with, "%s%s}", way->begin, context);
    object = mcpx_text_view(&with);
    answered =
        gate_call(gate, MCPX_SLICE(MCPX_HANDSHAKE_TOOL), way->is_argument ? object : none,
                  way->is_argument ? none : object, &response);
    *outcome = outcome_of(mcpx_text_view(&response));
    mcpx_text_fini(&with);
    mcpx_text_fini(&response);
    return answered;
}

/* Where terms say that a context is an argument, the handshake has it among its own. */
static bool has_context_argument(struct mcpx_slice tools)
{
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, tools);
    while (mcpx_json_walk_next(&walk)) {
        struct mcpx_slice schema = mcpx_json_get(walk.value, "inputSchema");

        if (mcpx_json_equals(mcpx_json_get(walk.value, "name"),
                             MCPX_SLICE(MCPX_HANDSHAKE_TOOL)) &&
            mcpx_json_get(mcpx_json_get(schema, "properties"), "context").text)
            return true;
    }
    return false;
}

/* Asks by each way that the edge knows; appends a detail when it answers something else. */
static bool ask_each_way(struct gate *gate, struct mcpx_slice context, const char *expected,
                         struct mcpx_text *detail)
{
    static const struct way ways[] = {{"{\"" MCPX_CONTEXT_MEMBER "\":", false},
                                      {"{\"context\":", true}};
    size_t count = has_context_argument(mcpx_text_view(&gate->tools)) ? 2 : 1;
    const char *outcome;

    for (size_t i = 0; i < count; i++) {
        if (!ask_edge(gate, &ways[i], context, &outcome))
            return false;
        if (strcmp(outcome, expected) == 0)
            continue;
        mx_format(detail, "in %s the edge answers %s, expected is %s",
                  ways[i].is_argument ? "arguments" : "_meta", outcome, expected);
        return false;
    }
    return true;
}

/* Appends a detail when the document is not what its folder says. */
static bool judge(struct gate *gate, const struct sort *sort, struct mcpx_slice text,
                  struct mcpx_text *detail)
{
    const char *expected = sort->is_valid ? "ok" : mcpx_code_name(MCPX_CODE_INVALID_INPUT);
    struct mcpx_text fault = {0};
    struct mcpx_slice context;
    bool keeps = gate_keeps(gate, MCPX_CONTRACT_CONTEXT, text, &fault);
    bool good = keeps == sort->is_valid;

    if (!good)
        mx_format(detail, "%s",
                  keeps ? mcpx_slice_of("keeps the contract") : mcpx_text_view(&fault));
    mcpx_text_fini(&fault);
    if (!good || mcpx_json_check(text, 0, &context, NULL) != MCPX_OK)
        return good; /* what is no JSON cannot be sent */
    return ask_each_way(gate, context, expected, detail);
}

static bool judge_file(struct gate *gate, const struct sort *sort, const char *name,
                       struct mcpx_text *detail)
{
    struct mcpx_text path = {0}, text = {0}, fault = {0};
    bool good = false;

    mx_format(&path, "%s/%s/%s", gate->folder, sort->folder, name);
    gate->status = input_read(gate->arguments->command->name, path.text, &text);
    if (gate->status == STATUS_OK)
        good = judge(gate, sort, mcpx_text_view(&text), &fault);
    if (!good)
        mx_format(detail, "%s/%s: %s", sort->folder, name, &fault);
    mcpx_text_fini(&path);
    mcpx_text_fini(&text);
    mcpx_text_fini(&fault);
    return good;
}

static bool judge_folder(struct gate *gate, const struct sort *sort, size_t *judged,
                         struct mcpx_text *detail)
{
    struct dirent **names = NULL;
    int count = list(gate, sort, &names);
    bool good = true;

    for (int i = 0; good && i < count; i++)
        good = judge_file(gate, sort, names[i]->d_name, detail);
    *judged = count > 0 ? (size_t)count : 0;
    free_list(names, count);
    return good;
}

enum gate_verdict gate_item_context(struct gate *gate, struct mcpx_text *detail)
{
    static const struct sort sorts[] = {{"context/valid", true}, {"context/invalid", false}};
    size_t judged[sizeof sorts / sizeof *sorts];

    if (!gate_fetch_tools(gate))
        return GATE_FAIL;
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++)
        if (!judge_folder(gate, &sorts[i], &judged[i], detail))
            return GATE_FAIL;
    if (judged[0] == 0 || judged[1] == 0) {
        mcpx_text_puts(detail, "context/valid and context/invalid each need a file");
        return GATE_SKIP;
    }
    mx_format(detail, "valid: %s, invalid: %s", judged[0], judged[1]);
    return GATE_PASS;
}

int gate_read_context(struct gate *gate)
{
    static const struct sort valid = {"context/valid", true};
    struct mcpx_text path = {0}, text = {0}, fault = {0};
    struct dirent **names = NULL;
    struct mcpx_slice context;
    int count = list(gate, &valid, &names);

    if (count > 0) {
        mx_format(&path, "%s/%s/%s", gate->folder, valid.folder, names[0]->d_name);
        if (gate_read(gate, path.text, &text, &context, &fault) &&
            mcpx_json_type(context) == MCPX_JSON_OBJECT)
            mcpx_text_slice(&gate->context, context);
    }
    free_list(names, count);
    mcpx_text_fini(&path);
    mcpx_text_fini(&text);
    mcpx_text_fini(&fault);
    return gate->status;
}

/* ---- the items telemetry, sbom and evidence ---- */

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
        begin += text.len + 1;
        if (!good)
            mx_format(detail, "line %s %s", line, &fault);
        else if (mcpx_json_check(text, 0, &text, NULL) == MCPX_OK)
            events_add(events, text, line);
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

    mx_format(&path, "%s/%s", folder, name);
    memory_checked(mcpx_digest_bytes(mcpx_text_view(text), sum));
    mx_format(sums, "%s  %s\n", sum, name);
    kept = gate_write(path.text, mcpx_text_view(text), detail);
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
        mx_format(&list, "%s/%s", folder, "SHA256SUMS");
    kept = kept && gate_write(list.text, mcpx_text_view(&sums), detail);
    if (kept)
        mx_format(detail, "%s lists it", &list);
    mcpx_text_fini(&sums);
    mcpx_text_fini(&list);
    return kept ? GATE_PASS : GATE_FAIL;
}
