/*
 * call_judge.c - reads what a request asks for, and judges it. `mcp.tool.invoke` becomes the
 * params of tools/call first. Then the tier, the size and the arguments are judged, and the
 * schemas for them.
 */
#include "lib/contract/call.h"

#include "lib/json/decisive.h"
#include "lib/json/json_write.h"

#include <mcpx/json.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct mcpx_slice prefix = {"mcp.tool:", 9};
static const char invoke[] = "mcp.tool.invoke";

/* A member of a request, in the order in which they are looked at. */
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

/* A request being read. `err` is MCPX_EINVALID from the first flaw on. */
struct reading {
    struct mcpx_calls *calls;
    struct mx_asked *out;
    enum mcpx_err err;
};

/* What an object has of a part: how many members are read as it, and the first that is. */
struct found {
    struct mcpx_slice value;
    size_t alike;
};

/* Finds `count` parts from `first` on, in one pass: arguments are long. A name that differs only in
 * the case of its letters is one that some readers take for it. */
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

/* Only the first flaw counts. */
static void refuse(struct reading *r, const char *path, const char *keyword,
                   const char *expected)
{
    struct mcpx_schema_error error = {mcpx_slice_of(path), mcpx_slice_of(keyword),
                                      mcpx_slice_of(expected)};

    if (!r->err)
        r->err = mx_flaw_at(&r->calls->flaw, MCPX_CAUSE_INVOCATION, &error);
}

/* The value of a part; one that is required is absent when it is not what it should be. */
static struct mcpx_slice take(struct reading *r, const struct found *found, size_t index)
{
    const struct part *part = &parts[index];
    struct mcpx_slice value = found->value, none = {0};
    bool is_right = mcpx_json_type(value) == part->type, was_flawed = r->err;

    if (found->alike != (value.text ? 1 : 0))
        refuse(r, part->path, "ambiguous", "must not be readable in two ways");
    else if (!value.text && part->is_required)
        refuse(r, part->path, "required", "is missing");
    else if (value.text && !is_right)
        refuse(r, part->path, "type", part->expected);
    if (!was_flawed && r->err && part->is_required)
        r->out->is_hopeless = true;
    return is_right || !part->is_required ? value : none;
}

static void read_params(struct reading *r, struct mcpx_slice params)
{
    struct found found[PART_META - PART_NAME + 1];

    find(params, PART_NAME, COUNT(found), found);
    r->out->params = params;
    r->out->name = take(r, &found[0], PART_NAME);
    r->out->arguments = take(r, &found[PART_ARGUMENTS - PART_NAME], PART_ARGUMENTS);
    r->out->meta = take(r, &found[PART_META - PART_NAME], PART_META);
}

/* The text of a value that is mcp.tool:NAME without its prefix, as a string; else false. */
static bool add_name(struct mcpx_text *out, struct mcpx_slice value)
{
    mx_scoped_text plain = {0};
    struct mcpx_slice name;
    bool is_name = mcpx_json_add_unescaped(&plain, value) && plain.len > prefix.len &&
                   memcmp(plain.text, prefix.text, prefix.len) == 0;

    if (is_name) {
        name = mcpx_text_view(&plain);
        name.text += prefix.len;
        name.len -= prefix.len;
        mcpx_json_add_string(out, name);
    }
    out->failed = out->failed || plain.failed;
    return is_name;
}

bool mcpx_invocation_params_add(struct mcpx_text *out, struct mcpx_slice params)
{
    struct mcpx_slice input = mcpx_json_get(params, "input");
    struct mcpx_slice context = mcpx_json_get(params, "context");
    mx_scoped_text name = {0};
    bool is_call = mcpx_json_type(input) == MCPX_JSON_OBJECT &&
                   add_name(&name, mcpx_json_get(params, "tool"));

    if (is_call)
        mx_format(out, "{\"name\":%s,\"arguments\":%s", &name, input);
    if (is_call && context.text)
        mx_format(out, ",\"_meta\":{\"" MCPX_CONTEXT_MEMBER "\":%s}", context);
    if (is_call)
        mcpx_text_puts(out, "}");
    out->failed = out->failed || name.failed;
    return is_call;
}

/* An invocation: judged by its contract, and made a call. */
static void read_invocation(struct reading *r, const struct mcpx_call_request *request)
{
    struct mcpx_calls *calls = r->calls;
    struct mcpx_slice params = mcpx_json_get(request->payload, "params");
    enum mcpx_err err = mcpx_contracts_validate(
        calls->options.contracts, MCPX_CONTRACT_INVOCATION, request->payload, &calls->report);

    if (err == MCPX_ENOMEM)
        r->err = err;
    else if (err)
        r->err = mx_flaw_report(&calls->flaw, MCPX_CAUSE_INVOCATION, "", &calls->report);
    r->out->is_invocation = true;
    mcpx_text_reset(&calls->invoked);
    if (!mcpx_invocation_params_add(&calls->invoked, params)) {
        r->out->is_hopeless = true;
        return;
    }
    read_params(r, request->params.text ? request->params : mcpx_text_view(&calls->invoked));
}

/* Reads what was asked with a method, whose name is in calls->plain. */
static void read_method(struct reading *r, const struct mcpx_call_request *request,
                        const struct found *found)
{
    struct mcpx_slice method = mcpx_text_view(&r->calls->plain), params;

    if (r->calls->options.side == MCPX_SIDE_CLIENT &&
        mcpx_slice_equal(method, mcpx_slice_of(invoke))) {
        read_invocation(r, request);
        return;
    }
    if (!mcpx_slice_equal(method, MCPX_SLICE("tools/call"))) {
        refuse(r, "/method", "const", "must be \"tools/call\"");
        r->out->is_hopeless = true;
        return;
    }
    params = take(r, found, PART_PARAMS);
    if (params.text)
        read_params(r, request->params.text ? request->params : params);
}

/* A payload that is no JSON-RPC request cannot be called at all. */
static void refuse_broken(struct reading *r)
{
    r->out->is_hopeless = true;
    if (!r->err)
        r->err = mx_flaw_set(&r->calls->flaw, MCPX_CAUSE_INVOCATION);
}

enum mcpx_err mx_call_read(struct mcpx_calls *calls, const struct mcpx_call_request *request,
                           struct mcpx_call *call, struct mx_asked *out)
{
    struct reading r = {calls, out, MCPX_OK};
    struct found found[PART_PARAMS + 1];
    struct mcpx_slice method;

    mx_flaw_reset(&calls->flaw);
    *out = (struct mx_asked){0};
    find(request->payload, PART_METHOD, COUNT(found), found);
    method = take(&r, &found[PART_METHOD], PART_METHOD);
    mcpx_text_reset(&calls->plain);
    if (mcpx_json_add_unescaped(&calls->plain, method)) {
        if (!mx_call_keep(call, mcpx_text_view(&calls->plain), &call->route))
            return MCPX_ENOMEM;
        read_method(&r, request, &found[PART_PARAMS]);
    } else if (!r.err) {
        refuse(&r, "/method", "ambiguous", "must not be readable in two ways");
    }
    if (request->fault)
        refuse_broken(&r);
    out->is_hopeless = out->is_hopeless || !out->name.text;
    if (calls->plain.failed || calls->invoked.failed || calls->flaw.failed)
        return MCPX_ENOMEM;
    return r.err == MCPX_ENOMEM ? MCPX_ENOMEM : MCPX_OK;
}

/* A flaw of the sort that counts only where schemas are enforced. */
enum mcpx_err mx_admit_weigh(struct mx_admitting *a, enum mcpx_err err)
{
    enum mx_validate validate = a->calls->terms->validate;

    if (err != MCPX_EINVALID || validate == MX_VALIDATE_ENFORCE)
        return err;
    if (validate == MX_VALIDATE_OFF)
        return MCPX_OK;
    return mx_call_note_flaw(a->calls, a->call) ? MCPX_OK : MCPX_ENOMEM;
}

static enum mcpx_err get_schema(struct mx_admitting *a, enum mcpx_tool_side side,
                                struct mcpx_tool_schema *out, struct mcpx_schema **kept)
{
    enum mcpx_err err = mcpx_tools_schema(a->tools, a->call->tool, side, NULL, out);

    if (err == MCPX_ENOMEM)
        return err;
    if (!err && out->declared)
        *kept = mcpx_schema_ref((struct mcpx_schema *)out->schema);
    return MCPX_OK;
}

/* Step 5. */
enum mcpx_err mx_admit_tell(struct mx_admitting *a)
{
    enum mcpx_err err = MCPX_OK;

    if (a->tools)
        err = get_schema(a, MCPX_TOOL_INPUT, &a->input, &a->call->input);
    if (a->tools && !err)
        err = get_schema(a, MCPX_TOOL_OUTPUT, &a->output, &a->call->output);
    if (!err && !mx_call_tell_start(a->calls, a->call))
        err = MCPX_ENOMEM;
    if (err || a->tools)
        return err;
    return mx_flaw_set(&a->calls->flaw, MCPX_CAUSE_UNAVAILABLE);
}

/* Step 6. */
enum mcpx_err mx_admit_check_tier(struct mx_admitting *a)
{
    struct mx_flaw *flaw = &a->calls->flaw;

    if (!a->call->terms || a->call->terms->needed <= a->calls->terms->tier)
        return MCPX_OK;
    mx_flaw_set(flaw, MCPX_CAUSE_TIER);
    mx_flaw_keep(flaw,
                 mx_formatted("tool requires tier %s", mcpx_tier_name(a->call->terms->needed)),
                 &flaw->says.text);
    return MCPX_EINVALID;
}

static enum mcpx_err check_size(struct mx_admitting *a)
{
    size_t max = a->calls->terms->input_max;

    if (max == 0 || a->call->input_bytes <= max)
        return MCPX_OK;
    return mx_flaw_size(&a->calls->flaw, MCPX_CAUSE_INPUT_SIZE, "arguments have",
                        a->call->input_bytes, max);
}

/* A schema that cannot be used: says why. */
static enum mcpx_err check_usable(struct mx_admitting *a, enum mcpx_tool_side side,
                                  const struct mcpx_tool_schema *schema)
{
    struct mcpx_tool_schema again;
    enum mcpx_err err;

    if (schema->schema)
        return MCPX_OK;
    err = mcpx_tools_schema(a->tools, a->call->tool, side, &a->calls->report, &again);
    return err == MCPX_ENOMEM
               ? err
               : mx_flaw_report(&a->calls->flaw, MCPX_CAUSE_SCHEMA, "", &a->calls->report);
}

static enum mcpx_err check_arguments(struct mx_admitting *a)
{
    struct mcpx_slice arguments = a->arguments.text ? a->arguments : MCPX_SLICE("{}");
    enum mcpx_err err = mcpx_schema_validate(a->input.schema, arguments, &a->calls->report);

    if (!err || err == MCPX_ENOMEM)
        return err;
    return mx_flaw_report(&a->calls->flaw,
                          err == MCPX_ELIMIT ? MCPX_CAUSE_SCHEMA : MCPX_CAUSE_INPUT, "",
                          &a->calls->report);
}

/* Step 7. */
enum mcpx_err mx_admit_check_input(struct mx_admitting *a)
{
    enum mcpx_err err;

    if (a->calls->terms->validate == MX_VALIDATE_OFF)
        return MCPX_OK;
    err = check_size(a);
    if (!err)
        err = check_usable(a, MCPX_TOOL_INPUT, &a->input);
    if (!err)
        err = check_usable(a, MCPX_TOOL_OUTPUT, &a->output);
    if (!err)
        err = check_arguments(a);
    return mx_admit_weigh(a, err);
}
