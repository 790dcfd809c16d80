/*
 * context.c - the item context: a document is judged by the contract here and by the edge there,
 * and both say what the name of its folder says. What is called is the handshake, which changes
 * nothing.
 */
#include "lib/core/format.h"
#include "tools/common/input.h"
#include "tools/mcpxctl/gate/gate.h"
#include "tools/mcpxctl/gate/outcome.h"
#include <mcpx/terms.h>

#include <dirent.h>
#include <stdlib.h>

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
    int count = -1;

    gate_path(&path, gate->folder, sort->folder);
    if (!path.failed)
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
    detail->failed |= fault.failed;
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
    gate->status = path.failed ? complain_of_memory(gate->arguments->command->name)
                               : input_read(gate->arguments->command->name, path.text, &text);
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
        if (!path.failed && gate_read(gate, path.text, &text, &context, &fault) &&
            mcpx_json_type(context) == MCPX_JSON_OBJECT)
            mcpx_text_slice(&gate->context, context);
    }
    free_list(names, count);
    mcpx_text_fini(&path);
    mcpx_text_fini(&text);
    mcpx_text_fini(&fault);
    return gate->status;
}
