/*
 * call_judge.c - reads a request, and checks it. `mcp.tool.invoke` first becomes the params of a
 * tools/call. Then the tier, the size, the tool's schemas and the arguments are checked.
 */
#include "lib/contract/call.h"

#include "lib/base/digits.h"
#include "lib/json/decisive.h"
#include "lib/json/json_write.h"
#include "lib/schema/program.h"

#include <mcpx/json.h>

static const struct mcpx_slice prefix = {"mcp.tool:", 9};

/* A member of a request, in the order of checking. */
struct part {
    const char *name;
    const char *path;
    enum mcpx_json_type type;
    const char *expected;
    bool is_required;
};

enum { PART_METHOD, PART_PARAMS, PART_NAME, PART_ARGUMENTS, PART_META };

static const struct part parts[] = {
    {"method", "/method", MCPX_JSON_STRING, "must be a string", true},
    {"params", "/params", MCPX_JSON_OBJECT, "must be an object", true},
    {"name", "/params/name", MCPX_JSON_STRING, "must be a string", true},
    {"arguments", "/params/arguments", MCPX_JSON_OBJECT, "must be an object", false},
    {"_meta", "/params/_meta", MCPX_JSON_OBJECT, "must be an object", false},
};

/* A part in an object: its first exact match, and the number of members that may be read as it. */
struct found {
    struct mcpx_slice value;
    size_t alike;
};

/* Finds `count` parts from `first` on, in one pass, because arguments may be long. A name in other
 * letter case counts as alike, because some parsers accept it. */
static void find(struct mcpx_slice object, size_t first, size_t count, struct found *out)
{
    memset(out, 0, count * sizeof *out);
    MCPX_JSON_EACH(walk, object) {
        for (size_t i = 0; walk.name.text && i < count; i++) {
            const char *name = parts[first + i].name;

            out[i].alike += mx_fold_compare(walk.name, name) != MX_UNLIKE;
            if (!out[i].value.text && mcpx_json_walk_at(&walk, name))
                out[i].value = walk.value;
        }
    }
}

/* Only the first error counts. */
static void refuse(struct mx_admission *a, const char *path, const char *keyword,
                   const char *expected)
{
    if (!a->calls->call_error.is_found)
        mx_call_error_at(a->calls, MCPX_CAUSE_INVOCATION, mx_error(path, keyword, expected));
}

/* Returns the value of a part; absent when a required one is missing or of another type. */
static struct mcpx_slice take(struct mx_admission *a, const struct found *found, size_t index)
{
    const struct part *part = &parts[index];
    struct mcpx_slice value = found->value, none = {0};
    bool is_right = mcpx_json_type(value) == part->type;
    bool was_wrong = a->calls->call_error.is_found;

    if (found->alike != (value.text ? 1 : 0))
        refuse(a, part->path, "ambiguous", "must not be readable in two ways");
    else if (!value.text && part->is_required)
        refuse(a, part->path, "required", "is missing");
    else if (value.text && !is_right)
        refuse(a, part->path, "type", part->expected);
    if (!was_wrong && a->calls->call_error.is_found && part->is_required)
        a->asked.is_not_a_call = true;
    return is_right || !part->is_required ? value : none;
}

static void read_params(struct mx_admission *a, struct mcpx_slice params)
{
    struct found found[PART_META - PART_NAME + 1];

    /* The params to be forwarded, if the caller has set them. */
    a->asked.params = a->request->params.text ? a->request->params : params;
    find(a->asked.params, PART_NAME, sizeof found / sizeof *found, found);
    a->asked.name = take(a, &found[0], PART_NAME);
    a->asked.arguments = take(a, &found[PART_ARGUMENTS - PART_NAME], PART_ARGUMENTS);
    a->asked.meta = take(a, &found[PART_META - PART_NAME], PART_META);
}

bool mcpx_invocation_params_add(struct mcpx_text *out, struct mcpx_slice params)
{
    struct mcpx_slice input = mcpx_json_get(params, "input");
    struct mcpx_slice context = mcpx_json_get(params, "context");
    mx_scoped_text tool = {0};
    bool is_call = mcpx_json_type(input) == MCPX_JSON_OBJECT &&
                   mcpx_json_add_unescaped(&tool, mcpx_json_get(params, "tool")) &&
                   tool.len > prefix.len && memcmp(tool.text, prefix.text, prefix.len) == 0;

    out->failed |= tool.failed;
    if (!is_call)
        return false;
    mx_format(out, "{\"name\":%q,\"arguments\":%s",
              mx_behind(mcpx_text_view(&tool), prefix.len), input);
    if (context.text)
        mx_format(out, ",\"_meta\":{\"" MCPX_CONTEXT_MEMBER "\":%s}", context);
    mcpx_text_puts(out, "}");
    return true;
}

/* Checks an invocation by its contract, and turns it into a call. */
static void read_invocation(struct mx_admission *a)
{
    struct mcpx_calls *calls = a->calls;
    enum mcpx_err err =
        mcpx_contracts_validate(calls->options.contracts, MCPX_CONTRACT_INVOCATION,
                                a->request->payload, &calls->report);

    mx_call_judged(calls, err, MCPX_CAUSE_INVOCATION, "");
    a->asked.is_invocation = true;
    mcpx_text_reset(&calls->invoked);
    if (mcpx_invocation_params_add(&calls->invoked,
                                   mcpx_json_get(a->request->payload, "params")))
        read_params(a, mcpx_text_view(&calls->invoked));
    calls->failed |= calls->invoked.failed;
}

static void read_method(struct mx_admission *a, const struct found *found)
{
    struct mcpx_slice method = a->call->route, params;

    if (a->calls->options.side == MCPX_SIDE_CLIENT &&
        mcpx_slice_equal(method, MCPX_SLICE("mcp.tool.invoke"))) {
        read_invocation(a);
    } else if (!mcpx_slice_equal(method, MCPX_SLICE("tools/call"))) {
        refuse(a, "/method", "const", "must be \"tools/call\"");
        a->asked.is_not_a_call = true;
    } else {
        params = take(a, found, PART_PARAMS);
        if (params.text)
            read_params(a, params);
    }
}

void mx_call_read(struct mx_admission *a)
{
    struct found found[PART_PARAMS + 1];
    struct mcpx_text plain = {0};
    struct mcpx_slice method, route;
    bool is_text;

    find(a->request->payload, PART_METHOD, sizeof found / sizeof *found, found);
    method = take(a, &found[PART_METHOD], PART_METHOD);
    is_text = mcpx_json_add_unescaped(&plain, method);
    route = mx_calls_take(a->calls, &a->call->arena, plain);
    if (is_text) {
        a->call->route = route;
        read_method(a, &found[PART_PARAMS]);
    } else {
        refuse(a, "/method", "ambiguous", "must not be readable in two ways");
    }
    if (a->request->fault && !a->calls->call_error.is_found)
        mx_call_error_set(a->calls, MCPX_CAUSE_INVOCATION);
    if (a->request->fault || !a->asked.name.text)
        a->asked.is_not_a_call = true;
}

static void get_schema(struct mx_admission *a, enum mcpx_tool_side side,
                       struct mcpx_tool_schema *out, struct mcpx_schema **kept)
{
    enum mcpx_err err = mcpx_tools_schema(a->tools, a->call->wrap.tool, side, NULL, out);

    a->calls->failed |= err == MCPX_ENOMEM;
    if (!err && out->declared)
        *kept = mcpx_schema_ref((struct mcpx_schema *)out->schema);
}

/* Admission, step 5 (docs/contracts.md). */
bool mx_admit_log_start(struct mx_admission *a)
{
    if (a->tools) {
        get_schema(a, MCPX_TOOL_INPUT, &a->input, &a->call->input);
        get_schema(a, MCPX_TOOL_OUTPUT, &a->output, &a->call->output);
    }
    mx_call_tell_start(a->calls, a->call);
    return a->tools || mx_call_error_set(a->calls, MCPX_CAUSE_UNAVAILABLE);
}

/* Admission, step 6. */
bool mx_admit_check_tier(struct mx_admission *a)
{
    struct mcpx_calls *calls = a->calls;

    if (a->call->wrap.needed <= calls->terms->tier)
        return true;
    mx_call_error_set(calls, MCPX_CAUSE_TIER);
    calls->call_error.failure.text = mx_calls_take(
        calls, &calls->arena,
        mx_formatted("tool requires tier %s", mcpx_tier_name(a->call->wrap.needed)));
    return false;
}

/* Reports an unusable schema. */
static bool check_usable(struct mx_admission *a, enum mcpx_tool_side side,
                         const struct mcpx_tool_schema *schema)
{
    struct mcpx_tool_schema again;

    return schema->schema || mx_call_judged(a->calls,
                                            mcpx_tools_schema(a->tools, a->call->wrap.tool,
                                                              side, &a->calls->report, &again),
                                            MCPX_CAUSE_SCHEMA, "");
}

static bool check_arguments(struct mx_admission *a)
{
    struct mcpx_slice arguments = a->arguments.text ? a->arguments : MCPX_SLICE("{}");
    enum mcpx_err err = mcpx_schema_validate(a->input.schema, arguments, &a->calls->report);

    return mx_call_judged(a->calls, err,
                          err == MCPX_ELIMIT ? MCPX_CAUSE_SCHEMA : MCPX_CAUSE_INPUT, "");
}

/* Admission, step 7. */
bool mx_admit_check_input(struct mx_admission *a)
{
    const struct mcpx_terms *terms = a->calls->terms;

    return terms->validate == MX_VALIDATE_OFF ||
           (mx_call_fits(a->calls, MCPX_CAUSE_INPUT_SIZE, "arguments have",
                         a->call->input_bytes, terms->input_max) &&
            check_usable(a, MCPX_TOOL_INPUT, &a->input) &&
            check_usable(a, MCPX_TOOL_OUTPUT, &a->output) && check_arguments(a)) ||
           mx_call_passes(a->calls, a->call);
}
