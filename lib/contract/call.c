/*
 * call.c - admission: a call is read, resolved and checked, then forwarded or refused. `steps` has
 * the steps; the first error ends the call.
 */
#include "lib/contract/call.h"

#include "lib/contract/terms.h"
#include "lib/json/decisive.h"
#include "lib/json/json_write.h"
#include "lib/schema/program.h"

#include <mcpx/json.h>

#include <stdlib.h>

/* Random bytes of an id, for each purpose one behind the other. */
enum { RANDOM_EACH = 16 };

/* The context at its place in given params; absent if not there. */
static struct mcpx_slice context_given(const struct mx_context_terms *terms,
                                       struct mcpx_slice params)
{
    return mcpx_json_get(mcpx_json_get(params, terms->place), terms->name);
}

/* True when all parsers find the same member of that name, or none. */
static bool is_clear(struct mcpx_slice object, const char *name)
{
    struct mx_decisive member = {name, {NULL, 0}};

    return mx_decisive_find(object, &member, 1, NULL);
}

static void make_id(struct mx_admission *a, enum mcpx_id_purpose purpose,
                    char out[MCPX_ID_LEN + 1])
{
    struct mcpx_calls *calls = a->calls;

    if (!calls->options.deterministic)
        mcpx_id_random(a->request->random + RANDOM_EACH * purpose, out);
    else if (mcpx_ids_next(calls->ids, purpose, a->name, a->asked.arguments, out))
        calls->failed = true;
}

/* Sets the ids of the call, also for a refused one. */
static void identify(struct mx_admission *a, struct mcpx_slice context)
{
    struct mcpx_call *call = a->call;
    struct mcpx_id_sources from = {context, a->asked.meta, a->request->envelope_id};
    char made[MCPX_ID_LEN + 1] = "";
    struct mcpx_text trace = {0};
    mx_scoped_text id = {0};

    if (!mcpx_request_id_add(&id, &from) && !call->wrap.request_id.text) {
        make_id(a, MCPX_ID_REQUEST, made);
        mcpx_text_puts(&id, made);
    }
    a->calls->failed |= id.failed;
    if (id.len == 0)
        return;
    call->wrap.request_id = mx_calls_copy(a->calls, &call->arena, mcpx_text_view(&id));
    mcpx_trace_id_add(&trace, &from, call->wrap.request_id);
    call->trace_id = mx_calls_take(a->calls, &call->arena, trace);
}

/* Copies a string, unescaped; empty for anything else. */
static struct mcpx_slice keep_plain(struct mx_admission *a, struct mcpx_slice value)
{
    struct mcpx_text plain = {0};

    mcpx_json_add_unescaped(&plain, value);
    return mx_calls_take(a->calls, &a->call->arena, plain);
}

static void begin(struct mx_admission *a)
{
    const struct mcpx_call_request *request = a->request;
    struct mcpx_call *call = a->call;

    mx_call_read(a);
    call->start = request->now;
    call->transport =
        mcpx_slice_of(request->transport ? request->transport : a->calls->options.transport);
    call->input_bytes = a->asked.arguments.len;
    a->params = a->asked.params;
    a->arguments = a->asked.arguments;
    a->given = context_given(&a->calls->terms->context, a->params);
    if (!a->given.text)
        a->given = mcpx_json_get(mcpx_json_get(a->params, "_meta"), MCPX_CONTEXT_MEMBER);
    a->context = a->given;
    a->name = keep_plain(a, a->asked.name);
    identify(a, a->given);
    make_id(a, MCPX_ID_SPAN, call->span_id);
}

/* Admission, step 1. An ambiguous name counts as missing. */
static bool check_shape(struct mx_admission *a)
{
    struct mx_call_error *call_error = &a->calls->call_error;

    if (!call_error->is_found && a->name.len == 0) {
        a->asked.is_not_a_call = true;
        mx_call_error_at(a->calls, MCPX_CAUSE_INVOCATION,
                         mx_error("/params/name", "minLength", "must not be empty"));
    }
    return !call_error->is_found ||
           (!a->asked.is_not_a_call && mx_call_passes(a->calls, a->call));
}

/* Takes the call's own context, or makes one; an error for a missing or broken one. */
static bool find_context(struct mx_admission *a)
{
    const struct mx_context_terms *terms = &a->calls->terms->context;
    struct mcpx_calls *calls = a->calls;
    struct mcpx_text made = {0};

    if (!is_clear(mcpx_json_get(a->params, "_meta"), MCPX_CONTEXT_MEMBER) ||
        !is_clear(mcpx_json_get(a->params, terms->place), terms->name))
        return mx_call_error_at(
            calls, MCPX_CAUSE_CONTEXT,
            mx_error("/context", "ambiguous", "must not be readable in two ways"));
    if (a->given.text)
        return mx_call_judged(calls,
                              mcpx_contracts_validate(calls->options.contracts,
                                                      MCPX_CONTRACT_CONTEXT, a->given,
                                                      &calls->report),
                              MCPX_CAUSE_CONTEXT, "/context");
    if (terms->policy != MX_CONTEXT_DEFAULT)
        return mx_call_error_at(calls, MCPX_CAUSE_CONTEXT,
                                mx_error("/context", "required", "is missing"));
    mx_context_make(&made, calls->terms, a->call->wrap.request_id, a->call->trace_id);
    a->context = mx_calls_take(calls, &calls->arena, made);
    identify(a, a->context);
    return true;
}

/* The member of params for the context must be an object. */
static bool check_place(struct mx_admission *a)
{
    const char *place = a->calls->terms->context.place;
    enum mcpx_json_type type = mcpx_json_type(mcpx_json_get(a->params, place));

    return type == MCPX_JSON_ABSENT || type == MCPX_JSON_OBJECT ||
           mx_call_error_at(a->calls, MCPX_CAUSE_INVOCATION,
                            mx_error(*place == '_' ? "/params/_meta" : "/params/arguments",
                                     "type", "must be an object"));
}

/* Admission, step 2. */
static bool take_context(struct mx_admission *a)
{
    bool is_wanted = a->calls->terms->context.policy != MX_CONTEXT_IGNORE;

    if (is_wanted && !(check_place(a) && find_context(a)))
        return false;
    a->call->actor = keep_plain(a, mcpx_json_get(a->context, "actor"));
    a->call->mode = keep_plain(a, mcpx_json_get(a->context, "mode"));
    return true;
}

/* The tool of a name: the server's, or that of the handshake; absent: none. */
static struct mcpx_slice find_tool(struct mx_admission *a)
{
    const struct mcpx_calls *calls = a->calls;

    if (!a->tools || mx_tools_has(a->tools, a->name))
        return a->name;
    if (calls->own && mx_tools_has(calls->own, a->name)) {
        a->is_handshake = true;
        a->tools = calls->own;
        return a->name;
    }
    return calls->options.side == MCPX_SIDE_SERVER
               ? mx_alias_find(calls->terms, a->tools, a->name)
               : (struct mcpx_slice){0};
}

/* True when the sender may call the tool; checked only where the router does not. */
static bool check_right(struct mx_admission *a, struct mcpx_slice tool)
{
    const struct mcpx_call_request *request = a->request;
    bool is_asked = a->calls->options.side == MCPX_SIDE_CLIENT || a->call->alias.text;
    mx_scoped_text more = {0};

    if (!is_asked || !request->may || request->may(request->context, tool, &more))
        return true;
    mx_call_error_set(a->calls, MCPX_CAUSE_DENIED);
    a->calls->call_error.more =
        mx_calls_take(a->calls, &a->calls->arena, mx_formatted("%s", &more));
    return false;
}

/* Admission, steps 3 and 4. */
static bool resolve(struct mx_admission *a)
{
    struct mcpx_wrap *wrap = &a->call->wrap;
    const struct mx_tool_terms *terms;
    struct mcpx_slice tool;

    a->tools = a->request->tools;
    tool = find_tool(a);
    if (tool.text && !mcpx_slice_equal(tool, a->name))
        a->call->alias = a->name;
    wrap->tool = mx_calls_copy(a->calls, &a->call->arena, tool);
    if (a->calls->failed)
        return true; /* no question is asked about a tool without a name */
    if (!check_right(a, tool.text ? wrap->tool : a->name))
        return false;
    if (!tool.text)
        return mx_call_error_set(a->calls, MCPX_CAUSE_TOOL_UNKNOWN);
    if (a->is_handshake)
        return true;
    terms = mx_terms_of(a->calls->terms, tool);
    wrap->form = terms->form;
    wrap->needed = terms->needed;
    wrap->tool_version = terms->version;
    wrap->capabilities = terms->capabilities;
    return true;
}

/* Writes params with the tool's own name and the context, unless they have both. */
static bool change_params(struct mx_admission *a)
{
    const struct mx_context_terms *terms = &a->calls->terms->context;
    struct mcpx_text *out = &a->calls->params;
    struct mcpx_json_change changes[2];
    mx_scoped_text name = {0}, part = {0};
    size_t count = 0;

    if (a->call->alias.text) {
        mcpx_json_add_string(&name, a->call->wrap.tool);
        changes[count++] = (struct mcpx_json_change){"name", mcpx_text_view(&name)};
    }
    if (terms->policy != MX_CONTEXT_IGNORE && !context_given(terms, a->params).text) {
        mcpx_json_add_changed(&part, mcpx_json_get(a->params, terms->place),
                              &(struct mcpx_json_change){terms->name, a->context}, 1);
        changes[count++] = (struct mcpx_json_change){terms->place, mcpx_text_view(&part)};
    }
    a->calls->failed |= name.failed || part.failed;
    if (count == 0 || a->calls->failed)
        return true;
    mcpx_text_reset(out);
    mcpx_json_add_changed(out, a->params, changes, count);
    a->calls->failed = out->failed;
    a->params = mcpx_text_view(out);
    a->arguments = mcpx_json_get(a->params, "arguments");
    return true;
}

/* Admission, step 8: the forwarded context has all received members, and the required ones. */
static bool check_handed(struct mx_admission *a)
{
    const struct mx_context_terms *terms = &a->calls->terms->context;

    return terms->policy == MX_CONTEXT_IGNORE ||
           mcpx_context_keeps(a->given, context_given(terms, a->params)) ||
           mx_call_error_set(a->calls, MCPX_CAUSE_FAILED);
}

static bool (*const steps[])(struct mx_admission *) = {
    check_shape,         take_context,         resolve,      change_params, mx_admit_log_start,
    mx_admit_check_tier, mx_admit_check_input, check_handed,
};

/* Keeps the parts of an envelope, if there will be one. */
static void keep_for_envelope(struct mx_admission *a)
{
    struct mcpx_calls *calls = a->calls;
    struct mcpx_call *call = a->call;

    if (call->wrap.form == MCPX_FORM_AS_IS)
        return;
    call->wrap.arguments = mx_calls_copy(calls, &call->arena, a->asked.arguments);
    call->wrap.meta = mx_calls_copy(calls, &call->arena, a->asked.meta);
    call->wrap.server_version = mx_calls_copy(calls, &call->arena, a->request->server_version);
    call->wrap.parent = mx_calls_copy(calls, &call->arena, a->request->fulfils);
    call->wrap.enforce = calls->terms->validate == MX_VALIDATE_ENFORCE;
    call->wrap.tier = calls->terms->tier;
    if (call->wrap.form != MCPX_FORM_ENVELOPE)
        return;
    make_id(a, MCPX_ID_RUN, call->run_id);
    call->wrap.run_id = mcpx_slice_of(call->run_id);
}

/* The enforcement point's own result; an error when it is too long. It is kept until the tools
 * change: there can be 100,000 tools. */
static bool shake_hands(struct mx_admission *a, struct mcpx_call_answer *out)
{
    struct mcpx_calls *calls = a->calls;
    const unsigned char *digest = mx_tools_digest(a->request->tools);

    if (calls->handshake.len == 0 ||
        memcmp(calls->handshake_of, digest, MX_SHA256_BYTES) != 0) {
        mcpx_text_fini(&calls->handshake);
        memcpy(calls->handshake_of, digest, MX_SHA256_BYTES);
        calls->failed = mx_handshake_result(&calls->handshake, calls->terms, a->request->tools,
                                            calls->options.participant) != MCPX_OK;
    }
    *out = (struct mcpx_call_answer){false, mcpx_text_view(&calls->handshake)};
    return mx_call_fits(calls, MCPX_CAUSE_OUTPUT_SIZE, "the answer has", out->text.len,
                        a->request->answer_max);
}

/* Ends a call that is not forwarded, with its response and its records. */
static void end_here(struct mx_admission *a, bool goes_on, struct mcpx_call_answer *out)
{
    struct mx_call_outcome outcome = {.now = a->request->now};

    if (goes_on) {
        goes_on = shake_hands(a, out);
        outcome.output_bytes = out->text.len;
    }
    if (goes_on)
        mx_call_deliver(a->call, &outcome);
    else
        mx_call_fail(a->calls, a->call, NULL, &outcome, out);
    mx_call_tell_end(a->calls, a->call, &outcome);
}

static void admit(struct mx_admission *a, struct mcpx_admission *out)
{
    struct mcpx_calls *calls = a->calls;
    bool goes_on = true;

    begin(a);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && goes_on && !calls->failed; i++)
        goes_on = steps[i](a);
    keep_for_envelope(a);
    if (calls->failed)
        return;
    if (!goes_on || a->is_handshake) {
        end_here(a, goes_on, &out->answer);
        return;
    }
    a->call->next = calls->first;
    if (calls->first)
        calls->first->previous = a->call;
    calls->first = a->call;
    calls->count++;
    out->call = a->call;
    out->tool = a->call->wrap.tool;
    if (a->params.text != a->asked.params.text ||
        (a->asked.is_invocation && !a->request->params.text))
        out->params = a->params;
}

enum mcpx_err mcpx_calls_admit(struct mcpx_calls *calls,
                               const struct mcpx_call_request *request,
                               struct mcpx_admission *out)
{
    struct mx_admission a = {.calls = calls, .request = request};
    size_t records = calls->records.len;

    *out = (struct mcpx_admission){0};
    mx_calls_begin(calls);
    a.call = calloc(1, sizeof *a.call);
    if (!a.call)
        return MCPX_ENOMEM;
    admit(&a, out);
    if (calls->failed)
        mx_calls_forget(calls, records);
    if (!out->call)
        mx_call_free(a.call);
    return calls->failed ? MCPX_ENOMEM : MCPX_OK;
}
