/*
 * call_judge.c - can the call work? Its tier, its size, its arguments, and the schemas that say so.
 */
#include "lib/contract/call_admit.h"

#include "lib/core/format.h"

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
    mx_format(&flaw->reason, "tool requires tier %s", mcpx_tier_name(a->call->terms->needed));
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
